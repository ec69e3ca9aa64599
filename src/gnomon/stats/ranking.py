"""Ranks and clusters from pairwise tests, and the systems that are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.errors import LengthMismatchError, UsageError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["clusters", "outliers", "ranks", "top"]


def ranks(scores: ArrayLike, p: ArrayLike, *, alpha: float = 0.05) -> NDArray[np.float64]:
    """Ranks of metrics as the WMT metrics tasks assign them (mt-metrics-eval).

    In order of score, a new rank begins with the first metric that some metric of the current rank
    beats significantly: no metric is beaten by another of its own rank.

    Args:
        scores: [n], higher is better; NaN is undefined.
        p: p-values of "row is better than column" [n, n]; NaN is no evidence.
        alpha: largest p that is significant.

    Returns:
        Ranks [n] from 1, without gaps; NaN where the score is. Of equal scores the earlier row is
        looked at first.

    Raises:
        LengthMismatchError: p is not [n, n].
        UsageError: alpha is not in (0, 1).

    >>> ranks([0.9, 0.8, 0.5], [[1, 0.2, 0.01], [0.8, 1, 0.03], [1, 1, 1]]).tolist()
    [1.0, 1.0, 2.0]
    """
    values, wins = _check_scores(scores, p, alpha)
    of_metrics, rank, current = np.full(len(values), np.nan), 1, list[int]()
    for metric in _order(values):
        if wins[current, metric].any():
            rank, current = rank + 1, []
        current.append(int(metric))
        of_metrics[metric] = rank
    return of_metrics


def clusters(scores: ArrayLike, p: ArrayLike, *, alpha: float = 0.05) -> NDArray[np.float64]:
    """Clusters of systems as WMT's human evaluations draw them.

    In order of score, a line is drawn where every system above beats every system below
    significantly.

    Args and errors as in :func:`ranks`.

    Returns:
        Numbers of clusters [n] from 1; NaN where the score is.

    >>> clusters([0.9, 0.8, 0.5], [[1, 0.2, 0.01], [0.8, 1, 0.03], [1, 1, 1]]).tolist()
    [1.0, 1.0, 2.0]
    """
    values, wins = _check_scores(scores, p, alpha)
    order = _order(values)
    wins = wins[np.ix_(order, order)]
    of_metrics, cluster = np.full(len(values), np.nan), 1
    for k in range(len(order)):
        cluster += k > 0 and bool(wins[:k, k:].all())
        of_metrics[order[k]] = cluster
    return of_metrics


def _order(values: NDArray[np.float64]) -> NDArray[np.int64]:
    order = np.argsort(-values, kind="stable")
    return order[~np.isnan(values[order])]


def _check_scores(
    scores: ArrayLike, p: ArrayLike, alpha: float
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    values, table = np.asarray(scores, dtype=np.float64), np.asarray(p, dtype=np.float64)
    if values.ndim != 1 or table.shape != (len(values), len(values)):
        raise LengthMismatchError(
            f"ranks need scores [n] and p-values [n, n]; shapes are {values.shape} and"
            f" {table.shape}"
        )
    if not 0 < alpha < 1:
        raise UsageError(f"a significance level lies strictly between 0 and 1; got {alpha}")
    wins = table <= alpha  # False where p is NaN
    np.fill_diagonal(wins, val=False)
    return values, wins


# Systems of a system-level statistic.


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
    defined = scores[~np.isnan(scores)]
    if not len(defined):
        return np.zeros(scores.shape, dtype=bool)
    distance = np.abs(scores - np.median(defined))
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
