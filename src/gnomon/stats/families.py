"""One decision for each comparison of a family: interval, p-value and word always agree.

The largest studentised distance of a family in each resample says how far chance alone takes any of
its comparisons (max-T). What is decided leaves, and the others are judged by the largest distance
among those that are left (steps; Romano and Wolf, 2005, Exact and approximate stepdown methods for
multiple hypothesis testing): the family is wrong somewhere as seldom as one comparison would be.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from gnomon.stats.student import upper_quantile, upper_tail
from gnomon.stats.studentised import FEWEST_DIFFERENT, STILL, distances, studentised

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    # comparisons -> their replicates and the standard errors of these [comparisons, draws], of some
    # draws after the other
    Resampled: TypeAlias = Callable[
        [NDArray[np.intp]], Iterable[tuple[NDArray[np.float64], NDArray[np.float64]]]
    ]

__all__ = [
    "FEWEST_IN_FAMILY",
    "Comparisons",
    "Family",
    "draw_blocks",
    "exchange_test",
    "family_draws",
    "family_test",
    "fewest_different",
]

#: of fewer units that differ a comparison takes no part in a family: it would decide for all
FEWEST_IN_FAMILY = 10
_LARGE, _DRAWS = 10, 5000  # of families with more comparisons than this, so many draws at least
_ROUNDING = 1e-12
_BLOCK = 1_000_000  # distances held at once


class Family(NamedTuple):
    """Results of a family of comparisons; arrays [comparisons].

    - ``low``, ``high``: ends of simultaneous intervals. 0 lies outside where a comparison is
      decided; an end that is 0 is open then ("above 0"). NaN of those that take no part.
    - ``p``: adjusted for the family, in steps; NaN of those that take no part.
    - ``decided``: whether p is at most 1 - confidence; None of those that take no part.
    - ``out``: where systems are asked for the first place, by which one each is beaten.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    p: NDArray[np.float64]
    decided: list[bool | None]
    out: dict[int, int]

    @classmethod
    def untested(cls, comparisons: int) -> Family:
        """Comparisons of which nothing is drawn."""
        nothing = np.full(comparisons, np.nan)
        return cls(nothing, nothing, nothing, [None] * comparisons, {})


class Comparisons(NamedTuple):
    """Estimates of a family of comparisons [comparisons]; the first two are NaN where undefined.

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
    def from_arrays(
        cls, estimates: ArrayLike, errors: ArrayLike, units: ArrayLike, different: ArrayLike
    ) -> Comparisons:
        """The same of anything that arrays can be made of; one number may stand for all."""
        values = np.asarray(estimates, dtype=np.float64)
        counts = [np.broadcast_to(np.asarray(x), values.shape) for x in (units, different)]
        return cls(values, np.asarray(errors, dtype=np.float64), *counts)


def family_draws(comparisons: int, draws: int) -> int:
    """Number of resamples that a family of comparisons takes, where so many are asked for."""
    return max(draws, _DRAWS) if draws and comparisons > _LARGE else draws


def draw_blocks(comparisons: int, draws: int) -> Iterator[slice]:
    """Draws that are looked at together, so that memory stays bounded."""
    width = max(1, _BLOCK // max(1, comparisons))
    return (slice(first, first + width) for first in range(0, draws, width))


def fewest_different(observed: Comparisons, least: int | None = None) -> int:
    """Number of units that must differ for a comparison to take part; see :func:`family_test`."""
    if least is not None:
        return least
    return FEWEST_DIFFERENT if _is_alone(observed) else FEWEST_IN_FAMILY


def _is_alone(observed: Comparisons) -> bool:
    return int(((observed.different > 0) & np.isfinite(observed.errors)).sum()) == 1


def family_test(
    observed: Comparisons,
    resampled: Resampled,
    *,
    least: int | None = None,
    confidence: float = 0.95,
    pairs: Sequence[tuple[int, int]] | None = None,
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
            not count. They may come in several parts, of some draws each (:func:`draw_blocks`).
        least: units that have to differ, so that a comparison takes part; by default 6 where only
            one comparison differs at all, else 10. Features and slices take 20.
        confidence: 1 less the chance that any decision or any interval of the family is wrong.
        pairs: the two systems of each comparison, where all pairs are compared to find the best:
            whoever is beaten by one that is still in leaves, with all its comparisons (the model
            confidence set; Hansen, Lunde and Nason, 2011). Only comparisons with the system that
            leads are to be read then.

    >>> import numpy as np
    >>> from gnomon.stats.resampling import resample_counts, resampled_sums
    >>> from gnomon.stats.studentised import resampled_errors, standard_error
    >>> gains = np.random.default_rng(0).normal([[0.0], [0.5]], 1, (2, 200))
    >>> influences = gains - gains.mean(axis=1, keepdims=True)
    >>> counts = resample_counts(200, count=1000)
    >>> replicates = resampled_sums(gains, counts) / 200
    >>> errors = resampled_errors(influences, counts)
    >>> observed = Comparisons.from_arrays(gains.mean(axis=1), standard_error(influences), 200, 200)
    >>> family_test(observed, lambda rows: [(replicates[rows], errors[rows])]).decided
    [False, True]
    """
    estimates, errors, units, different = observed
    alone = _is_alone(observed)
    least = fewest_different(observed, least)
    part = np.flatnonzero((different >= max(least, 1)) & np.isfinite(errors))
    low, high, p = (np.full(len(estimates), np.nan) for _ in range(3))
    equal = (different == 0) & ~np.isnan(estimates)
    low[equal], high[equal], p[equal] = 0.0, 0.0, 1.0
    leaving: list[NDArray[np.intp]] = []
    if alone and len(part):
        low[part], high[part], p[part] = _alone(observed, resampled, part, confidence)
        leaving = [part]
    elif len(part):
        still = errors <= STILL * np.abs(estimates)
        seen = np.full(len(estimates), np.inf)
        np.divide(np.abs(estimates), errors, out=seen, where=~still)

        def farther(rows: NDArray[np.intp]) -> Iterator[NDArray[np.float64]]:
            for some in resampled(rows):
                drawn = distances(estimates[rows], errors[rows], *some)
                drawn[still[rows]] = np.nan
                yield np.abs(drawn, out=drawn)

        leaving = _leaving(part[np.argsort(-seen[part], kind="stable")], pairs, estimates)
        by_t = np.zeros(len(seen))
        for k in part[~still[part]]:
            by_t[k] = min(2 * upper_tail(float(seen[k]), float(units[k] - 1)), 1.0)
        p, widest = _steps(leaving, seen, farther, by_t)
        p[equal] = 1.0
        low[part], high[part] = _ends(observed, part, p[part], widest, confidence)
    return _family(low, high, p, confidence, leaving, pairs, estimates)


def exchange_test(
    estimates: NDArray[np.float64],
    exchanged: NDArray[np.float64],
    *,
    confidence: float = 0.95,
    pairs: Sequence[tuple[int, int]] | None = None,
) -> Family:
    """Decide every comparison of a family by what exchanges of the two sides give; no intervals.

    Args:
        estimates: the differences that are observed [comparisons].
        exchanged: those after each exchange, of the same units for all [comparisons, draws].
        confidence: as for :func:`family_test`.
        pairs: likewise.
    """
    error = np.sqrt((exchanged**2).mean(axis=1))
    part = np.flatnonzero(~np.isnan(estimates) & ~np.isnan(error))
    scale = np.where(error > 0, error, 1.0)
    seen = np.abs(estimates) / scale
    leaving = _leaving(part[np.argsort(-seen[part], kind="stable")], pairs, estimates)
    nothing = np.full(len(estimates), np.nan)
    p = nothing.copy()

    def farther(rows: NDArray[np.intp]) -> Iterator[NDArray[np.float64]]:
        for some in draw_blocks(len(rows), exchanged.shape[1]):
            yield np.abs(exchanged[rows, some]) / scale[rows, None]

    if leaving:
        p, _ = _steps(leaving, seen, farther)
    return _family(nothing, nothing, p, confidence, leaving, pairs, estimates)


def _family(
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    p: NDArray[np.float64],
    confidence: float,
    leaving: Sequence[NDArray[np.intp]],
    pairs: Sequence[tuple[int, int]] | None,
    estimates: NDArray[np.float64],
) -> Family:
    """The decisions beside what decides."""
    alpha = 1 - confidence + _ROUNDING
    decided = [None if math.isnan(value) else bool(value <= alpha) for value in p]
    firsts = [int(rows[0]) for rows in leaving] if pairs is not None else []
    out = {}
    for k in firsts:
        if pairs is not None and decided[k]:
            winner, loser = pairs[k][:: 1 if estimates[k] > 0 else -1]
            out[loser] = winner
    return Family(low, high, p, decided, out)


def _alone(
    observed: Comparisons,
    resampled: Resampled,
    part: NDArray[np.intp],
    confidence: float,
) -> tuple[float, float, float]:
    """The interval and p of a single comparison."""
    replicates, spreads = np.concatenate([*resampled(part)], axis=-1)[:, 0]
    [k] = part
    estimate, error = float(observed.estimates[k]), float(observed.errors[k])
    test = studentised(estimate, error, int(observed.units[k]), replicates, spreads, confidence)
    return test.low, test.high, test.p


def _ends(
    observed: Comparisons,
    part: NDArray[np.intp],
    p: NDArray[np.float64],
    widest: NDArray[np.float64],
    confidence: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Ends as far out as the largest distance takes; nearer ones at 0 where p decides."""
    estimates, errors = observed.estimates[part], observed.errors[part]
    alpha = 1 - confidence
    beyond = math.floor(alpha * (len(widest) + 1) + 1e-9) - 1
    farthest = math.inf if beyond < 0 else float(np.sort(widest)[-1 - beyond])
    by_t = [upper_quantile(alpha / 2, float(n - 1)) for n in observed.units[part]]
    half = np.where(errors <= STILL * np.abs(estimates), 0.0, np.maximum(farthest, by_t) * errors)
    low, high = estimates - half, estimates + half
    decided = p <= alpha + _ROUNDING
    low = np.where(decided & (estimates > 0), np.maximum(low, 0.0), low)
    high = np.where(decided & (estimates < 0), np.minimum(high, 0.0), high)
    low = np.where(decided, low, np.minimum(low, 0.0))
    high = np.where(decided, high, np.maximum(high, 0.0))
    low[np.isinf(low)] = high[np.isinf(high)] = math.nan
    return low, high


def _steps(
    leaving: Sequence[NDArray[np.intp]],
    seen: NDArray[np.float64],
    farther: Callable[[NDArray[np.intp]], Iterable[NDArray[np.float64]]],
    least: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """p-values of comparisons, and the largest distance of all of them in every resample.

    ``leaving`` holds the comparisons that leave after each step, the farthest first; ``seen`` the
    observed distances; ``farther`` gives those of comparisons in batches of resamples (NaN does
    not count); ``least`` the p-values of each comparison alone, by another test.
    """
    order, sizes = np.concatenate(leaving[::-1]), [len(rows) for rows in leaving[::-1]]
    last = np.repeat(np.cumsum(sizes) - 1, sizes)  # of those that are left when each leaves
    far = seen[order]
    far -= STILL * np.where(np.isfinite(far), np.abs(far), 0.0)
    reached, parts = np.zeros(len(order), dtype=np.int64), []
    for some in farther(order):
        largest = np.fmax.accumulate(some, axis=0)
        reached += (largest[last] >= far[:, None]).sum(axis=1)
        parts.append(np.fmax(largest[-1], -np.inf))
    widest = np.concatenate(parts)
    p = np.full(len(seen), np.nan)
    p[order] = (1 + reached) / (len(widest) + 1)
    before = 0.0
    for rows in leaving:  # nothing is surer than what left before
        p[rows] = np.maximum(p[rows], before if least is None else np.maximum(least[rows], before))
        before = p[rows[0]]
    return p, widest


def _leaving(
    order: NDArray[np.intp],
    pairs: Sequence[tuple[int, int]] | None,
    estimates: NDArray[np.float64],
) -> list[NDArray[np.intp]]:
    """Comparisons that leave after each step: the farthest, or all of the worse system of it."""
    if pairs is None:
        return [order[[k]] for k in range(len(order))]
    remaining, leaving = order.tolist(), []
    while remaining:
        worse = pairs[remaining[0]][1 if estimates[remaining[0]] > 0 else 0]
        leaving.append(np.array([k for k in remaining if worse in pairs[k]]))
        remaining = [k for k in remaining if worse not in pairs[k]]
    return leaving
