"""Two small explainers: one that looks at words alone, one that scores perturbed texts."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from gnomon.bmx import PairImportances
from gnomon.metrics import Options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.bmx import TextPair, TextWords
    from gnomon.core.batch import Batch
    from gnomon.core.testset import TestSet
    from gnomon.metrics import BoundMetric

__all__ = ["Alone", "Rarity"]


@dataclass(frozen=True)
class Rarity(Options):
    """Rarity: how seldom a word stands in the references, -log2 of its share of all words.

    Attributes:
        smoothing: added to every count, so that words that never occur have a rarity.
    """

    name: ClassVar[str] = "rarity"
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {"smoothing": (1e-9, 1e9)}

    smoothing: float = 1.0

    def bind(self, testset: TestSet, bound: BoundMetric) -> BoundRarity:  # noqa: ARG002  # any metric
        """Count the words of the references."""
        every = [text for texts in testset.references.values() for text in texts if text]
        return BoundRarity(self, Counter(word for text in every for word in text.split()))


@dataclass(frozen=True, eq=False)
class BoundRarity:
    """Rarity, ready to explain."""

    options: Rarity
    counts: Counter[str]
    blind: ClassVar[bool] = True  # it looks at nothing of the metric

    @property
    def spec(self) -> str:
        """Canonical spec."""
        return self.options.spec

    @property
    def fields(self) -> Mapping[str, object]:
        """What a signature tells beside the spec: how many words were counted."""
        return {"words": self.counts.total()}

    def look(
        self,
        bound: BoundMetric,  # noqa: ARG002  # looks at nothing
        batch: Batch,  # noqa: ARG002  # the texts are those of the pairs
        pairs: Sequence[TextPair],
    ) -> list[PairImportances]:
        """The rarity of the words of both sides of each pair."""
        return [PairImportances(self._of(pair.candidate), self._of(pair.other)) for pair in pairs]

    def _of(self, words: TextWords | None) -> NDArray[np.float64]:
        total = self.counts.total() + self.options.smoothing * (len(self.counts) + 1)
        found = [] if words is None else words.words
        return np.array(
            [-math.log2((self.counts[w] + self.options.smoothing) / total) for w in found]
        )


@dataclass(frozen=True)
class Alone(Options):
    """Alone: the score of a text in which every other word is ``UNKWORDZ``."""

    name: ClassVar[str] = "alone"

    @property
    def fields(self) -> Mapping[str, object]:
        """Nothing beside the spec."""
        return {}

    def bind(self, testset: TestSet, bound: BoundMetric) -> Alone:  # noqa: ARG002  # any metric
        """Itself: nothing is frozen."""
        return self

    def plans(self, texts: Sequence[TextWords]) -> list[WordsAlone]:
        """For each text as many as it has words, with one word each."""
        return [
            WordsAlone(
                [text.masked([n == word for n in range(len(text))]) for word in range(len(text))]
            )
            for text in texts
        ]

    def calls(self, words: int) -> int:
        """How many texts a text of so many words takes."""
        return words


@dataclass(frozen=True, eq=False)
class WordsAlone:
    """The texts to score, and what their scores say."""

    texts: Sequence[str]

    def importances(self, score: float, scores: NDArray[np.float64]) -> NDArray[np.float64]:  # noqa: ARG002  # the whole text does not matter here
        """Importance of each word: the score that it reaches alone."""
        return scores
