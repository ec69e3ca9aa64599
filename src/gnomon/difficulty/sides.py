"""The weighted metric of a request, and both sides of the comparison: with and without weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.errors import UsageError
from gnomon.difficulty.matched import (
    BoundDifficulty,
    UnweightedMatches,
)
from gnomon.difficulty.metric import Difficulty
from gnomon.metrics import resolve

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.testset import TestSet
    from gnomon.difficulty.matched import BoundAlignedDifficulty
    from gnomon.difficulty.ngrams import BoundNgramDifficulty
    from gnomon.difficulty.segments import BoundSegmentDifficulty
    from gnomon.metrics.base import AnyMetric, BoundMetric

    Bound = BoundDifficulty | BoundAlignedDifficulty | BoundNgramDifficulty | BoundSegmentDifficulty


def wrapped(metric: AnyMetric, *, allow_code: bool = False) -> Difficulty:
    """The metric under difficulty, as it is where it is so already."""
    resolved = resolve(metric, allow_code=allow_code)  # type: ignore[arg-type]  # what is none is refused
    if not isinstance(resolved, Difficulty):
        return Difficulty(metric=resolved)
    if not resolved.weighted:
        raise UsageError(f"{resolved.spec!r} weighs no words; leave out weighted=False")
    return resolved


def base_metric(bound: Bound) -> BoundMetric:
    """The metric without weights, aggregated as the weighted one: only the weights differ."""
    by_match = isinstance(bound, BoundDifficulty)
    return UnweightedMatches(bound.metric, bound.base) if by_match else bound.base


def system_scores(bound: BoundMetric, batch: Batch) -> NDArray[np.float64]:
    """Corpus scores, float64 [K]: of statistics that add up, else means."""
    return bound.aggregate(bound.statistics(batch).sum(axis=1))


def facts_of(testset: TestSet, bound: Sequence[Bound], key: str) -> dict[str, str]:
    """Facts about the data for a page."""
    pools = ("from a file" if metric.pool is None else metric.pool.how for metric in bound)
    return {
        "test set": testset.name,
        "language pair": testset.language_pair or "not given",
        "segments": str(testset.segments),
        "systems": str(len(testset.systems)),
        key: ", ".join(metric.metric.metric.spec for metric in bound),
        "pool (systems whose misses make words hard)": ", ".join(dict.fromkeys(pools)),
    }
