"""Differences of systems: intervals and tests that keep their level where differences are skewed.

A resample's distance from what was observed is divided by the standard error of that resample
(bootstrap-t; Efron, 1981): where differences are skewed, means and their errors move together,
which percentiles do not see. Ends lie as far out as both these distances and Student's t ask for:
where few segments differ or a few differ much, resamples alone come out too close.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.stats.jackknife import design_effect, effective_documents
from gnomon.stats.resampling import resampled_sums
from gnomon.stats.student import upper_quantile, upper_tail
from gnomon.stats.system_tests import summable

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from gnomon.stats.system_tests import Aggregate

__all__ = [
    "FEWEST_DIFFERENT",
    "Dependence",
    "Studentised",
    "dependence",
    "different",
    "distances",
    "influence",
    "influences_of_differences",
    "resampled_errors",
    "skewness",
    "standard_error",
    "studentised",
]

#: of fewer segments that differ no interval holds: all of five may go one way by chance (p = .06)
FEWEST_DIFFERENT = 6
_SAME = 1e-9  # statistics that differ by less are equal
STILL = 1e-9  # standard errors below this share of the estimate are rounding
_ALIKE = 1e-6  # those of a resample, below this share of it, too: squares lose half the digits


class Studentised(NamedTuple):
    """Ends of the interval of a statistic, and one-sided p-values that it is above 0 or below."""

    low: float
    high: float
    greater: float
    less: float

    @property
    def p(self) -> float:
        """Two-sided; at most 1 - confidence exactly where 0 lies outside."""
        return math.nan if math.isnan(self.less) else min(1.0, 2 * min(self.greater, self.less))


_UNKNOWN = Studentised(*(math.nan,) * 4)


def influence(x: NDArray[np.float64], score: Aggregate) -> NDArray[np.float64]:
    """Contribution of each segment to a statistic of sums [..., n, statistics], leaving it out."""
    n = x.shape[-2]
    without = score(x.sum(axis=-2, keepdims=True) - x)
    deviations: NDArray[np.float64] = (n - 1) * (without.mean(axis=-1, keepdims=True) - without)
    return deviations


def standard_error(influences: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of statistics, by what each unit adds to them, with mean 0; NaN is missing [..., n]."""
    n = (~np.isnan(influences)).sum(axis=-1)
    squares = np.nansum(influences**2, axis=-1)
    variance = np.divide(squares, n * (n - 1.0), out=np.full(n.shape, np.nan), where=n > 1)
    return np.asarray(np.sqrt(variance))


def resampled_errors(
    influences: NDArray[np.float64], counts: NDArray[np.uint8]
) -> NDArray[np.float64]:
    """Standard errors of statistics within every resample of the units.

    Args:
        influences: what each unit adds to each statistic, with mean 0 [statistics, n]; NaN is
            missing.
        counts: how often each unit occurs in each resample [n, draws].

    Returns:
        float64 [statistics, draws].
    """
    missing = np.isnan(influences)
    added = np.where(missing, 0.0, influences)
    size = counts.sum(axis=0, dtype=np.int64)[None]
    size = size - resampled_sums(missing.astype(np.float64), counts) if missing.any() else size
    sums, squares = resampled_sums(added, counts), resampled_sums(added**2, counts)
    n = np.maximum(size, 2.0)
    errors = np.sqrt(np.maximum(squares - sums**2 / n, 0) / (n * (n - 1)))
    return np.where(size < 2, np.nan, errors)


def distances(
    estimates: NDArray[np.float64],
    errors: NDArray[np.float64],
    replicates: NDArray[np.float64],
    spreads: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Distances of resamples from the estimates [...], over their own errors [..., draws]."""
    shift = replicates - estimates[..., None]
    error = errors[..., None]
    still = spreads <= _ALIKE * error
    t = shift / np.where(still, 1.0, spreads)
    none = np.abs(shift) <= STILL * error
    return np.where(still, np.where(none, 0.0, np.copysign(np.inf, shift)), t)


def studentised(
    estimate: float,
    error: float,  # its standard error
    units: int,  # how many it is of
    replicates: NDArray[np.float64],  # the statistic of every resample [draws]; NaN does not count
    spreads: NDArray[np.float64],  # the standard error of every resample [draws]
    confidence: float,
) -> Studentised:
    """Interval and p-values of a statistic from its resamples, each over its own standard error."""
    n, tail = units, (1 - confidence) / 2
    defined = ~(np.isnan(replicates) | np.isnan(spreads))
    if not np.isfinite(error) or not defined.any():
        return _UNKNOWN
    draws = int(defined.sum())
    if error <= STILL * abs(estimate):  # every segment adds the same
        least = max(1 / (draws + 1), 0.5**n)  # all go one way by chance
        above, below = (least if estimate * sign > 0 else 1.0 for sign in (1, -1))
        return Studentised(estimate, estimate, above, below)
    at, wide = np.array([estimate]), np.array([error])
    [t] = distances(at, wide, replicates[None, defined], spreads[None, defined])
    ordered, beyond = np.sort(t), math.floor(tail * (draws + 1) + 1e-9) - 1
    if beyond < 0:
        return _UNKNOWN
    quantile, observed = upper_quantile(tail, n - 1), estimate / error
    ends = max(float(ordered[-1 - beyond]), quantile), min(float(ordered[beyond]), -quantile)
    low, high = (estimate - end * error if math.isfinite(end) else math.nan for end in ends)
    room = STILL * abs(observed)
    greater = (1 + int((t >= observed - room).sum())) / (draws + 1)
    less = (1 + int((t <= observed + room).sum())) / (draws + 1)
    return Studentised(
        low,
        high,
        max(greater, upper_tail(observed, n - 1)),
        max(less, upper_tail(-observed, n - 1)),
    )


class Dependence(NamedTuple):
    """Differences of two systems on segments and documents.

    - ``different``: segments on which they differ.
    - ``skewness``: of what the segments add to the difference; NaN where nothing varies.
    - ``documents``: documents that both have; 0 where none are known.
    - ``design_effect``: see :func:`~gnomon.stats.design_effect`; NaN where unknown.
    - ``p_documents``: two-sided, of Student's t with the documents as what is independent,
      however few they are; NaN where unknown, or of one alone.
    """

    different: int
    skewness: float
    documents: int
    design_effect: float
    p_documents: float


def dependence(
    statistics: ArrayLike,
    *,
    aggregate: Aggregate | None = None,
    documents: NDArray[np.int64] | None = None,  # of each segment, from 0
) -> list[Dependence]:
    """List the differences of each system from the first one; of the first itself, nothing."""
    x, score = summable(statistics, aggregate)
    rows = [Dependence(0, math.nan, 0, math.nan, math.nan)]
    every = influences_of_differences(x, score)
    for k in range(1, len(x)):
        both = ~np.isnan(x[[k, 0]]).any(axis=(0, 2))
        pair = x[[k, 0]][:, both]
        influences = every[k - 1, both] if both.sum() > 1 else np.zeros(0)
        names = None if documents is None else documents[both]
        effect = p = math.nan
        if names is not None and len(influences) and not np.isnan(influences).any():
            sums = score(pair.sum(axis=1))
            effect = design_effect(influences, names)
            p = _p_over_documents(float(sums[0] - sums[1]), influences, effect, names)
        groups = 0 if names is None else len(np.unique(names))
        rows.append(Dependence(different(*pair), skewness(influences), groups, effect, p))
    return rows


def influences_of_differences(
    statistics: ArrayLike, aggregate: Aggregate | None = None
) -> NDArray[np.float64]:
    """Contribution of each segment to each system's difference from the first one.

    Returns:
        float64 [systems - 1, segments]; NaN where either system has no score.
    """
    x, score = summable(statistics, aggregate)
    added = np.full((len(x) - 1, x.shape[1]), np.nan)
    for k in range(1, len(x)):
        both = ~np.isnan(x[[k, 0]]).any(axis=(0, 2))
        if both.sum() > 1:
            own, other = influence(x[[k, 0]][:, both], score)
            added[k - 1, both] = own - other
    return added


def _p_over_documents(
    estimate: float, own: NDArray[np.float64], effect: float, names: NDArray[np.int64]
) -> float:
    """Two-sided p of Student's t, its standard error widened by the design effect."""
    df = effective_documents(np.unique(names, return_counts=True)[1]) - 1
    if math.isnan(effect) or df <= 0:
        return math.nan
    n = len(own)
    error = math.sqrt(effect * float((own**2).sum()) / (n * (n - 1)))
    if error <= _SAME * max(abs(estimate), 1):
        return float(not estimate)
    return min(1.0, 2 * upper_tail(abs(estimate) / error, df))


def skewness(values: NDArray[np.float64]) -> float:
    """Of what units add to a difference, with mean 0; NaN where nothing varies."""
    variance = float((values**2).mean()) if len(values) else 0.0
    return float((values**3).mean()) / variance**1.5 if variance > _SAME**2 else math.nan


def different(a: NDArray[np.float64], b: NDArray[np.float64]) -> int:
    """In how many units two systems differ [units, statistics]."""
    return int((np.abs(a - b) > _SAME).any(axis=-1).sum())
