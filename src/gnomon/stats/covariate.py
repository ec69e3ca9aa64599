"""One slope of judgements on a metric, pooled over systems: what it can add to their means."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["PooledSlope", "pooled_slope"]


class PooledSlope(NamedTuple):
    """The slope, and how much of the differences between systems it explains.

    - ``slope``: judgements per unit of the metric; NaN where the metric does not vary.
    - ``explained``: squared correlation of both, centred by system and by segment.
    - ``without``: the slope without each document [documents].
    """

    slope: float
    explained: float
    without: NDArray[np.float64]


def pooled_slope(
    scores: ArrayLike,
    covariate: ArrayLike,
    documents: ArrayLike,
    *,
    weights: ArrayLike | None = None,
) -> PooledSlope:
    """The slope of scores on a covariate within systems and within segments.

    Both are centred by segment over the systems that have it, then by system: what is left is what
    tells systems apart segment by segment.

    Args:
        scores: judgements [systems, segments]; NaN is missing.
        covariate: a metric's scores likewise; NaN is missing.
        documents: the document of each segment, whole numbers from 0 [segments].
        weights: of segments; 1 by default.

    Returns:
        The slope on all documents and without each; its sign is not bounded.

    >>> pooled_slope([[1, 4, 2], [0, 0, 3]], [[2, 5, 1], [1, 1, 2]], [0, 1, 2]).slope
    1.0
    """
    y, x = (np.asarray(a, dtype=np.float64) for a in (scores, covariate))
    document = np.asarray(documents, dtype=np.int64)
    both = ~(np.isnan(y) | np.isnan(x))
    w = both * (np.ones(y.shape[1]) if weights is None else np.asarray(weights, dtype=np.float64))
    y, x = (_centred(np.where(both, a, 0.0), w) for a in (y, x))
    groups = int(document.max(initial=-1)) + 1
    inside = np.zeros((groups, len(document)))
    inside[document, np.arange(len(document))] = 1.0
    # per document and system: weights, sums, and sums of products
    terms = np.stack([w, w * y, w * x, w * y * x, w * x * x, w * y * y])
    by_document = np.einsum("gn,tkn->gtk", inside, terms)
    total = by_document.sum(axis=0)
    slope, explained = _slope(total[None])
    return PooledSlope(float(slope[0]), float(explained[0]), _slope(total - by_document)[0])


def _centred(values: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Less the mean over the systems that have the segment."""
    there = weights > 0
    means = (values * there).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    return np.asarray(np.where(there, values - means, 0.0))


def _slope(terms: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Slopes and squared correlations of sums [..., terms, systems], centred by system."""
    w, y, x, yx, xx, yy = np.moveaxis(terms, -2, 0)
    n = np.where(w > 0, w, 1.0)
    cross, across, along = (
        (a - b).sum(-1) for a, b in ((yx, y * x / n), (xx, x * x / n), (yy, y * y / n))
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        varies = across > 1e-12 * np.maximum(xx.sum(-1), 1e-300)
        slope = np.where(varies, cross / across, np.nan)
        return slope, np.where(varies & (along > 0), cross**2 / (across * along), np.nan)
