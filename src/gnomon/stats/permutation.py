"""Permutation tests of the difference between two metrics in agreement with people."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.core.errors import LengthMismatchError, UsageError
from gnomon.native import pairs as loops
from gnomon.stats.agreement import item_accuracies
from gnomon.stats.measures import (
    GroupedStatistic,
    SoftPairwiseAccuracy,
    grouped_statistic,
    score_arrays,
)
from gnomon.stats.p_values import ALL_DRAWS, RandomDraws, check_count
from gnomon.stats.pair_tests import (
    Joint,
    PairTest,
    Swap,
    blocks,
    check_swap,
    decided,
    exchanged,
    joint_cells,
    list_pairs,
    standardised,
    table_of_pairs,
)
from gnomon.stats.paired_rows import (
    Concordance,
    Grouping,
    PairedRows,
    arranged,
    centred_rows,
    mean_of_known,
    members,
    pair_counts,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    # exchanges [draws, systems or 1, items or 1], 0.0 or 1.0 -> null differences [draws, pairs]
    Nulls = Callable[[NDArray[np.float64]], NDArray[np.float64]]
    # scores of people and of two metrics, each [items, systems]
    _Sides = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]

__all__ = [
    "PairTest",
    "Swap",
    "input_swap_test",
    "permutation_test",
]


# Differences of a statistic between two metrics whose scores were exchanged at random.
#
# Three ways to the same numbers: Pearson needs sums over exchanged cells alone, and these are
# linear in each metric, so that products of matrices serve all pairs (soft pairwise accuracy does
# likewise, see its class); of pairs of systems within an item, 64 draws are counted at once; all
# other statistics are computed from exchanged scores.


_ROOM = 1 << 18  # numbers in one array of all groups, draws, and some pairs
_FEW = 256  # systems, so that pairs of them can be counted in 16 bits
_VANISHING = 1e-12  # variance, as a share of the mean square, that is rounding


class NullDifferences(NamedTuple):
    """Observed differences [pairs] of a set of cells, and how to draw null ones."""

    observed: NDArray[np.float64]
    nulls: Nulls


def differences(
    measure: GroupedStatistic,
    human: NDArray[np.float64],
    metrics: NDArray[np.float64],
    joint: Joint,
) -> NullDifferences:
    """Observed and null differences (first less second) of the pairs that share these cells."""
    first, second = joint.places
    scores = standardised(metrics[joint.metrics], joint.cells)
    if measure.is_pearson:
        values, nulls = _nulls_from_sums(measure, human, scores, joint)
    else:
        human, scores = (np.where(joint.cells, side, np.nan) for side in (human, scores))
        values = measure.score_draws(human, scores)
        if isinstance(measure.statistic, SoftPairwiseAccuracy) and _has_whole_items(joint.cells):
            nulls = _nulls_from_flips(measure.statistic, human, scores, joint)
        elif measure.pair_statistic is not None and len(human) < _FEW:
            nulls = _nulls_from_pairs(measure, human, scores, joint)
        else:
            statistic = partial(measure.score_draws, human)
            nulls = _nulls_from_scores(statistic, scores, joint)
    return NullDifferences(values[first] - values[second], nulls)


def _nulls_from_scores(
    statistic: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    scores: NDArray[np.float64],
    joint: Joint,
) -> Nulls:
    places = list(zip(*joint.places, strict=True))

    def nulls(swaps: NDArray[np.float64]) -> NDArray[np.float64]:
        differences = np.empty((len(swaps), len(places)))
        exchange = swaps > 0
        for k, (i, j) in enumerate(places):
            first = statistic(np.where(exchange, scores[j], scores[i]))
            second = statistic(np.where(exchange, scores[i], scores[j]))
            differences[:, k] = first - second
        return differences

    return nulls


def _group_cells(cells: NDArray[np.float64], grouping: Grouping) -> NDArray[np.float64]:
    # [..., systems, items] -> [groups, members, ...]
    if grouping == "none":
        return cells.reshape(1, *cells.shape[:-2], -1).swapaxes(1, -1)
    front = {"item": (-1, -2), "system": (-2, -1)}[grouping]
    return np.ascontiguousarray(np.moveaxis(cells, front, (0, 1)))


def _nulls_from_sums(
    measure: GroupedStatistic,
    human: NDArray[np.float64],
    scores: NDArray[np.float64],
    joint: Joint,
) -> tuple[NDArray[np.float64], Nulls]:
    first, second = joint.places
    n, h = _human_groups(measure, human, joint)
    features = np.stack([scores, scores**2, scores * h])  # [3, metrics, systems, items]
    shape = features.shape[2:]
    units = _group_cells(
        features.reshape(-1, *shape), measure.grouping
    )  # [groups, units, 3 metrics]
    totals = units.sum(axis=1).reshape(len(units), 1, 3, -1)

    def nulls(swaps: NDArray[np.float64]) -> NDArray[np.float64]:
        drawn = np.broadcast_to(swaps, (len(swaps), *shape))
        moved = np.matmul(_group_cells(drawn, measure.grouping).swapaxes(1, 2), units)
        moved = moved.reshape(len(units), len(swaps), 3, -1)
        differences = []
        for k in range(0, len(joint.pairs), step := max(1, _ROOM // moved[..., 0].size)):
            i, j = first[k : k + step], second[k : k + step]
            gain = moved[..., j] - moved[..., i]
            r = _mean_correlation(totals[..., i] + gain, n)
            differences.append(r - _mean_correlation(totals[..., j] - gain, n))
        return np.concatenate(differences, axis=1)

    return _mean_correlation(totals, n)[0], nulls


def _human_groups(
    measure: GroupedStatistic, human: NDArray[np.float64], joint: Joint
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    # cells of each group, NaN where people's scores do not vary; people's scores, each group with
    # mean 0 and variance 1
    rows = arranged(np.where(joint.cells, human, np.nan), measure.grouping)
    n, centred = members(rows).astype(np.float64), centred_rows(rows)
    n[~centred.any(axis=1)] = np.nan
    deviation = np.sqrt(np.einsum("ij,ij->i", centred, centred) / n)
    scaled = np.nan_to_num(centred / deviation[:, None])
    if measure.grouping == "item":
        scaled = scaled.T
    return n, scaled.reshape(human.shape)


def _mean_correlation(sums: NDArray[np.float64], n: NDArray[np.float64]) -> NDArray[np.float64]:
    # sums of x, x^2 and x h [groups, draws, 3, pairs], h with mean 0 and variance 1
    n = n[:, None, None]
    square = sums[:, :, 1]
    variance = square - sums[:, :, 0] ** 2 / n
    variance = np.where(variance > _VANISHING * square, variance, np.nan)
    r = sums[:, :, 2] / np.sqrt(variance * n)
    if len(r) == 1:
        return np.asarray(r[0])
    return mean_of_known(r.reshape(len(r), -1).T).reshape(r.shape[1:])


def _nulls_from_pairs(
    measure: GroupedStatistic, human: NDArray[np.float64], scores: NDArray[np.float64], joint: Joint
) -> Nulls:
    # Pairs of systems counted within items. The difference of two metrics' counts is a sum over
    # cells, and so is that of their statistics in items where no exchange makes ties, which change
    # the divisors of counts. Pairs of the other items are counted in 64 draws at once.
    first, second = joint.places
    people, *by_item = (np.ascontiguousarray(side.T) for side in (human, *scores))
    sides = [(people, by_item[i], by_item[j]) for i, j in zip(first, second, strict=True)]
    alike = measure.statistic == "pairwise_accuracy"
    # divisors of the counts of an item if the metric ties nothing
    counts = pair_counts(PairedRows(people, people))
    every = counts.total.astype(np.float64)
    divisors = every if alike else np.sqrt(every * counts.concordant)
    defined = divisors > 0
    weights = np.divide(0.5, divisors, out=np.zeros(len(people)), where=defined)
    leanings = np.empty((len(sides), *people.shape), dtype=np.int16)
    tying = []  # of each pair of metrics, the items to count
    for k, three in enumerate(sides):
        leanings[k], ties = loops.leanings(*three, alike)
        tying.append(np.flatnonzero(ties & defined & (not alike)))
        leanings[k, tying[k]] = 0

    def nulls(swaps: NDArray[np.float64]) -> NDArray[np.float64]:
        drawn = np.broadcast_to(swaps, (len(swaps), *human.shape))
        signs = ((1 - 2 * drawn) * weights).swapaxes(1, 2).reshape(len(swaps), -1)
        step = max(1, _ROOM // leanings[0].size)
        batches = (leanings[k : k + step] for k in range(0, len(leanings), step))
        gains = np.concatenate(
            [signs @ some.reshape(len(some), -1).T.astype(np.float64) for some in batches], axis=1
        )
        # [64, systems, items] -> [items, systems], a bit for each draw
        octets = np.packbits(drawn > 0, axis=0, bitorder="little").transpose(2, 1, 0)
        words = np.ascontiguousarray(octets).view("<u8")[..., 0]
        for k, (three, items) in enumerate(zip(sides, tying, strict=True)):
            gains[:, k] = exchange_pair(three, words, items, gains[:, k])
        return gains

    def exchange_pair(
        three: _Sides,
        words: NDArray[np.uint64],
        items: NDArray[np.int64],
        gains: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        # the difference of two means: sums of the items that tie nothing, and those counted
        people, a, b = three
        sure = defined.sum() - len(items)
        first, second = _gains_of_exchanges(
            measure, (people[items], a[items], b[items]), words[items]
        )
        counted = members(first)
        if (counted != members(second)).any():
            first, second = _gains_of_exchanges(measure, three, words)
            return mean_of_known(first) - mean_of_known(second)
        size = (sure + counted).astype(np.float64)
        gains = gains + np.nansum(first, axis=1) - np.nansum(second, axis=1)
        return np.asarray(gains / np.where(size == 0, np.nan, size))

    return nulls


def _gains_of_exchanges(
    measure: GroupedStatistic, three: _Sides, words: NDArray[np.uint64]
) -> list[NDArray[np.float64]]:
    # the statistic of each item [draws, items], of each of two metrics
    assert measure.pair_statistic is not None  # noqa: S101  # who calls has looked
    counts, totals = loops.exchanged_pairs(*three, words)
    return [measure.pair_statistic(_concordance(some, totals)) for some in counts]


def _concordance(counts: NDArray[np.int16], known: NDArray[np.int64]) -> Concordance:
    # pairs concordant, tied by the metric, tied by it alone [3, items, draws] -> [draws, items]
    agreed, tied, tied_alone = np.ascontiguousarray(counts.swapaxes(1, 2), dtype=np.int64)
    every, untied = known.T
    tied_both = tied - tied_alone
    tied_people = every - untied - tied_both
    return Concordance(agreed, untied - tied_alone - agreed, tied_people, tied_alone, tied_both)


def _has_whole_items(cells: NDArray[np.bool_]) -> bool:
    # two systems or more, and an item's cells are all there or none
    return len(cells) > 1 and bool((cells == cells.any(axis=0)).all())


def _nulls_from_flips(
    statistic: SoftPairwiseAccuracy,
    human: NDArray[np.float64],
    scores: NDArray[np.float64],
    joint: Joint,
) -> Nulls:
    whole = joint.cells[0]
    score_exchanges = statistic.score_exchanges(
        human[:, whole], scores[..., whole], list(zip(*joint.places, strict=True))
    )
    return lambda swaps: score_exchanges(swaps if swaps.shape[2] == 1 else swaps[..., whole])


def permutation_test(
    human: ArrayLike,
    metrics: ArrayLike,
    *,
    statistic: str | Callable[[NDArray[np.float64], NDArray[np.float64]], float] = "pearson",
    grouping: Grouping = "none",
    swap: Swap = "cells",
    draws: RandomDraws = ALL_DRAWS,
) -> PairTest:
    """Does one metric agree better with people than another? (Deutsch et al., 2021).

    Under the null hypothesis two metrics, each standardised over the cells that people and both
    metrics have scored, are exchangeable. Scores are exchanged at random and the difference of the
    statistic computed again:

    - ``cells``: every cell by its own coin (PERM-BOTH as mt-metrics-eval draws it);
    - ``rows+cols``: every system and every item by a coin; a cell is exchanged when exactly one
      of its two coins says so (PERM-BOTH of the paper and of nlpstats);
    - ``inputs``: all systems of an item together (PERM-INPUTS);
    - ``systems``: all items of a system together (PERM-SYSTEMS).

    p-values are one-sided: that the row metric agrees better than the column metric.

    All pairs of metrics share their exchanges: each p-value has the same distribution as with
    exchanges of its own, but the Monte-Carlo errors of different pairs are correlated, so that
    with bad luck many are off in one direction. Draws do not depend on the order of metrics.

    Args:
        human: scores [systems, items], or system scores [systems]; NaN is missing.
        metrics: scores [metrics, systems, items] or [metrics, systems], higher is better; NaN is
            missing, and may be so in other cells for every metric.
        statistic: ``pearson``, ``spearman``, ``kendall_b``, ``kendall_c``, ``pairwise_accuracy``,
            or a function of human and metric scores [systems, items], with NaN on both for missing
            cells. SPA is :class:`~gnomon.stats.SoftPairwiseAccuracy`, which shares work between
            draws.
        grouping: ``none``, ``item`` or ``system``, as in :func:`~gnomon.stats.pearson`.
        swap: what is exchanged together.
        draws: how many draws, from which seed, and how they become p-values.

    Returns:
        Statistics, differences and p-values of every ordered pair; p is NaN where either
        statistic is undefined (constant scores, fewer than two common cells) and on the diagonal.

    Raises:
        LengthMismatchError: the shapes do not fit.
        UnknownNameError: no such statistic, grouping or exchange.
        UsageError: no draws, or a grouping that the statistic cannot have.

    >>> people = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    >>> result = permutation_test(people, [[1, 2, 3, 4, 5, 6], [3, 1, 2, 6, 5, 4]])
    >>> result.differences.round(3).tolist()
    [[0.0, 0.4], [-0.4, 0.0]]
    """
    measured = grouped_statistic(statistic, grouping)
    check_swap(swap)
    check_count(draws.count)
    h, m = score_arrays(human, metrics)
    if not callable(statistic):  # a function may know how many systems and items there are
        h, m = _drop_unused(h, m)
    present = ~(np.isnan(m) | np.isnan(h))
    drawn = _Draws(measured, h, m, swap, draws)
    differences = {}
    for joint in joint_cells(present, list_pairs(len(m))):
        differences.update(drawn.draw_pairs(joint))
    return table_of_pairs(measured.score_metrics(h, m, present), differences, draws)


def _drop_unused(
    human: NDArray[np.float64], metrics: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    # systems and items without any cell to compare take no draws
    cells = (~np.isnan(metrics)).any(axis=0) & ~np.isnan(human)
    rows, columns = cells.any(axis=1), cells.any(axis=0)
    return human[rows][:, columns], metrics[:, rows][:, :, columns]


class _Draws(NamedTuple):
    """Observed and null differences of pairs of metrics."""

    measure: GroupedStatistic
    human: NDArray[np.float64]
    metrics: NDArray[np.float64]
    swap: Swap
    draws: RandomDraws

    def draw_pairs(self, joint: Joint) -> dict[tuple[int, int], tuple[float, NDArray[np.float64]]]:
        if self.draws.early_stopping is not None and not self.measure.is_pearson:
            # draws are dear and pairs share none of their cost: stop at each pair's verdict
            alone = (Joint(joint.cells, [pair]) for pair in joint.pairs)
            return {pair_alone.pairs[0]: self._until_decided(pair_alone) for pair_alone in alone}
        observed, of_block = self._differences(joint)
        count = self.draws.count
        null = np.concatenate([of_block(block) for block in blocks(count)])[:count]
        return {p: (float(observed[k]), null[:, k]) for k, p in enumerate(joint.pairs)}

    def _until_decided(self, joint: Joint) -> tuple[float, NDArray[np.float64]]:
        (observed,), of_block = self._differences(joint)
        null = np.empty(0)
        for block in blocks(self.draws.count):
            if decided(null, observed, self.draws.early_stopping):
                break
            null = np.concatenate([null, of_block(block)[:, 0]])
        return float(observed), null[: self.draws.count]

    def _differences(
        self, joint: Joint
    ) -> tuple[NDArray[np.float64], Callable[[int], NDArray[np.float64]]]:
        observed, nulls = differences(self.measure, self.human, self.metrics, joint)
        shape = (self.metrics.shape[1], self.metrics.shape[2])

        def compute_block(block: int) -> NDArray[np.float64]:
            return nulls(exchanged(self.swap, shape, (self.draws.seed,), block).astype(np.float64))

        return observed, compute_block


def input_swap_test(
    human: ArrayLike,
    metrics: ArrayLike,
    *,
    epsilons: ArrayLike,
    draws: RandomDraws = ALL_DRAWS,
) -> PairTest:
    """Does one metric reach a higher acc_eq by item than another, whole items being exchanged?

    What two metrics, each with its own tie threshold, say of all outputs of an item is exchanged by
    one coin per item (PERM-INPUTS): the difference of their accuracies on the item keeps its size
    and takes a random sign. Outputs of one item need not be independent.

    Args:
        human: scores [systems, items]; NaN is missing.
        metrics: scores [metrics, systems, items], higher is better; NaN is missing.
        epsilons: tie thresholds [metrics], from :func:`~gnomon.stats.calibrate_ties`.
        draws: how many draws, from which seed, and how they become p-values.

    Returns:
        Accuracies, differences and p-values of every ordered pair; NaN where no pair of outputs
        is left.

    Raises:
        LengthMismatchError: the shapes do not fit, or a threshold is missing.
        UsageError: a threshold is negative, or there are no draws.
    """
    check_count(draws.count)
    h, m = score_arrays(human, metrics)
    thresholds = _thresholds(epsilons, len(m))
    each = np.array([item_accuracies(h, x, e) for x, e in zip(m, thresholds, strict=True)])
    coins = np.concatenate(
        [exchanged("inputs", h.shape, (draws.seed,), block)[:, 0] for block in blocks(draws.count)]
    )[: draws.count]
    drawn = {}
    for i, j in list_pairs(len(m)):
        both = np.isnan(h) | np.isnan(m[i]) | np.isnan(m[j])
        if both.any():  # on what both have scored
            people = np.where(both, np.nan, h)
            first, second = (item_accuracies(people, m[k], thresholds[k]) for k in (i, j))
        else:
            first, second = each[i], each[j]
        drawn[i, j] = _sum_signed(first - second, np.where(coins, -1.0, 1.0))
    statistics = np.array([mean_of_known(items[None])[0] for items in each])
    return table_of_pairs(statistics, drawn, draws)


def _sum_signed(
    gains: NDArray[np.float64], signs: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64]]:
    # the mean of known gains, and that with random signs [draws, gains]
    size = int((~np.isnan(gains)).sum())
    if not size:
        return float("nan"), np.empty(0)
    gains = np.nan_to_num(gains)
    return float(gains.sum() / size), signs @ gains / size


def _thresholds(epsilons: ArrayLike, metrics: int) -> list[float]:
    values = np.asarray(epsilons, dtype=np.float64)
    if values.shape != (metrics,):
        raise LengthMismatchError(
            f"every metric needs its tie threshold: {metrics} metrics, thresholds {values.shape}"
        )
    if not (values >= 0).all():
        raise UsageError(f"tie thresholds are differences of at least 0; got {values.tolist()}")
    return [float(value) for value in values]
