"""How far several raters agree on the same things: Krippendorff's alpha.

Krippendorff, Content Analysis (2004), chapter 11; of scores on an interval scale.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["alpha_of_sums", "alpha_sums", "krippendorff_alpha"]

_VANISHING = 1e-12  # a variance below this share of the squares is rounding


def krippendorff_alpha(ratings: ArrayLike) -> float:
    """Agreement of raters on the values themselves, beyond chance, for an interval scale.

    1 - D_o / D_e, the squared differences within units over those between any two ratings. Units
    with one rating say nothing.

    Args:
        ratings: scores [raters, units]; NaN is missing.

    Returns:
        alpha, at most 1; 0 is chance, and less is systematic disagreement. NaN where all ratings
        are equal, or no unit has two.

    >>> krippendorff_alpha([[1, 2, 3], [1, 2, 3]])
    1.0
    """
    values = np.asarray(ratings, dtype=np.float64)
    return float(alpha_of_sums(alpha_sums(values).sum(axis=0)))


def alpha_sums(ratings: NDArray[np.float64]) -> NDArray[np.float64]:
    """What :func:`alpha_of_sums` takes, of each unit: float64 [..., 4] of ratings [raters, ...].

    The number of ratings, their sum, their squares, and their squared differences within the unit,
    each over the number of the others.
    """
    readable = np.isfinite(ratings)
    count = readable.sum(axis=0).astype(np.float64)
    values = np.where(readable, ratings, 0.0)
    total, squares = values.sum(axis=0), (values**2).sum(axis=0)
    within = 2 * (count * squares - total**2) / np.maximum(count - 1, 1)
    sums = np.stack([count, total, squares, within], axis=-1)
    return np.where((count >= 2)[..., None], sums, 0.0)


def alpha_of_sums(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Krippendorff's alpha [...] from sums over units [..., 4]; NaN where it is undefined."""
    count, total, squares, within = np.moveaxis(sums, -1, 0)
    between = count * squares - total**2
    varies = between > _VANISHING * count * squares
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(
            np.where(varies, 1 - (count - 1) * within / (2 * between), np.nan), dtype=np.float64
        )
