"""Agreement on pairs: how often a metric orders two things as people do."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.errors import LengthMismatchError, UsageError
from gnomon.stats import _pairs
from gnomon.stats._rows import Grouping, Rows, average, members, paired_rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Decisions",
    "acc_eq",
    "darr",
    "darr_pairs",
    "pairwise_accuracy",
    "pairwise_decisions",
    "tau_eq",
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
    from gnomon.stats import _kernels

    if not threshold >= 0:
        raise UsageError(f"a threshold is a difference of at least 0; got {threshold}")
    concordant, total = _kernels.count_far_pairs(*paired_rows(human, metric, grouping), threshold)
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
    known = ~(np.isnan(preferred) | np.isnan(other))
    return _kendall_like(int((preferred > other)[known].sum()), int(known.sum()))


def _kendall_like(concordant: int, total: int) -> float:
    return (2 * concordant - total) / total if total else float("nan")


def pairwise_decisions(
    human: ArrayLike, metric: ArrayLike, *, groups: ArrayLike | None = None
) -> Decisions:
    """Decisions that :func:`pairwise_accuracy` divides, to be added up over test sets."""
    rows = paired_rows(human, metric, "none")
    counts = _pairs.count(_split(rows, groups))
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


def _split(rows: Rows, groups: ArrayLike | None) -> Rows:
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
    place = np.arange(len(labels)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return Rows(*(_filled(side[0], group[order], place, order) for side in rows))


def _filled(
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


def tau_eq(
    human: ArrayLike, metric: ArrayLike, *, epsilon: float = 0.0, grouping: Grouping = "item"
) -> float:
    """tau_23 of Deutsch et al. (2023): (C + T_hm - D - T_h - T_m)/P, that is 2 acc_eq - 1.

    Args, edge cases and errors as in :func:`acc_eq`.

    >>> tau_eq([[1, 1], [1, 2]], [[1, 1], [1.1, 2]], epsilon=0.2)
    1.0
    """
    return 2 * acc_eq(human, metric, epsilon=epsilon, grouping=grouping) - 1


def _accuracies(rows: Rows, epsilon: float) -> NDArray[np.float64]:
    if not epsilon >= 0:
        raise UsageError(f"a tie threshold is a difference of at least 0; got {epsilon}")
    return np.where(members(rows.x) < 2, np.nan, _pairs.accuracy(_pairs.count(rows, epsilon)))
