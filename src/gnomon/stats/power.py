"""Power of Student's t, and the units that a difference takes.

The tail of the noncentral t is an integral over the estimated standard deviation, a smooth function
that Gauss's rule takes to ten digits without the failures of the usual series.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gnomon.stats.student import upper_quantile

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["detectable", "needed_units", "power_of_t"]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(120)
_REACH = 9.0  # standard deviations on both sides
#: beyond so many units a plan helps nobody
_MOST = 10**9
_SQRT2 = math.sqrt(2)


def power_of_t(noncentrality: float, df: float, *, alpha: float = 0.05) -> float:
    """Power of a two-sided t test.

    Args:
        noncentrality: the difference in standard errors.
        df: degrees of freedom, 1 or more.
        alpha: of the test, two-sided.

    Returns:
        The share of campaigns, in (0, 1); NaN for less than one degree of freedom.

    >>> round(power_of_t(0.0, 20), 6), round(power_of_t(2.8, 1e6), 3)
    (0.05, 0.8)
    """
    if df < 1 or math.isnan(noncentrality):
        return math.nan
    t = upper_quantile(alpha / 2, df)
    spread = 1 / math.sqrt(2 * df)
    low, high = max(0.0, 1 - _REACH * spread), 1 + _REACH * spread
    s = low + (high - low) * (_NODES + 1) / 2
    with np.errstate(divide="ignore"):
        density = np.exp(
            math.log(2)
            + df / 2 * math.log(df / 2)
            - math.lgamma(df / 2)
            + (df - 1) * np.log(s)
            - df * s**2 / 2
        )
    tails = [_tail(t * x - noncentrality) + _tail(t * x + noncentrality) for x in s]
    return float(np.clip((_WEIGHTS * density) @ np.array(tails) * (high - low) / 2, 0.0, 1.0))


def needed_units(
    difference: float,
    sd: float,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    df: Callable[[int], float] = lambda n: n - 1.0,
) -> int | None:
    """The fewest units whose mean difference a t test finds as often as wanted.

    Args:
        difference: of two systems, above 0.
        sd: standard deviation of the units' differences.
        power: share of campaigns that are to find it, in (0, 1).
        alpha: of the test, two-sided.
        df: degrees of freedom of so many units.

    Returns:
        A number of units; None above a thousand million.

    >>> needed_units(2, 22.63255), needed_units(3, 22.63255), needed_units(5, 22.63255)
    (1008, 449, 163)
    """

    def enough(n: int) -> bool:
        reached = power_of_t(abs(difference) / sd * math.sqrt(n), df(n), alpha=alpha)
        return reached >= power  # false where undefined

    if not difference or enough(2):
        return 2 if difference else None
    low, high = 2, 4
    while not enough(high):
        low, high = high, 2 * high
        if high > _MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def detectable(error: float, df: float, *, power: float = 0.8, alpha: float = 0.05) -> float:
    """The difference that a t test with this standard error finds as often as wanted.

    >>> round(detectable(1.0, 1e6), 2)
    2.8
    """
    if df < 1 or math.isnan(error):
        return math.nan
    low, high = 0.0, 4.0
    while power_of_t(high, df, alpha=alpha) < power:
        low, high = high, 2 * high
    for _ in range(50):
        middle = (low + high) / 2
        reached = power_of_t(middle, df, alpha=alpha)
        low, high = (low, middle) if reached >= power else (middle, high)
    return high * error


def _tail(z: float) -> float:
    return math.erfc(z / _SQRT2) / 2
