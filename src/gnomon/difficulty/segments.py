"""Difficulty-aware scoring of whole segments, for any metric at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.errors import DataError
from gnomon.difficulty.frozen import check_frozen_segments, read_segments
from gnomon.difficulty.matched import check_options
from gnomon.difficulty.pools import PooledMetric
from gnomon.difficulty.segment_hardness import SegmentHardness, measure_segments
from gnomon.messages import message

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.testset import TestSet
    from gnomon.difficulty.metric import Difficulty
    from gnomon.difficulty.pools import Pool
    from gnomon.messages import Message
    from gnomon.metrics.base import BoundMetric

__all__ = ["BoundSegmentDifficulty", "bind_segments"]


def bind_segments(
    options: Difficulty, bound: BoundMetric, testset: TestSet, pool: Pool | None
) -> BoundSegmentDifficulty:
    """Freeze difficulties: from a file where there is no pool."""
    check_options(options)
    batch = testset.batch()
    if pool is None:
        hardness = read_segments(options.frozen or "")
        check_frozen_segments(hardness, bound)
        return BoundSegmentDifficulty(options, bound, hardness, None)
    hardness = measure_segments(
        bound, batch, pool.systems, pool.identity, keep=options.leave_one_out
    )
    return BoundSegmentDifficulty(options, bound, hardness, pool)


@dataclass(frozen=True, eq=False)
class BoundSegmentDifficulty(PooledMetric):
    """Any metric whose segments weigh as much as they were hard.

    Attributes:
        metric: the options.
        base: the wrapped metric, bound.
        hardness: how hard each segment was.
        pool: the systems that said so; None where difficulties came from a file.
    """

    metric: Difficulty
    base: BoundMetric
    hardness: SegmentHardness
    pool: Pool | None

    def weights(self, batch: Batch) -> NDArray[np.float64]:
        """Weights of the segments, float64 [K, N]: difficulty over its mean, 1 on average.

        Raises:
            DataError: the batch has a segment that the metric was not bound to.
        """
        places = np.searchsorted(self.hardness.segment, batch.segments)
        positions = np.minimum(places, len(self.hardness.segment) - 1)
        missing = np.flatnonzero(self.hardness.segment[positions] != batch.segments)
        if len(missing):
            raise DataError(
                f"{self.metric.spec}: there are no difficulties for segment"
                f" {int(batch.segments[missing[0]]) + 1}; bind the metric to the test set that is"
                " scored"
            )
        smooth = self.metric.smooth
        values = np.stack([self.hardness.leave_out(name) for name in batch.systems])
        values = (1 - smooth) * values + smooth / 2  # the mean of all is .5
        weights: NDArray[np.float64] = 2 * np.nan_to_num(values)[:, positions]
        return weights

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """The wrapped metric's scores times the weights, float64 [K, N]."""
        return self.weights(batch) * self.base.segments(batch)

    def statistics(self, batch: Batch) -> NDArray[np.float64]:
        """The wrapped metric's statistics times the weights, float64 [K, N, S].

        Of a metric that has none: its segment scores and 1, so that sums make weighted means.
        """
        weighed: NDArray[np.float64] = self.weights(batch)[..., None] * self.base.statistics(batch)
        return weighed

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        """Corpus scores [...] from summed statistics [..., S]."""
        return self.base.aggregate(statistics)

    def notices(self, batch: Batch) -> tuple[Message, ...]:
        """Those of all difficulties, and that segments are weighed where words were not chosen."""
        notices = super().notices(batch)
        if self.metric.units is not None:
            return notices
        said = message("note.difficulty.segments")
        return (*notices, said.about(metrics=[self.metric.spec]))
