"""Tie calibration: the difference of metric scores below which calling a tie fits people best."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.errors import UsageError
from gnomon.stats._rows import Grouping, Rows, average, members, paired_rows
from gnomon.stats.agreement import _accuracies, acc_eq

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["TieCalibration", "acc_eq_held_out", "calibrate_ties"]

_PAIRS_PER_BIN = 16
_MOST_BINS = 1 << 16
_ROUNDING = 1e-12  # accuracies closer than this are equal


class TieCalibration(NamedTuple):
    """A tie threshold and the accuracy that it reaches on the data it was found on."""

    epsilon: float
    accuracy: float


def calibrate_ties(
    human: ArrayLike, metric: ArrayLike, *, grouping: Grouping = "item"
) -> TieCalibration:
    """The tie threshold that maximises :func:`acc_eq` (Deutsch et al., 2023, section 5).

    All pairs are searched, not a sample; of equally good thresholds the smallest is taken. The
    candidates are 0 and the differences of pairs that people tie: only these can raise the
    accuracy. Pairs are binned by their difference first and sorted only in bins that can hold the
    maximum, so that memory does not grow with the number of pairs.

    The accuracy is fitted to the data it is measured on; :func:`acc_eq_held_out` is not.

    Args:
        human: scores [systems, items]; NaN is missing.
        metric: scores of the same shape, higher is better; NaN is missing.
        grouping: ``item``, ``system`` or ``none``.

    Returns:
        The threshold and acc_eq at it; both NaN without any pair.

    Raises:
        LengthMismatchError: the shapes differ, or do not fit the grouping.

    >>> calibrate_ties([[1, 1], [1, 2], [2, 2]], [[1, 1], [1.25, 2], [2, 2]])
    TieCalibration(epsilon=0.25, accuracy=1.0)
    """
    rows = paired_rows(human, metric, grouping)
    epsilon = _best_epsilon(rows)
    accuracy = average(_accuracies(rows, epsilon)) if epsilon >= 0 else float("nan")
    return TieCalibration(epsilon, accuracy)


def acc_eq_held_out(
    human: ArrayLike,
    metric: ArrayLike,
    *,
    grouping: Grouping = "item",
    folds: int = 2,
    seed: int = 0,
) -> float:
    """acc_eq with thresholds calibrated on other items than those they are applied to.

    Items are dealt at random into folds; each fold is scored with the threshold that
    :func:`calibrate_ties` finds on all others. Folds are averaged by their numbers of items.

    Args:
        human: scores [systems, items]; NaN is missing.
        metric: scores of the same shape, higher is better; NaN is missing.
        grouping: ``item``, ``system`` or ``none``; pairs never cross folds.
        folds: number of folds, at least 2.
        seed: seed of the deal.

    Returns:
        Accuracy in [0, 1]; NaN where a fold leaves nothing to calibrate on or to score.

    Raises:
        UsageError: fewer than two folds, or more folds than items.
        LengthMismatchError: the shapes differ, or are not [systems, items].
    """
    h, m = (side.T for side in paired_rows(human, metric, "item"))
    items = h.shape[1]
    if not 2 <= folds <= items:
        raise UsageError(f"folds: 2 up to the number of items ({items}); got {folds}")
    fold = np.random.default_rng(seed).permutation(np.arange(items) % folds)
    weighted = 0.0
    for k in range(folds):
        held_out = fold == k
        epsilon = _best_epsilon(paired_rows(h[:, ~held_out], m[:, ~held_out], grouping))
        if np.isnan(epsilon):
            return float("nan")
        accuracy = acc_eq(h[:, held_out], m[:, held_out], epsilon=epsilon, grouping=grouping)
        weighted += accuracy * int(held_out.sum())
    return float(weighted / items)


def _best_epsilon(rows: Rows) -> float:
    from gnomon.stats import _kernels

    n = members(rows.x)
    pairs = n * (n - 1) // 2
    scored = pairs > 0
    if not scored.any():
        return float("nan")
    weights = np.where(scored, 1 / np.maximum(pairs, 1), 0.0) / scored.sum()
    widest = _widest(rows.y)
    if widest == 0:
        return 0.0
    bins = int(np.clip(pairs.sum() // _PAIRS_PER_BIN, 1, _MOST_BINS))
    mass, sizes = _binned(rows, weights, widest, bins)
    gained = np.concatenate([[0.0], np.cumsum(mass[0] - mass[1])])  # at the edges of bins
    reachable = gained[:-1] + mass[0]  # ties first: more is not possible inside a bin
    wanted = reachable >= gained.max() - _ROUNDING
    size = int(sizes[wanted].sum())
    found = _kernels.pairs_of_bins(rows.x, rows.y, weights, widest, wanted, size)
    return _first_maximum(*found, gained)


def _binned(
    rows: Rows, weights: NDArray[np.float64], widest: float, bins: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    # weights of pairs tied by people and of concordant ones [2, bins], and both counted [bins]
    from gnomon.stats import _kernels

    mass, sizes = np.zeros((2, bins)), np.zeros(bins, dtype=np.int64)
    for weight in np.unique(weights[weights > 0]):
        alike = weights == weight
        pairs = _kernels.tie_bins(rows.x[alike], rows.y[alike], widest, bins)[:2]
        mass += weight * pairs
        sizes += pairs.sum(axis=0)
    return mass, sizes


def _widest(metric: NDArray[np.float64]) -> float:
    finite = np.where(np.isfinite(metric), metric, np.nan)
    present = ~np.isnan(finite).all(axis=1)
    if not present.any():
        return 0.0
    spread = np.nanmax(finite[present], axis=1) - np.nanmin(finite[present], axis=1)
    return float(spread.max())


def _first_maximum(
    differences: NDArray[np.float64],
    gains: NDArray[np.float64],
    bins: NDArray[np.int64],
    gained: NDArray[np.float64],
) -> float:
    # bins ascend with differences; each starts from what all bins before it gained
    if not len(differences):
        return 0.0
    order = np.argsort(differences, kind="stable")
    differences, gains, bins = differences[order], gains[order], bins[order]
    running = np.cumsum(gains)
    first = np.searchsorted(bins, bins, side="left")
    before = np.where(first > 0, running[first - 1], 0.0)
    values = running - before + gained[bins]
    last = np.append(differences[1:] != differences[:-1], True)  # a threshold ties all its equals
    differences, values = differences[last], values[last]
    zero = values[0] if differences[0] == 0 else 0.0
    if values.max() <= zero + _ROUNDING:
        return 0.0
    best = int(np.argmax(values >= values.max() - _ROUNDING))
    return float(differences[best])
