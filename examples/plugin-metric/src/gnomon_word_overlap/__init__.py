"""Two small metrics: one with options, one plain function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gnomon.metrics import Options, TextMetric

__all__ = ["WordOverlap", "same_length"]


@dataclass(frozen=True)
class WordOverlap(Options, TextMetric):
    """Share of distinct words that candidate and reference have in common (Jaccard index).

    Attributes:
        lowercase: ignore case.
    """

    name: ClassVar[str] = "word-overlap"
    pooled: ClassVar[bool] = False  # it looks at each system alone

    lowercase: bool = False

    def text_score(self, candidate: str, reference: str) -> float:
        """The share for one pair of texts."""
        a, b = self._words(candidate), self._words(reference)
        return len(a & b) / len(a | b) if a | b else 1.0

    def _words(self, text: str) -> set[str]:
        return set((text.lower() if self.lowercase else text).split())


def same_length(candidate: str, reference: str) -> float:
    """1 where both sides have equally many words, else 0."""
    return float(len(candidate.split()) == len(reference.split()))
