"""Student's t: tails, the test of a mean, and percentiles of a bootstrap as far out as t asks for.

Written out, so that a test of two correlations needs no further package.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "Mean",
    "expanded_confidence",
    "expanded_p",
    "mean_test",
    "upper_quantile",
    "upper_tail",
]

_TINY = 1e-300
_PRECISION = 1e-16
_TERMS = 10_000
_SAME = 1e-14  # quantiles that differ by a smaller share are equal


def upper_tail(t: float, df: float) -> float:
    """P(T > t) for Student's t with ``df`` degrees of freedom; NaN where t is or df is below 1."""
    if math.isnan(t) or df < 1:
        return float("nan")
    half = _incomplete_beta(df / (df + t * t), df / 2, 0.5) / 2 if math.isfinite(t) else 0.0
    return half if t > 0 else 1 - half


class Mean(NamedTuple):
    """A mean, its standard error (NaN where it is not known), and Student's degrees of freedom."""

    value: float
    error: float
    df: float

    def test(self, alpha: float = 0.05) -> tuple[float, float, float]:
        """Student's interval, and p of the two-sided test that the mean is 0."""
        if not self.error:
            return self.value, self.value, 0.0 if self.value else 1.0
        half = upper_quantile(alpha / 2, self.df) * self.error
        p = 2 * upper_tail(abs(self.value) / self.error, self.df)
        return self.value - half, self.value + half, p


def mean_test(
    values: Sequence[float], alpha: float = 0.05, *, chosen_on_others: bool = False
) -> tuple[float, float, float]:
    """Student's interval of a mean, and p of the two-sided test that it is 0; values without NaN.

    What was chosen for each value on all others is nearly the same choice: the variance of the mean
    is then 1/n + 1/(n - 1) times that of a value, not 1/n (Nadeau and Bengio, 2003).

    >>> low, high, p = mean_test([1.0, 2.0, 3.0, 4.0])
    >>> round(low, 3), round(high, 3), round(p, 4)
    (0.446, 4.554, 0.0305)
    """
    n = len(values)
    if n < 2:
        return (math.nan,) * 3
    mean = float(np.mean(values))
    shared = 1 / (n - 1) if chosen_on_others else 0.0
    error = float(np.std(values, ddof=1)) * math.sqrt(1 / n + shared)
    return Mean(mean, error, n - 1).test(alpha)


@lru_cache(maxsize=1024)
def upper_quantile(share: float, df: float) -> float:
    """The t that Student's t exceeds so often, a share below 1/2; NaN where ``df`` is below 1."""
    if math.isnan(upper_tail(0.0, df)):
        return math.nan
    scale = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - math.log(df * math.pi) / 2
    t, step = NormalDist().inv_cdf(1 - share), math.inf
    while step > _SAME * t:  # tails are convex: Newton's steps lead up to the quantile
        density = math.exp(scale - (df + 1) / 2 * math.log1p(t * t / df))
        step = (upper_tail(t, df) - share) / density
        t += step
    return t


def _incomplete_beta(x: float, a: float, b: float) -> float:
    # regularised; the continued fraction converges fast below (a + 1)/(a + b + 2)
    if x in {0.0, 1.0}:
        return x
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(1 - x, b, a)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    log_front += a * math.log(x) + b * math.log1p(-x)
    return math.exp(log_front) * _continued_fraction(x, a, b) / a


def _continued_fraction(x: float, a: float, b: float) -> float:
    # Lentz's method for DLMF 8.17.22
    c, d = 1.0, 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _away_from_zero(1 + term * d)
            c = _away_from_zero(1 + term / c)
            value *= c * d
        if abs(c * d - 1) < _PRECISION:
            break
    return value


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


# Williams's test of two correlations that share a variable.


# Percentiles of a bootstrap of few things lie too close together: the variance of resamples is
# (n - 1) / n of the unbiased one, and their tails are the normal's, not Student's.


def expanded_confidence(confidence: float, n: int) -> float:
    """Share of the replicates that an interval has to hold to cover as often as it says.

    For means it is then as wide as Student's, but as skewed as the bootstrap's (Hesterberg, 2015,
    What Teachers Should Know about the Bootstrap, section 4.3: the expanded percentile interval).

    >>> round(expanded_confidence(0.95, 30), 4), round(expanded_confidence(0.95, 1000), 4)
    (0.9625, 0.9504)
    """
    t = upper_quantile((1 - confidence) / 2, n - 1)
    return 1 - 2 * NormalDist().cdf(-t * math.sqrt(n / (n - 1)))


def expanded_p(p: float, n: int) -> float:
    """A one-sided p-value of replicates, as it is with intervals of :func:`expanded_confidence`.

    >>> round(expanded_p(0.025, 30), 4), round(expanded_p(0.025, 1000), 4)
    (0.0319, 0.0252)
    """
    if p >= 1:
        return 1.0
    z = NormalDist().inv_cdf(p)
    return 1 - upper_tail(z * math.sqrt((n - 1) / n), n - 1)
