"""Corpus scores that are means over segments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "aggregate_means",
    "best_by_cell",
    "mean_over_segments",
    "mean_statistics",
]


# Sentence scores that are those of the best reference.


def best_by_cell(
    shape: tuple[int, int], cell: NDArray[np.int64], values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The best value of each cell, float64 [K, N]; NaN where there is none.

    ``cell``: int64 [P], system * N + segment of each of the values [P].
    """
    best = np.full(shape[0] * shape[1], -np.inf)
    np.maximum.at(best, cell, values)
    best[np.isneginf(best)] = np.nan
    return best.reshape(shape)


# Corpus scores that are means over segments.


def mean_statistics(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Score and 1 for each segment, 0 and 0 where it is undefined: float64 [K, N, 2]."""
    defined = ~np.isnan(scores)
    return np.stack([np.where(defined, scores, 0.0), defined.astype(np.float64)], axis=-1)


def aggregate_means(statistics: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means [...] from summed statistics [..., 2]; NaN where no segment was defined."""
    return quotients(statistics[..., 0], statistics[..., 1])


def quotients(
    total: NDArray[np.float64], count: NDArray[np.float64] | NDArray[np.int64]
) -> NDArray[np.float64]:
    """Totals by counts; NaN where a count is 0."""
    return np.asarray(np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0))


def mean_over_segments(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means of the defined scores of each system, float64 [K]; NaN where there is none."""
    return aggregate_means(mean_statistics(scores).sum(axis=1))
