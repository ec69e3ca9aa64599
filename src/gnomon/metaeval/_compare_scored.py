"""What is compared: systems, the baseline first, and what metrics said of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from gnomon.errors import DataError, UnknownNameError, UsageError
from gnomon.metrics import score
from gnomon.scores import Scores

if TYPE_CHECKING:
    from collections.abc import Callable

    from gnomon.metrics.protocol import AnyMetric, Metrics
    from gnomon.outline import Outline
    from gnomon.testset import TestSet


__all__ = ["check_systems", "ordered", "scored"]


def ordered(testset: TestSet, baseline: str | None) -> TestSet:
    """The test set with the baseline first.

    Raises:
        DataError: there are fewer than two systems.
        UnknownNameError: the baseline is not among them.
    """
    check_systems(testset.outline, baseline)
    names = list(testset.systems)
    if baseline is None or baseline == names[0]:
        return testset
    return testset.select(systems=[baseline, *(name for name in names if name != baseline)])


def check_systems(outline: Outline, baseline: str | None) -> None:
    """Refuse a test set without two systems, or without the baseline; errors as above."""
    names = outline.systems
    if len(names) < 2:
        given = f"{names[0]!r} alone" if names else "none"
        raise DataError(
            f"a comparison takes two systems or more; test set {outline.name!r} gives {given}"
        )
    if baseline is not None and baseline not in names:
        raise UnknownNameError("system (baseline)", baseline, names)


def scored(
    testset: TestSet,
    metrics: Metrics,
    *,
    allow_code: bool,
    progress: Callable[[str, int, int], None] | None,
) -> list[Scores]:
    """What each metric said of the systems of a test set.

    Raises:
        DataError: scores that were given are not of this test set.
        UsageError: there is no metric, or one is named twice.
    """
    chosen = list(metrics) if isinstance(metrics, list | tuple) else [cast("AnyMetric", metrics)]
    if not chosen:
        raise UsageError("a comparison takes one metric or more; none is given")
    found = []
    for done, one in enumerate(chosen, start=1):
        if isinstance(one, Scores):
            found.append(_checked(one, testset))
        else:
            found.append(score(testset, one, allow_code=allow_code))
        if progress:
            progress("scoring", done, len(chosen))
    names = [one.metric for one in found]
    if len(set(names)) < len(names):
        raise UsageError(f"a metric is named twice: {', '.join(names)}")
    return found


def _checked(scores: Scores, testset: TestSet) -> Scores:
    missing = [name for name in testset.systems if name not in scores.systems]
    if missing:
        raise DataError(
            f"the scores of {scores.metric} lack {', '.join(missing)}; there are:"
            f" {', '.join(scores.systems)}"
        )
    if scores.segments.shape[1] != testset.segments:
        raise DataError(
            f"the scores of {scores.metric} are of {scores.segments.shape[1]} segments, and test"
            f" set {testset.name!r} has {testset.segments}"
        )
    return scores
