"""Resampling with a seed: the same seed gives the same draws, in any order of work."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

__all__ = ["Interval", "bootstrap_interval", "resamples"]


class Interval(NamedTuple):
    """An estimate and the ends of its confidence interval."""

    estimate: float
    low: float
    high: float


def resamples(n: int, *, count: int = 1000, seed: int = 0) -> NDArray[np.int64]:
    """Indices of bootstrap resamples, drawn with replacement.

    Args:
        n: number of items.
        count: number of resamples, B.
        seed: seed of the generator; equal seeds give equal draws.

    Returns:
        int64 [B, n], values in [0, n).

    Raises:
        UsageError: ``n`` or ``count`` is not positive.

    >>> resamples(3, count=2, seed=1).shape
    (2, 3)
    """
    if n < 1 or count < 1:
        raise UsageError(f"resampling needs at least one item and one draw; got {n} and {count}")
    return np.random.default_rng(seed).integers(0, n, size=(count, n))


def bootstrap_interval(
    values: ArrayLike,
    statistic: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    *,
    level: float = 0.95,
    count: int = 1000,
    seed: int = 0,
) -> Interval:
    """Percentile bootstrap interval of a statistic of rows (Efron, 1979).

    Args:
        values: shape [n, ...]: one row per independent item (segment).
        statistic: maps rows [n, ...] to one number; it is
            called once with [n, ...] and once per resample.
        level: share of resamples inside the interval, in (0, 1).
        count: number of resamples.
        seed: seed of the draws.

    Returns:
        The statistic of ``values`` and the ends of the interval; ends are NaN where every
        resample is undefined.

    Raises:
        UsageError: the level is not in (0, 1), or there are no rows.

    >>> bootstrap_interval([1.0, 2.0, 3.0], np.mean, seed=1).estimate
    2.0
    """
    if not 0 < level < 1:
        raise UsageError(f"a confidence level lies strictly between 0 and 1; got {level}")
    rows = np.asarray(values, dtype=np.float64)
    draws = resamples(len(rows), count=count, seed=seed)
    found = np.array([statistic(rows[draw]) for draw in draws], dtype=np.float64)
    found = found[~np.isnan(found)]
    estimate = float(statistic(rows))
    if not len(found):
        return Interval(estimate, float("nan"), float("nan"))
    low, high = np.quantile(found, [(1 - level) / 2, (1 + level) / 2])
    return Interval(estimate, float(low), float(high))
