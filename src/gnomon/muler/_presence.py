"""Where a feature occurs, and on which side there is more of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.batch import Batch, Ragged
    from gnomon.spans import SpanTable

__all__ = ["Presence", "presence"]


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
    rows = spans.text[spans.feature == feature]
    counts = np.bincount(rows, minlength=len(batch.texts))
    shape = batch.shape
    both = np.zeros(shape, dtype=np.bool_)
    shares = np.full((4, *shape), np.nan)
    for system in range(shape[0]):
        candidate = counts[batch.candidates[system]]
        both[system], shares[:, system] = _compare(candidate, counts, batch.references_of(system))
    return Presence(both, *shares)


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
