"""Where a feature occurs, and on which side there is more of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.batch import Batch, Ragged
    from gnomon.spans import SpanTable

__all__ = ["Presence", "occurrences", "presence"]

_ONE_EACH = ("ent", "pos", "morph", "dep")


@dataclass(frozen=True)
class Presence:
    """One feature in the outputs of K systems and their references.

    Attributes:
        both: bool [K, N]; the candidate and at least one reference have the feature (the set I).
        add: float64 [K, N]; 1 where the candidate has more of it than the reference, averaged
            over the references; NaN where a segment has no reference.
        miss: likewise where the reference has more.
        hit: likewise where both have equally much, and some.
        neither: likewise where neither has any.
    """

    both: NDArray[np.bool_]
    add: NDArray[np.float64]
    miss: NDArray[np.float64]
    hit: NDArray[np.float64]
    neither: NDArray[np.float64]


def presence(batch: Batch, spans: SpanTable, feature: int) -> Presence:
    """Compare how often a feature occurs on the two sides of every segment."""
    counts = occurrences(batch, spans, feature)
    shape = batch.shape
    both = np.zeros(shape, dtype=np.bool_)
    shares = np.full((4, *shape), np.nan)
    for system in range(shape[0]):
        candidate = counts[batch.candidates[system]]
        both[system], shares[:, system] = _compare(candidate, counts, batch.references_of(system))
    return Presence(both, *shares)


def occurrences(batch: Batch, spans: SpanTable, feature: int) -> NDArray[np.intp]:
    """How often a feature occurs in each text of the batch.

    Entities are counted as spans; any other feature by its tokens: a span of a tagger is one
    token, one of a list, a pattern or a label file as many as it has words.
    """
    rows = np.flatnonzero(spans.feature == feature)
    sizes = _sizes(batch, spans, feature, rows)
    return np.bincount(spans.text[rows], sizes, minlength=len(batch.texts)).astype(np.intp)


def _sizes(
    batch: Batch, spans: SpanTable, feature: int, rows: NDArray[np.intp]
) -> NDArray[np.intp]:
    if spans.features[feature].split(":")[0] in _ONE_EACH:
        return np.ones(len(rows), dtype=np.intp)
    pieces = (
        batch.texts[text][start:end]
        for text, start, end in zip(
            spans.text[rows].tolist(),
            spans.start[rows].tolist(),
            spans.end[rows].tolist(),
            strict=True,
        )
    )
    return np.array([max(1, len(piece.split())) for piece in pieces], dtype=np.intp)


def _compare(
    candidate: NDArray[np.intp], counts: NDArray[np.intp], references: Ragged
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    width = np.diff(references.offsets)
    segment = np.repeat(np.arange(len(width)), width)
    reference = counts[references.indices]
    own = candidate[segment]
    indicators = (
        own > reference,
        own < reference,
        (own == reference) & (own > 0),
        (own == 0) & (reference == 0),
    )
    with np.errstate(invalid="ignore"):
        shares = [np.bincount(segment, i, len(width)) / width for i in indicators]
    some = np.bincount(segment, reference > 0, len(width)) > 0
    return (candidate > 0) & some, np.array(shares)
