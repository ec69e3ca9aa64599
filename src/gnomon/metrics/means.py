"""Means of defined values, and corpus scores that are means over segments."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

__all__ = [
    "aggregate_means",
    "best_by_cell",
    "mean",
    "mean_of_cells",
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


# Means of what is defined.


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of the defined values; ``None`` without any."""
    defined = [value for value in values if value is not None]
    return sum(defined) / len(defined) if defined else None


def mean_of_cells(values: NDArray[np.float64]) -> float:
    """The mean of all defined cells; NaN without any."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else math.nan


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
