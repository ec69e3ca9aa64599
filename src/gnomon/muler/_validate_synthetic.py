"""MuLER of many random features of one system, batch by batch."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from gnomon.muler._ratio import clipped_ratios
from gnomon.muler._validate_words import drawn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from gnomon.batch import Batch
    from gnomon.metrics.masking import MaskPlan
    from gnomon.metrics.protocol import MaskingMetric
    from gnomon.muler._validate_words import Words
    from gnomon.spans import SpanTable

__all__ = ["Synthetic", "synthetic"]

_SPANS = 500_000  # of all features of a batch together: bounds memory to some 100 MB
_CELLS = 4_000_000  # float64 scores of a batch
_ROUNDING = 1e-12  # a difference below this share of the scores is rounding, not a difference


@dataclass(frozen=True, eq=False)
class Synthetic:
    """D random features of one system under one metric, float64 [D] each; NaN where undefined.

    Attributes:
        reference: share of the references' words.
        output: share of the output's words.
        segments: size of I.
        muler: ratio of means.
        clipped: mean of clipped segment ratios; undefined where ``muler`` is.
    """

    reference: NDArray[np.float64]
    output: NDArray[np.float64]
    segments: NDArray[np.float64]
    muler: NDArray[np.float64]
    clipped: NDArray[np.float64]

    @property
    def defined(self) -> int:
        """How many of them have a MuLER."""
        return int((~np.isnan(self.muler)).sum())


def synthetic(
    metric: MaskingMetric,
    batch: Batch,
    words: Words,
    plan_of: Callable[[SpanTable], MaskPlan],
    *,
    groups: int,
    draws: int,
    seed: int,
    progress: Callable[[int], None],
) -> Synthetic:
    """Score random features of one system: each a group of a split of the vocabulary.

    Args:
        metric: the metric.
        batch: the texts of one system.
        words: the words of its references and output.
        plan_of: spans -> a plan with oracle and anti-oracle of each group.
        groups: groups that the vocabulary is split into, at most its size.
        draws: number of features, D.
        seed: seed of the draws.
        progress: called with the number of features that are done.
    """
    base = metric.segments(batch)[0]
    parts = []
    for first, last in _batches(words, groups, draws):
        members = drawn(len(words.types), groups, first=first, last=last, seed=seed)
        plan = plan_of(words.spans(members))
        plan = plan.with_lengths(metric.mask_lengths(batch, plan))
        scores = metric.masked(batch, plan)[:, 0]
        sign = 1.0 if metric.higher_is_better else -1.0
        inside = _inside(batch, plan.spans)
        figures = _figures(sign * base, sign * scores[0::2], sign * scores[1::2], inside)
        parts.append(Synthetic(*words.shares(members), inside.sum(axis=1) * 1.0, *figures))
        progress(last)
    names = [field.name for field in fields(Synthetic)]
    return Synthetic(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def _batches(words: Words, groups: int, draws: int) -> Iterator[tuple[int, int]]:
    each = max(1, len(words.text) // groups)
    most = max(1, min(_SPANS // each, _CELLS // (2 * words.texts + 1)))
    for first in range(0, draws, most):
        yield first, min(first + most, draws)


def _inside(batch: Batch, spans: SpanTable) -> NDArray[np.bool_]:
    """The set I of every feature for the one system of a batch, bool [D, N]."""
    has = np.zeros((len(spans.features), spans.texts), dtype=np.bool_)
    has[spans.feature, spans.text] = True
    references = batch.references_of(0)
    width = np.diff(references.offsets)
    segment = np.repeat(np.arange(len(width)), width)
    inside = np.zeros((len(has), len(width)), dtype=np.bool_)
    number, place = np.nonzero(has[:, references.indices])
    inside[number, segment[place]] = True
    both: NDArray[np.bool_] = inside & has[:, batch.candidates[0]]
    return both


def _figures(
    base: NDArray[np.float64],
    oracle: NDArray[np.float64],
    anti_oracle: NDArray[np.float64],
    inside: NDArray[np.bool_],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Both definitions of MuLER, float64 [D] each; scores oriented, [N] and twice [D, N]."""
    bottom, top = _means(anti_oracle, inside), _means(oracle, inside)
    reached = _means(np.broadcast_to(base, oracle.shape), inside)
    spread = top - bottom
    vanishes = np.abs(spread) <= _ROUNDING * np.maximum(np.abs(top), np.abs(bottom))
    undefined = vanishes | np.isnan(spread) | np.isnan(reached)
    with np.errstate(invalid="ignore", divide="ignore"):
        muler = np.where(undefined, np.nan, (top - reached) / spread)
    clipped = _means(clipped_ratios(base, oracle, anti_oracle), inside)
    return muler, np.where(undefined, np.nan, clipped)


def _means(scores: NDArray[np.float64], inside: NDArray[np.bool_]) -> NDArray[np.float64]:
    chosen = inside & ~np.isnan(scores)
    with np.errstate(invalid="ignore"):
        means: NDArray[np.float64] = np.where(chosen, scores, 0.0).sum(axis=1) / chosen.sum(axis=1)
    return means
