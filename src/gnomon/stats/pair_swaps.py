"""Permutation test of tie-aware accuracy that exchanges decisions instead of scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.errors import LengthMismatchError, UsageError
from gnomon.stats._joint import all_pairs
from gnomon.stats._judge import Judge, PairTest
from gnomon.stats._rows import Grouping, arranged
from gnomon.stats._statistics import score_arrays
from gnomon.stats.agreement import acc_eq
from gnomon.stats.significance import (
    Alternative,
    EarlyStopping,
    check_alternative,
    check_count,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["pair_swap_test"]


def pair_swap_test(
    human: ArrayLike,
    metrics: ArrayLike,
    *,
    epsilons: ArrayLike,
    grouping: Grouping = "item",
    alternative: Alternative = "greater",
    count: int = 1000,
    seed: int = 0,
    plus_one: bool = True,
    early_stopping: EarlyStopping | None = None,
) -> PairTest:
    """Does one metric reach a higher acc_eq than another, each with its own tie threshold?

    Exchanging scores would ask for a new threshold in every draw. WMT24 exchanges what two metrics
    say of a *pair of outputs* instead, by one coin per pair. Only pairs that one metric alone gets
    right matter then, and each moves the difference by plus or minus its weight: the null
    difference is a sum of binomial variables, one per size of group, drawn as such.

    Args:
        human: scores [systems, items]; NaN is missing.
        metrics: scores [metrics, systems, items], higher is better; NaN is missing.
        epsilons: tie thresholds [metrics], from :func:`~gnomon.stats.calibrate_ties`.
        grouping: ``item``, ``system`` or ``none``, as in :func:`~gnomon.stats.acc_eq`.
        alternative: ``greater``: the row metric is more accurate than the column metric.
        count: number of draws.
        seed: seed of the draws.
        plus_one: see :func:`~gnomon.stats.p_value`.
        early_stopping: see :func:`~gnomon.stats.p_value`.

    Returns:
        Accuracies, differences and p-values of every ordered pair; NaN where no pair of outputs
        is left.

    Raises:
        LengthMismatchError: the shapes do not fit, or a threshold is missing.
        UsageError: a threshold is negative, or there are no draws.
    """
    check_alternative(alternative)
    check_count(count)
    h, m = score_arrays(human, metrics, "segment")
    thresholds = _thresholds(epsilons, len(m))
    statistics = [
        acc_eq(h, scores, epsilon=epsilon, grouping=grouping)
        for scores, epsilon in zip(m, thresholds, strict=True)
    ]
    found = {}
    for i, j in all_pairs(len(m)):
        groups = _sole_successes(h, m[[i, j]], (thresholds[i], thresholds[j]), grouping)
        found[i, j] = _draws(groups, count, np.random.default_rng(seed))
    return Judge(alternative, plus_one, early_stopping).table(np.array(statistics), found)


def _thresholds(epsilons: ArrayLike, metrics: int) -> list[float]:
    values = np.asarray(epsilons, dtype=np.float64)
    if values.shape != (metrics,):
        raise LengthMismatchError(
            f"every metric needs its tie threshold: {metrics} metrics, thresholds {values.shape}"
        )
    if not (values >= 0).all():
        raise UsageError(f"tie thresholds are differences of at least 0; got {values.tolist()}")
    return [float(value) for value in values]


def _sole_successes(
    human: NDArray[np.float64],
    metrics: NDArray[np.float64],
    epsilons: tuple[float, float],
    grouping: Grouping,
) -> NDArray[np.int64]:
    from gnomon.stats import _kernels

    missing = np.isnan(human) | np.isnan(metrics).any(axis=0)
    sides = [arranged(np.where(missing, np.nan, side), grouping) for side in (human, *metrics)]
    counts = _kernels.count_sole_successes(sides[0], sides[1], sides[2], epsilons)
    return np.asarray(counts[counts[:, 2] > 0])


def _draws(
    groups: NDArray[np.int64], count: int, generator: np.random.Generator
) -> tuple[float, NDArray[np.float64]]:
    # [groups, 3]: pairs right by the first alone, by the second alone, all
    if not len(groups):
        return float("nan"), np.empty(0)
    observed, null = 0.0, np.zeros(count)
    for size in np.unique(groups[:, 2]):
        first, second, _ = groups[groups[:, 2] == size].sum(axis=0)
        weight = 1 / (size * len(groups))
        observed += weight * (first - second)
        undecided = first + second
        null += weight * (2.0 * generator.binomial(undecided, 0.5, size=count) - undecided)
    return float(observed), null
