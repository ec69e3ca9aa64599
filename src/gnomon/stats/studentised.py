"""Differences of systems: intervals and tests that keep their level where differences are skewed.

A resample's distance from what was observed is divided by the standard error of that resample
(bootstrap-t; Efron, 1981): where differences are skewed, means and their errors move together,
which percentiles do not see. Ends lie as far out as both these distances and Student's t ask for:
where few segments differ or a few differ much, resamples alone come out too close.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.stats.bootstrap import BootstrapTest
from gnomon.stats.jackknife import (
    LEAST_DOCUMENTS,
    design_effect,
    effective_documents,
    jackknife,
    left_out_sums,
)
from gnomon.stats.pair_tests import Joint, joint_cells
from gnomon.stats.resampling import resample_counts, resampled_sums
from gnomon.stats.significance import check_confidence, check_count
from gnomon.stats.student import upper_quantile, upper_tail
from gnomon.stats.system_tests import (
    approximate_randomisation,
    own_scores,
    resampled,
    summable,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from gnomon.stats.system_tests import Aggregate

__all__ = [
    "FEWEST_DIFFERENT",
    "Dependence",
    "Studentised",
    "dependence",
    "studentised",
    "studentised_test",
    "system_document_randomisation",
    "system_document_test",
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
    """What each segment adds to a statistic of sums [..., n, statistics], by leaving it out."""
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
    """How far resamples lie from the estimates [...], over their own errors [..., draws]."""
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
        least = 1 / (draws + 1)
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


def studentised_test(
    statistics: ArrayLike,
    *,
    aggregate: Aggregate | None = None,
    confidence: float = 0.95,
    count: int = 1000,
    seed: int = 0,
) -> BootstrapTest:
    """Studentised paired bootstrap over segments of scores and of differences from the first.

    A corpus metric's standard errors come of what each segment adds to it (by leaving it out), in
    resamples of the same quantities: exact for means, to first order for others.

    Args:
        statistics: segment scores [systems, segments], or what a corpus metric adds up over
            segments [systems, segments, statistics]; NaN is missing.
        aggregate: score of sums [..., statistics] -> [...]; needed for statistics, while segment
            scores are averaged.
        confidence: of the intervals, in (0, 1).
        count: number of resamples.
        seed: of the resamples.

    Returns:
        Scores, differences, intervals and p-values; pairs are compared on the segments that both
        have, and NaN without two such segments. Of one to five segments that differ there is no
        interval, and p is that of all exchanges of these.

    Raises:
        LengthMismatchError: neither shape, or statistics without ``aggregate``.
        UsageError: no draws, or a confidence that is no share.
    """
    check_count(count)
    check_confidence(confidence)
    x, score = summable(statistics, aggregate)
    result = _empty(own_scores(x, score))
    for joint in _each_with_first(x):
        cells = joint.cells[0]
        chosen = x[joint.metrics][:, cells]
        counts = _resample_counts(chosen.shape[1], count, seed)
        values = score(resampled(chosen, counts))
        observed = score(chosen.sum(axis=1))
        added = influence(chosen, score)
        for pair, i, j in zip(joint.pairs, *joint.places, strict=True):
            single = pair[0] == pair[1]
            estimate = float(observed[i] if single else observed[i] - observed[j])
            influences = added[i] if single else added[i] - added[j]
            different = len(influences) if single else _different(chosen[i], chosen[j])
            if single and different < FEWEST_DIFFERENT:
                test = Studentised(math.nan, math.nan, math.nan, math.nan)
            elif different < FEWEST_DIFFERENT:
                test = _exchanged(chosen[i], chosen[j], score)
            else:
                replicates = values[:, i] if single else values[:, i] - values[:, j]
                error = float(standard_error(influences))
                spreads = resampled_errors(influences[None], counts)[0]
                n = len(influences)
                test = studentised(estimate, error, n, replicates, spreads, confidence)
            _write(result, pair, estimate, test)
    return result


def _each_with_first(x: NDArray[np.float64]) -> list[Joint]:
    """Each system alone, and beside the first, on the segments that both have."""
    present = np.asarray(~np.isnan(x).any(axis=2))
    pairs = [(k, k) for k in range(len(x))]
    pairs += [(k, 0) for k in range(1, len(x))]
    return joint_cells(present[:, None], pairs)


def system_document_test(
    statistics: ArrayLike,
    documents: NDArray[np.int64],
    *,
    aggregate: Aggregate | None = None,
    confidence: float = 0.95,
) -> BootstrapTest:
    """The same by leaving out one document at a time; see :func:`~gnomon.stats.jackknife`.

    Args:
        statistics: as for :func:`studentised_test`.
        documents: the document of each segment, from 0 [segments].
        aggregate: likewise.
        confidence: likewise.

    Returns:
        Scores, differences, intervals and p-values; the latter two are NaN of fewer than
        ``LEAST_DOCUMENTS`` documents.
    """
    x, score = summable(statistics, aggregate)
    result = _empty(own_scores(x, score))
    for joint in _each_with_first(x):
        cells = joint.cells[0]
        chosen = x[joint.metrics][:, cells]
        _, which = np.unique(documents[cells], return_inverse=True)
        sizes = np.bincount(which)
        observed, without = score(chosen.sum(axis=1)), score(left_out_sums(chosen, which))
        for pair, i, j in zip(joint.pairs, *joint.places, strict=True):
            single = pair[0] == pair[1]
            estimate = float(observed[i] if single else observed[i] - observed[j])
            left = without[:, i] if single else without[:, i] - without[:, j]
            test_of_pair = jackknife(estimate, left, sizes, confidence=confidence)
            half, up = float(test_of_pair.p) / 2, estimate > 0
            tails = (half, 1 - half) if up else (1 - half, half)
            test = Studentised(float(test_of_pair.low), float(test_of_pair.high), *tails)
            _write(result, pair, estimate, test)
    return result


def system_document_randomisation(
    statistics: ArrayLike,
    documents: NDArray[np.int64],
    *,
    aggregate: Aggregate | None = None,
    count: int = 1000,
    seed: int = 0,
) -> NDArray[np.float64]:
    """Approximate randomisation that exchanges whole documents of a system and the first one.

    Args:
        statistics: as for :func:`studentised_test`.
        documents: the document of each segment, from 0 [segments].
        aggregate: likewise.
        count: number of draws.
        seed: of the coins.

    Returns:
        p of each system against the first [systems]; NaN for the first, and of fewer than
        ``LEAST_DOCUMENTS`` documents.
    """
    x, score = summable(statistics, aggregate)
    p = np.full(len(x), np.nan)
    for k in range(1, len(x)):
        both = ~np.isnan(x[[k, 0]]).any(axis=(0, 2))
        _, which = np.unique(documents[both], return_inverse=True)
        groups = int(which.max(initial=-1)) + 1
        if groups < LEAST_DOCUMENTS:
            continue
        inside = np.zeros((groups, len(which)))
        inside[which, np.arange(len(which))] = 1.0
        of_pair = approximate_randomisation(
            inside @ x[[k, 0]][:, both],
            aggregate=score,
            baseline=1,
            count=count,
            seed=seed,
        )
        p[k] = of_pair.p[0, 1]
    return p


class Dependence(NamedTuple):
    """How the differences of two systems lie on segments and documents.

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
    """How the differences of each system from the first one lie; of the first itself, nothing."""
    x, score = summable(statistics, aggregate)
    rows = [Dependence(0, math.nan, 0, math.nan, math.nan)]
    for k in range(1, len(x)):
        both = ~np.isnan(x[[k, 0]]).any(axis=(0, 2))
        pair = x[[k, 0]][:, both]
        added = influence(pair, score) if both.sum() > 1 else np.zeros((2, 0))
        influences = added[0] - added[1]
        names = None if documents is None else documents[both]
        effect = p = math.nan
        if names is not None and len(influences) and not np.isnan(influences).any():
            sums = score(pair.sum(axis=1))
            effect = design_effect(influences, names)
            p = _p_over_documents(float(sums[0] - sums[1]), influences, effect, names)
        groups = 0 if names is None else len(np.unique(names))
        rows.append(Dependence(_different(*pair), _skewness(influences), groups, effect, p))
    return rows


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


@lru_cache(maxsize=1)
def _resample_counts(n: int, count: int, seed: int) -> NDArray[np.uint8]:
    """The resamples of so many segments, which metrics and systems share."""
    counts = resample_counts(n, count=count, seed=seed)
    counts.flags.writeable = False
    return counts


def _skewness(values: NDArray[np.float64]) -> float:
    variance = float((values**2).mean()) if len(values) else 0.0
    return float((values**3).mean()) / variance**1.5 if variance > _SAME**2 else math.nan


def _different(a: NDArray[np.float64], b: NDArray[np.float64]) -> int:
    return int((np.abs(a - b) > _SAME).any(axis=-1).sum())


def _exchanged(a: NDArray[np.float64], b: NDArray[np.float64], score: Aggregate) -> Studentised:
    """p-values of all exchanges of the few segments that differ [n, statistics]; no interval."""
    gaps = (b - a)[(np.abs(a - b) > _SAME).any(axis=-1)]
    if not len(gaps):
        return Studentised(0.0, 0.0, 1.0, 1.0)
    swaps = np.array([*product((0.0, 1.0), repeat=len(gaps))]) @ gaps
    null = score(a.sum(axis=0) + swaps) - score(b.sum(axis=0) - swaps)
    room = STILL * max(abs(float(null[0])), 1.0)  # the first exchanges nothing
    shares = float((null >= null[0] - room).mean()), float((null <= null[0] + room).mean())
    return Studentised(math.nan, math.nan, *shares)


def _empty(scores: NDArray[np.float64]) -> BootstrapTest:
    m = len(scores)
    return BootstrapTest(
        scores,
        np.full((2, m), np.nan),
        np.full((m, m), np.nan),
        np.full((2, m, m), np.nan),
        np.full((m, m), np.nan),
    )


def _write(
    found: BootstrapTest,
    pair: tuple[int, int],
    estimate: float,
    test: Studentised,
) -> None:
    i, j = pair
    if i == j:
        found.intervals[:, i], found.differences[i, i] = (test.low, test.high), 0.0
        return
    found.differences[i, j], found.differences[j, i] = estimate, -estimate
    found.difference_intervals[:, i, j] = test.low, test.high
    found.difference_intervals[:, j, i] = -test.high, -test.low
    found.p[i, j] = found.p[j, i] = test.p
