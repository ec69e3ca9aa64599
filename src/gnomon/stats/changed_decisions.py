"""Decisions between two outputs that other scores repair or break."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.core.errors import LengthMismatchError
from gnomon.stats.resampling import percentile_interval, resample_counts, resampled_sums

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["ChangedDecisions", "OrderedPairs", "changed_decisions", "ordered_pairs"]


class OrderedPairs(NamedTuple):
    """Pairs of outputs that people ordered, as indices [P]."""

    segment: NDArray[np.int64]
    better: NDArray[np.int64]
    worse: NDArray[np.int64]


class ChangedDecisions(NamedTuple):
    """Numbers of decisions that are right before and after a change; NaN is undefined.

    - ``right``, ``repaired``, ``broken``, ``wrong``: right both times, only after the change, only
      before it, and never.
    - ``low``, ``high``: ends of the intervals of the shares of these four, in this order [4].
    """

    right: int
    repaired: int
    broken: int
    wrong: int
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def ordered_pairs(human: ArrayLike, *, threshold: float | None = None) -> OrderedPairs:
    """The pairs of outputs of one segment that people scored unlike.

    Args:
        human: scores [systems, segments]; NaN is missing.
        threshold: smallest difference that counts (0: equal scores, too, in either order); None:
            any difference.

    >>> ordered_pairs([[1.0, 5.0], [2.0, 5.0]]).better.tolist()
    [1]
    """
    scores = np.asarray(human, dtype=np.float64)
    ordered: list[OrderedPairs] = []
    for first in range(len(scores)):
        gap = scores[first] - scores[first + 1 :]
        with np.errstate(invalid="ignore"):
            far = gap != 0 if threshold is None else np.abs(gap) >= threshold
        other, segment = np.nonzero(far & ~np.isnan(gap))
        upper = gap[other, segment] > 0
        other = other + first + 1
        ends = (np.where(upper, first, other), np.where(upper, other, first))
        ordered.append(OrderedPairs(segment, *ends))
    joined = [np.concatenate(parts) for parts in zip(*ordered, strict=True)] if ordered else []
    return OrderedPairs(*joined) if joined else OrderedPairs(*np.empty((3, 0), np.int64))


def changed_decisions(
    pairs: OrderedPairs,
    before: ArrayLike,
    after: ArrayLike,
    *,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> ChangedDecisions:
    """Which decisions between outputs other scores repair and break (Bawden et al., 2020, fig. 3).

    A decision is right where the output that people preferred has the higher score; a tie of the
    scores is wrong, as for DaRR. Pairs that either side did not score are left out. Intervals are
    percentile bootstrap over the segments that have a pair.

    Args:
        pairs: pairs of outputs that people ordered.
        before: scores [systems, segments], higher is better; NaN is missing.
        after: other scores of the same outputs.
        resamples: draws; 0: no intervals.
        confidence: of the intervals, in (0, 1).
        seed: of the draws.

    Raises:
        LengthMismatchError: the shapes differ.

    >>> pairs = OrderedPairs(*np.array([[0, 0], [0, 1], [1, 2]]))
    >>> found = changed_decisions(pairs, [[1.0], [2.0], [3.0]], [[2.0], [1.0], [3.0]], resamples=0)
    >>> found[:4]
    (0, 1, 0, 1)
    """
    sides = [np.asarray(side, dtype=np.float64) for side in (before, after)]
    if sides[0].shape != sides[1].shape:
        raise LengthMismatchError(
            f"scores before and after a change are of other outputs: shapes {sides[0].shape} and"
            f" {sides[1].shape}"
        )
    ends = [
        (scores[pairs.better, pairs.segment], scores[pairs.worse, pairs.segment])
        for scores in sides
    ]
    scored = np.all([~np.isnan(a) & ~np.isnan(b) for a, b in ends], axis=0)
    was, now = ((a > b)[scored] for a, b in ends)
    judged, number = np.unique(pairs.segment[scored], return_inverse=True)
    kinds = (was & now, ~was & now, was & ~now, ~was & ~now)
    rows = np.array([np.bincount(number[kind], minlength=len(judged)) for kind in kinds], float)
    right, repaired, broken, wrong = (int(row.sum()) for row in rows)
    low, high = np.full((2, len(rows)), np.nan)
    if resamples and len(judged):
        counts = resample_counts(len(judged), count=resamples, seed=seed)
        sums = resampled_sums(rows, counts)
        low, high = percentile_interval(sums / sums.sum(axis=0), confidence)
    return ChangedDecisions(right, repaired, broken, wrong, low, high)
