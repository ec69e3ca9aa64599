"""One decision for each comparison of a family: interval, p-value and word always agree.

The largest studentised distance of a family in each resample says how far chance alone takes any of
its comparisons (max-T). What is decided leaves, and the others are judged by the largest distance
among those that are left (steps; Romano and Wolf, 2005, Exact and approximate stepdown methods for
multiple hypothesis testing): the family is wrong somewhere as seldom as one comparison would be.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from gnomon.stats.student import upper_quantile, upper_tail
from gnomon.stats.studentised import FEWEST_DIFFERENT, STILL, distances, studentised

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from gnomon.stats.significance import Alternative

    # comparisons -> their replicates and the standard errors of these [comparisons, draws]
    Resampled: TypeAlias = Callable[
        [NDArray[np.intp]], tuple[NDArray[np.float64], NDArray[np.float64]]
    ]

__all__ = ["FEWEST_IN_FAMILY", "Comparisons", "Family", "family_draws", "family_test"]

#: of fewer units that differ a comparison takes no part in a family: it would decide for all
FEWEST_IN_FAMILY = 10
_LARGE, _DRAWS = 10, 5000  # of families with more comparisons than this, so many draws at least
_ROUNDING = 1e-12
_BLOCK = 1_000_000  # distances held at once


class Family(NamedTuple):
    """What a family of comparisons shows; arrays [comparisons].

    - ``low``, ``high``: ends of simultaneous intervals. 0 lies outside where a comparison is
      decided; an end that is 0 is open then ("above 0"). NaN of those that take no part.
    - ``p``: adjusted for the family, in steps; NaN of those that take no part.
    - ``decided``: whether p is at most 1 - confidence; None of those that take no part.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    p: NDArray[np.float64]
    decided: list[bool | None]


class Comparisons(NamedTuple):
    """What is compared in a family [comparisons]; the first two are NaN where undefined.

    - ``estimates``: differences (of two systems, of a system on a feature, ...).
    - ``errors``: their standard errors, see :func:`gnomon.stats.studentised.standard_error`.
    - ``units``: segments (documents) that each is of.
    - ``different``: those of them in which the two sides differ.
    """

    estimates: NDArray[np.float64]
    errors: NDArray[np.float64]
    units: NDArray[np.int64]
    different: NDArray[np.int64]

    @classmethod
    def of(
        cls, estimates: ArrayLike, errors: ArrayLike, units: ArrayLike, different: ArrayLike
    ) -> Comparisons:
        """The same of anything that arrays can be made of; one number may stand for all."""
        values = np.asarray(estimates, dtype=np.float64)
        counts = [np.broadcast_to(np.asarray(x), values.shape) for x in (units, different)]
        return cls(values, np.asarray(errors, dtype=np.float64), *counts)


def family_draws(comparisons: int, draws: int) -> int:
    """How many resamples a family of comparisons takes, where so many are asked for."""
    return max(draws, _DRAWS) if draws and comparisons > _LARGE else draws


def family_test(
    observed: Comparisons,
    resampled: Resampled,
    *,
    least: int | None = None,
    confidence: float = 0.95,
    alternative: Alternative = "two-sided",
) -> Family:
    """Decide every comparison of a family, each resample over its own standard error.

    A comparison alone has the equal-tailed interval of
    :func:`~gnomon.stats.studentised.studentised`. Of a family, intervals are symmetric: each is as
    many standard errors wide as the largest distance of the family takes. A comparison that only a
    later step decides has its near end at 0.

    Args:
        observed: the comparisons.
        resampled: given positions of comparisons, their statistics in every resample and the
            standard errors of these [positions, draws], from the same resamples for all; NaN does
            not count. It is called for some comparisons at a time, so that memory stays bounded.
        least: units that have to differ, so that a comparison takes part; by default 6 where only
            one comparison differs at all, else 10. Features and slices take 20.
        confidence: 1 less the chance that any decision or any interval of the family is wrong.
        alternative: "greater": is the difference above 0; then the upper end is infinite.

    >>> import numpy as np
    >>> from gnomon.stats.resampling import resample_counts, resampled_sums
    >>> from gnomon.stats.studentised import resampled_errors, standard_error
    >>> gains = np.random.default_rng(0).normal([[0.0], [0.5]], 1, (2, 200))
    >>> influences = gains - gains.mean(axis=1, keepdims=True)
    >>> counts = resample_counts(200, count=1000)
    >>> replicates = resampled_sums(gains, counts) / 200
    >>> errors = resampled_errors(influences, counts)
    >>> observed = Comparisons.of(gains.mean(axis=1), standard_error(influences), 200, 200)
    >>> family_test(observed, lambda rows: (replicates[rows], errors[rows])).decided
    [False, True]
    """
    estimates, different = observed.estimates, observed.different
    alone = int((different > 0).sum()) == 1
    if least is None:
        least = FEWEST_DIFFERENT if alone else FEWEST_IN_FAMILY
    low, high, p = (np.full(len(estimates), np.nan) for _ in range(3))
    equal = (different == 0) & ~np.isnan(estimates)
    low[equal], high[equal], p[equal] = 0.0, 0.0, 1.0
    part = np.flatnonzero((different >= max(least, 1)) & np.isfinite(observed.errors))
    if alone and len(part):
        low[part], high[part], p[part] = _alone(observed, resampled, part, confidence, alternative)
    elif len(part):
        family = _together(observed, resampled, part, confidence, alternative)
        low[part], high[part], p[part] = family
    alpha = 1 - confidence + _ROUNDING
    decided = [None if math.isnan(value) else bool(value <= alpha) for value in p]
    return Family(low, high, p, decided)


def _alone(
    observed: Comparisons,
    resampled: Resampled,
    part: NDArray[np.intp],
    confidence: float,
    alternative: Alternative,
) -> tuple[float, float, float]:
    """The interval and p of a single comparison."""
    (replicates,), (spreads,) = resampled(part)
    [k] = part
    level = confidence if alternative == "two-sided" else 2 * confidence - 1
    estimate, error = float(observed.estimates[k]), float(observed.errors[k])
    test = studentised(estimate, error, int(observed.units[k]), replicates, spreads, level)
    if alternative == "two-sided":
        return test.low, test.high, test.p
    if alternative == "greater":
        return test.low, math.inf, test.greater
    return -math.inf, test.high, test.less


def _together(
    observed: Comparisons,
    resampled: Resampled,
    part: NDArray[np.intp],
    confidence: float,
    alternative: Alternative,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Ends and p-values of several comparisons."""
    estimates, errors = observed.estimates[part], observed.errors[part]
    t, still = _observed_distances(estimates, errors, alternative)
    order = np.argsort(-t, kind="stable")
    largest = _Largest(observed, resampled, alternative)
    p_values, widest = largest.steps([part[[k]] for k in order], t[order])
    p = np.empty(len(part))
    p[order] = p_values
    sides = 1 + (alternative == "two-sided")
    tails = [upper_tail(float(t[k]), float(observed.units[part[k]] - 1)) for k in range(len(part))]
    p = np.minimum(np.where(still, p, np.maximum(p, sides * np.array(tails))), 1.0)
    p[order] = np.maximum.accumulate(p[order])
    low, high = _ends(observed, part, p, widest, confidence, sides)
    if alternative == "greater":
        high[:] = math.inf
    elif alternative == "less":
        low[:] = -math.inf
    return low, high, p


def _ends(
    observed: Comparisons,
    part: NDArray[np.intp],
    p: NDArray[np.float64],
    widest: NDArray[np.float64],
    confidence: float,
    sides: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Ends as far out as the largest distance takes; nearer ones at 0 where p decides."""
    estimates, errors = observed.estimates[part], observed.errors[part]
    alpha = 1 - confidence
    beyond = math.floor(alpha * (len(widest) + 1) + 1e-9) - 1
    farthest = math.inf if beyond < 0 else float(np.sort(widest)[-1 - beyond])
    by_t = [upper_quantile(alpha / sides, float(n - 1)) for n in observed.units[part]]
    half = np.where(errors <= STILL * np.abs(estimates), 0.0, np.maximum(farthest, by_t) * errors)
    low, high = estimates - half, estimates + half
    decided = p <= alpha + _ROUNDING
    low = np.where(decided & (estimates > 0), np.maximum(low, 0.0), low)
    high = np.where(decided & (estimates < 0), np.minimum(high, 0.0), high)
    low = np.where(decided, low, np.minimum(low, 0.0))
    high = np.where(decided, high, np.maximum(high, 0.0))
    low[np.isinf(low)] = high[np.isinf(high)] = math.nan
    return low, high


def _observed_distances(
    estimates: NDArray[np.float64], errors: NDArray[np.float64], alternative: Alternative
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """How far estimates lie from 0, in standard errors; and where every unit adds the same."""
    still = errors <= STILL * np.abs(estimates)
    t = np.where(still, np.copysign(np.inf, estimates), estimates / np.where(still, 1.0, errors))
    return _oriented(t, alternative), still


def _oriented(t: NDArray[np.float64], alternative: Alternative) -> NDArray[np.float64]:
    if alternative == "two-sided":
        return np.abs(t)
    return t if alternative == "greater" else -t


class _Largest(NamedTuple):
    """The largest distance of nested sets of comparisons in every resample."""

    observed: Comparisons
    resampled: Resampled
    alternative: Alternative

    def of(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """The distances of some comparisons [rows, draws]; -inf where undefined."""
        estimates, errors = self.observed.estimates[rows], self.observed.errors[rows]
        replicates, spreads = self.resampled(rows)
        t = _oriented(distances(estimates, errors, replicates, spreads), self.alternative)
        t[np.isnan(t) | (errors <= STILL * np.abs(estimates))[:, None]] = -np.inf
        return t

    def steps(
        self, leaving: Sequence[NDArray[np.intp]], thresholds: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """p-values of steps, and the largest distance of all comparisons in every resample.

        Args:
            leaving: the comparisons that leave after each step; those of the last are of all.
            thresholds: what is observed in each step.
        """
        widest = np.full(self.resampled(leaving[0][:1])[0].shape[1], -np.inf)
        p = np.ones(len(leaving))
        starts = _starts([len(rows) for rows in leaving], max(1, _BLOCK // len(widest)))
        for first, last in reversed([*pairwise(starts)]):
            distances_of_block = self.of(np.concatenate(leaving[first:last]))
            ends = np.cumsum([len(rows) for rows in leaving[first:last]])
            for step in range(last - 1, first - 1, -1):
                end = ends[step - first]
                rows = distances_of_block[end - len(leaving[step]) : end]
                widest = np.maximum(widest, rows.max(axis=0, initial=-np.inf))
                room = STILL * abs(thresholds[step]) if np.isfinite(thresholds[step]) else 0.0
                farther = int((widest >= thresholds[step] - room).sum())
                p[step] = (1 + farther) / (len(widest) + 1)
        return np.maximum.accumulate(p), widest


def _starts(sizes: Sequence[int], most: int) -> list[int]:
    """Where blocks of steps start that hold so many comparisons at most, and the end."""
    starts, held = [0], 0
    for step, size in enumerate(sizes):
        if held and held + size > most:
            starts.append(step)
            held = 0
        held += size
    return [*starts, len(sizes)]
