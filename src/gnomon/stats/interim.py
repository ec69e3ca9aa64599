"""Interim analyses of data that are still coming in: spending of the error rate.

O'Brien and Fleming's boundaries (1979): look k of K may stop where |z| reaches c sqrt(K/k), with c
such that equal systems are called different at any look as often as alpha says. In the scale of a
random walk with one step per look the boundary is a constant, so that the chances to stop are
integrals over one interval (Armitage, McPherson and Rowe, 1969), taken here by Gauss's rule.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["look_levels", "obrien_fleming", "stopping"]

_NODES = 160
_HALVINGS = 60


@lru_cache(maxsize=64)
def obrien_fleming(looks: int, alpha: float = 0.05) -> tuple[float, ...]:
    """The z that each of so many planned looks must reach, evenly spaced.

    Args:
        looks: how many, 1 or more.
        alpha: how often equal systems may be called different at any of them, in (0, 1).

    Raises:
        UsageError: there is no look, or alpha is no share.

    >>> [round(z, 3) for z in obrien_fleming(5)]
    [4.562, 3.226, 2.634, 2.281, 2.04]
    """
    if looks < 1 or not 0 < alpha < 1:
        raise UsageError(f"looks are 1 or more, alpha in (0, 1); got {looks} and {alpha}")
    low, high = 0.0, 2.0 * NormalDist().inv_cdf(1 - alpha / 2) + 1
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        crossed = float(_stopping(looks, middle * math.sqrt(looks), 0.0).sum())
        low, high = (middle, high) if crossed > alpha else (low, middle)
    return tuple(high * math.sqrt(looks / k) for k in range(1, looks + 1))


def look_levels(looks: int, alpha: float = 0.05) -> tuple[float, ...]:
    """The two-sided p that each planned look must not exceed.

    >>> round(look_levels(5)[4], 4), look_levels(1)[0]
    (0.0413, 0.05)
    """
    if looks == 1:
        return (alpha,)
    return tuple(2 * (1 - NormalDist().cdf(z)) for z in obrien_fleming(looks, alpha))


def stopping(looks: int, z: float, alpha: float = 0.05) -> NDArray[np.float64]:
    """Probability that each look is the one that stops [looks].

    Args:
        looks: how many are planned, evenly spaced.
        z: the difference in standard errors of the last look; 0 for equal systems.
        alpha: as for :func:`obrien_fleming`.

    >>> round(float(stopping(5, 0.0).sum()), 6)
    0.05
    """
    boundary = obrien_fleming(looks, alpha)[-1] * math.sqrt(looks)
    return _stopping(looks, boundary, z / math.sqrt(looks))


def _stopping(looks: int, boundary: float, drift: float) -> NDArray[np.float64]:
    """Chances to leave [-boundary, boundary] at each step of a walk with steps N(drift, 1)."""
    if boundary <= 0:
        return np.asarray(np.eye(looks)[0])
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    x, w = boundary * nodes, boundary * weights
    step = np.exp(-((x[:, None] - x - drift) ** 2) / 2) / math.sqrt(2 * math.pi)
    density = np.exp(-((x - drift) ** 2) / 2) / math.sqrt(2 * math.pi)
    inside = [1.0]
    for _ in range(looks):
        inside.append(float(w @ density))
        density = step @ (w * density)
    chances: NDArray[np.float64] = -np.diff(inside)
    return chances
