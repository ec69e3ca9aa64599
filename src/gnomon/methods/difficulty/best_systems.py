"""Ranks of systems, and the best of them by people's scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.agreement.judging import best_count
from gnomon.metrics.circularity import kind_counts_edits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gnomon.core.testset import TestSet

_LEAST = 3  # systems that say anything together
_LEFT_OUT = "the difficulties for the best systems are left out"


class BestSystems(NamedTuple):
    """The best systems by one kind of human scores."""

    title: str  # in full ("top 4 of 16 by human da-z")
    rows: list[int]  # the systems, in the order of the test set


def best_systems(
    testset: TestSet, kinds: Sequence[str], top: str
) -> tuple[list[BestSystems], list[str]]:
    """The best systems by each kind of human scores (all where none is named), and notices."""
    found, notices = [], []
    every = kinds or testset.human_kinds("system")
    if not every:
        notices.append(f"{_LEFT_OUT}: {testset.name} has human scores of systems: none")
    for kind in every:
        if testset.systems and kind_counts_edits(testset, kind):
            notices.append(f"{_LEFT_OUT}: human scores ({kind}) count edits, as TER does")
            continue
        scores = testset.human_scores(kind, "system")
        names = list(testset.systems)
        persons = [name in testset.info and testset.info[name].human for name in names]
        judged = [k for k in range(len(names)) if not np.isnan(scores[k]) and not persons[k]]
        order = sorted(judged, key=lambda k: (-scores[k], names[k]))
        k = best_count(top, len(judged))
        if len(judged) < _LEAST:
            reason = f"people judged {len(judged)} system(s) ({kind}); {_LEAST} are needed"
            notices.append(f"{_LEFT_OUT}: {reason}")
        elif k < _LEAST:
            notices.append(
                f"the top {top} of {len(judged)} systems are {k}, too few ({kind}); see --top"
            )
        elif k < len(judged):
            of = f"{len(judged)} systems" if top.endswith("%") else str(len(judged))
            if not np.ptp(scores[judged]) > 0:
                notices.append(
                    f"all human scores ({kind}) are equal: the best systems are the first by name"
                )
            share = f"top {top}: {k} of {of}" if top.endswith("%") else f"top {k} of {of}"
            found.append(BestSystems(f"{share} by human {kind}", sorted(order[:k])))
    return found, notices


def ranks(scores: NDArray[np.float64]) -> list[int | None]:
    """1 for the highest; equal scores share the best of their ranks; None for NaN.

    >>> ranks(np.array([3.0, 5.0, 3.0, np.nan]))
    [2, 1, 2, None]
    """
    return [None if np.isnan(score) else 1 + int((scores > score).sum()) for score in scores]
