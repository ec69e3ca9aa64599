"""What a sentence scorer is, and what it says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gnomon.annotate.scorers._sentences import Sentences

__all__ = ["SentenceScorer", "SentenceScores"]


@dataclass(frozen=True)
class SentenceScores:
    """What a scorer says of n sentences.

    Attributes:
        values: float64 [n]; NaN where the scorer has nothing to go by (no known word).
        known: int64 [n], how many words it knows; ``None`` if it does not look words up.
        words: int64 [n], how many words there are; ``None`` likewise.
    """

    values: NDArray[np.float64]
    known: NDArray[np.int64] | None = None
    words: NDArray[np.int64] | None = None


@runtime_checkable
class SentenceScorer(Protocol):
    """Anything that gives a sentence a number without looking at another sentence.

    Attributes:
        name: what is measured, "sentiment".
        source: by what, "vader" or the name of a file.
        signature: how to make the numbers again: the source with its version or hash, options.
    """

    @property
    def name(self) -> str: ...  # documented above

    @property
    def source(self) -> str: ...  # documented above

    @property
    def signature(self) -> str: ...  # documented above

    def score(self, sentences: Sentences) -> SentenceScores:
        """Score each sentence by itself."""
        ...
