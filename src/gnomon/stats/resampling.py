"""Resampling with a seed: the same seed gives the same draws, in any order of work.

Two ways to the same resamples: as indices, for a statistic that is a function of rows; and as
counts (how often each item was drawn), for statistics of sums, which are then one matrix product
for all resamples. Resamples in which a statistic is undefined are NaN and are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.core.errors import UsageError
from gnomon.stats.student import expanded_confidence

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Interval",
    "bootstrap_interval",
    "percentile_interval",
    "resample_counts",
    "resampled_sums",
    "resamples",
    "shift_distance",
    "shift_p",
    "shift_test",
]

_BLOCK = 500_000  # float64 counts held at once (4 MB): they stay in the processor's cache
_ROUNDING = 1e-12  # distances that differ by less are equal


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
    _check(n, count)
    return np.random.default_rng(seed).integers(0, n, size=(count, n))


def resample_counts(n: int, *, count: int = 1000, seed: int = 0) -> NDArray[np.uint8]:
    """Count each of n items in the resamples that :func:`resamples` draws [n, B].

    That one is drawn 256 times or more in n draws has a probability below 1e-500.

    >>> resample_counts(3, count=2, seed=1).sum(axis=0).tolist()
    [3, 3]
    """
    _check(n, count)
    generator = np.random.default_rng(seed)
    counts = np.empty((n, count), dtype=np.uint8)
    for column in range(count):
        counts[:, column] = np.bincount(generator.integers(0, n, size=n), minlength=n)
    return counts


def resampled_sums(
    values: NDArray[np.floating],  # [M, n], finite; M quantities of the n items
    counts: NDArray[np.uint8],  # uint8 [N, B], from :func:`resample_counts`
    rows: NDArray[np.intp] | None = None,  # rows of `counts` that the items are; by default all
) -> NDArray[np.float64]:
    """Sums of items over every resample [M, B]: a matrix product, in bounded memory.

    It is made in the precision of the values.
    """
    chosen = np.arange(len(counts)) if rows is None else rows
    sums = np.zeros((len(values), counts.shape[1]))
    width = max(1, _BLOCK // max(1, len(chosen)))
    weights = np.empty((len(chosen), min(width, counts.shape[1])), dtype=values.dtype)
    for first in range(0, counts.shape[1], width):
        block = counts[:, first : first + width]
        weights_of_block = weights[:, : block.shape[1]]
        weights_of_block[...] = block[chosen]
        sums[:, first : first + width] = values @ weights_of_block
    return sums


def percentile_interval(
    samples: NDArray[np.float64], level: float, drawn: int | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Percentile bootstrap intervals of many statistics [..., B], NaN left out (Efron, 1979).

    Where ``drawn`` says of how many things each resample was drawn, they are right for few of them,
    too: see :func:`~gnomon.stats.student.expanded_confidence`.
    """
    if drawn is not None and drawn > 1:
        level = expanded_confidence(level, drawn)
    ordered = np.sort(samples, axis=-1)  # NaN last
    defined = samples.shape[-1] - np.isnan(ordered).sum(axis=-1)
    return _quantile(ordered, defined, (1 - level) / 2), _quantile(
        ordered, defined, (1 + level) / 2
    )


def shift_distance(
    estimate: NDArray[np.float64], samples: NDArray[np.float64], level: float
) -> NDArray[np.float64]:
    """Half the width of symmetric bootstrap intervals around estimates [...] (Hall, 1988).

    The k-th smallest of the distances |sample - estimate|, k = ceil(level (B + 1)): 0 lies outside
    estimate -+ distance exactly where :func:`shift_p` is at most 1 - level. Samples
    [..., B] that are NaN are left out; NaN where fewer than k are left, or the k-th is infinitely
    far.
    """
    distances = np.sort(np.abs(samples - estimate[..., None]), axis=-1)
    defined = distances.shape[-1] - np.isnan(distances).sum(axis=-1)
    k = np.ceil(level * (defined + 1) - 1e-9).astype(np.intp) - 1
    farthest = np.take_along_axis(
        distances, np.clip(k, 0, distances.shape[-1] - 1)[..., None], axis=-1
    )[..., 0]
    return np.where((k < defined) & np.isfinite(farthest), farthest, np.nan)


def shift_p(estimate: NDArray[np.float64], samples: NDArray[np.float64]) -> NDArray[np.float64]:
    """Two-sided bootstrap p-values of statistics [...] being 0, of their samples [..., B].

    Under the hypothesis a resample lies about 0 as it now lies about the estimate (Hall and Wilson,
    1991, the guideline that resampling has to reflect the null hypothesis; sacreBLEU's paired
    bootstrap does likewise): p = (1 + #{|sample - estimate| >= |estimate|}) / (B + 1).
    Undefined samples (NaN) are left out; NaN where nothing is defined.
    """
    distances = np.abs(samples - estimate[..., None])
    defined = samples.shape[-1] - np.isnan(distances).sum(axis=-1)
    farther = (distances >= np.abs(estimate)[..., None] - _ROUNDING).sum(axis=-1)
    return np.where((defined > 0) & ~np.isnan(estimate), (1 + farther) / (1 + defined), np.nan)


def shift_test(
    estimate: float, samples: NDArray[np.float64], level: float
) -> tuple[float, float, float]:
    """The ends of :func:`shift_distance`'s interval around an estimate, and :func:`shift_p`."""
    value = np.asarray(estimate)
    wide = float(shift_distance(value, samples, level))
    return estimate - wide, estimate + wide, float(shift_p(value, samples))


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
        UsageError: the level is not in (0, 1), the seed is negative, or there are no rows.

    >>> bootstrap_interval([1.0, 2.0, 3.0], np.mean, seed=1).estimate
    2.0
    """
    if not 0 < level < 1:
        raise UsageError(f"a confidence level lies strictly between 0 and 1; got {level}")
    if seed < 0:
        raise UsageError(f"a seed is a whole number, 0 or more; got {seed}")
    rows = np.asarray(values, dtype=np.float64)
    draws = resamples(len(rows), count=count, seed=seed)
    samples = np.array([statistic(rows[draw]) for draw in draws], dtype=np.float64)
    low, high = percentile_interval(samples, level)
    return Interval(float(statistic(rows)), float(low), float(high))


def _check(n: int, count: int) -> None:
    if n < 1 or count < 1:
        raise UsageError(f"resampling needs at least one item and one draw; got {n} and {count}")


def _quantile(
    ordered: NDArray[np.float64], defined: NDArray[np.intp], share: float
) -> NDArray[np.float64]:
    """Linearly interpolated quantiles of the first ``defined`` of the values in ascending order."""
    position = np.maximum(defined - 1, 0) * share
    below = np.floor(position).astype(np.intp)
    above = np.minimum(below + 1, np.maximum(defined - 1, 0))
    low, high = (
        np.take_along_axis(ordered, np.asarray(at)[..., None], axis=-1)[..., 0]
        for at in (below, above)
    )
    return low + (high - low) * (position - below)
