"""From the pairs to explain down to the pairs that the metric must score, and back.

With T iterations the pairs asked for stand at level T. Explaining the metric S_{t-1} at a pair of
level t needs that pair and its perturbations at level t - 1; level 0 is the metric itself. Going
down, equal pairs meet, so that every distinct one is scored once, whichever iterations want it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.bmx._pairs import NO_TEXT, PairTable
from gnomon.bmx._power_mean import combine, power_means
from gnomon.bmx._protocol import DirectExplainer, Pair, PerturbingExplainer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from gnomon.bmx._pairs import PairKey, Texts
    from gnomon.bmx._protocol import BoundExplainer, PairImportances, Plan
    from gnomon.bmx._shifts import Shift

    Look = Callable[[PairTable, Sequence[Pair]], Sequence[PairImportances]]

__all__ = ["Boost", "Importances", "Level", "Planner", "levels_below"]


class Boost(NamedTuple):
    """How an iteration makes a new score of an old one and its explanation."""

    p: float
    w: float
    shift: Shift

    def scores(self, before: NDArray[np.float64], found: Importances) -> NDArray[np.float64]:
        """S_t = w S_{t-1} + (1 - w) M_p of every pair, float64 [pairs]; see :func:`boosted`."""
        aggregate = power_means(found.values, found.offsets, [self.p], shift=self.shift).means[0]
        wordless = np.diff(found.offsets) == 0
        return combine(before, np.where(wordless, before, aggregate), self.w)


class Importances(NamedTuple):
    """Importances of the words of some pairs, candidate before other (compressed sparse rows).

    Attributes:
        values: float64 [rows].
        offsets: int64 [pairs + 1].
        candidate: int64 [pairs], how many of a pair's rows are the candidate's.
    """

    values: NDArray[np.float64]
    offsets: NDArray[np.int64]
    candidate: NDArray[np.int64]


@dataclass
class Planner:
    """The plans of texts, each made once.

    Attributes:
        explainer: says what to score.
        texts: where perturbed texts are added.
        both: perturb the other side too.
    """

    explainer: BoundExplainer
    texts: Texts
    both: bool
    _plans: dict[int, tuple[Plan, list[int]] | None] = field(default_factory=dict)

    def prepare(self, keys: Sequence[PairKey]) -> None:
        """Make the plans of all texts of some pairs."""
        if not isinstance(self.explainer, PerturbingExplainer):
            return
        sides = chain.from_iterable((k.candidate, k.other) if self.both else k[1:2] for k in keys)
        new = [n for n in dict.fromkeys(sides) if n not in self._plans]
        worded = [n for n in new if n != NO_TEXT and len(self.texts.words(n))]
        self._plans |= dict.fromkeys(new)
        plans = self.explainer.plans([self.texts.words(n) for n in worded])
        for number, plan in zip(worded, plans, strict=True):
            self._plans[number] = plan, [self.texts.add(text) for text in plan.texts]

    def of(self, key: PairKey) -> tuple[tuple[Plan, list[int]] | None, ...]:
        """The plans of both sides, with the numbers of the perturbed texts."""
        other = self._plans.get(key.other) if self.both else None
        return self._plans.get(key.candidate), other


class _Asked(NamedTuple):
    """A pair of a level, and where its perturbations stand below."""

    own: int
    plans: tuple[tuple[Plan, NDArray[np.int64]] | None, ...]


@dataclass(frozen=True, eq=False)
class Level:
    """The pairs of one level, over the table of the level below."""

    planner: Planner
    pairs: PairTable
    below: PairTable
    asked: Sequence[_Asked]

    @classmethod
    def over(cls, pairs: PairTable, planner: Planner) -> Level:
        """Ask for what explains some pairs."""
        keys = list(pairs.number)
        planner.prepare(keys)
        below = PairTable()
        return cls(planner, pairs, below, [_ask(key, planner, below) for key in keys])

    def own(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """The scores of the level's pairs among those of the level below."""
        found: NDArray[np.float64] = scores[[asked.own for asked in self.asked]]
        return found

    def importances(self, scores: NDArray[np.float64], look: Look) -> Importances:
        """What explains the scores of the level below at this level's pairs.

        Args:
            scores: float64 [pairs below], better is higher.
            look: asks a direct explainer.
        """
        if isinstance(self.planner.explainer, DirectExplainer):
            sides = look(self.pairs, [self._pair(key) for key in self.pairs.number])
            parts = [(found.candidate, found.other) for found in sides]
        else:
            parts = [
                (_explained(asked, 0, scores), _explained(asked, 1, scores)) for asked in self.asked
            ]
        if not self.planner.both:
            parts = [(candidate, _NONE) for candidate, _ in parts]
        sizes = [len(candidate) + len(other) for candidate, other in parts]
        return Importances(
            values=np.concatenate([_NONE, *chain.from_iterable(parts)]),
            offsets=np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]),
            candidate=np.array([len(candidate) for candidate, _ in parts], dtype=np.int64),
        )

    def _pair(self, key: PairKey) -> Pair:
        words = self.planner.texts.words
        return Pair(words(key.candidate), None if key.other == NO_TEXT else words(key.other))


_NONE = np.zeros(0)


def levels_below(pairs: PairTable, planner: Planner, iterations: int) -> list[Level]:
    """The levels T to 1, the highest first; the table below the last is what must be scored."""
    levels: list[Level] = []
    for _ in range(iterations):
        levels.append(Level.over(levels[-1].below if levels else pairs, planner))
    return levels


def _ask(key: PairKey, planner: Planner, below: PairTable) -> _Asked:
    candidate, other = planner.of(key)
    own = below.add(key)
    return _Asked(
        own,
        (
            _placed(candidate, [key._replace(candidate=n) for n in _texts(candidate)], below),
            _placed(other, [key._replace(other=n) for n in _texts(other)], below),
        ),
    )


def _texts(planned: tuple[Plan, list[int]] | None) -> list[int]:
    return [] if planned is None else planned[1]


def _placed(
    planned: tuple[Plan, list[int]] | None, keys: Sequence[PairKey], below: PairTable
) -> tuple[Plan, NDArray[np.int64]] | None:
    if planned is None:
        return None
    return planned[0], np.array([below.add(key) for key in keys], dtype=np.int64)


def _explained(asked: _Asked, side: int, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    chosen = asked.plans[side]
    if chosen is None:
        return _NONE
    plan, at = chosen
    return plan.importances(float(scores[asked.own]), scores[at])
