"""Sentiment by VADER, an optional package."""

from __future__ import annotations

import importlib
import importlib.metadata
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.annotate.scorers._protocol import SentenceScores
from gnomon.errors import MissingDependencyError

if TYPE_CHECKING:
    from gnomon.annotate.scorers._sentences import Sentences

__all__ = ["Vader"]

_PACKAGE = "vaderSentiment"


@dataclass(frozen=True)
class Vader:
    """The compound score of VADER in [-1, 1] (Hutto and Gilbert, 2014).

    Negation, boosters, capitals, exclamation marks and idioms are VADER's own; English only.

    Attributes:
        name: what is measured.
        neutral: a sentence without a word of sentiment scores 0, as VADER has it; else it is left
            out.

    Raises:
        MissingDependencyError: the package is not installed.
    """

    name: str = "sentiment"
    neutral: bool = False

    def __post_init__(self) -> None:
        _version()

    @property
    def source(self) -> str:
        """``vader``, or ``vader-all`` where neutral sentences count."""
        return "vader-all" if self.neutral else "vader"

    @property
    def signature(self) -> str:
        """The package with its version."""
        return f"{self.name}={self.source}-{_version()}"

    def score(self, sentences: Sentences) -> SentenceScores:
        """The compound score of each sentence."""
        found = [_compound(text) for text in sentences.texts]
        values = np.array([value for value, _, _ in found], dtype=np.float64)
        known = np.array([count for _, count, _ in found], dtype=np.int64)
        words = np.array([count for _, _, count in found], dtype=np.int64)
        left = values if self.neutral else np.where(known > 0, values, np.nan)
        return SentenceScores(left, known, words)


@lru_cache(maxsize=1 << 17)
def _compound(text: str) -> tuple[float, int, int]:
    """Score, words of sentiment, words."""
    package, analyser = _analyser()
    compound = float(analyser.polarity_scores(text)["compound"])
    words = package.SentiText(text).words_and_emoticons
    known = sum(word.lower() in analyser.lexicon for word in words)
    # emoji and idioms are not in the list of words
    return compound, max(known, int(compound != 0)), sum(any(map(str.isalpha, w)) for w in words)


@lru_cache(maxsize=1)
def _analyser() -> tuple[Any, Any]:
    package = importlib.import_module(f"{_PACKAGE}.{_PACKAGE}")
    return package, package.SentimentIntensityAnalyzer()


def _version() -> str:
    try:
        return importlib.metadata.version(_PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        raise MissingDependencyError(
            "sentiment by VADER needs the package vaderSentiment, which is not installed; install"
            " it with: pip install 'gnomon[sentiment]' (or give a lexicon: --scorers"
            " sentiment=FILE)"
        ) from None
