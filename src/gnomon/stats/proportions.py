"""Counts out of trials: an exact test and an interval."""

from __future__ import annotations

import math
from statistics import NormalDist

from gnomon.stats.resampling import Interval

__all__ = ["binomial_p", "wilson_interval"]


def binomial_p(successes: int, trials: int) -> float:
    """Two-sided p-value of an exact binomial test (sign test) of a share of one half.

    Args:
        successes: from 0 to ``trials``.
        trials: number of independent trials.

    Returns:
        The probability of a count at least as far from ``trials / 2``, in (0, 1]; NaN without
        trials.

    >>> binomial_p(9, 10)
    0.021484375
    """
    if not trials:
        return math.nan
    term, tail = 1, 1
    for i in range(min(successes, trials - successes)):
        term = term * (trials - i) // (i + 1)
        tail += term
    return min(1.0, tail / (1 << trials - 1))


def wilson_interval(successes: int, trials: int, *, level: float = 0.95) -> Interval:
    """Wilson's score interval of a share (1927), which stays in [0, 1] and is never a point.

    Args:
        successes: from 0 to ``trials``.
        trials: number of independent trials.
        level: how often such intervals hold the true share.

    Returns:
        The share and the ends of its interval; NaN without trials.

    >>> [round(value, 3) for value in wilson_interval(94, 103)]
    [0.913, 0.842, 0.953]
    """
    if not trials:
        return Interval(math.nan, math.nan, math.nan)
    z = NormalDist().inv_cdf((1 + level) / 2)
    share, weight = successes / trials, z * z / trials
    middle = (share + weight / 2) / (1 + weight)
    reach = z * math.sqrt(share * (1 - share) / trials + weight / (4 * trials)) / (1 + weight)
    return Interval(share, max(0.0, middle - reach), min(1.0, middle + reach))
