"""Counts out of trials: the sign test, and intervals of a share."""

from __future__ import annotations

import math

import numpy as np

from gnomon.stats.resampling import Interval

__all__ = [
    "binomial_interval",
    "binomial_p",
    "wilson_interval",
]


def binomial_p(successes: int, trials: int) -> float:
    """Two-sided p-value of an exact binomial test (sign test) of a share of one half.

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


def binomial_interval(successes: int, trials: int, *, level: float = 0.95) -> Interval:
    """The exact interval of a share (Clopper and Pearson, 1934), which agrees with the exact test.

    It leaves one half out where :func:`binomial_p` is below 1 - level, and there alone.

    >>> [round(value, 3) for value in binomial_interval(94, 103)]
    [0.913, 0.841, 0.959]
    """
    if not trials:
        return Interval(math.nan, math.nan, math.nan)
    every = range(trials + 1)
    known = math.lgamma(trials + 1)
    ways = np.array([known - math.lgamma(k + 1) - math.lgamma(trials - k + 1) for k in every])

    def least(count: int) -> float:
        """The share at which so many or more are as rare as one side of what the level leaves."""
        if not count:
            return 0.0
        counts, below, above = np.arange(count, trials + 1), 0.0, 1.0
        for _ in range(60):
            share = (below + above) / 2
            rest = (trials - counts) * math.log1p(-share)
            tail = float(np.exp(ways[count:] + counts * math.log(share) + rest).sum())
            below, above = (below, share) if tail > (1 - level) / 2 else (share, above)
        return above

    return Interval(successes / trials, least(successes), 1 - least(trials - successes))


def wilson_interval(successes: int, trials: int, *, level: float = 0.95) -> Interval:
    """Wilson's score interval of a share (1927), which stays in [0, 1] and is never a point.

    >>> [round(value, 3) for value in wilson_interval(94, 103)]
    [0.913, 0.842, 0.953]
    """
    if not trials:
        return Interval(math.nan, math.nan, math.nan)
    from statistics import NormalDist

    z = NormalDist().inv_cdf((1 + level) / 2)
    share, weight = successes / trials, z * z / trials
    middle = (share + weight / 2) / (1 + weight)
    reach = z * math.sqrt(share * (1 - share) / trials + weight / (4 * trials)) / (1 + weight)
    # at an end it is the end, which rounding misses
    low = max(0.0, middle - reach) if successes else 0.0
    high = min(1.0, middle + reach) if successes < trials else 1.0
    return Interval(share, low, high)
