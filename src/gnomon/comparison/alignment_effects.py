"""The effect of doubtful alignments on differences."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from gnomon.comparison.paired_tests import figures
from gnomon.core.data_cautions import select_messages
from gnomon.core.verdicts import metric_title

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.comparison.system_comparison import MetricComparison, SystemComparison
    from gnomon.core.testset import TestSet
    from gnomon.messages import Message


def add_certain_differences(testset: TestSet, comparison: SystemComparison) -> Iterator[Message]:
    """Add differences without uncertain segments to notices of aligned outputs."""
    for said in select_messages("data.aligned", testset.anomalies):
        aligned = cast("Sequence[Mapping[str, Any]]", said.params["aligned"])
        told = [{**one, "changes": _changes(testset, comparison, one["system"])} for one in aligned]
        yield replace(said, params={"aligned": told})


def _changes(
    testset: TestSet, comparison: SystemComparison, system: str
) -> dict[str, list[dict[str, Any]]] | None:
    """Changes of differences, by metric; None where nothing is uncertain."""
    uncertain = testset.alignments[system].uncertain_segments
    rest = np.ones(testset.segments, dtype=np.bool_)
    rest[sorted(uncertain)] = False
    if not uncertain or not rest.any():
        return None
    changes = [
        {"size": size, "metric": metric_title(metric.scores.metric)}
        for metric in comparison.metrics
        if (size := _change(metric, system, rest)) is not None
    ]
    return {"change": changes} if changes else None


def _change(metric: MetricComparison, system: str, rest: NDArray[np.bool_]) -> float | None:
    """The largest change of a difference that a system takes part in."""
    plan = replace(metric.plan, resamples=0)
    parts = [np.ones(len(rest), dtype=np.bool_), rest]
    whole, others = figures(metric.paired, parts, plan, None)
    names = metric.paired.systems
    changes = [
        abs(before.difference - after.difference)
        for name, before, after in zip(names, whole, others, strict=True)
        if system in (name, names[0]) and isfinite(before.difference - after.difference)
    ]
    return max(changes, default=None)
