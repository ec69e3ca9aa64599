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
        threshold: for DaRR from scores, the smallest difference that counts, if they may serve.
        spa_seed: seed of the sign flips of soft pairwise accuracy.
    """

    measure: Measure
    names: tuple[str, ...]
    human: NDArray[np.float64]
    metrics: NDArray[np.float64]
    pairs: Far | None = None
    threshold: float | None = None
    spa_seed: int = 0

    @property
    def empty(self) -> bool:
        """Whether people said nothing that the measure could use."""
        return self.pairs is None and bool(np.isnan(self.human).all())

    @property
    def judged(self) -> int:
        """How many systems both people and a metric scored."""
        systems = len(self.human)
        human = np.isfinite(self.human).reshape(systems, -1).any(axis=1)
        scored = np.isfinite(self.metrics).reshape(len(self.metrics), systems, -1).any(axis=(0, 2))
        return int((human & scored).sum())

    def only(self, systems: NDArray[np.bool_]) -> Cells:
        """The same, with people's scores of some systems [K] alone."""
        kept = systems if self.human.ndim == 1 else systems[:, None]
        human = np.where(kept, self.human, np.nan)
        return replace(self, human=human, pairs=None)

    def trimmed(self) -> Cells:
        """Without systems and segments that nobody judged: resampling must not draw them.

        Soft pairwise accuracy draws its signs for what is left, as mt-metrics-eval does.
        """
        known = ~np.isnan(self.human)
        if self.pairs is not None or known.all():
            return self
        if self.human.ndim == 1:
            return self.having(self.human[known], self.metrics[:, known])
        rows, columns = known.any(axis=1), known.any(axis=0)
        return self.having(self.human[rows][:, columns], self.metrics[:, rows][:, :, columns])

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
    threshold: float | None = None,
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
    own = {
        "darr": _darr,
        "spa": _spa,
        "acc_eq": _acc_eq,
        "acc_eq_held_out": _acc_eq_held_out,
        "pairwise_difference_pearson": _of_differences,
        "pairwise_accuracy": _accuracy,
    }.get(found.measure.statistic, _correlation)
    return own(found, found.metrics[metric])


def _correlation(found: Cells, scores: NDArray[np.float64]) -> Value:
    function = {
        "pearson": stats.pearson,
        "spearman": stats.spearman,
        "kendall_b": stats.kendall_b,
        "kendall_c": stats.kendall_c,
    }[found.measure.statistic]
    both = ~(np.isnan(found.human) | np.isnan(scores))
    r = function(found.human, scores, grouping=found.measure.grouping)
    return Value(r, int(both.sum()))


def _accuracy(found: Cells, scores: NDArray[np.float64]) -> Value:
    agreeing, total = stats.pairwise_decisions(found.human, scores)
    return Value(agreeing / total if total else float("nan"), total)


def _spa(found: Cells, scores: NDArray[np.float64]) -> Value:
    both = (~(np.isnan(found.human) | np.isnan(scores))).astype(np.int64)
    pairs = int((np.triu(both @ both.T, 1) > 0).sum())  # those with a segment in common
    return Value(stats.spa(found.human, scores, seed=found.spa_seed), pairs)


def _acc_eq(found: Cells, scores: NDArray[np.float64]) -> Value:
    best = stats.calibrate_ties(found.human, scores, grouping=found.measure.grouping)
    return Value(best.accuracy, _pairs(found, scores), best.epsilon)


def _acc_eq_held_out(found: Cells, scores: NDArray[np.float64]) -> Value:
    if scores.shape[1] < 2:
        return Value(float("nan"), _pairs(found, scores))
    held = stats.acc_eq_held_out(found.human, scores, grouping=found.measure.grouping)
    return Value(held, _pairs(found, scores))


def _of_differences(found: Cells, scores: NDArray[np.float64]) -> Value:
    grouping = found.measure.grouping
    r = stats.pairwise_difference_pearson(found.human, scores, grouping=grouping)
    return Value(r, _pairs(found, scores))


def _darr(found: Cells, scores: NDArray[np.float64]) -> Value:
    if found.pairs is None:
        threshold = found.threshold or 0.0
        tau = stats.darr(found.human, scores, threshold=threshold)
        return Value(tau, _far(found.human, scores, threshold))
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
        found.append(Far(segment, np.where(upper, first, other), np.where(upper, other, first)))
    joined = [np.concatenate(parts) for parts in zip(*found, strict=True)] if found else []
    return Far(*joined) if joined else Far(*(np.empty(0, np.int64) for _ in range(3)))


def _pairs(found: Cells, scores: NDArray[np.float64]) -> int:
    """Pairs of outputs that both sides scored, within the groups."""
    both = ~(np.isnan(found.human) | np.isnan(scores))
    axis = {"item": 0, "system": 1}.get(found.measure.grouping)
    counts = np.atleast_1d(both.sum(axis=axis))
    return int((counts * (counts - 1) // 2).sum())
