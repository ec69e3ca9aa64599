"""Hardness of whole segments for a pool, by any metric."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from gnomon.metrics.means import quotients

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.metrics.base import BoundMetric

__all__ = ["SegmentHardness", "difficulty_of_segments", "measure_segments"]


@dataclass(frozen=True, eq=False)
class SegmentHardness:
    """Difficulties of the segments of a test set."""

    segment: NDArray[np.int64]  # [N], their numbers, from 0
    #: [N], in (0, 1); NaN where no system of the pool has a score
    value: NDArray[np.float64]
    pool: str  # what chose the pool, for signatures
    #: per system of the pool, the difficulties by the others, where it is not to judge itself
    own: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    #: of difficulties from a file, the kinds of human scores that chose its pool
    human: tuple[str, ...] = ()

    def leave_out(self, system: str) -> NDArray[np.float64]:
        """Difficulties by the other systems of the pool, float64 [N]."""
        return self.own.get(system, self.value)


def difficulty_of_segments(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Difficulty of segments: the share of the segments on which the pool scored higher.

    Ranks, since scores of any metric have no scale of their own: d_i is the number of segments with
    a higher mean over the pool, and half of those with the same mean (itself among them), over the
    number of segments. The mean of all is .5. Of scores [K, N] of the pool, higher is better, NaN
    are left out; NaN where no system has a score.

    >>> difficulty_of_segments(np.array([[1.0, 3.0, 2.0], [1.0, 5.0, 2.0]])).round(3).tolist()
    [0.833, 0.167, 0.5]
    """
    defined = ~np.isnan(scores)
    total, count = np.where(defined, scores, 0.0).sum(axis=0), defined.sum(axis=0)
    means = quotients(total, count)
    ordered = np.sort(means[count > 0])
    above = len(ordered) - np.searchsorted(ordered, means, side="right")
    same = len(ordered) - np.searchsorted(ordered, means, side="left") - above
    share: NDArray[np.float64] = (above + same / 2) / max(len(ordered), 1)
    return np.where(count > 0, share, np.nan)


def measure_segments(
    bound: BoundMetric, batch: Batch, pool: Sequence[str], identity: str, *, keep: bool
) -> SegmentHardness:
    """Measure the hardness of the segments for the systems of a pool."""
    sign = 1 if bound.higher_is_better else -1
    scores = sign * bound.segments(batch)[[batch.systems.index(name) for name in pool]]
    without_one = {
        name: difficulty_of_segments(np.delete(scores, k, axis=0))
        for k, name in enumerate(pool if keep else ())
    }
    numbers = batch.segments.astype(np.int64)
    return SegmentHardness(numbers, difficulty_of_segments(scores), identity, without_one)
