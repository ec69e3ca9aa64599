"""Draws of units with unequal probabilities, and the inclusion probabilities that they have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def inclusion_probabilities(sizes: ArrayLike, count: int) -> NDArray[np.float64]:
    """Inclusion probabilities proportional to size, for a draw of so many units.

    Units whose share would exceed 1 are certain, and the others share what is left.

    Args:
        sizes: of the units, above 0 [units].
        count: how many are drawn, at most all of them.

    Returns:
        Probabilities in (0, 1] that add up to ``count`` [units].

    Source:
        Särndal, Swensson and Wretman, Model Assisted Survey Sampling, 1992, section 3.6.
    """
    size = np.asarray(sizes, dtype=np.float64)
    certain = np.zeros(len(size), dtype=np.bool_)
    while True:
        others = ~certain
        left = count - int(certain.sum())
        shares = np.where(certain, 1.0, left * size / size[others].sum() if others.any() else 1.0)
        if not (others & (shares >= 1)).any():
            return shares
        certain |= shares >= 1


def systematic_draw(probabilities: ArrayLike, order: ArrayLike, start: float) -> NDArray[np.intp]:
    """A systematic draw: each unit is in it with exactly its probability over random starts.

    The probabilities are laid end to end, and the points ``start``, ``start + 1``, ... taken.

    Args:
        probabilities: in (0, 1], adding up to a whole number [units].
        order: in which the units are laid [units].
        start: in [0, 1).

    Returns:
        The units that were drawn, ascending.

    Source:
        Madow, On the theory of systematic sampling II, Annals of Mathematical Statistics 1949.
    """
    shares, places = np.asarray(probabilities, dtype=np.float64), np.asarray(order)
    chosen = np.flatnonzero(shares >= 1)
    open_places = places[shares[places] < 1]
    if len(open_places):
        ends = np.cumsum(shares[open_places])
        count = round(float(ends[-1]))
        ends[-1] = count
        points = np.arange(count) + start
        chosen = np.concatenate((chosen, open_places[np.searchsorted(ends, points, side="right")]))
    return np.sort(chosen)


def proportional_allocation(sizes: ArrayLike, count: int) -> NDArray[np.intp]:
    """How many units to draw from each stratum: in proportion to its size, at least one.

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
