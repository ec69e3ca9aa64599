"""How far candidates lie from their references on the scale of a sentence scorer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gnomon.muler._significance import LEAST
from gnomon.stats.resampling import percentile_interval, resampled_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.annotate.scorers import SentenceScores
    from gnomon.batch import Batch, Ragged

    Floats = NDArray[np.float64]

__all__ = ["Differences", "SentenceFigures", "differences", "sentence_figures"]


@dataclass(frozen=True)
class Differences:
    """One scorer on K systems and N segments.

    Attributes:
        reference: float64 [K, N], mean score of a segment's references that could be scored.
        candidate: float64 [K, N], score of the candidate.
        signed: float64 [K, N], reference - candidate; NaN where either side has no score.
        absolute: float64 [K, N], |reference - candidate|, averaged over the references.
        known: int64 [K, N], words that the scorer knows on both sides; ``None`` if it knows none.
        words: int64 [K, N], words of both sides; ``None`` likewise.
    """

    reference: Floats
    candidate: Floats
    signed: Floats
    absolute: Floats
    known: NDArray[np.int64] | None
    words: NDArray[np.int64] | None


@dataclass(frozen=True)
class SentenceFigures:
    """One scorer on one system; ``None`` where undefined.

    Attributes:
        n: segments scored on both sides.
        signed: mean of reference - candidate over them.
        low: lower end of its bootstrap interval.
        high: upper end.
        absolute: mean of |reference - candidate|.
        absolute_low: lower end of its interval.
        absolute_high: upper end.
        coverage: n as a share of the segments looked at.
        words_known: share of the words of both sides that the scorer knows.
        mean_reference: mean score of the references over the n segments.
        mean_candidate: mean score of the candidates over them.
    """

    n: int
    signed: float | None
    low: float | None
    high: float | None
    absolute: float | None
    absolute_low: float | None
    absolute_high: float | None
    coverage: float | None
    words_known: float | None
    mean_reference: float | None
    mean_candidate: float | None


def differences(scores: SentenceScores, batch: Batch) -> Differences:
    """Compare the two sides of every segment.

    Args:
        scores: of the batch's texts, in their order (texts never used may be NaN).
        batch: candidates and references; several references of a segment count with their mean.
    """
    sides = [
        _sides(scores.values, batch.candidates[k], batch.references_of(k))
        for k in range(batch.shape[0])
    ]
    reference = np.array([mean for mean, _ in sides]).reshape(batch.shape)
    absolute = np.array([distance for _, distance in sides]).reshape(batch.shape)
    candidate = scores.values[batch.candidates]
    return Differences(
        reference=reference,
        candidate=candidate,
        signed=reference - candidate,
        absolute=absolute,
        known=_counts(scores.known, batch),
        words=_counts(scores.words, batch),
    )


def _sides(
    values: Floats, candidates: NDArray[np.int32], references: Ragged
) -> tuple[Floats, Floats]:
    """Mean score of the references, and mean distance from them, of each segment."""
    width = np.diff(references.offsets)
    segment = np.repeat(np.arange(len(width)), width)
    reference = values[references.indices]
    distance = np.abs(reference - values[candidates][segment])
    return _means(reference, segment, len(width)), _means(distance, segment, len(width))


def _means(values: Floats, segment: NDArray[np.intp], segments: int) -> Floats:
    """Mean of the values of each segment, NaN left out; NaN where none is left."""
    scored = ~np.isnan(values)
    total = np.bincount(segment[scored], values[scored], minlength=segments)
    count = np.bincount(segment[scored], minlength=segments)
    means: Floats = np.divide(total, count, out=np.full(segments, np.nan), where=count > 0)
    return means


def _counts(counts: NDArray[np.int64] | None, batch: Batch) -> NDArray[np.int64] | None:
    if counts is None:
        return None
    found = counts[batch.candidates]
    for k in range(batch.shape[0]):
        references = batch.references_of(k)
        segment = np.repeat(np.arange(len(references)), np.diff(references.offsets))
        np.add.at(found[k], segment, counts[references.indices])
    return found


def sentence_figures(
    found: Differences,
    scope: NDArray[np.bool_],
    counts: NDArray[np.uint8] | None = None,
    confidence: float = 0.95,
) -> tuple[SentenceFigures, ...]:
    """The figures of every system over some segments.

    Args:
        found: the differences.
        scope: bool [N], the segments to look at.
        counts: uint8 [N, B], how often each segment occurs in each resample
            (:func:`gnomon.stats.resampling.resample_counts`); without them no intervals.
        confidence: of the intervals, in (0, 1).
    """
    scored = ~np.isnan(found.signed) & scope
    signed, absolute = (
        _ends(values, scored, counts, confidence) for values in (found.signed, found.absolute)
    )
    return tuple(
        _of_system(found, k, scored[k], scope, signed[k], absolute[k]) for k in range(len(scored))
    )


def _of_system(
    found: Differences,
    k: int,
    scored: NDArray[np.bool_],
    scope: NDArray[np.bool_],
    signed: tuple[float | None, float | None],
    absolute: tuple[float | None, float | None],
) -> SentenceFigures:
    n = int(scored.sum())
    return SentenceFigures(
        n=n,
        signed=_mean(found.signed[k], scored),
        low=signed[0],
        high=signed[1],
        absolute=_mean(found.absolute[k], scored),
        absolute_low=absolute[0],
        absolute_high=absolute[1],
        coverage=n / int(scope.sum()) if scope.any() else None,
        words_known=_share_known(found, k, scope),
        mean_reference=_mean(found.reference[k], scored),
        mean_candidate=_mean(found.candidate[k], scored),
    )


def _share_known(found: Differences, k: int, scope: NDArray[np.bool_]) -> float | None:
    if found.known is None or found.words is None:
        return None
    words = int(found.words[k, scope].sum())
    return int(found.known[k, scope].sum()) / words if words else None


def _ends(
    values: Floats, scored: NDArray[np.bool_], counts: NDArray[np.uint8] | None, confidence: float
) -> list[tuple[float | None, float | None]]:
    """Per system, the ends of the percentile interval of the mean over its scored segments."""
    if counts is None:
        return [(None, None)] * len(values)
    sums = resampled_sums(np.where(scored, values, 0.0), counts)
    sizes = resampled_sums(scored.astype(np.float64), counts)
    means = np.divide(sums, sizes, out=np.full(sums.shape, np.nan), where=sizes > 0)
    low, high = percentile_interval(means, confidence)
    enough = scored.sum(axis=1) >= LEAST
    return [
        (float(a), float(b)) if fit else (None, None)
        for a, b, fit in zip(low, high, enough, strict=True)
    ]


def _mean(values: Floats, where: NDArray[np.bool_]) -> float | None:
    return float(values[where].mean()) if where.any() else None
