"""Measures of agreement: named statistics and functions, under a grouping."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from gnomon.core.errors import LengthMismatchError, UnknownNameError, UsageError
from gnomon.native import pairs as loops
from gnomon.stats.paired_rows import (
    GROUPINGS,
    ROW_STATISTICS,
    Concordance,
    Grouping,
    PairedRows,
    accuracy,
    mean_of_known,
    tau_b,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = ["ROW_STATISTICS", "SoftPairwiseAccuracy", "mean_of_known", "spa", "system_p_values"]


# Soft pairwise accuracy: does a metric share people's confidence in a ranking of systems?


Ties = Literal["count", "half"]
_TIES: tuple[Ties, ...] = ("count", "half")
_ROOM = 1 << 22  # numbers in one array of some draws
_ROUNDING = 1e-12  # differences of sums closer than this share of the scores' size are equal


def spa(
    human: ArrayLike,
    metric: ArrayLike,
    *,
    count: int = 1000,
    seed: int = 0,
    ties: Ties = "count",
) -> float:
    """Soft pairwise accuracy (Thompson et al., 2024), 1 less the pairwise confidence error.

    1 - mean over pairs i < j of ``|p_human(i > j) - p_metric(i > j)|``, p from
    :func:`system_p_values` with the same random signs on both sides. Cells that lack either score
    take no part.

    Args:
        human: segment scores [systems, segments]; NaN is missing.
        metric: segment scores of the same shape, higher is better; NaN is missing.
        count: random sign flips.
        seed: seed of the flips; with 4, and no missing cell, these are mt-metrics-eval's draws.
        ties: see :func:`system_p_values`. With ``count``, as published, the value depends on the
            order of rows where null differences equal the observed one (about .006 on
            small data with tied scores): sort systems by name. With ``half`` it does not.

    Returns:
        SPA in [0, 1]; pairs without a common segment are left out; NaN if none is left.

    Raises:
        LengthMismatchError: the shapes differ or are not [systems, segments].
        UsageError: no flips are asked for.

    >>> spa([[3, 4, 5], [1, 2, 3]], [[0.3, 0.4, 0.5], [0.1, 0.2, 0.3]])
    1.0
    """
    h, m = np.asarray(human, dtype=np.float64), np.asarray(metric, dtype=np.float64)
    if h.shape != m.shape or h.ndim != 2:
        raise LengthMismatchError(
            f"SPA needs two [systems, segments] arrays; shapes are {h.shape} and {m.shape}"
        )
    missing = np.isnan(h) | np.isnan(m)
    of_human, of_metric = (
        system_p_values(np.where(missing, np.nan, side), count=count, seed=seed, ties=ties)
        for side in (h, m)
    )
    gaps = np.abs(of_human - of_metric)[np.triu_indices(len(h), 1)]
    defined = gaps[~np.isnan(gaps)]
    return float(1 - defined.mean()) if len(defined) else float("nan")


def system_p_values(
    scores: ArrayLike, *, count: int = 1000, seed: int = 0, ties: Ties = "count"
) -> NDArray[np.float64]:
    """p-values of "system i is better than system j" for all pairs (paired permutation test).

    Under the null hypothesis the two scores of a segment may be exchanged. All pairs share one set
    of random signs: sum of s_n (x_in - x_jn) is a difference of two products of a matrix. No +1
    correction: p is used as a number here, not as a decision.

    Args:
        scores: segment scores [systems, segments]; NaN is missing, and leaves a segment out of
            the pairs of that system.
        count: random sign flips.
        seed: seed of the flips.
        ties: ``count``: p = share of null differences >= the observed one (as published);
            ``half``: those equal to it count half, so that p(i > j) = 1 - p(j > i).

    Returns:
        float64 [systems, systems]; NaN on the diagonal and for pairs without a common segment.

    Raises:
        LengthMismatchError: not [systems, segments].
        UsageError: no flips are asked for.
    """
    x = np.asarray(scores, dtype=np.float64)
    if x.ndim != 2:
        raise LengthMismatchError(f"p-values of systems need [systems, segments]; got {x.shape}")
    if count < 1:
        raise UsageError(f"at least one random sign flip is needed; got {count}")
    if ties not in _TIES:
        raise UnknownNameError("treatment of ties", str(ties), _TIES)
    x = x[:, ~np.isnan(x).all(axis=0)]
    signs = _signs(count, x.shape[1], seed)
    p = np.full((len(x), len(x)), np.nan)
    if np.isnan(x).any():
        return _spa_with_missing(p, signs, x, ties)
    pairs = np.nonzero(~np.eye(len(x), dtype=bool))
    if x.size:
        p[pairs] = _p_values(x, x @ signs.T, pairs, ties)
    return p


@dataclass(frozen=True)
class SoftPairwiseAccuracy:
    """:func:`spa` with its options, as a statistic for the tests of metrics.

    Attributes:
        count: random sign flips.
        seed: seed of the flips.
        ties: how null differences equal to the observed one count.
    """

    count: int = 1000
    seed: int = 0
    ties: Ties = "count"

    def __call__(self, human: NDArray[np.float64], metric: NDArray[np.float64]) -> float:
        """The statistic of human and metric scores [systems, segments]."""
        return spa(human, metric, count=self.count, seed=self.seed, ties=self.ties)

    def score_draws(
        self, human: NDArray[np.float64], metric: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The statistic of many metric scores [draws, systems, segments], without missing cells.

        People's p-values are computed once, and all sums of flipped scores in one product.
        """
        draws, systems, segments = metric.shape
        signs = _signs(self.count, segments, self.seed)
        pairs = np.triu_indices(systems, 1)
        of_people = _p_values(human, human @ signs.T, pairs, self.ties)
        flipped = (metric.reshape(-1, segments) @ signs.T).reshape(draws, systems, -1)
        of_metric = [
            _p_values(scores, of_draw, pairs, self.ties)
            for scores, of_draw in zip(metric, flipped, strict=True)
        ]
        return np.asarray(1 - np.abs(np.array(of_metric) - of_people).mean(axis=1))

    def score_exchanges(
        self,
        human: NDArray[np.float64],
        metrics: NDArray[np.float64],
        pairs: Sequence[tuple[int, int]],
    ) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
        """From exchanges to differences of two metrics' values, for pairs of metrics.

        Sums of flipped scores are linear in the scores: those of the exchanged ones are computed
        once per metric and draw, whatever the number of pairs.

        Args:
            human: scores [systems, segments], without missing ones.
            metrics: scores [metrics, systems, segments], likewise.
            pairs: numbers of metrics.

        Returns:
            A function of exchanges [draws, systems or 1, segments or 1], 0.0 or 1.0, which returns
            differences [draws, pairs].
        """
        signs = _signs(self.count, metrics.shape[2], self.seed).T
        of_people = _p_values(human, human @ signs, np.triu_indices(len(human), 1), self.ties)
        sizes = np.abs(metrics).sum(axis=2)
        ahead = _ahead(metrics, signs)

        def share(counts: NDArray[np.int64]) -> NDArray[np.float64]:
            reached, beyond = (counts[:, side] / self.count for side in (0, 1))
            return reached if self.ties == "count" else np.asarray((reached + beyond) / 2)

        def compute_block(swaps: NDArray[np.float64]) -> NDArray[np.float64]:
            moved = swaps * metrics[:, None]  # [metrics, draws, systems, segments]
            shifts, gains = np.abs(moved).sum(axis=3), _ahead(moved, signs)
            differences = np.empty((len(swaps), len(pairs)))
            for k, (i, j) in enumerate(pairs):
                reached = loops.exchanged_flips(
                    ahead, gains, sizes, shifts, int(i), int(j), _ROUNDING
                )
                first, second = (
                    1 - np.abs(share(counts) - of_people).mean(axis=1) for counts in reached
                )
                differences[:, k] = first - second
            return differences

        def nulls(swaps: NDArray[np.float64]) -> NDArray[np.float64]:
            step = max(1, _ROOM // ahead.size)
            return np.concatenate(
                [compute_block(swaps[k : k + step]) for k in range(0, len(swaps), step)]
            )

        return nulls


def _signs(count: int, segments: int, seed: int) -> NDArray[np.float64]:
    # the generator and rounding of mt-metrics-eval, so that its seed gives its draws
    draws = np.random.default_rng(seed).random(size=(count, segments), dtype=np.float32)
    return np.where(np.rint(draws) > 0, 1.0, -1.0)


def _ahead(scores: NDArray[np.float64], signs: NDArray[np.float64]) -> NDArray[np.float64]:
    # sums of flipped scores less that of the scores, [..., segments] -> [..., flips]
    rows = scores.reshape(-1, len(signs))
    ahead = rows @ signs - rows.sum(axis=1)[:, None]
    return np.asarray(ahead.reshape(*scores.shape[:-1], -1))


def _p_values(
    scores: NDArray[np.float64],
    flipped: NDArray[np.float64],
    pairs: tuple[NDArray[np.int64], ...],
    ties: Ties,
) -> NDArray[np.float64]:
    # scores [systems, segments], sums of flipped scores [systems, flips] -> p [pairs]
    first, second = pairs
    sizes = np.abs(scores).sum(axis=1)
    ahead = flipped - scores.sum(axis=1)[:, None]  # null less observed: a difference of these
    return _share(ahead[first] - ahead[second], _ROUNDING * (sizes[first] + sizes[second]), ties)


def _share(
    excess: NDArray[np.float64], slack: NDArray[np.float64], ties: Ties
) -> NDArray[np.float64]:
    # null less observed differences [pairs, flips] -> p [pairs]
    reached = (excess >= -slack[:, None]).mean(axis=1)
    if ties == "count":
        return np.asarray(reached)
    return np.asarray((reached + (excess > slack[:, None]).mean(axis=1)) / 2)


def _spa_with_missing(
    p: NDArray[np.float64], signs: NDArray[np.float64], x: NDArray[np.float64], ties: Ties
) -> NDArray[np.float64]:
    present, filled = ~np.isnan(x), np.nan_to_num(x)
    for i in range(len(x)):
        both = present[i] & present
        differences = np.where(both, filled[i] - filled, 0.0)
        slack = _ROUNDING * np.abs(differences).sum(axis=1)
        excess = differences @ signs.T - differences.sum(axis=1)[:, None]
        p[i] = np.where(both.any(axis=1), _share(excess, slack, ties), np.nan)
    np.fill_diagonal(p, np.nan)
    return p


# Statistics of cells, by name, under a grouping.


_DIGITS = 13  # of system means, against the largest; what lies beyond is rounding


class GroupedStatistic(NamedTuple):
    """A statistic of human and metric scores [systems, items], under a grouping."""

    statistic: str | Callable[[NDArray[np.float64], NDArray[np.float64]], float]
    grouping: Grouping

    @property
    def is_pearson(self) -> bool:
        """True if sums over cells are all that is needed, and draws cost pairs next to nothing."""
        return self.statistic == "pearson"

    @property
    def pair_statistic(self) -> Callable[[Concordance], NDArray[np.float64]] | None:
        """From pairs counted within each item to the statistic of items, where that is all."""
        if self.grouping != "item" or callable(self.statistic):
            return None
        return {"kendall_b": tau_b, "pairwise_accuracy": accuracy}.get(self.statistic)

    def groups(self, human: NDArray[np.float64], metric: NDArray[np.float64]) -> PairedRows:
        """PairedRows of every draw, stacked: metric scores [draws, systems, items]."""
        shape = metric.shape
        holes = np.where(np.isnan(human) | np.isnan(metric), np.nan, 0.0)
        sides = (human + holes, metric + holes)
        if self.grouping == "none":
            return PairedRows(*(side.reshape(shape[0], -1) for side in sides))
        if self.grouping == "item":
            sides = (sides[0].swapaxes(1, 2), sides[1].swapaxes(1, 2))
        return PairedRows(*(np.ascontiguousarray(s).reshape(-1, s.shape[2]) for s in sides))

    def score_draws(
        self, human: NDArray[np.float64], metric: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The statistic of every draw: metric scores [draws, systems, items] -> [draws]."""
        if isinstance(self.statistic, SoftPairwiseAccuracy) and metric.shape[1] > 1:
            complete = ~(np.isnan(human) | np.isnan(metric)).any(axis=(0, 1))
            # cells of one item mostly miss for all systems and draws, or for none
            if complete.any() and np.isnan(human + metric)[..., ~complete].all():
                return self.statistic.score_draws(human[:, complete], metric[..., complete])
        if callable(self.statistic):
            return np.array([self.statistic(human, scores) for scores in metric], dtype=np.float64)
        values = ROW_STATISTICS[self.statistic](self.groups(human, metric))
        return mean_of_known(values.reshape(len(metric), -1))

    def score_cells(self, human: NDArray[np.float64], metric: NDArray[np.float64]) -> float:
        """The statistic of one pair of [systems, items] arrays."""
        return float(self.score_draws(human, metric[None])[0])

    def score_metrics(
        self,
        human: NDArray[np.float64],
        metrics: NDArray[np.float64],
        present: NDArray[np.bool_],
    ) -> NDArray[np.float64]:
        """The statistic of each metric [metrics] on its own cells."""
        values = np.full(len(metrics), np.nan)
        for k, (scores, cells) in enumerate(zip(metrics, present, strict=True)):
            if cells.any():
                values[k] = self.score_cells(human, np.where(cells, scores, np.nan))
        return values

    def score_system_draws(
        self, human: NDArray[np.float64], metric: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The statistic of each draw of system scores [draws, systems], equal up to rounding.

        People's are [systems], or of every draw.
        """
        human, metric = _settle_means(np.broadcast_to(human, metric.shape)), _settle_means(metric)
        if callable(self.statistic):
            pairs = zip(human, metric, strict=True)
            return np.array([self.statistic(h, m) for h, m in pairs], dtype=np.float64)
        holes = np.where(np.isnan(human) | np.isnan(metric), np.nan, 0.0)
        return ROW_STATISTICS[self.statistic](PairedRows(human + holes, metric + holes))


def grouped_statistic(
    statistic: str | Callable[[NDArray[np.float64], NDArray[np.float64]], float],
    grouping: Grouping,
) -> GroupedStatistic:
    """A measure whose parts exist and fit together."""
    if not callable(statistic) and statistic not in ROW_STATISTICS:
        raise UnknownNameError("statistic", str(statistic), ROW_STATISTICS)
    if grouping not in GROUPINGS:
        raise UnknownNameError("grouping", str(grouping), GROUPINGS)
    if grouping != "none" and callable(statistic):
        raise UsageError(
            f"grouping {grouping!r} belongs to named statistics; a function does its own grouping"
        )
    return GroupedStatistic(statistic, grouping)


def score_arrays(
    human: ArrayLike, metrics: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Human scores [systems, items] and metric scores [metrics, systems, items].

    System scores come as one item.
    """
    h, m = np.asarray(human, dtype=np.float64), np.asarray(metrics, dtype=np.float64)
    if m.shape[1:] == h.shape and h.ndim in (1, 2):
        return (h, m) if h.ndim == 2 else (h[:, None], m[:, :, None])
    raise LengthMismatchError(
        "human scores are [systems] or [systems, items], and metric scores have one more axis in"
        f" front, one row per metric; shapes are {h.shape} and {m.shape}"
    )


def _settle_means(means: NDArray[np.float64]) -> NDArray[np.float64]:
    # means of the same scores summed in another order must tie
    largest = float(np.nanmax(np.abs(means), initial=0.0))
    if not 0 < largest < np.inf:
        return means
    return np.asarray(np.round(means / largest, _DIGITS) * largest)
