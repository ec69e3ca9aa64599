"""Which systems a system-level statistic is taken over."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["outliers", "top"]

_NORMAL = 1.483  # MAD times this estimates the deviation of normal data


def outliers(human: ArrayLike, *, threshold: float = 2.5) -> NDArray[np.bool_]:
    """Systems whose human score lies far from the median (Mathur et al., 2020).

    ``|s - median| / (1.483 MAD) > threshold``, MAD the median of ``|s - median|``.

    Args:
        human: human system scores [n]; NaN is missing.
        threshold: 2.5 in the paper and at WMT.

    Returns:
        bool [n], True for an outlier. A system without score is none, and nothing is where MAD is
        0 (half the systems share one score): the distance has no scale then.

    Raises:
        UsageError: the threshold is not positive.

    >>> outliers([1, 2, 3, 4, 40]).tolist()
    [False, False, False, False, True]
    """
    if not threshold > 0:
        raise UsageError(f"the threshold of outliers is positive; got {threshold}")
    scores = np.asarray(human, dtype=np.float64)
    known = scores[~np.isnan(scores)]
    if not len(known):
        return np.zeros(scores.shape, dtype=bool)
    distance = np.abs(scores - np.median(known))
    spread = _NORMAL * np.median(distance[~np.isnan(distance)])
    return np.asarray((distance > threshold * spread) & (spread > 0))


def top(human: ArrayLike, k: int) -> NDArray[np.int64]:
    """Indices of the k systems that people score best.

    Args:
        human: human system scores [n]; NaN is missing.
        k: how many, at least 1; all that are scored if there are fewer.

    Returns:
        int64 [up to k], best first; of equal scores the earlier row comes first, so that callers
        who sort by name break ties by name. Systems without score are left out.

    Raises:
        UsageError: k is below 1.

    >>> top([0.1, 0.3, 0.2, 0.3], 3).tolist()
    [1, 3, 2]
    """
    if k < 1:
        raise UsageError(f"the top K systems need K of at least 1; got {k}")
    scores = np.asarray(human, dtype=np.float64)
    order = np.argsort(-scores, kind="stable")
    return order[~np.isnan(scores[order])][:k]
