"""Curves that never fall, by least squares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["isotonic_regression"]


def isotonic_regression(
    x: ArrayLike, y: ArrayLike, weights: ArrayLike | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The values nearest to y by weighted least squares that never fall as x rises.

    Adjacent values that fall are pooled (Ayer et al., 1955; Barlow et al., 1972).

    Args:
        x: where each value stands [n].
        y: the values [n]; those at one x are averaged.
        weights: of the values, 0 or more [n]; by default all alike. What weighs 0 is left out.

    Returns:
        The distinct x, ascending, and the fitted value at each.

    >>> knots, levels = isotonic_regression([1, 2, 3, 4], [1, 3, 2, 5])
    >>> knots.tolist(), levels.tolist()
    ([1.0, 2.0, 3.0, 4.0], [1.0, 2.5, 2.5, 5.0])
    """
    given, values = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    w = np.ones(len(given)) if weights is None else np.asarray(weights, dtype=np.float64)
    counted = w > 0
    knots, knot_of = np.unique(given[counted], return_inverse=True)
    sums = np.bincount(knot_of, weights=w[counted], minlength=len(knots))
    means = np.bincount(knot_of, weights=w[counted] * values[counted], minlength=len(knots)) / sums
    blocks: list[list[float]] = []  # mean, weight, knots
    for mean, weight in zip(means.tolist(), sums.tolist(), strict=True):
        blocks.append([mean, weight, 1])
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            last, weight_of_last, size = blocks.pop()
            total = blocks[-1][1] + weight_of_last
            blocks[-1][0] = (blocks[-1][0] * blocks[-1][1] + last * weight_of_last) / total
            blocks[-1][1] = total
            blocks[-1][2] += size
    levels = np.repeat([block[0] for block in blocks], [int(block[2]) for block in blocks])
    return knots, levels
