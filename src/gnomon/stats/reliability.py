"""Agreement of several raters on the same things: Krippendorff's alpha and Cohen's kappa.

Krippendorff, Content Analysis (2004), chapter 11; Cohen (1960).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["alpha_of_sums", "alpha_sums", "cohens_kappa", "krippendorff_alpha"]

_VANISHING = 1e-12  # a variance below this share of the squares is rounding


def krippendorff_alpha(ratings: ArrayLike, *, nominal: bool = False) -> float:
    """Agreement of raters on the values themselves, beyond chance.

    1 - D_o / D_e: disagreement within units over that between any two ratings, which is the squared
    difference on an interval scale, and whether they differ at all on a nominal one. Units with one
    rating say nothing.

    Args:
        ratings: scores, or numbers that stand for answers [raters, units]; NaN is missing.
        nominal: whether numbers are names of answers, and not points of a scale.

    Returns:
        alpha, at most 1; 0 is chance, and less is systematic disagreement. NaN where all ratings
        are equal, or no unit has two.

    >>> krippendorff_alpha([[1, 2, 3], [1, 2, 3]])
    1.0
    """
    values = np.atleast_2d(np.asarray(ratings, dtype=np.float64))[None]
    if nominal:  # two ratings differ by 1 on the answer of each: half the squared differences
        answers = np.unique(values[np.isfinite(values)])
        values = np.where(np.isfinite(values), values == answers[:, None, None], np.nan)
    sums = alpha_sums(np.moveaxis(values, 1, 0)).sum(axis=1)
    return float(_alpha(sums))


def cohens_kappa(first: ArrayLike, second: ArrayLike) -> float:
    """Agreement of two raters beyond what their habits bring by chance: Cohen's kappa.

    Args:
        first: numbers that stand for answers [units]; NaN is missing.
        second: likewise, of the other rater.

    Returns:
        kappa over the units that both rated; NaN without any, and where both gave one answer alone.

    >>> cohens_kappa([1, 2, 1, 2], [1, 2, 2, 2])
    0.5
    """
    pairs = np.stack([np.asarray(side, dtype=np.float64) for side in (first, second)])
    pairs = pairs[:, np.isfinite(pairs).all(axis=0)]
    if not pairs.size:
        return math.nan
    habits = (pairs == np.unique(pairs)[:, None, None]).mean(axis=2)
    chance = float(habits.prod(axis=1).sum())
    same = float((pairs[0] == pairs[1]).mean())
    return math.nan if chance == 1 else (same - chance) / (1 - chance)


def alpha_sums(ratings: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums of each unit for :func:`alpha_of_sums`: float64 [..., 4] of ratings [raters, ...].

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
    return _alpha(sums[None])


def _alpha(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Alpha from sums over units [answers, ..., 4], the disagreements of all answers together."""
    count, total, squares, within = np.moveaxis(sums, -1, 0)
    between = count * squares - total**2
    varies = (between > _VANISHING * count * squares).any(axis=0)
    size = count.max(axis=0, initial=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        alpha = 1 - (size - 1) * within.sum(axis=0) / (2 * between.sum(axis=0))
    return np.asarray(np.where(varies, alpha, np.nan), dtype=np.float64)
