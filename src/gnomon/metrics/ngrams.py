"""Metrics that are made of matched n-grams, which may therefore be weighed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gnomon.metrics.tokenise import TokenTable

__all__ = ["NgramCounts", "Ngrams"]


@dataclass(frozen=True, eq=False)
class NgramCounts:
    """Counts of n-grams of the orders of a metric; matches need not be whole numbers.

    Attributes:
        lengths: float64 [..., 2], tokens of the candidate and of the reference that counts.
        matches: float64 [..., n], matched n-grams of the candidate.
        candidate: float64 [..., n], its n-grams.
        recalled: float64 [..., n], matched n-grams of the reference.
        reference: float64 [..., n], its n-grams.
    """

    lengths: NDArray[np.float64]
    matches: NDArray[np.float64]
    candidate: NDArray[np.float64]
    recalled: NDArray[np.float64]
    reference: NDArray[np.float64]


@runtime_checkable
class Ngrams(Protocol):
    """Power: scores from counts of n-grams."""

    @property
    def ngram_orders(self) -> tuple[int, ...]:
        """Lengths of the n-grams that count."""
        ...

    @property
    def ngram_union(self) -> bool:
        """Whether n-grams of all references count together (BLEU), or the best reference."""
        ...

    @property
    def ngram_sums(self) -> bool:
        """Whether the corpus score comes from summed counts (BLEU), or is a mean over segments."""
        ...

    def ngram_tokens(self, texts: tuple[str, ...]) -> TokenTable:
        """The tokens of texts."""
        ...

    def ngram_scores(self, counts: NgramCounts, *, corpus: bool) -> NDArray[np.float64]:
        """Scores [...] of counts: of segments, or of their sums over a corpus."""
        ...
