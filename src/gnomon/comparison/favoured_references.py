"""Scores of a system by references that are not its own output."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.comparison.paired_tests import PairedScores, figures
from gnomon.core.data_cautions import fullest, select_messages
from gnomon.core.verdicts import metric_title
from gnomon.data.formats.audit import favoured

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.comparison.system_comparison import MetricComparison, SystemComparison
    from gnomon.core.testset import TestSet
    from gnomon.messages import Message

_FEWEST = 10  # segments
_UNLIKE = ("data.doubtful", "data.damaged")  # systems that the audit leaves out


def compare_elsewhere(
    testset: TestSet, comparison: SystemComparison, baseline: str | None
) -> Iterator[Message]:
    """Cautions of systems that references favour, with what the other segments say of them.

    Systems are compared with the baseline, by default with the best other one.
    """
    suspected = select_messages("data.favoured", fullest([*testset.anomalies, *comparison.notices]))
    if not suspected:
        return
    told = [one for code in _UNLIKE for one in select_messages(code, testset.anomalies)]
    unlike = {name for one in told for name in one.subjects.get("systems", ())}
    sound = [name for name in testset.systems if name not in unlike]
    own = list(favoured(testset, unlike))
    for said in suspected:
        system = str(said.params["system"])
        near = [one.own for one in own if one.system == system]
        if not near:
            continue
        rest = ~np.any(near, axis=0)
        if rest.sum() < _FEWEST:
            continue
        others = [name for name in sound if name != system]
        if baseline is not None and baseline != system:
            others = [baseline]
        found = [
            beside
            for metric in comparison.metrics
            if (beside := _measure_distance(metric, system, others, rest, comparison.documents))
            is not None
        ]
        if found:
            elsewhere = {"others": int(rest.sum()), "rest": found}
            yield replace(said, params={**said.params, "beside": elsewhere})


def _measure_distance(
    metric: MetricComparison,
    system: str,
    others: Sequence[str],
    rows: NDArray[np.bool_],
    documents: NDArray[np.int64] | None,
) -> dict[str, Any] | None:
    """Distance of a system from the best of the others in some segments."""
    scores = metric.scores
    sign = 1 if scores.higher_is_better else -1
    values = sign * scores.segments[:, rows]
    counts = (~np.isnan(values)).sum(axis=1)
    sums = np.where(np.isnan(values), 0.0, values).sum(axis=1)
    each = np.where(counts > 0, sums / np.maximum(counts, 1), -np.inf)
    means = dict(zip(scores.systems, each.tolist(), strict=True))
    known = [name for name in others if name in means]
    if not known:
        return None
    other = max(known, key=means.__getitem__)
    paired = PairedScores.select(scores, [other, system])
    (_, told) = figures(paired, [rows], metric.plan.adapt_to_family(1), documents)[0]
    if not isfinite(told.difference):
        return None
    ends = sorted(sign * end for end in (told.low, told.high) if isfinite(end))
    low, high = ends if len(ends) == 2 else (None, None)
    sides = ("behind", "level", "ahead")
    side = sides[1 + int(np.sign(sign * told.difference))]
    return {
        "side": side,
        "other": other,
        "difference": sign * told.difference,
        "low": low,
        "high": high,
        "metric": metric_title(scores.metric),
    }
