"""Corpus scores that are means over segments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["aggregate_means", "mean_over_segments", "mean_statistics"]


def mean_statistics(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Score and 1 for each segment, 0 and 0 where it is undefined: float64 [K, N, 2]."""
    defined = ~np.isnan(scores)
    return np.stack([np.where(defined, scores, 0.0), defined.astype(np.float64)], axis=-1)


def aggregate_means(statistics: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means [...] from summed statistics [..., 2]; NaN where no segment was defined."""
    total, count = statistics[..., 0], statistics[..., 1]
    means = np.full(total.shape, np.nan)
    np.divide(total, count, out=means, where=count > 0)
    return means


def mean_over_segments(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means of the defined scores of each system, float64 [K]; NaN where there is none."""
    return aggregate_means(mean_statistics(scores).sum(axis=1))
