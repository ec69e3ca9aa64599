"""How a system does where the references are not its own output."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.comparison.paired import PairedScores, figures
from gnomon.core.verdicts import metric_title, said_of
from gnomon.data.formats.audit import favoured

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.comparison.paired import PairedTestPlan
    from gnomon.core.scores import Scores
    from gnomon.core.testset import TestSet
    from gnomon.messages import Message

_FEWEST = 10  # segments


def on_other_segments(
    testset: TestSet,
    judged: Sequence[Scores],
    plans: Sequence[PairedTestPlan],
    baseline: str | None,
    documents: NDArray[np.int64] | None,
) -> Iterator[Message]:
    """Cautions of systems that references favour, with what the other segments say of them.

    Args:
        testset: what is compared.
        judged: what each metric said.
        plans: how differences are tested under each.
        baseline: what systems are compared with; by default with the best other one.
        documents: the document of each segment, from 0.
    """
    suspected = said_of("data.favoured", testset.anomalies)
    own = {(one.system, one.reference): one.own for one in favoured(testset)} if suspected else {}
    for said in suspected:
        system = str(said.params["system"])
        rest = ~np.any([rows for (name, _), rows in own.items() if name == system], axis=0)
        other = baseline if baseline != system else None
        found = [
            told
            for scores, plan in zip(judged, plans, strict=True)
            if (told := _beside(scores, plan, system, other, rest, documents)) is not None
        ]
        if found and rest.sum() >= _FEWEST:
            beside = {"others": int(rest.sum()), "rest": found}
            yield replace(said, params={**said.params, "beside": beside})


def _beside(
    scores: Scores,
    plan: PairedTestPlan,
    system: str,
    other: str | None,
    rows: NDArray[np.bool_],
    documents: NDArray[np.int64] | None,
) -> dict[str, Any] | None:
    """How far a system is from another, or the best other, in some segments."""
    sign = 1 if scores.higher_is_better else -1
    means = sign * np.nan_to_num(scores.segments[:, rows], nan=-np.inf * sign).mean(axis=1)
    others = [n for n in range(len(means)) if scores.systems[n] != system]
    if other is None:
        other = scores.systems[max(others, key=means.__getitem__)]
    paired = PairedScores.of(scores, [other, system])
    (_, told) = figures(paired, [rows], plan.in_family(1), documents)[0]
    if not isfinite(told.difference):
        return None
    ends = sorted(sign * end for end in (told.low, told.high) if isfinite(end))
    low, high = ends if len(ends) == 2 else (None, None)
    return {
        "side": "ahead" if sign * told.difference > 0 else "behind",
        "other": other,
        "difference": sign * told.difference,
        "low": low,
        "high": high,
        "metric": metric_title(scores.metric),
    }
