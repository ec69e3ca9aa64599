"""The penalty for an error beside that for a harmless change of the same sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.stress.outcomes import mean_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gnomon.stats.resampling import Interval
    from gnomon.stress.outcomes import Outcomes, PairGroups

__all__ = ["compare_penalties", "harmless"]


#: comparisons at a time
_BLOCK = 1 << 20


class PenaltyComparisons(NamedTuple):
    """Comparisons of each pair with other pairs of its sentence, by the fall of the score.

    - ``wins``: in how many comparisons, ties as half, float64 [pairs].
    - ``made``: how many comparisons there are, [pairs].
    """

    wins: NDArray[np.float64]
    made: NDArray[np.float64]

    def share_by_sentence(
        self, groups: PairGroups, numbers: Sequence[int] | NDArray[np.intp]
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The share of comparisons by sentence, and the clusters of the sentences."""
        rows = np.asarray(numbers, dtype=np.intp)
        rows = rows[self.made[rows] > 0]
        _, first, which = np.unique(groups.sentences[rows], return_index=True, return_inverse=True)
        wins = np.bincount(which, self.wins[rows], len(first))
        made = np.bincount(which, self.made[rows], len(first))
        return wins / made, groups.clusters[rows[first]]

    def interval(
        self, groups: PairGroups, numbers: Sequence[int] | NDArray[np.intp], *, level: float
    ) -> Interval:
        """The mean share over sentences, with its interval."""
        return mean_interval(*self.share_by_sentence(groups, numbers), level=level)


def compare_penalties(
    outcome: Outcomes, groups: PairGroups, others: NDArray[np.bool_]
) -> PenaltyComparisons:
    """Each pair beside those of the others that are of the same sentence.

    Args:
        outcome: what a metric says.
        groups: of the pairs.
        others: which pairs the drops are compared with, [pairs].
    """
    drops, sentences = outcome.drops, groups.sentences
    wins, made = np.zeros(len(drops)), np.zeros(len(drops))
    beside = np.flatnonzero(others & outcome.scored)
    beside = beside[np.argsort(sentences[beside], kind="stable")]
    counts = np.bincount(sentences[beside], minlength=int(sentences.max(initial=-1)) + 1)
    starts = np.cumsum(counts) - counts
    widest = int(counts.max(initial=0))
    asked = np.flatnonzero(outcome.scored & (counts[sentences] > 0))
    step = max(1, _BLOCK // max(1, widest))
    for first in range(0, len(asked), step):
        rows = asked[first : first + step]
        number = np.arange(widest)
        there = number < counts[sentences[rows], None]
        place = np.where(there, starts[sentences[rows], None] + number, 0)
        gap = drops[rows, None] - drops[beside[place]]
        tied = abs(gap) <= outcome.ties
        wins[rows] = (there & ~tied & (gap > 0)).sum(axis=1) + 0.5 * (there & tied).sum(axis=1)
        made[rows] = there.sum(axis=1)
    return PenaltyComparisons(wins, made)


def harmless(groups: PairGroups) -> NDArray[np.bool_]:
    """Which pairs are harmless changes: a text changed into its reference is none, [pairs]."""
    return np.array(
        [
            pair.kind == "harmless" and pair.bad != pair.good and pair.bad not in pair.references
            for pair in groups.pairs
        ],
        dtype=np.bool_,
    )
