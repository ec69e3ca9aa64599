"""What errors of one kind cost a corpus, and how that compares with differences of systems."""

from __future__ import annotations

import itertools
import math
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from gnomon.metrics.means import MeanOfSegments, mean_statistics
from gnomon.metrics.protocol import Statistics

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.metrics.protocol import BoundMetric

#: differences of fewer systems say little of what differences are usual
_FEWEST_SYSTEMS = 4


class CorpusScores(NamedTuple):
    """Corpus scores in the units of the metric.

    - ``good``: of the better texts of some pairs.
    - ``bad``: of the worse ones, in place of these.
    - ``sign``: -1 for error rates.
    """

    good: float
    bad: float
    sign: int

    @property
    def fall(self) -> float:
        """By how much the worse texts have the worse corpus score."""
        return self.sign * (self.good - self.bad)


def corpus_scores(
    bound: BoundMetric,
    batch: Batch,
    segments: NDArray[np.float64],
    wanted: Mapping[str, Sequence[int]],
) -> Iterator[tuple[str, CorpusScores]]:
    """Corpus scores of better and worse texts, of some segments of a batch each.

    Args:
        bound: the metric.
        batch: better and worse texts as its two systems.
        segments: their sentence scores, [2, segments].
        wanted: segments by name.
    """
    sign = 1 if bound.higher_is_better else -1
    statistics = None
    if isinstance(bound, MeanOfSegments):
        statistics = mean_statistics(segments)
    elif isinstance(bound, Statistics):
        statistics = bound.statistics(batch)
    for name, numbers in wanted.items():
        if statistics is not None and isinstance(bound, Statistics):
            good, bad = bound.aggregate(statistics[:, list(numbers)].sum(axis=1)).tolist()
        else:
            good, bad = bound.system(batch.select(segments=list(numbers))).tolist()
        yield name, CorpusScores(good, bad, sign)


def neighbour_difference(systems: Sequence[float]) -> float | None:
    """The median difference between the scores of neighbouring systems; None below four systems.

    >>> neighbour_difference([30.0, 31.0, 33.0, 32.5])
    1.0
    """
    ranked = sorted(score for score in systems if math.isfinite(score))
    if len(ranked) < _FEWEST_SYSTEMS:
        return None
    return median(b - a for a, b in itertools.pairwise(ranked))


def hidden_errors(fall: float | None, difference: float | None) -> float | None:
    """In how many of 100 sentences errors cost as much as a difference of systems; 100 at most.

    Args:
        fall: of the corpus score, if every sentence has the error.
        difference: between systems.

    >>> hidden_errors(4.0, 1.0), hidden_errors(0.5, 1.0), hidden_errors(-0.1, 1.0)
    (25.0, 100.0, None)
    """
    if fall is None or difference is None or not fall > 0:
        return None
    return min(100.0, 100 * difference / fall)
