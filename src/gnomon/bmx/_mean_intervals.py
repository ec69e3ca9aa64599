"""Means over explained outputs, with intervals over segments, and against a control."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.stats.resampling import percentile_interval, resample_counts, resampled_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Draws", "Mean", "mean_of"]


class Draws(NamedTuple):
    """How many resamples of the segments, their seed, and the share inside an interval."""

    resamples: int = 1000
    seed: int = 0
    confidence: float = 0.95


class Mean(NamedTuple):
    """A mean with its interval; None where nothing is defined."""

    value: float | None
    low: float | None
    high: float | None
    n: int


def mean_of(values: NDArray[np.float64], draws: Draws) -> Mean:
    """The mean of all defined cells, and its bootstrap interval over segments.

    Outputs of several systems for one segment are drawn together.

    Args:
        values: float64 [K, N]; NaN is left out.
        draws: resamples.
    """
    defined = ~np.isnan(values)
    count = defined.sum(axis=0).astype(np.float64)
    kept = count > 0
    if not kept.any():
        return Mean(None, None, None, 0)
    sums = np.stack([np.where(defined, values, 0.0).sum(axis=0), count])[:, kept]
    counts = resample_counts(int(kept.sum()), count=draws.resamples, seed=draws.seed)
    total, size = resampled_sums(sums, counts)
    low, high = percentile_interval(total / size, draws.confidence)
    return Mean(float(sums[0].sum() / count.sum()), float(low), float(high), int(count.sum()))
