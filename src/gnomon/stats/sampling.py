"""Allocation of drawn units to strata."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def proportional_allocation(sizes: ArrayLike, count: int) -> NDArray[np.intp]:
    """Number of units to draw from each stratum: in proportion to its size, at least one.

    Args:
        sizes: how many units each stratum has, one or more [strata].
        count: how many are drawn: at least one for each stratum, at most all.

    Returns:
        Numbers that add up to ``count`` (method of largest remainders) [strata].
    """
    size = np.asarray(sizes, dtype=np.intp)
    quota = count * size / size.sum()
    drawn: NDArray[np.intp] = np.maximum(np.floor(quota).astype(np.intp), 1)
    while drawn.sum() != count:
        step = 1 if drawn.sum() < count else -1
        possible = drawn < size if step > 0 else drawn > 1
        drawn[np.argmax(np.where(possible, step * (quota - drawn), -np.inf))] += step
    return drawn
