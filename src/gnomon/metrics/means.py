"""Bound metrics described by their options, and corpus scores that are means over segments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.metrics.protocol import Input

__all__ = [
    "MeanOfSegments",
    "OfOptions",
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


# What most bound metrics have in common: they say of themselves what their options say.


class _Described(Protocol):
    """What is read of the options of a metric."""

    @property
    def name(self) -> str: ...
    @property
    def needs(self) -> frozenset[Input]: ...
    @property
    def higher_is_better(self) -> bool: ...


class OfOptions:
    """A bound metric that is described by its options.

    Attributes:
        metric: the options.
        choice: what a reader should know of the choice of tokens.
    """

    metric: _Described
    choice: tuple[str, ...] = ()

    def notices(self, batch: Batch) -> tuple[str, ...]:  # noqa: ARG002  # as all metrics
        """Which tokens were taken, where nobody named them and they are not the usual ones."""
        return self.choice

    def memory_of(self, texts: tuple[str, ...]) -> dict[Any, Any]:
        """What was remembered of the texts of the batch seen last; empty for other texts."""
        if self.__dict__.get("_texts") is not texts:
            self.__dict__["_texts"], self.__dict__["_memory"] = texts, {}
        memory: dict[Any, Any] = self.__dict__["_memory"]
        return memory

    @property
    def name(self) -> str:
        """Name of the metric."""
        return self.metric.name

    @property
    def needs(self) -> frozenset[Input]:
        """What candidates are scored against."""
        return self.metric.needs

    @property
    def higher_is_better(self) -> bool:
        """False for error rates."""
        return self.metric.higher_is_better


class MeanOfSegments(OfOptions, ABC):
    """A bound metric whose corpus score is the mean of its defined sentence scores."""

    @abstractmethod
    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """Sentence scores, float64 [K, N]; NaN where undefined."""

    def system(self, batch: Batch) -> NDArray[np.float64]:
        """Means over segments, float64 [K]; NaN where no segment has a score."""
        return mean_over_segments(self.segments(batch))

    def statistics(self, batch: Batch) -> NDArray[np.float64]:
        """Score and 1, or 0 and 0 where undefined: float64 [K, N, 2]."""
        return mean_statistics(self.segments(batch))

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        """Means [...] from summed statistics [..., 2]."""
        return aggregate_means(statistics)
