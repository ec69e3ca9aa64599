"""Intervals and tests of statistics that are sums over pairs: DaRR, acc_eq, soft accuracy.

Segments (for soft pairwise accuracy: systems) are drawn with replacement, for all metrics alike;
what a draw gives follows from sums over segments or pairs, so that nothing is measured again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon import stats
from gnomon.metaeval._cells import far_pairs, of_pairs
from gnomon.metaeval._testing import Testing, Verdicts, nothing
from gnomon.stats.resampling import percentile_interval, resample_counts, resampled_sums

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from gnomon.metaeval._cells import Cells

    #: places of metrics -> their values on what all of them have, as observed and in each draw
    Draws = Callable[[list[int]], tuple[NDArray[np.float64], NDArray[np.float64]]]

__all__ = ["of_accuracies", "of_confidence", "of_ranked_pairs"]


def of_ranked_pairs(found: Cells, how: Testing) -> Verdicts:
    """DaRR: bootstrap over segments."""
    pairs = found.pairs
    if pairs is None:
        pairs = far_pairs(found.human, found.threshold or 0.0)
    if not len(pairs.segment):
        return nothing(len(found.names))
    sides = [of_pairs(pairs, scores) for scores in found.metrics]
    judged, place = np.unique(pairs.segment, return_inverse=True)
    segments = len(judged)
    counts = resample_counts(segments, count=max(how.resamples, 1), seed=how.seed)

    def draws(places: list[int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        known = np.all([~np.isnan(a) & ~np.isnan(b) for a, b in (sides[k] for k in places)], axis=0)
        at = place[known]
        rows = [np.bincount(at, minlength=segments)]
        for better, worse in (sides[k] for k in places):
            right = (better > worse)[known]
            rows.append(np.bincount(at[right], minlength=segments))
        return _taus(np.array(rows, dtype=np.float64), counts)

    return _by_bootstrap(len(found.names), draws, how, "segments")


def _taus(
    rows: NDArray[np.float64], counts: NDArray[np.uint8]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    # rows: all pairs by segment, then each metric's concordant ones
    sums = np.concatenate([rows.sum(axis=1)[:, None], resampled_sums(rows, counts)], axis=1)
    total = np.where(sums[0] == 0, np.nan, sums[0])
    taus = (2 * sums[1:] - total) / total
    return taus[:, 0], taus[:, 1:]


def of_confidence(found: Cells, how: Testing) -> Verdicts:
    """Soft pairwise accuracy: bootstrap over systems; a system drawn twice makes no pair."""
    missing = np.isnan(found.human) | np.isnan(found.metrics)
    gaps = np.array(
        [_gaps(found, metric, hole) for metric, hole in zip(found.metrics, missing, strict=True)]
    )
    systems = len(found.human)
    counts = resample_counts(max(systems, 1), count=max(how.resamples, 1), seed=how.seed)
    weights = np.concatenate([np.ones((systems, 1)), counts.astype(np.float64)], axis=1)

    def draws(places: list[int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        common = ~np.isnan(gaps[places]).any(axis=0)
        total = np.einsum("ib,ij,jb->b", weights, common.astype(np.float64), weights)
        filled = np.where(common, gaps[places], 0.0)
        sums = np.einsum("ib,mij,jb->mb", weights, filled, weights, optimize=True)
        values = 1 - sums / np.where(total == 0, np.nan, total)
        return values[:, 0], values[:, 1:]

    return _by_bootstrap(len(found.names), draws, how, "systems")


def _gaps(
    found: Cells, metric: NDArray[np.float64], hole: NDArray[np.bool_]
) -> NDArray[np.float64]:
    human, scores = (np.where(hole, np.nan, side) for side in (found.human, metric))
    sides = [stats.system_p_values(side, seed=found.spa_seed) for side in (human, scores)]
    # p(i > j) and p(j > i) need not add up to one; soft accuracy counts i < j
    upper = np.triu(np.ones((len(human), len(human)), dtype=bool), 1)
    return np.where(upper, np.abs(sides[0] - sides[1]), np.nan)


def of_accuracies(found: Cells, how: Testing, epsilons: NDArray[np.float64]) -> Verdicts:
    """acc_eq: intervals by bootstrap over segments, tests by exchange of decisions (WMT24)."""
    result = nothing(len(found.names))
    if not how.resamples:
        return result
    if found.measure.grouping == "item":
        ends = [
            _item_interval(found, metric, epsilon, how)
            for metric, epsilon in zip(found.metrics, epsilons, strict=True)
        ]
        low, high = np.array(ends, dtype=np.float64).reshape(-1, 2).T
        result = result._replace(low=low, high=high, interval="segments")
    if how.test not in ("auto", "permutation"):
        return result
    defined = np.flatnonzero(~np.isnan(epsilons))
    tested = stats.pair_swap_test(
        found.human,
        found.metrics[defined],
        epsilons=epsilons[defined],
        grouping=found.measure.grouping,
        alternative=how.alternative,
        count=how.resamples,
        seed=how.seed,
        plus_one=how.plus_one,
        early_stopping=how.early_stopping,
    )
    where = np.ix_(defined, defined)
    result.differences[where], result.p[where] = tested.differences, tested.p
    return result._replace(test="permutation of decisions on pairs")


def _item_interval(
    found: Cells, metric: NDArray[np.float64], epsilon: float, how: Testing
) -> tuple[float, float]:
    # the threshold stays what it is while segments are drawn
    both = ~(np.isnan(found.human) | np.isnan(metric))
    items = np.flatnonzero(both.sum(axis=0) >= 2)
    if np.isnan(epsilon) or not len(items):
        return float("nan"), float("nan")
    each = [
        stats.acc_eq(found.human[:, [item]], metric[:, [item]], epsilon=epsilon) for item in items
    ]
    rows = np.array([each])
    counts = resample_counts(len(items), count=how.resamples, seed=how.seed)
    low, high = percentile_interval(resampled_sums(rows, counts)[0] / len(items), how.confidence)
    return float(low), float(high)


def _by_bootstrap(metrics: int, draws: Draws, how: Testing, unit: str) -> Verdicts:
    result = nothing(metrics)
    if not how.resamples:
        return result
    ends = np.array(
        [percentile_interval(draws([k])[1][0], how.confidence) for k in range(metrics)],
        dtype=np.float64,
    ).reshape(-1, 2)
    result = result._replace(low=ends[:, 0], high=ends[:, 1], interval=unit)
    if how.test not in ("auto", "bootstrap"):
        return result
    for i in range(metrics):
        for j in range(metrics):
            if i != j:
                observed, drawn = draws([i, j])
                result.differences[i, j] = observed[0] - observed[1]
                result.p[i, j] = stats.bootstrap_p_value(
                    drawn[0] - drawn[1],
                    float(observed[0] - observed[1]),
                    alternative=how.alternative,
                    plus_one=how.plus_one,
                )
    return result._replace(test=f"bootstrap over {unit}")
