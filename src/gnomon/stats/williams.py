"""Williams's test of two correlations that share a variable."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.errors import LengthMismatchError
from gnomon.stats._student import upper_tail
from gnomon.stats.correlation import pearson
from gnomon.stats.significance import Alternative, check_alternative

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["WilliamsResult", "williams", "williams_from_correlations"]


class WilliamsResult(NamedTuple):
    """Correlations of two metrics with people and with each other, and the test's verdict."""

    n: int
    r_first: float
    r_second: float
    r_between: float
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
        n, the three correlations, t with n - 3 degrees of freedom, and p; see
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
    known = ~(np.isnan(h) | np.isnan(a) | np.isnan(b))
    h, a, b = h[known], a[known], b[known]
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
    return WilliamsResult(n, r12, r13, r23, t, p)


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
