"""The segments that decide between a system and the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.metaeval._compare_figures import Contest

__all__ = ["Decider", "deciders", "influence"]


class Decider(NamedTuple):
    """A segment in which a system and the baseline differ much.

    Attributes:
        system: position of the system.
        better: whether the system is better there.
        rank: from 1, on its side.
        segment: position of the segment.
    """

    system: int
    better: bool
    rank: int
    segment: int


def deciders(contest: Contest, most: int) -> list[Decider]:
    """The segments with the largest differences, both ways, of each system.

    Args:
        contest: what the metric said.
        most: segments per system and side.

    Returns:
        Those where the system is better first; among equal differences the earlier segment. Fewer
        where fewer segments differ.
    """
    gains = np.nan_to_num(contest.gains())
    return [
        Decider(k, better, rank, segment)
        for k in range(1, len(gains))
        for better, gain in ((True, gains[k]), (False, -gains[k]))
        for rank, segment in enumerate(_largest(gain, most), start=1)
    ]


def influence(contest: Contest) -> NDArray[np.float64]:
    """What each segment adds to the difference from the baseline, float64 [K, N].

    The difference of the system scores less the difference without the segment, in the metric's
    units; NaN where a segment has no score.
    """
    known = ~np.isnan(contest.segments) & ~np.isnan(contest.segments[0])
    if contest.aggregate is None:
        return _of_means(contest.segments, known)
    totals = contest.values.sum(axis=1)
    sides = zip(totals, contest.values, strict=True)
    without = np.stack([contest.aggregate(total - rows) for total, rows in sides])
    scores = contest.aggregate(totals)
    added: NDArray[np.float64] = (scores - scores[0])[:, None] - (without - without[0])
    return np.where(known, added, np.nan)


def _of_means(segments: NDArray[np.float64], known: NDArray[np.bool_]) -> NDArray[np.float64]:
    differences = np.where(known, segments - segments[0], 0.0)
    n = known.sum(axis=1, keepdims=True)
    total = differences.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(known, total / n - (total - differences) / (n - 1), np.nan)


def _largest(gain: NDArray[np.float64], most: int) -> list[int]:
    order = np.argsort(-gain, kind="stable")[:most]
    return [int(segment) for segment in order if gain[segment] > 0]
