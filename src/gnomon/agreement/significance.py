"""Intervals of a measure, and tests of the differences between metrics."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from gnomon import stats
from gnomon.agreement.measures import pair_scores
from gnomon.core.errors import UsageError
from gnomon.core.options import CONFIDENCE, RESAMPLES, SEED
from gnomon.core.validation import Problem
from gnomon.stats.agreement import item_accuracies
from gnomon.stats.p_values import fewest_draws
from gnomon.stats.resampling import percentile_interval, resample_counts, resampled_sums

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.agreement.measures import MeasuredScores
    from gnomon.stats import EarlyStopping
    from gnomon.stats.permutation import Swap

    Draws = Callable[[list[int]], tuple[NDArray[np.float64], NDArray[np.float64]]]

#: over fewer systems a bootstrap says nothing
FEW_SYSTEMS = 4

# Tests by name.


Test: TypeAlias = Literal["auto", "williams", "permutation", "bootstrap"]


# Tests of differences between metrics, and their results.


@dataclass(frozen=True)
class Testing:
    """Options of the tests of differences."""

    # "williams" (Pearson of system scores alone), "permutation", "bootstrap", or "auto": Williams's
    # where it applies, permutation elsewhere, bootstrap where no permutation exists (DaRR, soft
    # pairwise accuracy)
    test: Test = "auto"
    resamples: int = RESAMPLES  # draws; 0 for neither intervals nor tests that draw
    seed: int = SEED  # seed of all draws
    confidence: float = CONFIDENCE  # share of draws inside an interval
    plus_one: bool = True  # p = (r + 1)/(B + 1), else r/B
    early_stopping: EarlyStopping | None = None  # of permutation tests
    williams: bool = True  # whether "auto" means Williams's test for Pearson of system scores
    # whether single cells are what is usual for segment scores, as in the shared tasks; else all
    # scores of a segment, which need not be independent of one another
    cells: bool = False

    @property
    def draws(self) -> stats.RandomDraws:
        """The draws of a test."""
        return stats.RandomDraws(self.resamples, self.seed, self.plus_one, self.early_stopping)

    @property
    def alpha(self) -> float:
        """The largest p that is significant."""
        return round(1 - self.confidence, 12)

    def least_p(self, test: str) -> float:
        """The smallest p that the draws of a test can show; 0 for a test without draws."""
        drawn = self.resamples > 0 and test.startswith(("permutation", "bootstrap"))
        return 1 / (self.resamples + 1) if drawn else 0.0


class Verdicts(NamedTuple):
    """Intervals and tests of M metrics; NaN is undefined."""

    low: NDArray[np.float64]  # lower ends of the intervals [M]
    high: NDArray[np.float64]  # upper ends [M]
    differences: NDArray[np.float64]  # row less column, on what both have [M, M]
    p: NDArray[np.float64]  # p-values that the row is better than the column [M, M]
    test: str = ""  # which test it is; empty if there is none
    interval: str = ""  # what was drawn or left out for the intervals; empty if there are none
    # of how many of these a figure of each metric rests on [M]; None where there are none
    drawn: NDArray[np.int64] | None = None


def nothing(metrics: int) -> Verdicts:
    """Verdicts of which all is undefined."""
    low, high = np.full((2, metrics), np.nan)
    differences, p = np.full((2, metrics, metrics), np.nan)
    return Verdicts(low, high, differences, p)


def p_of_better(found: Verdicts) -> NDArray[np.float64]:
    """P-values that say of a row that it is better than a column [M, M]; NaN where not tested."""
    p = np.array(found.p)
    np.fill_diagonal(p, np.nan)
    return p


def beats(p: float, how: Testing) -> bool | None:
    """True if one metric is better than another by such a p-value; None where not tested."""
    return None if np.isnan(p) else bool(p <= how.alpha)


def resample_faults(resamples: int, confidence: float) -> Iterator[Problem]:
    """Resamples that are too few for intervals."""
    least = fewest_draws(confidence)
    if 0 < resamples < least:
        said = (
            f"intervals of a confidence of {confidence} need {least} resamples or more, or 0 for"
            f" none; got {resamples}"
        )
        yield Problem("resamples", UsageError(said))


def refuse_unknown_documents(name: str) -> UsageError:
    """Documents are to be independent, and nobody knows them."""
    return UsageError(
        f"test set {name!r} does not say which document a segment belongs to, so that documents"
        " cannot be what is independent (unit): add them to the test set, or take auto or segment"
    )


# Intervals and tests of statistics that are sums over pairs: DaRR, acc_eq, soft accuracy.


def decide_ranked_pairs(found: MeasuredScores, how: Testing) -> Verdicts:
    """DaRR: bootstrap over segments."""
    pairs = _ranked_pairs(found)
    if not len(pairs.segment):
        return nothing(len(found.names))
    sides = [pair_scores(pairs, scores) for scores in found.metrics]
    judged, column = np.unique(pairs.segment, return_inverse=True)
    segments = len(judged)
    counts = resample_counts(segments, count=max(how.resamples, 1), seed=how.seed)

    def draws(places: list[int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        scored = np.all(
            [~np.isnan(a) & ~np.isnan(b) for a, b in (sides[k] for k in places)], axis=0
        )
        at = column[scored]
        rows = [np.bincount(at, minlength=segments)]
        for better, worse in (sides[k] for k in places):
            right = (better > worse)[scored]
            rows.append(np.bincount(at[right], minlength=segments))
        return _taus(np.array(rows, dtype=np.float64), counts)

    return _bootstrap_verdicts(len(found.names), draws, how, "segments", drawn=segments)


def _taus(
    rows: NDArray[np.float64], counts: NDArray[np.uint8]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    # rows: all pairs by segment, then each metric's concordant ones
    sums = np.concatenate([rows.sum(axis=1)[:, None], resampled_sums(rows, counts)], axis=1)
    total = np.where(sums[0] == 0, np.nan, sums[0])
    taus = (2 * sums[1:] - total) / total
    return taus[:, 0], taus[:, 1:]


def decide_soft_accuracy(found: MeasuredScores, how: Testing) -> Verdicts:
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

    result = _bootstrap_verdicts(len(found.names), draws, how, "systems")
    if how.test != "permutation" or not how.resamples:
        return result
    soft = {"statistic": stats.SoftPairwiseAccuracy(seed=found.spa_seed)}
    return _permutation(found, how, "cells", soft, result)


def _gaps(
    found: MeasuredScores, metric: NDArray[np.float64], hole: NDArray[np.bool_]
) -> NDArray[np.float64]:
    human, scores = (np.where(hole, np.nan, side) for side in (found.human, metric))
    sides = [stats.system_p_values(side, seed=found.spa_seed) for side in (human, scores)]
    # p(i > j) and p(j > i) need not add up to one; soft accuracy counts i < j
    upper = np.triu(np.ones((len(human), len(human)), dtype=bool), 1)
    return np.where(upper, np.abs(sides[0] - sides[1]), np.nan)


def decide_accuracies(
    found: MeasuredScores, how: Testing, epsilons: NDArray[np.float64]
) -> Verdicts:
    """acc_eq by item: intervals by bootstrap over segments, tests by exchange of segments.

    Tie thresholds stay what they are while segments are drawn or exchanged. Under other groupings
    pairs reach across segments, and there are neither.
    """
    result = nothing(len(found.names))
    if not how.resamples or found.measure.grouping != "item":
        return result
    ends = [
        _item_interval(found, metric, epsilon, how)
        for metric, epsilon in zip(found.metrics, epsilons, strict=True)
    ]
    low, high = np.array(ends, dtype=np.float64).reshape(-1, 2).T
    result = result._replace(low=low, high=high, interval="segments")
    if how.test not in ("auto", "permutation"):
        return result
    defined = np.flatnonzero(~np.isnan(epsilons))
    tested = stats.input_swap_test(
        found.human,
        found.metrics[defined],
        epsilons=epsilons[defined],
        draws=how.draws,
    )
    where = np.ix_(defined, defined)
    result.differences[where], result.p[where] = tested.differences, tested.p
    return result._replace(test=f"permutation of decisions ({_SWAPPED['inputs']})")


def _item_interval(
    found: MeasuredScores, metric: NDArray[np.float64], epsilon: float, how: Testing
) -> tuple[float, float]:
    # the threshold stays what it is while segments are drawn
    both = ~(np.isnan(found.human) | np.isnan(metric))
    items = np.flatnonzero(both.sum(axis=0) >= 2)
    if np.isnan(epsilon) or not len(items):
        return float("nan"), float("nan")
    each = item_accuracies(found.human[:, items], metric[:, items], float(epsilon))
    rows = np.array([each])
    counts = resample_counts(len(items), count=how.resamples, seed=how.seed)
    means = resampled_sums(rows, counts)[0] / len(items)
    low, high = percentile_interval(means, how.confidence, max(len(items), 2))
    return float(low), float(high)


def _bootstrap_verdicts(
    metrics: int, draws: Draws, how: Testing, unit: str, *, drawn: int | None = None
) -> Verdicts:
    result = nothing(metrics)
    if not how.resamples:
        return result
    ends = np.array(
        [percentile_interval(draws([k])[1][0], how.confidence, drawn) for k in range(metrics)],
        dtype=np.float64,
    ).reshape(-1, 2)
    result = result._replace(low=ends[:, 0], high=ends[:, 1], interval=unit)
    if how.test not in ("auto", "bootstrap"):
        return result
    for i in range(metrics):
        for j in range(metrics):
            if i != j:
                observed, values = draws([i, j])
                result.differences[i, j] = observed[0] - observed[1]
                result.p[i, j] = stats.bootstrap_p_value(
                    values[0] - values[1],
                    float(observed[0] - observed[1]),
                    alternative="greater",
                    plus_one=how.plus_one,
                    drawn=drawn,
                )
    return result._replace(test=f"bootstrap over {unit}")


# Intervals of a measure, and tests of the differences between metrics.


_SWAPPED = {"cells": "PERM-BOTH", "inputs": "PERM-INPUTS"}
_NARROWEST = 1e-9  # an interval below this is a point
_SEVERAL = 2  # segments that it takes to resample any


def verdicts(found: MeasuredScores, how: Testing, epsilons: NDArray[np.float64]) -> Verdicts:
    """Intervals and tests of one measure on one test set; thresholds of ties [M], NaN for none."""
    statistic = found.measure.statistic
    if statistic == "acc_eq_held_out" or not len(found.names):
        return nothing(len(found.names))
    if found.documents is not None:
        result = _decide_documents(found, how, epsilons)
    elif statistic == "darr":
        result = _drop_single_segments(found, decide_ranked_pairs(found, how))
    elif statistic == "spa":
        result = decide_soft_accuracy(found, how)
    elif statistic == "acc_eq":
        result = _drop_single_segments(found, decide_accuracies(found, how, epsilons))
    else:
        result = _drop_single_segments(found, _decide_scores(found, how))
    if result.interval == "systems":
        return _drop_collapsed_intervals(result, found.judged)
    if result.interval == "segments":
        drawn = [_segments(found, metric) for metric in found.metrics]
        return result._replace(drawn=np.array(drawn, dtype=np.int64))
    return result


def _drop_collapsed_intervals(result: Verdicts, systems: int) -> Verdicts:
    """Without intervals of next to no systems, and those that a bootstrap of few collapses to."""
    wrong = (result.high - result.low < _NARROWEST) | (systems < FEW_SYSTEMS)
    low, high = (np.where(wrong, np.nan, ends) for ends in (result.low, result.high))
    drawn = np.full(len(low), systems)
    return result._replace(low=low, high=high, drawn=drawn)


def _decide_documents(
    found: MeasuredScores, how: Testing, epsilons: NDArray[np.float64]
) -> Verdicts:
    """Segment-level figures where the segments of a document are not independent."""
    assert found.documents is not None  # noqa: S101  # who calls has looked
    result = nothing(len(found.names))
    if not how.resamples:
        return result
    measure = found.measure
    if measure.statistic == "darr":
        pairs = _ranked_pairs(found)
        tested = stats.decisions_by_document(
            [_count_right(*pair_scores(pairs, scores)) for scores in found.metrics],
            pairs.segment,
            found.documents,
            confidence=how.confidence,
        )
    else:
        tested = stats.document_test(
            found.human,
            found.metrics,
            found.documents,
            statistic=_statistic_of_cells(found, epsilons),
            grouping=measure.grouping,
            confidence=how.confidence,
        )
    (low, high), drawn = tested.intervals, tested.documents
    result = result._replace(low=low, high=high, interval="documents", drawn=drawn)
    if how.test != "auto":
        return result
    test = "jackknife over documents"
    return result._replace(differences=tested.differences, p=tested.p, test=test)


def _statistic_of_cells(found: MeasuredScores, epsilons: NDArray[np.float64]) -> Any:
    """The statistic of a measure by name, or as one function per metric."""
    measure = found.measure
    if measure.is_row_statistic:
        return measure.statistic
    if measure.statistic == "acc_eq":
        return [
            partial(stats.acc_eq, epsilon=epsilon, grouping=measure.grouping)
            for epsilon in epsilons
        ]
    return partial(stats.pairwise_difference_pearson, grouping=measure.grouping)


def _count_right(better: NDArray[np.float64], worse: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(np.isnan(better) | np.isnan(worse), np.nan, better > worse)


def _ranked_pairs(found: MeasuredScores) -> stats.OrderedPairs:
    """Pairs that people ranked, or whose scores are far enough apart."""
    if found.pairs is not None:
        return found.pairs
    return stats.ordered_pairs(found.human, threshold=found.threshold or 0.0)


def _drop_single_segments(found: MeasuredScores, result: Verdicts) -> Verdicts:
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
    return result._replace(low=low, high=high, p=p)


def _segments(found: MeasuredScores, metric: NDArray[np.float64]) -> int:
    """Number of segments that a figure of a metric rests on."""
    if found.measure.statistic != "darr":
        return int((~(np.isnan(found.human) | np.isnan(metric))).any(axis=0).sum())
    pairs = _ranked_pairs(found)
    better, worse = pair_scores(pairs, metric)
    return len(np.unique(pairs.segment[~(np.isnan(better) | np.isnan(worse))]))


def _decide_scores(found: MeasuredScores, how: Testing) -> Verdicts:
    """Correlations, and accuracy of system scores."""
    measured = _name_statistic(found)
    what = "systems" if found.measure.level == "system" else "segments"
    result = _bootstrap(found, how, what, measured) if how.resamples else nothing(len(found.names))
    is_pearson = (found.measure.statistic, found.measure.level) == ("pearson", "system")
    if how.test == "williams" or (how.test == "auto" and is_pearson and how.williams):
        if is_pearson:
            return _williams(found, result)
        return result._replace(p=np.full_like(result.p, np.nan), test="")
    if how.test == "bootstrap" or not how.resamples:
        return result
    alone = found.measure.level == "system"
    return _permutation(found, how, "cells" if alone or how.cells else "inputs", measured, result)


def _name_statistic(found: MeasuredScores) -> dict[str, Any]:
    """The statistic as :mod:`gnomon.stats` takes it: by name, or as a function."""
    measure = found.measure
    if measure.is_row_statistic:
        return {"statistic": measure.statistic, "grouping": measure.grouping}

    def differences(human: NDArray[np.float64], metric: NDArray[np.float64]) -> float:
        return stats.pairwise_difference_pearson(human, metric, grouping=measure.grouping)

    return {"statistic": differences}


def _bootstrap(
    found: MeasuredScores, how: Testing, what: str, measured: dict[str, Any]
) -> Verdicts:
    boot = stats.bootstrap_test(
        found.human,
        found.metrics,
        confidence=how.confidence,
        expanded=what == "segments",
        draws=how.draws,
        **measured,
    )
    low, high = boot.intervals
    return Verdicts(low, high, boot.differences, boot.p, f"bootstrap over {what}", what)


def _permutation(
    found: MeasuredScores, how: Testing, swap: Swap, measured: dict[str, Any], result: Verdicts
) -> Verdicts:
    tested = stats.permutation_test(
        found.human,
        found.metrics,
        swap=swap,
        draws=how.draws,
        **measured,
    )
    alone = found.metrics.ndim == 2  # scores of whole systems
    what = "system scores" if alone else f"scores ({_SWAPPED[swap]})"
    test = f"permutation of {what}"
    return result._replace(differences=tested.differences, p=tested.p, test=test)


def _williams(found: MeasuredScores, result: Verdicts) -> Verdicts:
    size = len(found.names)
    differences, p = np.full((size, size), np.nan), np.full((size, size), np.nan)
    for i in range(size):
        for j in range(size):
            test = stats.williams(found.human, found.metrics[i], found.metrics[j])
            differences[i, j] = test.r_first - test.r_second
            p[i, j] = np.nan if i == j else test.p
    return result._replace(differences=differences, p=p, test="Williams's test")


def pooled_verdicts(parts: list[MeasuredScores], how: Testing) -> Verdicts:
    """Tests of pairwise accuracy over the pairs of several test sets; every metric is in each.

    System scores are exchanged between metrics after each metric was standardised within each
    test set, which changes none of its decisions.
    """
    accuracy = accuracy_within([len(scores.human) for scores in parts])
    human = np.concatenate([scores.human for scores in parts])
    metrics = np.concatenate([_standardise(scores) for scores in parts], axis=1)
    return _permutation(
        parts[0].having(human, metrics),
        how,
        "cells",
        {"statistic": accuracy},
        nothing(len(metrics)),
    )


def accuracy_within(
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
        pairs_in_all = int((~np.isnan(signs[0] + signs[1])).sum())
        return int((signs[0] == signs[1]).sum()) / pairs_in_all if pairs_in_all else float("nan")

    return accuracy


def _standardise(part: MeasuredScores) -> NDArray[np.float64]:
    scores = np.where(np.isnan(part.human), np.nan, part.metrics)
    count = (~np.isnan(scores)).sum(axis=1, keepdims=True)
    centred = scores - np.nansum(scores, axis=1, keepdims=True) / np.maximum(count, 1)
    spread = np.sqrt(np.nansum(centred**2, axis=1, keepdims=True) / np.maximum(count, 1))
    return np.asarray(centred / np.where(spread > 0, spread, 1.0))
