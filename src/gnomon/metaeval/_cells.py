"""The scores that a measure is taken over, and its value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon import stats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gnomon.metaeval._contest import Contest, Entry
    from gnomon.metaeval._measures import Measure

__all__ = ["Cells", "Far", "Value", "cells", "value"]


class Far(NamedTuple):
    """Pairs of outputs that people ordered, as indices [P]."""

    segment: NDArray[np.int64]
    better: NDArray[np.int64]
    worse: NDArray[np.int64]


@dataclass(frozen=True)
class Cells:
    """What one measure compares on one test set.

    Attributes:
        measure: the measure.
        names: the metrics.
        human: people's scores [K] or [K, N].
        metrics: the metrics' scores [M, K] or [M, K, N].
        pairs: for DaRR by rankings, the pairs that people ordered.
        threshold: for DaRR from scores, the smallest difference that counts.
        spa_seed: seed of the sign flips of soft pairwise accuracy.
    """

    measure: Measure
    names: tuple[str, ...]
    human: NDArray[np.float64]
    metrics: NDArray[np.float64]
    pairs: Far | None = None
    threshold: float = 25.0
    spa_seed: int = 0

    @property
    def empty(self) -> bool:
        """Whether people said nothing that the measure could use."""
        return self.pairs is None and bool(np.isnan(self.human).all())

    def only(self, systems: NDArray[np.bool_]) -> Cells:
        """The same, with people's scores of some systems [K] alone."""
        kept = systems if self.human.ndim == 1 else systems[:, None]
        human = np.where(kept, self.human, np.nan)
        return replace(self, human=human, pairs=None)

    def having(self, human: NDArray[np.float64], metrics: NDArray[np.float64]) -> Cells:
        """The same measure of other scores."""
        return replace(self, human=human, metrics=metrics)


class Value(NamedTuple):
    """A measured value (NaN: undefined), what n it stands on, and the tie threshold if any."""

    value: float
    n: int
    epsilon: float | None = None


def cells(
    contest: Contest,
    measure: Measure,
    entries: Sequence[Entry],
    *,
    threshold: float = 25.0,
    spa_seed: int = 0,
) -> Cells:
    """The scores that a measure needs, of some metrics."""
    by_segment = measure.level == "segment" or measure.statistic == "spa"
    metrics = [entry.segments if by_segment else entry.system for entry in entries]
    human = contest.segments if by_segment else contest.system
    shape = (len(entries), *human.shape)
    ranked = contest.ranked if measure.statistic == "darr" else None
    return Cells(
        measure,
        tuple(entry.metric for entry in entries),
        human,
        np.array(metrics, dtype=np.float64).reshape(shape),
        None if ranked is None else Far(ranked.segment, ranked.better, ranked.worse),
        threshold,
        spa_seed,
    )


def value(found: Cells, metric: int) -> Value:
    """The value of one metric, by its place."""
    scores, human, measure = found.metrics[metric], found.human, found.measure
    grouping = measure.grouping
    if measure.statistic == "darr":
        return _darr(found, scores)
    if measure.statistic == "spa":
        result = stats.spa(human, scores, seed=found.spa_seed)
        return Value(result, _pairs(human, scores, "spa"))
    if measure.statistic == "acc_eq":
        best = stats.calibrate_ties(human, scores, grouping=grouping)
        return Value(best.accuracy, _pairs(human, scores, grouping), best.epsilon)
    if measure.statistic == "acc_eq_held_out":
        enough = scores.shape[1] >= 2
        held = stats.acc_eq_held_out(human, scores, grouping=grouping) if enough else np.nan
        return Value(held, _pairs(human, scores, grouping))
    if measure.statistic == "pairwise_difference_pearson":
        r = stats.pairwise_difference_pearson(human, scores, grouping=grouping)
        return Value(r, _pairs(human, scores, grouping))
    if measure.statistic == "pairwise_accuracy":
        agreeing, total = stats.pairwise_decisions(human, scores)
        return Value(agreeing / total if total else np.nan, total)
    both = ~(np.isnan(human) | np.isnan(scores))
    function = {
        "pearson": stats.pearson,
        "spearman": stats.spearman,
        "kendall_b": stats.kendall_b,
        "kendall_c": stats.kendall_c,
    }[measure.statistic]
    return Value(function(human, scores, grouping=grouping), int(both.sum()))


def _darr(found: Cells, scores: NDArray[np.float64]) -> Value:
    if found.pairs is None:
        tau = stats.darr(found.human, scores, threshold=found.threshold)
        return Value(tau, _far(found.human, scores, found.threshold))
    better, worse = of_pairs(found.pairs, scores)
    known = ~(np.isnan(better) | np.isnan(worse))
    return Value(stats.darr_pairs(better, worse), int(known.sum()))


def of_pairs(
    pairs: Far, scores: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A metric's scores [K, N] of the better and of the worse outputs [P]."""
    return scores[pairs.better, pairs.segment], scores[pairs.worse, pairs.segment]


def _far(human: NDArray[np.float64], scores: NDArray[np.float64], threshold: float) -> int:
    return len(far_pairs(np.where(np.isnan(scores), np.nan, human), threshold).segment)


def far_pairs(human: NDArray[np.float64], threshold: float) -> Far:
    """The pairs of outputs of a segment that people scored at least ``threshold`` apart [P]."""
    found: list[Far] = []
    for first in range(len(human)):
        gap = human[first] - human[first + 1 :]
        with np.errstate(invalid="ignore"):
            other, segment = np.nonzero(np.abs(gap) >= threshold)
        upper = gap[other, segment] > 0
        other = other + first + 1
        found.append(
            Far(segment, np.where(upper, first, other), np.where(upper, other, first))
        )
    joined = [np.concatenate(parts) for parts in zip(*found, strict=True)] if found else []
    return Far(*joined) if joined else Far(*(np.empty(0, np.int64) for _ in range(3)))


def _pairs(human: NDArray[np.float64], scores: NDArray[np.float64], grouping: str) -> int:
    """Pairs of outputs that both sides scored, within the groups."""
    both = ~(np.isnan(human) | np.isnan(scores))
    if grouping == "spa":
        common = both.astype(np.int64) @ both.T.astype(np.int64)
        return int((np.triu(common, 1) > 0).sum())
    counts = {"item": both.sum(axis=0), "system": both.sum(axis=1)}.get(grouping, both.sum())
    return int((counts * (counts - 1) // 2).sum())
