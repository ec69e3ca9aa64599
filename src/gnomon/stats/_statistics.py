"""Statistics by name, each of all rows at once, and of cells under a grouping and a level."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from gnomon.errors import LengthMismatchError, UnknownNameError, UsageError
from gnomon.stats import _pairs
from gnomon.stats._rows import (
    GROUPINGS,
    Grouping,
    Rows,
    mean_of_known,
    members,
    pearson_rows,
    ranked_rows,
)
from gnomon.stats.spa import SoftPairwiseAccuracy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike, NDArray

Level = Literal["segment", "system"]
_DIGITS = 13  # of system means, against the largest; what lies beyond is rounding


def _spearman(rows: Rows) -> NDArray[np.float64]:
    return pearson_rows(Rows(ranked_rows(rows.x), ranked_rows(rows.y)))


def _kendall_b(rows: Rows) -> NDArray[np.float64]:
    return _pairs.tau_b(_pairs.count(rows))


def _kendall_c(rows: Rows) -> NDArray[np.float64]:
    return _pairs.tau_c(_pairs.count(rows), rows)


def _accuracy(rows: Rows) -> NDArray[np.float64]:
    few = members(rows.x) < 2
    return np.where(few, np.nan, _pairs.accuracy(_pairs.count(rows)))


ROW_STATISTICS: Mapping[str, Callable[[Rows], NDArray[np.float64]]] = {
    "pearson": pearson_rows,
    "spearman": _spearman,
    "kendall_b": _kendall_b,
    "kendall_c": _kendall_c,
    "pairwise_accuracy": _accuracy,
}


class Task(NamedTuple):
    """What is measured: a statistic of human and metric scores [systems, items]."""

    statistic: str | Callable[[NDArray[np.float64], NDArray[np.float64]], float]
    grouping: Grouping
    level: Level

    @property
    def is_pearson_of_cells(self) -> bool:
        """Whether sums over cells are all that is needed."""
        return (self.statistic, self.level) == ("pearson", "segment")

    @property
    def is_linear(self) -> bool:
        """Whether draws come from sums over cells, and cost pairs next to nothing."""
        return self.is_pearson_of_cells or self.level == "system"

    def groups(self, human: NDArray[np.float64], metric: NDArray[np.float64]) -> Rows:
        """Rows of every draw, stacked: metric scores [draws, systems, items]."""
        shape = metric.shape
        holes = np.where(np.isnan(human) | np.isnan(metric), np.nan, 0.0)
        sides = (human + holes, metric + holes)
        if self.grouping == "none":
            return Rows(*(side.reshape(shape[0], -1) for side in sides))
        if self.grouping == "item":
            sides = (sides[0].swapaxes(1, 2), sides[1].swapaxes(1, 2))
        return Rows(*(np.ascontiguousarray(s).reshape(-1, s.shape[2]) for s in sides))

    def of_draws(
        self, human: NDArray[np.float64], metric: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The statistic of every draw: metric scores [draws, systems, items] -> [draws]."""
        if isinstance(self.statistic, SoftPairwiseAccuracy) and metric.shape[1] > 1:
            complete = ~(np.isnan(human) | np.isnan(metric)).any(axis=(0, 1))
            # cells of one item mostly miss for all systems and draws, or for none
            if complete.any() and np.isnan(human + metric)[..., ~complete].all():
                return self.statistic.of_draws(human[:, complete], metric[..., complete])
        if callable(self.statistic):
            return np.array([self.statistic(human, scores) for scores in metric], dtype=np.float64)
        values = ROW_STATISTICS[self.statistic](self.groups(human, metric))
        return mean_of_known(values.reshape(len(metric), -1))

    def of_cells(self, human: NDArray[np.float64], metric: NDArray[np.float64]) -> float:
        """The statistic of one pair of [systems, items] arrays at the task's level."""
        if self.level == "system":
            means = mean_of_known(metric)[None]
            return float(self.of_system_scores(mean_of_known(human), means)[0])
        return float(self.of_draws(human, metric[None])[0])

    def of_metrics(
        self,
        human: NDArray[np.float64],
        metrics: NDArray[np.float64],
        present: NDArray[np.bool_],
    ) -> NDArray[np.float64]:
        """The statistic of each metric [metrics] on its own cells."""
        values = np.full(len(metrics), np.nan)
        for k, (scores, cells) in enumerate(zip(metrics, present, strict=True)):
            if cells.any():
                values[k] = self.of_cells(human, np.where(cells, scores, np.nan))
        return values

    def of_system_scores(
        self, human: NDArray[np.float64], metric: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The statistic of system scores [draws, systems] against people's [systems]."""
        return self.of_paired_rows(np.broadcast_to(human, metric.shape), metric)

    def of_paired_rows(
        self, human: NDArray[np.float64], metric: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The statistic of each row of [draws, systems]; scores are equal up to rounding."""
        human, metric = _settled(human), _settled(metric)
        if callable(self.statistic):
            pairs = zip(human, metric, strict=True)
            return np.array([self.statistic(h, m) for h, m in pairs], dtype=np.float64)
        holes = np.where(np.isnan(human) | np.isnan(metric), np.nan, 0.0)
        return ROW_STATISTICS[self.statistic](Rows(human + holes, metric + holes))


def task(
    statistic: str | Callable[[NDArray[np.float64], NDArray[np.float64]], float],
    grouping: Grouping,
    level: Level,
) -> Task:
    """A task whose parts exist and fit together."""
    if not callable(statistic) and statistic not in ROW_STATISTICS:
        raise UnknownNameError("statistic", str(statistic), ROW_STATISTICS)
    if grouping not in GROUPINGS:
        raise UnknownNameError("grouping", str(grouping), GROUPINGS)
    if level not in {"segment", "system"}:
        raise UnknownNameError("level", str(level), ("segment", "system"))
    if grouping != "none" and (level == "system" or callable(statistic)):
        raise UsageError(
            f"grouping {grouping!r} belongs to named statistics at level 'segment'; system scores"
            " form one group, and a function does its own grouping"
        )
    return Task(statistic, grouping, level)


def score_arrays(
    human: ArrayLike, metrics: ArrayLike, level: Level
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Human scores [systems, items] and metric scores [metrics, systems, items].

    System scores come as one item; at the system level people's may, where the metrics' do not.
    """
    h, m = np.asarray(human, dtype=np.float64), np.asarray(metrics, dtype=np.float64)
    paired = m.shape[1:] == h.shape
    if h.ndim == 1 and m.ndim == 2 and paired:
        return h[:, None], m[:, :, None]
    system_scores = level == "system" and h.ndim == 1 and m.ndim == 3 and len(h) == m.shape[1]
    if system_scores or (h.ndim == 2 and m.ndim == 3 and paired):
        return h[:, None] if h.ndim == 1 else h, m
    raise LengthMismatchError(
        "human scores are [systems] or [systems, items], and metric scores have one more axis in"
        f" front, one row per metric; shapes are {h.shape} and {m.shape}"
    )


def _settled(means: NDArray[np.float64]) -> NDArray[np.float64]:
    # means of the same scores summed in another order must tie
    largest = float(np.nanmax(np.abs(means), initial=0.0))
    if not 0 < largest < np.inf:
        return means
    return np.asarray(np.round(means / largest, _DIGITS) * largest)
