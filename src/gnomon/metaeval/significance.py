"""Intervals of a measure, and tests of the differences between metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from gnomon import stats
from gnomon.errors import UsageError
from gnomon.faults import Fault
from gnomon.metaeval.measures import of_pairs
from gnomon.options import SEED
from gnomon.stats.resampling import percentile_interval, resample_counts, resampled_sums
from gnomon.stats.significance import fewest_draws

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.metaeval.measures import MeasuredScores
    from gnomon.stats import EarlyStopping
    from gnomon.stats.permutation import Swap
    from gnomon.stats.significance import Alternative

    Draws = Callable[[list[int]], tuple[NDArray[np.float64], NDArray[np.float64]]]

# What can be chosen of tests, by name.


Test: TypeAlias = Literal["auto", "williams", "permutation", "bootstrap"]
#: what permutation tests exchange between two metrics
Exchange: TypeAlias = Literal["cells", "rows+cols", "inputs", "systems", "pairs"]
#: of p for the number of comparisons
Correction: TypeAlias = Literal["holm", "benjamini-hochberg", "none"]


# How differences between metrics are tested, and what tests say.


@dataclass(frozen=True)
class Testing:
    """How differences are tested.

    Attributes:
        test: "williams" (Pearson of system scores alone), "permutation", "bootstrap", or "auto":
            Williams's where it applies, permutation elsewhere, bootstrap where no permutation
            exists (DaRR, soft pairwise accuracy).
        alternative: what is said of (row, column).
        resamples: draws; 0 for neither intervals nor tests that draw.
        seed: seed of all draws.
        confidence: share of draws inside an interval.
        alpha: largest p that is significant.
        plus_one: p = (r + 1)/(B + 1), else r/B.
        early_stopping: of permutation tests.
        williams: whether "auto" means Williams's test for Pearson of system scores.
        swap: what permutation tests exchange; None: as is usual for each statistic.
    """

    test: Test = "auto"
    alternative: Alternative = "greater"
    resamples: int = 1000
    seed: int = SEED
    confidence: float = 0.95
    alpha: float = 0.05
    plus_one: bool = True
    early_stopping: EarlyStopping | None = None
    williams: bool = True
    swap: Exchange | None = None


class Verdicts(NamedTuple):
    """What intervals and tests say of M metrics; NaN is undefined.

    Attributes:
        low: lower ends of the intervals [M].
        high: upper ends [M].
        differences: row less column, on what both have [M, M].
        p: p-values of the alternative said of (row, column) [M, M].
        test: which test it is; empty if there is none.
        interval: what was resampled for the intervals; empty if there are none.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    differences: NDArray[np.float64]
    p: NDArray[np.float64]
    test: str = ""
    interval: str = ""


def nothing(metrics: int) -> Verdicts:
    """Verdicts of which all is undefined."""
    low, high = np.full((2, metrics), np.nan)
    differences, p = np.full((2, metrics, metrics), np.nan)
    return Verdicts(low, high, differences, p)


def beats(found: Verdicts, row: int, column: int, how: Testing) -> bool | None:
    """Whether one metric is significantly better than another; None where that was not tested.

    p says the alternative of (row, column): of the reverse pair, "less" says the same as "greater".
    """
    at = (column, row) if how.alternative == "less" else (row, column)
    if row == column or np.isnan(found.p[at]):
        return None
    significant = bool(found.p[at] <= how.alpha)
    if how.alternative == "two-sided":
        return significant and bool(found.differences[at] > 0)
    return significant


def resample_faults(resamples: int, confidence: float) -> Iterator[Fault]:
    """Resamples that are too few for intervals."""
    least = fewest_draws(confidence)
    if 0 < resamples < least:
        said = (
            f"intervals of a confidence of {confidence} need {least} resamples or more, or 0 for"
            f" none; got {resamples}"
        )
        yield Fault("resamples", UsageError(said))


# Intervals and tests of statistics that are sums over pairs: DaRR, acc_eq, soft accuracy.


def of_ranked_pairs(found: MeasuredScores, how: Testing) -> Verdicts:
    """DaRR: bootstrap over segments."""
    pairs = found.pairs
    if pairs is None:
        pairs = stats.ordered_pairs(found.human, threshold=found.threshold or 0.0)
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


def of_confidence(found: MeasuredScores, how: Testing) -> Verdicts:
    """Soft pairwise accuracy: intervals by bootstrap over systems; tests likewise, or by exchange.

    A system that is drawn twice makes no pair.
    """
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

    result = _by_bootstrap(len(found.names), draws, how, "systems")
    exchanges = how.test == "permutation" or (how.test == "auto" and how.swap is not None)
    return _of_exchanges(found, how, result) if exchanges and how.resamples else result


def _of_exchanges(found: MeasuredScores, how: Testing, result: Verdicts) -> Verdicts:
    """Tests of soft pairwise accuracy that exchange scores, or confidences in pairs of systems."""
    drawn: dict[str, Any] = {
        "alternative": how.alternative,
        "count": how.resamples,
        "seed": how.seed,
        "plus_one": how.plus_one,
        "early_stopping": how.early_stopping,
    }
    if how.swap == "pairs":
        tested = stats.spa_pair_swap_test(
            found.human, found.metrics, spa_seed=found.spa_seed, **drawn
        )
        what = "confidences in pairs of systems"
    else:
        tested = stats.permutation_test(
            found.human,
            found.metrics,
            statistic=stats.SoftPairwiseAccuracy(seed=found.spa_seed),
            swap=how.swap or "cells",
            **drawn,
        )
        what = f"scores ({_SWAPPED[how.swap or 'cells']})"
    return result._replace(
        differences=tested.differences, p=tested.p, test=f"permutation of {what}"
    )


def _gaps(
    found: MeasuredScores, metric: NDArray[np.float64], hole: NDArray[np.bool_]
) -> NDArray[np.float64]:
    human, scores = (np.where(hole, np.nan, side) for side in (found.human, metric))
    sides = [stats.system_p_values(side, seed=found.spa_seed) for side in (human, scores)]
    # p(i > j) and p(j > i) need not add up to one; soft accuracy counts i < j
    upper = np.triu(np.ones((len(human), len(human)), dtype=bool), 1)
    return np.where(upper, np.abs(sides[0] - sides[1]), np.nan)


def of_accuracies(found: MeasuredScores, how: Testing, epsilons: NDArray[np.float64]) -> Verdicts:
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
    found: MeasuredScores, metric: NDArray[np.float64], epsilon: float, how: Testing
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


# Intervals of a measure, and tests of the differences between metrics.


_SWAPPED = {
    "cells": "PERM-BOTH",
    "rows+cols": "PERM-BOTH by rows and columns",
    "inputs": "PERM-INPUTS",
    "systems": "PERM-SYSTEMS",
}
_SEVERAL = 2  # segments that it takes to resample any
_UNITS = {"systems": "systems", "inputs": "segments"}


def verdicts(found: MeasuredScores, how: Testing, epsilons: NDArray[np.float64]) -> Verdicts:
    """Intervals and tests of one measure on one test set.

    Args:
        found: the scores.
        how: which test, how many draws.
        epsilons: tie thresholds of the metrics [M], NaN where there are none.
    """
    statistic = found.measure.statistic
    if statistic == "darr":
        return _of_several(found, of_ranked_pairs(found, how))
    if statistic == "spa":
        return of_confidence(found, how)
    if statistic == "acc_eq":
        return _of_several(found, of_accuracies(found, how, epsilons))
    if statistic == "acc_eq_held_out":
        return nothing(len(found.names))
    return _of_several(found, _of_scores(found, how))


def _of_several(found: MeasuredScores, result: Verdicts) -> Verdicts:
    """Without what resamples of a single segment say: they are all alike."""
    if result.interval != "segments":
        return result
    single = np.array([_segments(found, metric) < _SEVERAL for metric in found.metrics], dtype=bool)
    if not single.any():
        return result
    low, high = (np.where(single, np.nan, ends) for ends in (result.low, result.high))
    p = result.p
    if result.test.startswith("bootstrap"):
        p = np.where(single[:, None] | single, np.nan, p)
    interval = "" if single.all() else result.interval
    return result._replace(low=low, high=high, p=p, interval=interval)


def _segments(found: MeasuredScores, metric: NDArray[np.float64]) -> int:
    """How many segments a figure of a metric rests on."""
    if found.measure.statistic != "darr":
        return int((~(np.isnan(found.human) | np.isnan(metric))).any(axis=0).sum())
    pairs = found.pairs
    if pairs is None:
        pairs = stats.ordered_pairs(found.human, threshold=found.threshold or 0.0)
    better, worse = of_pairs(pairs, metric)
    return len(np.unique(pairs.segment[~(np.isnan(better) | np.isnan(worse))]))


def _of_scores(found: MeasuredScores, how: Testing) -> Verdicts:
    """Correlations, and accuracy of system scores."""
    measured = _measured(found)
    unit = "systems" if found.measure.level == "system" else "inputs"
    result = _bootstrap(found, how, unit, measured) if how.resamples else nothing(len(found.names))
    is_pearson = (found.measure.statistic, found.measure.level) == ("pearson", "system")
    if how.test == "williams" or (how.test == "auto" and is_pearson and how.williams):
        if is_pearson:
            return _williams(found, how, result)
        return result._replace(p=np.full_like(result.p, np.nan), test="")
    if how.test == "bootstrap" or not how.resamples:
        return result
    return _permutation(found, how, measured, result)


def _measured(found: MeasuredScores) -> dict[str, Any]:
    """The statistic as :mod:`gnomon.stats` takes it: by name, or as a function."""
    measure = found.measure
    if measure.is_row_statistic:
        return {"statistic": measure.statistic, "grouping": measure.grouping}

    def differences(human: NDArray[np.float64], metric: NDArray[np.float64]) -> float:
        return stats.pairwise_difference_pearson(human, metric, grouping=measure.grouping)

    return {"statistic": differences}


def _bootstrap(
    found: MeasuredScores, how: Testing, unit: Any, measured: dict[str, Any]
) -> Verdicts:
    boot = stats.bootstrap_test(
        found.human,
        found.metrics,
        unit=unit,
        confidence=how.confidence,
        count=how.resamples,
        seed=how.seed,
        alternative=how.alternative,
        plus_one=how.plus_one,
        **measured,
    )
    what = _UNITS[unit]
    low, high = boot.intervals
    return Verdicts(low, high, boot.differences, boot.p, f"bootstrap over {what}", what)


def _permutation(
    found: MeasuredScores, how: Testing, measured: dict[str, Any], result: Verdicts
) -> Verdicts:
    alone = found.measure.level == "system"
    swap: Swap = "cells" if alone or how.swap is None or how.swap == "pairs" else how.swap
    tested = stats.permutation_test(
        found.human,
        found.metrics,
        swap=swap,
        count=how.resamples,
        seed=how.seed,
        alternative=how.alternative,
        plus_one=how.plus_one,
        early_stopping=how.early_stopping,
        **measured,
    )
    what = "system scores" if alone else f"scores ({_SWAPPED[swap]})"
    test = f"permutation of {what}"
    return result._replace(differences=tested.differences, p=tested.p, test=test)


def _williams(found: MeasuredScores, how: Testing, result: Verdicts) -> Verdicts:
    size = len(found.names)
    differences, p = np.full((size, size), np.nan), np.full((size, size), np.nan)
    for i in range(size):
        for j in range(size):
            one = stats.williams(
                found.human, found.metrics[i], found.metrics[j], alternative=how.alternative
            )
            differences[i, j] = one.r_first - one.r_second
            p[i, j] = np.nan if i == j else one.p
    return result._replace(differences=differences, p=p, test="Williams's test")


def pooled_verdicts(parts: list[MeasuredScores], how: Testing) -> Verdicts:
    """Tests of pairwise accuracy over the pairs of several test sets; every metric is in each.

    System scores are exchanged between metrics after each metric was standardised within each
    test set, which changes none of its decisions.
    """
    accuracy = _accuracy_within([len(part.human) for part in parts])
    human = np.concatenate([part.human for part in parts])
    metrics = np.concatenate([_standardised(part) for part in parts], axis=1)
    return _permutation(
        parts[0].having(human, metrics), how, {"statistic": accuracy}, nothing(len(metrics))
    )


def _accuracy_within(
    sizes: Sequence[int],
) -> Callable[[NDArray[np.float64], NDArray[np.float64]], float]:
    """Pairwise accuracy over the pairs within consecutive groups of systems.

    Equal to :func:`gnomon.stats.pairwise_accuracy` with groups, with the pairs laid out once: a
    test calls it for every draw and every pair of metrics.
    """
    starts = np.cumsum([0, *sizes])
    first, second = np.concatenate(
        [np.stack(np.triu_indices(n, 1)) + at for n, at in zip(sizes, starts, strict=False)], axis=1
    )

    def accuracy(human: NDArray[np.float64], metric: NDArray[np.float64]) -> float:
        h, m = human.ravel(), metric.ravel()
        signs = np.sign(h[first] - h[second]), np.sign(m[first] - m[second])
        known = int((~np.isnan(signs[0] + signs[1])).sum())
        return int((signs[0] == signs[1]).sum()) / known if known else float("nan")

    return accuracy


def _standardised(part: MeasuredScores) -> NDArray[np.float64]:
    known = np.where(np.isnan(part.human), np.nan, part.metrics)
    count = (~np.isnan(known)).sum(axis=1, keepdims=True)
    centred = known - np.nansum(known, axis=1, keepdims=True) / np.maximum(count, 1)
    spread = np.sqrt(np.nansum(centred**2, axis=1, keepdims=True) / np.maximum(count, 1))
    return np.asarray(centred / np.where(spread > 0, spread, 1.0))
