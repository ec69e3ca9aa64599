"""The figures of one feature for every system, over all segments or a slice of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.metrics.protocol import CostChecking
from gnomon.muler._ratio import clipped_ratios, ratio

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from gnomon.batch import Batch
    from gnomon.metrics.masking import MaskPlan
    from gnomon.metrics.protocol import MaskingMetric
    from gnomon.muler._presence import Presence

__all__ = ["FeatureScores", "Figures", "feature_scores", "figures"]

_CELLS = 16_000_000  # float64 values of masked scores held at once (128 MB)
_ROUNDING = 1e-6  # a difference below this share of the scores is rounding; vectors are float32


@dataclass(frozen=True)
class FeatureScores:
    """Sentence scores of one feature, float64 [K, N] each, in the metric's own units."""

    feature: str
    base: NDArray[np.float64]
    oracle: NDArray[np.float64]
    anti_oracle: NDArray[np.float64]
    higher_is_better: bool

    def gain(self) -> NDArray[np.float64]:
        """What the oracle gains over the base, oriented so that a gain is positive, [K, N]."""
        gain = self.oracle - self.base
        return gain if self.higher_is_better else -gain

    def excess(self) -> NDArray[np.float64]:
        """How far the base exceeds the oracle, oriented, [K, N]; what rounding moves is below 0."""
        return -self.gain() - self._noise()

    def deficit(self) -> NDArray[np.float64]:
        """How far the base falls below the anti-oracle, oriented, [K, N]; likewise."""
        return -self._lead() - self._noise()

    def ordered(self) -> NDArray[np.bool_]:
        """Where oracle > base > anti-oracle, oriented and by more than rounding, [K, N]."""
        noise = self._noise()
        return (self.gain() > noise) & (self._lead() > noise)

    def _lead(self) -> NDArray[np.float64]:
        lead = self.base - self.anti_oracle
        return lead if self.higher_is_better else -lead

    def _noise(self) -> NDArray[np.float64]:
        return _ROUNDING * np.maximum(np.abs(self.oracle), np.abs(self.base))


@dataclass(frozen=True)
class Figures:
    """MuLER and its companions for one system and feature; ``None`` where undefined.

    Attributes:
        segments: size of I, the segments where both sides have the feature.
        muler: ratio of means (eq. 2).
        clipped: mean of the clipped ratios of segments; undefined where ``muler`` is.
        base: mean score over I ("indices score").
        base_all: mean score over all segments.
        oracle: mean oracle score over I (max).
        anti_oracle: mean anti-oracle score over I (min).
        spread: max - min, oriented.
        gain: max - base, oriented ("abl-MuLER").
        add: share of all segments with more of the feature in the candidate.
        miss: share with more of it in the reference.
        hit: share with equally much, and some.
        neither: share without it.
        negative: segments of I whose base exceeds their oracle ("negative MuLER").
        below: segments of I whose base falls below their anti-oracle.
        ordered: share of I where max > base > min.
    """

    segments: int
    muler: float | None
    clipped: float | None
    base: float | None
    base_all: float | None
    oracle: float | None
    anti_oracle: float | None
    spread: float | None
    gain: float | None
    add: float | None
    miss: float | None
    hit: float | None
    neither: float | None
    negative: int
    below: int
    ordered: float | None


def feature_scores(metric: MaskingMetric, batch: Batch, plan: MaskPlan) -> Iterator[FeatureScores]:
    """Score the two oracles of every feature of a plan, a bounded number of features at a time.

    Args:
        metric: the bound metric.
        batch: the texts.
        plan: a plan of :meth:`MaskPlan.oracles`, lengths filled in.

    Raises:
        UsageError: all features together cost more than a costly metric may.
    """
    if isinstance(metric, CostChecking):
        metric.check_cost(batch, plan)
    base = metric.segments(batch)
    step = max(1, _CELLS // max(1, 2 * base.size))
    names = plan.spans.features
    for first in range(0, len(names), step):
        chunk = plan.keep(range(2 * first, min(2 * (first + step), plan.variants)))
        scores = metric.masked(batch, chunk)
        for offset in range(len(scores) // 2):
            oracle, anti_oracle = scores[2 * offset], scores[2 * offset + 1]
            better = metric.higher_is_better
            yield FeatureScores(names[first + offset], base, oracle, anti_oracle, better)


def figures(
    scores: FeatureScores, present: Presence, scope: NDArray[np.bool_]
) -> tuple[Figures, ...]:
    """The figures of every system over the segments in scope.

    Args:
        scores: sentence scores of the feature.
        present: where the feature occurs.
        scope: bool [N], the segments to look at.

    Returns:
        One :class:`Figures` per system.
    """
    sign = 1.0 if scores.higher_is_better else -1.0
    shares = clipped_ratios(sign * scores.base, sign * scores.oracle, sign * scores.anti_oracle)
    order = _Order(scores.excess() > 0, scores.deficit() > 0, scores.ordered())
    return tuple(
        _of_system(scores, present, shares[k], order, scope, k) for k in range(len(scores.base))
    )


class _Order(NamedTuple):
    """How base, oracle and anti-oracle lie, bool [K, N] each."""

    above: NDArray[np.bool_]
    below: NDArray[np.bool_]
    strict: NDArray[np.bool_]


def _of_system(
    scores: FeatureScores,
    present: Presence,
    shares: NDArray[np.float64],
    order: _Order,
    scope: NDArray[np.bool_],
    k: int,
) -> Figures:
    sign = 1.0 if scores.higher_is_better else -1.0
    inside = present.both[k] & scope
    base = _mean(scores.base[k], inside)
    oracle = _mean(scores.oracle[k], inside)
    anti_oracle = _mean(scores.anti_oracle[k], inside)
    muler = ratio(_number(base), _number(oracle), _number(anti_oracle))
    return Figures(
        segments=int(inside.sum()),
        muler=muler,
        clipped=None if muler is None else _mean(shares, inside),
        base=base,
        base_all=_mean(scores.base[k], scope),
        oracle=oracle,
        anti_oracle=anti_oracle,
        spread=_difference(oracle, anti_oracle, sign),
        gain=_difference(oracle, base, sign),
        add=_mean(present.add[k], scope),
        miss=_mean(present.miss[k], scope),
        hit=_mean(present.hit[k], scope),
        neither=_mean(present.neither[k], scope),
        negative=int((order.above[k] & inside).sum()),
        below=int((order.below[k] & inside).sum()),
        ordered=_mean(order.strict[k].astype(np.float64), inside),
    )


def _mean(values: NDArray[np.float64], where: NDArray[np.bool_]) -> float | None:
    chosen = values[where]
    chosen = chosen[~np.isnan(chosen)]
    return float(chosen.mean()) if len(chosen) else None


def _number(value: float | None) -> float:
    return float("nan") if value is None else value


def _difference(a: float | None, b: float | None, sign: float) -> float | None:
    return None if a is None or b is None else sign * (a - b)
