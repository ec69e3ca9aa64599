"""Scorers that average the ratings of known words."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gnomon.annotate.scorers._files import read_ratings
from gnomon.annotate.scorers._negation import NEGATORS, negations
from gnomon.annotate.scorers._protocol import SentenceScores
from gnomon.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from gnomon.annotate.scorers._ratings import Ratings
    from gnomon.annotate.scorers._sentences import Sentences
    from gnomon.annotate.scorers._words import Word

__all__ = ["LexiconScorer"]

_REACH = 3  # words, as in VADER (Hutto and Gilbert, 2014)


@dataclass(frozen=True, eq=False)
class LexiconScorer:
    """The mean rating of the words of a sentence that a lexicon knows.

    Attributes:
        name: what is measured.
        source: name of the lexicon.
        ratings: the lexicon.
        negation: how many words a negator reaches over: each known word there counts with the
            opposite sign (twice negated: as it is), and negators are not rated themselves. 0: no
            negation, for scales without an opposite (concreteness, arousal).
    """

    name: str
    source: str
    ratings: Ratings
    negation: int = 0

    def __post_init__(self) -> None:
        if self.negation < 0:
            raise UsageError(f"negation is a number of words, 0 or more; got {self.negation}")

    @classmethod
    def read(
        cls, name: str, path: str | PathLike[str], *, negation: int | None = None
    ) -> LexiconScorer:
        """Read the lexicon from a file in its publisher's format.

        Args:
            name: what is measured: "sentiment" (WKWSCI), "concreteness" (Brysbaert), "valence",
                "arousal", "dominance" (NRC-VAD), or any name for a tsv of word and value.
            path: the file.
            negation: as above; by default 3 for sentiment, 0 for all else.

        Raises:
            MissingFileError: the file does not exist.
            FormatError: it is not of these formats; file and line are named.
            UsageError: ``negation`` is negative.
        """
        reach = (_REACH if name == "sentiment" else 0) if negation is None else negation
        return cls(name, Path(path).name, read_ratings(path, name), reach)

    @property
    def signature(self) -> str:
        """Lexicon with its hash, and the reach of negators."""
        reach = f"|negation:{self.negation}" if self.negation else ""
        return f"{self.name}={self.source}#{self.ratings.hash}{reach}"

    def score(self, sentences: Sentences) -> SentenceScores:
        """The mean rating over known words, NaN where there is none."""
        found = [self._sentence(words) for words in sentences.words]
        values = [value for value, _ in found]
        known = [count for _, count in found]
        words = [sum(word.is_word for word in some) for some in sentences.words]
        return SentenceScores(
            np.array(values, np.float64), np.array(known, np.int64), np.array(words, np.int64)
        )

    def _sentence(self, words: Sequence[Word]) -> tuple[float, int]:
        hits = list(self.ratings.hits(words, NEGATORS if self.negation else ()))
        if not hits:
            return float("nan"), 0
        inside = {hit.start + i for hit in hits for i in range(hit.length)}
        counts = negations(words, self.negation, inside) if self.negation else [0] * len(words)
        total = sum(-hit.value if counts[hit.start] % 2 else hit.value for hit in hits)
        return total / len(hits), sum(words[place].is_word for place in inside)
