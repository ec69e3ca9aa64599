"""Correlation of paired scores: pooled, or averaged over items or systems."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.stats import _pairs
from gnomon.stats._rows import (
    Grouping,
    Rows,
    Undefined,
    average,
    centred_rows,
    members,
    paired_rows,
    pearson_rows,
    ranked_rows,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["kendall_b", "kendall_c", "pairwise_difference_pearson", "pearson", "spearman"]


def pearson(
    x: ArrayLike, y: ArrayLike, *, grouping: Grouping = "none", undefined: Undefined = "drop"
) -> float:
    """Pearson's product-moment correlation.

    Pairs with a missing value on either side are left out.

    Args:
        x: shape [n] or [systems, items]; NaN is missing.
        y: the same shape; NaN is missing.
        grouping: ``none`` pools all cells; ``item`` correlates over systems within each item and
            averages over items; ``system`` correlates over items within each system.
        undefined: groups whose correlation is undefined are left out of the average (``drop``) or
            count as ``zero`` (mt-metrics-eval's replace_nans_with_zeros).

    Returns:
        r in [-1, 1]; NaN where fewer than two pairs are complete or a side is constant, and under
        a grouping where that is so in every group.

    Raises:
        LengthMismatchError: the shapes differ, or do not fit the grouping.
        UnknownNameError: no such grouping.

    >>> pearson([1, 2, 3, 4], [2, 4, 6, 9])
    0.9943...
    """
    return average(pearson_rows(paired_rows(x, y, grouping)), undefined)


def spearman(
    x: ArrayLike, y: ArrayLike, *, grouping: Grouping = "none", undefined: Undefined = "drop"
) -> float:
    """Spearman's rank correlation: Pearson's r of ranks, tied scores sharing their mean rank.

    Args, edge cases and errors as in :func:`pearson`.

    >>> round(spearman([1, 2, 3, 4], [1, 2, 9, 3]), 12)
    0.8
    """
    rows = paired_rows(x, y, grouping)
    return average(pearson_rows(Rows(ranked_rows(rows.x), ranked_rows(rows.y))), undefined)


def kendall_b(
    x: ArrayLike, y: ArrayLike, *, grouping: Grouping = "none", undefined: Undefined = "drop"
) -> float:
    """Kendall's tau-b: (C - D) / sqrt((P - T_x)(P - T_y)).

    C and D are the concordant and discordant pairs, P all pairs, T_x and T_y the pairs tied on
    each side (Kendall, 1945). O(n log n) for long groups (Knight, 1966).

    Args, edge cases and errors as in :func:`pearson`; NaN where a side ties every pair.

    >>> kendall_b([1, 2, 3, 4], [1, 2, 4, 4])
    0.912...
    """
    return average(_pairs.tau_b(_pairs.count(paired_rows(x, y, grouping))), undefined)


def kendall_c(
    x: ArrayLike, y: ArrayLike, *, grouping: Grouping = "none", undefined: Undefined = "drop"
) -> float:
    """Kendall's (Stuart's) tau-c: 2 (C - D) / (n^2 (m - 1)/m).

    m is the smaller of the numbers of distinct values on the two sides (Stuart, 1953).

    Args, edge cases and errors as in :func:`pearson`; NaN where a side ties every pair.

    >>> kendall_c([1, 2, 3, 4], [1, 2, 4, 4])
    0.9375
    """
    rows = paired_rows(x, y, grouping)
    return average(_pairs.tau_c(_pairs.count(rows), rows), undefined)


def pairwise_difference_pearson(
    x: ArrayLike, y: ArrayLike, *, grouping: Grouping = "item"
) -> float:
    """Correlation of score differences, pooled over the pairs of all groups.

    Every ordered pair of members of a group gives a point (x_i - x_j, y_i - y_j); r is Pearson's
    over all these points (mean zero by symmetry), as mt-metrics-eval computes it. Unlike an average
    of correlations within items, items whose scores spread more weigh more.

    Args, edge cases and errors as in :func:`pearson`, save that groups are never averaged: those
    without a pair or without variation add nothing.

    >>> pairwise_difference_pearson([[1, 2], [3, 5]], [[1, 1], [2, 3]])
    0.992...
    """
    rows = paired_rows(x, y, grouping)
    n = members(rows.x)[:, None]
    # sum over ordered pairs of products of differences = 2 n times the centred sum of products
    a, b = (np.sqrt(n) * centred_rows(side) for side in rows)
    largest = [np.abs(side).max() for side in (a, b)]
    if min(largest) == 0:
        return float("nan")
    with np.errstate(invalid="ignore"):
        a, b = a / largest[0], b / largest[1]
        r = np.vdot(a, b) / np.sqrt(np.vdot(a, a)) / np.sqrt(np.vdot(b, b))
    return float(np.clip(r, -1.0, 1.0))
