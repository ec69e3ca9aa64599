"""Paired bootstrap: intervals of correlations, and tests of their differences."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.stats.measures import (
    ROW_STATISTICS,
    GroupedStatistic,
    grouped_statistic,
    score_arrays,
)
from gnomon.stats.p_values import (
    ALL_DRAWS,
    Alternative,
    RandomDraws,
    check_alternative,
    check_confidence,
    check_count,
    slack,
)
from gnomon.stats.pair_tests import Joint, joint_cells, standardised
from gnomon.stats.paired_rows import PairedRows, arranged
from gnomon.stats.resampling import percentile_interval, resamples
from gnomon.stats.student import expanded_p

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from gnomon.stats.measures import GroupedStatistic
    from gnomon.stats.paired_rows import Grouping

__all__ = ["BootstrapTest", "bootstrap_p_value", "bootstrap_test"]


# Statistics of resampled systems and items, as far as possible from sums instead of cells.


_VANISHING = 1e-12  # variance, as a share of the mean square, that is rounding


class UnitDraws(NamedTuple):
    """Draws of systems, where there are scores of systems alone, or else of items."""

    of_systems: bool
    places: NDArray[np.int64]  # [draws, systems or items]

    @classmethod
    def draw_units(cls, human: NDArray[np.float64], *, count: int, seed: int) -> UnitDraws:
        """Draws with replacement from scores [systems], or from the columns of [systems, items]."""
        return cls(human.ndim == 1, resamples(human.shape[-1], count=count, seed=seed))

    def take(self, draw: int, cells: NDArray[np.float64]) -> NDArray[np.float64]:
        """The drawn rows or columns of [..., systems, items]."""
        drawn = self.places[draw]
        return cells[..., drawn, :] if self.of_systems else cells[..., drawn]


def multiplicities(draws: NDArray[np.int64], n: int) -> NDArray[np.float64]:
    """Count how often each draw holds each of n things [draws, n]."""
    flat = (draws + n * np.arange(len(draws))[:, None]).ravel()
    counts = np.bincount(flat, minlength=n * len(draws)).reshape(len(draws), n)
    return counts.astype(np.float64)


def replicates(
    measure: GroupedStatistic,
    human: NDArray[np.float64],
    metrics: NDArray[np.float64],
    cells: NDArray[np.bool_],
    draws: UnitDraws,
) -> NDArray[np.float64]:
    """The statistic of every draw and metric [draws, metrics], on the given cells."""
    if measure.statistic == "pairwise_accuracy" and draws.of_systems:
        return _replicate_systems(measure, human, np.where(cells, metrics, np.nan), draws.places)
    if measure.is_pearson and measure.grouping == "none":
        return _replicate_sums(human, metrics, cells, draws)
    human, metrics = np.where(cells, human, np.nan), np.where(cells, metrics, np.nan)
    if measure.grouping == "item" and not draws.of_systems:
        return _replicate_items(measure, human, metrics, draws.places)
    values = np.empty((len(draws.places), len(metrics)))
    for draw in range(len(draws.places)):
        values[draw] = measure.score_draws(draws.take(draw, human), draws.take(draw, metrics))
    return values


def _replicate_sums(
    human: NDArray[np.float64],
    metrics: NDArray[np.float64],
    cells: NDArray[np.bool_],
    draws: UnitDraws,
) -> NDArray[np.float64]:
    h = standardised(human[None], cells)[0]
    x = standardised(metrics, cells)
    features = np.stack([cells.astype(np.float64), h, h**2])
    units = np.concatenate([features, x, x**2, x * h]).sum(axis=2 if draws.of_systems else 1)
    sums = multiplicities(draws.places, units.shape[1]) @ units.T
    n, of_h, of_hh = (sums[:, [k]] for k in range(3))
    of_x, of_xx, of_xh = np.split(sums[:, 3:], 3, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        varies = [_variance(of_xx, of_x, n), _variance(of_hh, of_h, n)]
        return np.asarray((of_xh - of_x * of_h / n) / np.sqrt(varies[0] * varies[1]))


def _variance(
    squares: NDArray[np.float64], sums: NDArray[np.float64], n: NDArray[np.float64]
) -> NDArray[np.float64]:
    variance = squares - sums**2 / n
    return np.where(variance > _VANISHING * squares, variance, np.nan)


def _replicate_systems(
    measure: GroupedStatistic,
    human: NDArray[np.float64],
    metrics: NDArray[np.float64],
    systems: NDArray[np.int64],
) -> NDArray[np.float64]:
    people, scores = human[:, 0][systems], metrics[:, :, 0][:, systems]
    values = np.stack(
        [measure.score_system_draws(people, of_metric) for of_metric in scores], axis=1
    )
    return _drop_copies(values, ~np.isnan(scores + people), systems)


def _drop_copies(
    accuracies: NDArray[np.float64], known: NDArray[np.bool_], systems: NDArray[np.int64]
) -> NDArray[np.float64]:
    # accuracies [draws, metrics], known [metrics, draws, systems]; a system and its own copy tie
    # on both sides, which is no decision, and such pairs all counted as right
    copies = np.stack([_copies(scored, systems) for scored in known], axis=1)
    size = known.sum(axis=2).T
    pairs = size * (size - 1) / 2
    left = pairs - copies
    agreeing = np.where(pairs == 0, np.nan, np.round(accuracies * pairs)) - copies
    return np.asarray(agreeing / np.where(left == 0, np.nan, left))


def _copies(known: NDArray[np.bool_], systems: NDArray[np.int64]) -> NDArray[np.float64]:
    # pairs of a drawn system with itself [draws]
    same = (systems[:, :, None] == systems[:, None, :]) & known[:, :, None]
    return np.asarray((same.sum(axis=(1, 2)) - known.sum(axis=1)) / 2)


def _weighted_means(
    values: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    # values [rows, things], weights [draws, things] -> [draws, rows]
    total = weights @ (~np.isnan(values)).astype(np.float64).T
    return np.asarray(weights @ np.nan_to_num(values).T / np.where(total == 0, np.nan, total))


def _replicate_items(
    measure: GroupedStatistic,
    human: NDArray[np.float64],
    metrics: NDArray[np.float64],
    items: NDArray[np.int64],
) -> NDArray[np.float64]:
    # each item's statistic is known, and counts as often as the item is drawn
    people = arranged(human, measure.grouping)
    each = ROW_STATISTICS[str(measure.statistic)]
    values = np.stack([each(PairedRows(people, arranged(x, measure.grouping))) for x in metrics])
    return _weighted_means(values, multiplicities(items, values.shape[1]))


class BootstrapTest(NamedTuple):
    """Intervals of each metric's statistic, and a test of every ordered pair.

    - ``statistics``: the statistic of each metric on all its cells [metrics].
    - ``intervals``: lower and upper ends [2, metrics].
    - ``differences``: row metric less column metric, on the cells both have [metrics, metrics].
    - ``difference_intervals``: lower and upper ends [2, metrics, metrics].
    - ``p``: p-values that the row metric is better than the column metric [metrics, metrics].
    """

    statistics: NDArray[np.float64]
    intervals: NDArray[np.float64]
    differences: NDArray[np.float64]
    difference_intervals: NDArray[np.float64]
    p: NDArray[np.float64]


def bootstrap_test(
    human: ArrayLike,
    metrics: ArrayLike,
    *,
    statistic: str | Callable[[NDArray[np.float64], NDArray[np.float64]], float] = "pearson",
    grouping: Grouping = "none",
    confidence: float = 0.95,
    expanded: bool = False,
    draws: RandomDraws = ALL_DRAWS,
) -> BootstrapTest:
    """Resample items or systems, and estimate how far each metric's agreement with people moves.

    Items, or systems where these have one score each, are drawn with replacement, for people and
    all metrics alike; one drawn twice counts twice, but makes no pair with itself for pairwise
    accuracy of systems. Intervals are percentiles of the replicates (Deutsch et al., 2021,
    Boot-Inputs, -Systems). p-values are one-sided: that the row metric agrees better than the
    column metric. Pooled Pearson and averages over items come from sums; all else is computed anew
    in every draw.

    Args:
        human: scores [systems, items], or system scores [systems]; NaN is missing.
        metrics: scores [metrics, systems, items] or [metrics, systems], higher is better; NaN is
            missing.
        statistic: as in :func:`~gnomon.stats.permutation_test`.
        grouping: ``none``, ``item`` or ``system``.
        confidence: share of replicates inside the intervals, in (0, 1).
        expanded: whether intervals and p-values are made right for few items (see
            :func:`~gnomon.stats.student.expanded_confidence`).
        draws: how many draws, from which seed, and how they become p-values.

    Returns:
        Statistics, differences, intervals and p-values; NaN where undefined.

    Raises:
        LengthMismatchError: the shapes do not fit.
        UnknownNameError: no such statistic or grouping.
        UsageError: no draws, or a confidence that is no share.
    """
    measured = grouped_statistic(statistic, grouping)
    check_count(draws.count)
    check_confidence(confidence)
    h, m = score_arrays(human, metrics)
    present = ~(np.isnan(m) | np.isnan(h))
    statistics = measured.score_metrics(h, m, present)
    replicated: dict[tuple[int, int], Replicated] = {}
    sets = joint_cells(present, [(i, j) for i in range(len(m)) for j in range(i, len(m))])
    for joint in sets:
        drawn = UnitDraws.draw_units(np.asarray(human), count=draws.count, seed=draws.seed)
        chosen = m[joint.metrics]
        values = replicates(measured, h, chosen, joint.cells, drawn)
        observed = measured.score_metrics(h, chosen, np.broadcast_to(joint.cells, chosen.shape))
        items = int(joint.cells.any(axis=0).sum()) if expanded else None
        replicated.update(Replicated.pair_differences(joint, values, observed, items))
    return bootstrap_table(statistics, replicated, confidence, plus_one=draws.plus_one)


def bootstrap_p_value(
    replicates: ArrayLike,
    observed: float,
    *,
    alternative: Alternative = "two-sided",
    plus_one: bool = True,
    drawn: int | None = None,
) -> float:
    """p-value of a difference from its bootstrap replicates.

    It is the share of replicates that do not have the sign in question (Koehn, 2004), doubled for
    ``two-sided``.

    Args:
        replicates: differences of resamples [draws]; NaN does not count.
        observed: the difference observed.
        alternative: ``greater`` (the difference is positive), ``less`` or ``two-sided``.
        plus_one: see :func:`~gnomon.stats.p_value`.
        drawn: how many things each replicate was drawn of, for p-values that are right for few of
            them, too: see :func:`~gnomon.stats.student.expanded_p`. None: the shares as they
            are.

    Returns:
        p; NaN without defined replicates.

    Raises:
        UnknownNameError: no such alternative.

    >>> bootstrap_p_value([0.1, 0.2, -0.1], 0.1, alternative="greater")
    0.5
    """
    check_alternative(alternative)
    values = np.asarray(replicates, dtype=np.float64)
    values = values[~np.isnan(values)]
    if not len(values) or np.isnan(observed):
        return float("nan")
    few = drawn is not None and drawn > 1
    right = partial(expanded_p, n=drawn) if few and drawn is not None else float
    zero = slack(values, observed)
    against = {"greater": int((values <= zero).sum()), "less": int((values >= -zero).sum())}
    shares = {k: (r + plus_one) / (len(values) + plus_one) for k, r in against.items()}
    shares = {k: right(share) if share else 0.0 for k, share in shares.items()}
    if alternative == "two-sided":
        return min(1.0, 2 * min(shares.values()))
    return shares[alternative]


class Replicated(NamedTuple):
    """Replicates [draws], the observed value, and of how many things each was drawn, if it counts.

    Where ``drawn`` is given, intervals and p-values are made right for few of them.
    """

    replicates: NDArray[np.float64]
    observed: float
    drawn: int | None = None

    @classmethod
    def pair_differences(
        cls,
        joint: Joint,
        values: NDArray[np.float64],  # replicates [draws, things]
        observed: NDArray[np.float64],  # observed values [things]
        drawn: int | None = None,
    ) -> dict[tuple[int, int], Replicated]:
        """Differences of pairs, and the value itself for a pair of one thing with itself."""
        replicated = {}
        for pair, a, b in zip(joint.pairs, *joint.places, strict=True):
            single = cls(values[:, a], float(observed[a]), drawn)
            both = cls(values[:, a] - values[:, b], float(observed[a] - observed[b]), drawn)
            replicated[pair] = single if a == b else both
        return replicated


def bootstrap_table(
    statistics: NDArray[np.float64],
    found: dict[tuple[int, int], Replicated],
    confidence: float,
    *,
    plus_one: bool,
) -> BootstrapTest:
    """Intervals and p-values of all that was replicated."""
    m = len(statistics)
    intervals, difference_intervals = np.full((2, m), np.nan), np.full((2, m, m), np.nan)
    differences, p = np.full((m, m), np.nan), np.full((m, m), np.nan)
    for (i, j), (values, observed, drawn) in found.items():
        ends = np.array(percentile_interval(values, confidence, drawn))
        if i == j:
            intervals[:, i], differences[i, i] = ends, observed - observed
            continue
        differences[i, j], differences[j, i] = observed, -observed
        difference_intervals[:, i, j], difference_intervals[:, j, i] = ends, -ends[::-1]
        directions: dict[Alternative, tuple[int, int]] = {"greater": (i, j), "less": (j, i)}
        for said, cell in directions.items():
            p[cell] = bootstrap_p_value(
                values, observed, alternative=said, plus_one=plus_one, drawn=drawn
            )
    return BootstrapTest(statistics, intervals, differences, difference_intervals, p)
