"""Correlation of two paired arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.errors import LengthMismatchError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["pearson"]

_CONSTANT = 1e-13  # spread below this share of the magnitude is rounding, not variation


def pearson(x: ArrayLike, y: ArrayLike) -> float:
    """Pearson's product-moment correlation.

    Pairs with a missing value on either side are left out.

    Args:
        x: shape [n]; NaN is missing.
        y: shape [n]; NaN is missing.

    Returns:
        r in [-1, 1]; NaN where fewer than two pairs are complete or a side is constant.

    Raises:
        LengthMismatchError: the two are not of one length, or not one-dimensional.

    >>> pearson([1, 2, 3, 4], [2, 4, 6, 9])
    0.9943...
    """
    a, b = _complete_pairs(x, y)
    if len(a) < 2 or _is_constant(a) or _is_constant(b):  # r needs two points
        return float("nan")
    a, b = _standardised(a), _standardised(b)
    return float(np.clip(a @ b, -1.0, 1.0))


def _complete_pairs(x: ArrayLike, y: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1:
        raise LengthMismatchError(
            f"correlation needs two paired one-dimensional arrays; shapes are {a.shape} and"
            f" {b.shape}"
        )
    complete = ~(np.isnan(a) | np.isnan(b))
    return a[complete], b[complete]


def _is_constant(values: NDArray[np.float64]) -> bool:
    return bool(np.ptp(values) <= _CONSTANT * np.abs(values).max())


def _standardised(values: NDArray[np.float64]) -> NDArray[np.float64]:
    centred = values - values.mean()
    centred = centred / np.abs(centred).max()  # so that squares neither overflow nor vanish
    return np.asarray(centred / np.sqrt(centred @ centred))
