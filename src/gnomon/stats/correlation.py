"""Correlations of paired scores, tests of one, and Williams's test of two that share a variable."""

from __future__ import annotations

import math
from functools import cache
from itertools import permutations
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.core.errors import LengthMismatchError
from gnomon.stats.holm import holm, holm_levels
from gnomon.stats.p_values import Alternative, check_alternative
from gnomon.stats.paired_rows import (
    Grouping,
    Undefined,
    average,
    centred_rows,
    kendall_rows,
    members,
    paired_rows,
    pearson_rows,
    spearman_rows,
    tau_c,
)
from gnomon.stats.student import upper_tail

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "CorrelationTests",
    "WilliamsResult",
    "correlation_p",
    "correlation_tests",
    "kendall_b",
    "kendall_c",
    "pairwise_difference_pearson",
    "pearson",
    "spearman",
    "williams",
    "williams_from_correlations",
]

_LEAST_PAIRS = 3  # below these every order is as likely as the one that there is
_RANKED = 8  # pairs from which Student's t serves a rank correlation
_NORMAL = NormalDist()
_LARGEST = 1e-9  # beside 1, where Fisher's z is infinite
_VANISHING = 1e-12  # variance, as a share of the mean square, that is rounding


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
    return average(spearman_rows(paired_rows(x, y, grouping)), undefined)


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
    return average(kendall_rows(paired_rows(x, y, grouping)), undefined)


def kendall_c(
    x: ArrayLike, y: ArrayLike, *, grouping: Grouping = "none", undefined: Undefined = "drop"
) -> float:
    """Kendall's (Stuart's) tau-c: 2 (C - D) / (n^2 (m - 1)/m).

    m is the smaller of the numbers of distinct values on the two sides (Stuart, 1953).

    Args, edge cases and errors as in :func:`pearson`; NaN where a side ties every pair.

    >>> kendall_c([1, 2, 3, 4], [1, 2, 4, 4])
    0.9375
    """
    return average(tau_c(paired_rows(x, y, grouping)), undefined)


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


def pearson_of_sums(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pearson's r [...] from sums [6, ...] over scores: their number n, x, y, x x, y y and x y.

    NaN where the variance of a side is rounding, or there are no scores.
    """
    n, x, y, xx, yy, xy = sums
    with np.errstate(invalid="ignore", divide="ignore"):
        varies = [
            np.where((v := squares - total**2 / n) > _VANISHING * squares, v, np.nan)
            for squares, total in ((xx, x), (yy, y))
        ]
        return np.asarray((xy - x * y / n) / np.sqrt(varies[0] * varies[1]))


def correlation_p(value: float, n: int, statistic: str = "pearson") -> float:
    """Two-sided p of a correlation of n pairs, against none.

    Exact over all orders, taken as without ties, for Kendall's tau (1938) and for Spearman's rho of
    fewer than 8 pairs; else by Student's t with n - 2 degrees of freedom.

    Args:
        value: the correlation.
        n: how many pairs it is of.
        statistic: ``pearson``, ``spearman`` or ``kendall_b``.

    Returns:
        p; 1 for fewer than three pairs, NaN where the correlation is undefined.

    >>> round(correlation_p(0.9, 5), 4), round(correlation_p(0.8, 5, "kendall_b"), 4)
    (0.0374, 0.0833)
    """
    if n < _LEAST_PAIRS or math.isnan(value):
        return math.nan if math.isnan(value) else 1.0
    if statistic == "kendall_b" or (statistic == "spearman" and n < _RANKED):
        null = _kendall_null(n) if statistic == "kendall_b" else _spearman_null(n)
        return min(1.0, sum(share for size, share in null if size >= abs(value) - 1e-9))
    if abs(value) >= 1:
        return 0.0
    t = abs(value) * math.sqrt((n - 2) / (1 - value**2))
    return 2 * upper_tail(t, n - 2)


class CorrelationTests(NamedTuple):
    """Correlations of one family, each against none; by Fisher's z.

    - ``p``: two-sided, corrected after Holm [...].
    - ``low``, ``high``: ends of the interval, at the level of its own step [...]: they leave 0 out
      where p is at most that of the family.
    """

    p: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def correlation_tests(values: ArrayLike, sizes: ArrayLike, alpha: float = 0.05) -> CorrelationTests:
    """Test correlations of pairs, four or more each, against none, by Fisher's z.

    Args:
        values: Pearson's r [...].
        sizes: of how many pairs each is [...].
        alpha: the level of the whole family.

    >>> [round(float(found[0]), 3) for found in correlation_tests([0.9], [16])]
    [0.0, 0.73, 0.965]
    """
    r = np.clip(np.asarray(values, dtype=np.float64), _LARGEST - 1, 1 - _LARGEST)
    z, root = np.arctanh(r), np.sqrt(np.asarray(sizes, dtype=np.float64) - 3)
    p = np.array([2 * _NORMAL.cdf(-abs(one)) for one in (z * root).flat]).reshape(r.shape)
    levels = holm_levels(p, alpha)
    half = np.array([_NORMAL.inv_cdf(1 - one / 2) for one in levels.flat]).reshape(r.shape) / root
    return CorrelationTests(holm(p), np.tanh(z - half), np.tanh(z + half))


@cache
def _kendall_null(n: int) -> tuple[tuple[float, float], ...]:
    """Sizes of tau of n pairs without ties, and how probable they are by chance."""
    counts = np.ones(1)  # orders with so many inversions
    for size in range(2, n + 1):
        counts = np.convolve(counts, np.ones(size)) / size
    most = n * (n - 1) / 2
    return tuple((abs(1 - 2 * k / most), float(share)) for k, share in enumerate(counts))


@cache
def _spearman_null(n: int) -> tuple[tuple[float, float], ...]:
    """Sizes of rho of n pairs without ties, and how probable they are by chance."""
    orders = np.array(list(permutations(range(n))), dtype=np.float64)
    squares = ((orders - np.arange(n)) ** 2).sum(axis=1)
    sizes, counts = np.unique(np.abs(1 - 6 * squares / (n**3 - n)), return_counts=True)
    return tuple(zip(sizes.tolist(), (counts / len(orders)).tolist(), strict=True))


class WilliamsResult(NamedTuple):
    """Correlations of two metrics with people, and the test's verdict."""

    n: int
    r_first: float
    r_second: float
    t: float
    p: float


def williams(
    human: ArrayLike, first: ArrayLike, second: ArrayLike, *, alternative: Alternative = "greater"
) -> WilliamsResult:
    """Does the first metric correlate better with people than the second? (Williams, 1959).

    The test of WMT's system-level Pearson correlations (Graham and Baldwin, 2014), over the cells
    that all three have. Signs are kept: turn a metric for which lower is better around first, as
    correlations of opposite sign make the test meaningless.

    Args:
        human: scores, any shape; NaN is missing.
        first: the first metric's scores, same shape.
        second: the second metric's scores, same shape.
        alternative: ``greater``: the first correlates better; ``less``; ``two-sided``.

    Returns:
        n, the correlations with people, t with n - 3 degrees of freedom, and p; see
        :func:`williams_from_correlations` for what is undefined.

    Raises:
        LengthMismatchError: the shapes differ.
        UnknownNameError: no such alternative.
    """
    h, a, b = (np.asarray(side, dtype=np.float64) for side in (human, first, second))
    if not h.shape == a.shape == b.shape:
        raise LengthMismatchError(
            "Williams's test needs three paired arrays; shapes are"
            f" {h.shape}, {a.shape} and {b.shape}"
        )
    complete = ~(np.isnan(h) | np.isnan(a) | np.isnan(b))
    h, a, b = h[complete], a[complete], b[complete]
    return williams_from_correlations(
        pearson(h, a), pearson(h, b), pearson(a, b), len(h), alternative=alternative
    )


def williams_from_correlations(
    r12: float, r13: float, r23: float, n: int, *, alternative: Alternative = "greater"
) -> WilliamsResult:
    """Williams's t from three correlations.

    K = 1 - r12^2 - r13^2 - r23^2 + 2 r12 r13 r23,
    t = (r12 - r13) sqrt((n-1)(1+r23)) / sqrt(2 K (n-1)/(n-3) + (r12+r13)^2 (1-r23)^3 / 4),
    with n - 3 degrees of freedom.

    Args:
        r12: correlation of people and the first metric.
        r13: correlation of people and the second metric.
        r23: correlation of the metrics.
        n: number of points.
        alternative: ``greater`` (r12 > r13), ``less`` or ``two-sided``.

    Returns:
        t and p are NaN for n < 4 or where a correlation is undefined; t is 0 for metrics that
        are the same up to scale.

    Raises:
        UnknownNameError: no such alternative.

    >>> round(williams_from_correlations(0.9, 0.8, 0.85, 20).p, 4)
    0.0509
    """
    check_alternative(alternative)
    t = _t(r12, r13, r23, n) if n > 3 else float("nan")
    p = {
        "greater": upper_tail(t, n - 3),
        "less": upper_tail(-t, n - 3),
        "two-sided": 2 * upper_tail(abs(t), n - 3),
    }[alternative]
    return WilliamsResult(n, r12, r13, t, p)


def _t(r12: float, r13: float, r23: float, n: int) -> float:
    determinant = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    variance = 2 * max(determinant, 0.0) * (n - 1) / (n - 3)
    variance += (r12 + r13) ** 2 * (1 - r23) ** 3 / 4
    difference = (r12 - r13) * math.sqrt((n - 1) * max(1 + r23, 0.0))
    if abs(difference) < 1e-12:
        return 0.0
    if variance == 0:
        return math.copysign(math.inf, difference)
    return difference / math.sqrt(variance)  # NaN where a correlation is
