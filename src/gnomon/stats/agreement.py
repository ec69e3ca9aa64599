"""Agreement on pairs: the share that a metric orders as people do, ties included."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.core.errors import LengthMismatchError, UsageError
from gnomon.native import pairs as loops
from gnomon.stats.paired_rows import (
    LONG,
    Grouping,
    PairedRows,
    accuracy_rows,
    average,
    members,
    pair_counts,
    paired_rows,
    sorted_counts,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Decisions",
    "TieCalibration",
    "acc_eq",
    "acc_eq_held_out",
    "calibrate_ties",
    "darr",
    "darr_pairs",
    "item_accuracies",
    "pairwise_accuracy",
    "pairwise_decisions",
]


class Decisions(NamedTuple):
    """Pairwise decisions of a metric that agree with people, and all decisions."""

    agreeing: int
    total: int


def darr(
    human: ArrayLike, metric: ArrayLike, *, threshold: float = 25.0, grouping: Grouping = "item"
) -> float:
    """Kendall-like tau on pairs that people tell apart clearly (DaRR, WMT17-WMT21).

    (C - D)/(C + D) over the pairs whose human scores differ by at least ``threshold``, counted
    over all groups together. A pair that the metric ties is discordant.

    Args:
        human: direct assessments [systems, items] on the 0-100 scale; NaN is missing.
        metric: scores of the same shape, higher is better; NaN is missing.
        threshold: smallest difference that counts as a judgement; 25 in WMT's direct assessment.
        grouping: pairs are made within each group: ``item``, ``system``, or all cells (``none``).

    Returns:
        tau in [-1, 1]; NaN without any such pair.

    Raises:
        UsageError: the threshold is negative.
        LengthMismatchError: the shapes differ, or do not fit the grouping.

    >>> darr([[90, 50], [40, 60]], [[0.9, 0.5], [0.4, 0.1]])
    1.0
    """
    if not threshold >= 0:
        raise UsageError(f"a threshold is a difference of at least 0; got {threshold}")
    rows = paired_rows(human, metric, grouping)
    if threshold > 0 and rows.x.shape[1] >= LONG:
        concordant, _, total, _ = sorted_counts(rows, threshold).sum(axis=1)
    else:
        concordant, total = loops.count_far_pairs(*rows, float(threshold))
    return _kendall_like(int(concordant), int(total))


def darr_pairs(better: ArrayLike, worse: ArrayLike) -> float:
    """Kendall-like tau over pairs that people ordered (DaRR files, relative rankings).

    Args:
        better: the metric's scores of the outputs that people preferred [pairs].
        worse: its scores of the others; a pair with NaN on either side is left out.

    Returns:
        (C - D)/(C + D), ties discordant; NaN without pairs.

    Raises:
        LengthMismatchError: the shapes differ.

    >>> round(darr_pairs([3, 2, 5], [1, 2, 4]), 4)
    0.3333
    """
    preferred, other = (np.asarray(side, dtype=np.float64) for side in (better, worse))
    if preferred.shape != other.shape:
        raise LengthMismatchError(
            f"each preferred output needs one other output; shapes are {preferred.shape} and"
            f" {other.shape}"
        )
    compared = ~(np.isnan(preferred) | np.isnan(other))
    return _kendall_like(int((preferred > other)[compared].sum()), int(compared.sum()))


def _kendall_like(concordant: int, total: int) -> float:
    return (2 * concordant - total) / total if total else float("nan")


def pairwise_decisions(
    human: ArrayLike, metric: ArrayLike, *, groups: ArrayLike | None = None
) -> Decisions:
    """Decisions that :func:`pairwise_accuracy` divides, to be added up over test sets."""
    rows = paired_rows(human, metric, "none")
    counts = pair_counts(_split(rows, groups))
    agreeing = counts.concordant.sum() + counts.tied_both.sum()
    return Decisions(int(agreeing), int(counts.total.sum()))


def pairwise_accuracy(
    human: ArrayLike, metric: ArrayLike, *, groups: ArrayLike | None = None
) -> float:
    """Share of pairs of systems that the metric orders as people do (Kocmi et al., 2021).

    A pair agrees when the signs of both differences are equal, so that a tie agrees with a tie
    only.

    Args:
        human: system scores [n]; NaN is missing.
        metric: system scores [n], higher is better; NaN is missing.
        groups: labels [n], for instance the language pair of each system: pairs are made within a
            label and pooled, as WMT22 does. None: one group.

    Returns:
        Accuracy in [0, 1]; NaN without pairs.

    Raises:
        LengthMismatchError: the lengths differ.

    >>> pairwise_accuracy([1, 2, 3, 4], [1, 3, 2, 1], groups=["de", "de", "cs", "cs"])
    0.5
    """
    agreeing, total = pairwise_decisions(human, metric, groups=groups)
    return agreeing / total if total else float("nan")


def _split(rows: PairedRows, groups: ArrayLike | None) -> PairedRows:
    if groups is None:
        return rows
    labels = np.asarray(groups).ravel()
    if len(labels) != rows.x.shape[1]:
        raise LengthMismatchError(
            f"every system needs the label of its group; got {len(labels)} labels for"
            f" {rows.x.shape[1]} systems"
        )
    _, group, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    order = np.argsort(group, kind="stable")
    column = np.arange(len(labels)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return PairedRows(*(_fill_places(side[0], group[order], column, order) for side in rows))


def _fill_places(
    values: NDArray[np.float64],
    group: NDArray[np.int64],
    place: NDArray[np.int64],
    order: NDArray[np.int64],
) -> NDArray[np.float64]:
    table = np.full((group.max() + 1, place.max() + 1), np.nan)
    table[group, place] = values[order]
    return table


def acc_eq(
    human: ArrayLike, metric: ArrayLike, *, epsilon: float = 0.0, grouping: Grouping = "item"
) -> float:
    """Pairwise accuracy that rewards ties predicted where people see ties (Deutsch et al., 2023).

    (C + T_hm)/P: pairs that both order alike or both tie, of all pairs; averaged over groups. The
    metric ties two outputs whose scores differ by at most ``epsilon``; the value that fits best is
    found by :func:`~gnomon.stats.calibrate_ties`.

    Args:
        human: scores [systems, items]; NaN is missing.
        metric: scores of the same shape, higher is better; NaN is missing.
        epsilon: the metric's tie threshold, at least 0.
        grouping: ``item`` (WMT23, WMT24), ``system`` or ``none``.

    Returns:
        Accuracy in [0, 1]; groups without a pair are left out; NaN if none is left.

    Raises:
        UsageError: epsilon is negative.
        LengthMismatchError: the shapes differ, or do not fit the grouping.

    >>> acc_eq([[1, 1], [1, 2], [2, 2]], [[1, 1], [1.1, 2], [2, 2]], epsilon=0.2)
    1.0
    """
    return average(_accuracies(paired_rows(human, metric, grouping), epsilon))


def item_accuracies(
    human: ArrayLike, metric: ArrayLike, epsilon: float = 0.0
) -> NDArray[np.float64]:
    """:func:`acc_eq` of each item, float64 [items]; NaN for items without a pair."""
    return _accuracies(paired_rows(human, metric, "item"), epsilon)


def _accuracies(rows: PairedRows, epsilon: float) -> NDArray[np.float64]:
    if not epsilon >= 0:
        raise UsageError(f"a tie threshold is a difference of at least 0; got {epsilon}")
    return accuracy_rows(rows, epsilon)


# Tie calibration: the difference of metric scores below which calling a tie fits people best.


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


def _best_epsilon(rows: PairedRows) -> float:
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
    mass, sizes = _bin_rows(rows, weights, widest, bins)
    gained = np.concatenate([[0.0], np.cumsum(mass[0] - mass[1])])  # at the edges of bins
    reachable = gained[:-1] + mass[0]  # ties first: more is not possible inside a bin
    wanted = reachable >= gained.max() - _ROUNDING
    size = int(sizes[wanted].sum())
    differences, gains, places = loops.pairs_of_bins(*rows, weights, widest, wanted, size)
    return _first_maximum(differences, gains, places, gained)


def _bin_rows(
    rows: PairedRows, weights: NDArray[np.float64], widest: float, bins: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    # weights of pairs tied by people and of concordant ones [2, bins], and both counted [bins]
    mass, sizes = np.zeros((2, bins)), np.zeros(bins, dtype=np.int64)
    for weight in np.unique(weights[weights > 0]):
        alike = weights == weight
        pairs = loops.tie_bins(rows.x[alike], rows.y[alike], widest, bins)[:2]
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
