"""Which pairs of systems people's scores decide at all, and how often a metric agrees on these."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.agreement.significance import FEW_SYSTEMS
from gnomon.core.verdicts import LEAST
from gnomon.stats.jackknife import jackknife, numbered
from gnomon.stats.resampling import percentile_interval, resample_counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gnomon.agreement.significance import Testing
    from gnomon.stats import Jackknife


class HumanDecisions(NamedTuple):
    """What people's segment scores decide between systems.

    - ``signs``: int64 [systems, systems]: 1 where people rate the row system above the column
      system, -1 where below, 0 where the test decides neither.
    - ``tested``: bool [systems, systems]: pairs that could be tested.
    - ``unit``: what is independent, "document" or "segment".
    - ``units``: how many documents or segments the pairs rest on, at most.
    """

    signs: NDArray[np.int64]
    tested: NDArray[np.bool_]
    unit: str
    units: int


class DecidedAgreement(NamedTuple):
    """How a metric orders the pairs that people decide.

    - ``pairs``: pairs of systems that the metric scored and people's scores could test.
    - ``decided``: those that people decide.
    - ``agree``: those of the decided ones that the metric orders alike; a tie of the metric
      does not.
    - ``low``, ``high``: interval of agree / decided, bootstrap over systems; NaN without one.
    """

    pairs: int
    decided: int
    agree: int
    low: float
    high: float


def paired_test(
    difference: NDArray[np.float64], documents: NDArray[np.int64], *, confidence: float = 0.95
) -> Jackknife:
    """The mean of paired differences, by leaving out one document at a time.

    Args:
        difference: one system less the other [segments]; NaN where either has no score.
        documents: the document of each segment, whole numbers [segments]; each its own where
            segments are independent.
        confidence: of the interval.
    """
    both = ~np.isnan(difference)
    d = difference[both]
    _, which = np.unique(documents[both], return_inverse=True)
    sizes = np.bincount(which)
    mean = d.mean() if len(d) else np.nan
    rest = (len(d) - sizes).astype(np.float64)
    left_out = (d.sum() - np.bincount(which, d)) / np.where(rest == 0, np.nan, rest)
    return jackknife(mean, left_out, sizes, confidence=confidence)


def human_decisions(
    scores: NDArray[np.float64], documents: Sequence[str] | None, *, alpha: float = 0.05
) -> HumanDecisions:
    """Test each pair of systems by people's scores of the segments that both have.

    Documents are left out one at a time, where they are known: one person judges a whole document
    of one system. Else segments are taken as independent, and pairs of fewer than 30 are not
    tested, nor those of fewer than 15 documents. p is not corrected for the number of pairs.

    Args:
        scores: of people, higher is better [systems, segments]; NaN is missing.
        documents: the document of each segment; None where nobody knows.
        alpha: largest p that decides.
    """
    systems, segments = scores.shape
    which = np.arange(segments) if documents is None else numbered(documents)
    signs = np.zeros((systems, systems), dtype=np.int64)
    tested = np.zeros((systems, systems), dtype=bool)
    units = 0
    for i, j in combinations(range(systems), 2):
        test = paired_test(scores[i] - scores[j], which)
        if np.isnan(test.p) or (documents is None and test.documents < LEAST):
            continue
        tested[i, j] = tested[j, i] = True
        units = max(units, test.documents)
        if test.p <= alpha:
            signs[i, j] = np.sign(test.estimate)
            signs[j, i] = -signs[i, j]
    return HumanDecisions(signs, tested, "segment" if documents is None else "document", units)


def decided_agreement(
    people: HumanDecisions, metric: NDArray[np.float64], how: Testing
) -> DecidedAgreement:
    """How often a metric orders the pairs that people decide as they do.

    Args:
        people: what people decide.
        metric: scores of the systems, higher is better [systems]; NaN is missing.
        how: how many draws of the systems make the interval, of which confidence.
    """
    gaps = metric[:, None] - metric[None, :]
    scored = np.triu(people.tested & ~np.isnan(gaps))
    decided = scored & (people.signs != 0)
    right = decided & (np.sign(gaps) == people.signs)
    low = high = np.nan
    judged = int((scored | scored.T).any(axis=1).sum())
    if how.resamples and judged >= FEW_SYSTEMS and 0 < right.sum() < decided.sum():
        counts = resample_counts(len(metric), count=how.resamples, seed=how.seed).astype(float)
        drawn_right, drawn = (
            np.einsum("ib,ij,jb->b", counts, some.astype(float), counts, optimize=True)
            for some in (right, decided)
        )
        shares = drawn_right / np.where(drawn == 0, np.nan, drawn)
        low, high = map(float, percentile_interval(shares, how.confidence))
    pairs, of_people, agree = (int(some.sum()) for some in (scored, decided, right))
    return DecidedAgreement(pairs, of_people, agree, low, high)
