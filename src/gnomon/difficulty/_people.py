"""What people said of the systems, and whether a metric may be judged by it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gnomon.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from gnomon.testset import TestSet

__all__ = ["People", "circular", "people"]

_LEAST = 3
_LEFT_OUT = "agreement with people is left out"


@dataclass(frozen=True, eq=False)
class People:
    """Human scores of systems.

    Attributes:
        kind: "da-z", "mqm", ...
        scores: float64 [K], NaN where a system was not judged or is a person.
        order: int64 [judged], the judged systems, best first, ties by name.
    """

    kind: str
    scores: NDArray[np.float64]
    order: NDArray[np.int64]

    def top(self, k: int) -> NDArray[np.int64]:
        """The best k systems in the order of the test set, int64 [k]."""
        return np.sort(self.order[:k])


def people(
    testset: TestSet, kind: str | None, informed: Collection[str], *, allow_circular: bool
) -> tuple[People | None, tuple[str, ...]]:
    """Human scores to judge by, or none, and what should be said of that.

    Args:
        testset: the test set.
        kind: which human scores; by default the only ones there are.
        informed: kinds of human scores that the metric has seen.
        allow_circular: judge by them nevertheless.

    Raises:
        UsageError: a kind was asked for that chose the pool, and circular figures are not allowed.
        UnknownNameError: there is no such kind.
    """
    kinds = testset.human_kinds("system")
    if kind is None and len(kinds) != 1:
        have = f"several kinds ({', '.join(kinds)}); name one" if kinds else "none"
        said = f"{testset.name} has human scores of systems: {have}"
        return None, (f"{_LEFT_OUT}: {said}",)
    found = _people(testset, kind or kinds[0])
    if len(found.order) < _LEAST:
        said = f"people judged {len(found.order)} system(s) ({found.kind}); {_LEAST} are needed"
        return None, (f"{_LEFT_OUT}: {said}",)
    if found.kind not in informed:
        return found, _constant(found)
    said = circular(found.kind)
    if allow_circular:
        return found, (f"CIRCULAR, as was allowed: {said}", *_constant(found))
    if kind is not None:
        raise UsageError(f"{said}; take another pool, or allow it (--allow-circular)")
    return None, (f"{_LEFT_OUT}: {said} (--allow-circular shows it)",)


def circular(kind: str) -> str:
    """Why human scores that chose the pool cannot judge."""
    return (
        f"human scores ({kind}) chose the pool, so that the weights have seen what they would be"
        " judged by"
    )


def _people(testset: TestSet, kind: str) -> People:
    scores = testset.human_scores(kind, "system")
    names = list(testset.systems)
    persons = [name in testset.info and testset.info[name].human for name in names]
    scores = np.where(persons, np.nan, scores)
    judged = [k for k in range(len(names)) if not np.isnan(scores[k])]
    order = sorted(judged, key=lambda k: (-scores[k], names[k]))
    return People(kind, scores, np.array(order, dtype=np.int64))


def _constant(found: People) -> tuple[str, ...]:
    if np.ptp(found.scores[found.order]) > 0:
        return ()
    said = f"all human scores ({found.kind}) are equal: correlations are undefined"
    return (f"{said}, and the best systems are the first by name",)
