"""Student's t distribution, so that a test of two correlations needs no further package."""

from __future__ import annotations

import math

_TINY = 1e-300
_PRECISION = 1e-16
_TERMS = 10_000


def upper_tail(t: float, df: float) -> float:
    """P(T > t) for Student's t with ``df`` degrees of freedom; NaN where t is or df is below 1."""
    if math.isnan(t) or df < 1:
        return float("nan")
    half = _incomplete_beta(df / (df + t * t), df / 2, 0.5) / 2 if math.isfinite(t) else 0.0
    return half if t > 0 else 1 - half


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
