"""Precision and recall behind the F of weighted and plain scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gnomon.difficulty._parts import corpus_parts, part_statistics
from gnomon.difficulty.matched import BoundDifficulty

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gnomon.batch import Batch
    from gnomon.difficulty._setup import Bound

__all__ = ["Both", "precision_recall"]


class Both(NamedTuple):
    """Means over segments, float64 [K] each.

    Attributes:
        precision: of the weighted metric.
        recall: likewise.
        base_precision: of the metric without weights.
        base_recall: likewise.
    """

    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    base_precision: NDArray[np.float64]
    base_recall: NDArray[np.float64]


def precision_recall(bound: Bound, batch: Batch) -> Both | None:
    """Precision and recall of every system; None for metrics that do not match tokens."""
    if not isinstance(bound, BoundDifficulty):
        return None
    weighted, base = (
        corpus_parts(part_statistics(parts).sum(axis=1), bound.metric.beta)
        for parts in (bound.parts(batch), bound.base_parts(batch))
    )
    return Both(weighted[:, 0], weighted[:, 1], base[:, 0], base[:, 1])
