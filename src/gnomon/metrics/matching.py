"""Tokens of two texts and their best matches: what metrics on embeddings reduce to scores.

The power of matching gives every token of a candidate, and of the text that it is compared with,
its best match on the other side. BERTScore, its MuLER, difficulty weights and explanations by
matches differ only in how they reduce these.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.metrics.means import best_by_cell

if TYPE_CHECKING:
    from numpy.typing import NDArray


__all__ = ["Matches", "SideMatches", "TokenRows"]


@dataclass(frozen=True, eq=False)
class TokenRows:
    """The tokens (pieces of words) of T texts, one after the other (compressed sparse rows)."""

    # [T + 1]; the tokens of text t are rows ``offsets[t]:offsets[t + 1]``; texts that no pair
    # needs have none
    offsets: NDArray[np.int64]
    type: NDArray[np.int32]  # [rows], the token's number in the model's vocabulary
    # [rows], number of its word within its text; -1 for special tokens
    word: NDArray[np.int32]
    start: NDArray[np.int32]  # [rows], first code point in the text
    end: NDArray[np.int32]  # [rows], code point after the last one
    special: NDArray[np.bool_]  # [rows], tokens that stand for no text (``[CLS]``, ``[SEP]``)
    # [rows], the metric's weight (1 or idf; 0 for special tokens)
    weight: NDArray[np.float64]

    def rows(self, text: int) -> slice:
        """The rows of one text."""
        return slice(int(self.offsets[text]), int(self.offsets[text + 1]))


@dataclass(frozen=True, eq=False)
class SideMatches:
    """The tokens of one side of D pairs, one pair after the other."""

    # [D + 1]; the tokens of pair d are slots ``offsets[d]:offsets[d + 1]``
    offsets: NDArray[np.int64]
    token: NDArray[np.int64]  # [slots], row of ``Matches.tokens``
    # [slots], similarity to the best match on the other side, float32 where an encoder's
    # vectors are; 0 where there is none. Under a plan 0 for private masks, 1 for shared masks that
    # meet shared masks
    best: NDArray[np.floating]
    # [slots], row of that match in ``Matches.tokens``; -1 where there is none
    at: NDArray[np.int64]

    @cached_property
    def pair(self) -> NDArray[np.int64]:
        """The pair of each slot, int64 [slots]."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def mean(
        self, values: NDArray[np.floating], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Weighted mean of values over the slots of each pair, float64 [D]; 0 without weight.

        ``weights``: float64 [slots].
        """
        count, pair = len(self.offsets) - 1, self.pair
        total = np.bincount(pair, weights * values, minlength=count)
        weight = np.bincount(pair, weights, minlength=count)
        return np.divide(total, weight, out=np.zeros(count), where=weight > 0)


class Parts(NamedTuple):
    """Precision, recall and their harmonic mean of each pair, float64 [D]."""

    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    f: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Matches:
    """Best matches in every distinct pair of a candidate and a text it is compared with.

    Attributes:
        shape: (K, N).
        cell: int64 [P], system * N + segment of each comparison (one per reference, or one with
            the source); never decreases.
        pair: int64 [P], the distinct pair of texts that is compared there.
        texts: int64 [D, 2], the texts of each pair: candidate, other.
        tokens: tokens of all texts, by number in the batch.
        candidate: the candidates' side.
        reference: the other side.
        floor: what the metric takes for the similarity of unrelated texts and rescales away; 0
            where it does not rescale. The similarities here are not rescaled.
        order: float64 [D], what the score of a pair rests on beside its matches: edits (TER), runs
            of words in order (METEOR); None where it rests on nothing else.
    """

    shape: tuple[int, int]
    cell: NDArray[np.int64]
    pair: NDArray[np.int64]
    texts: NDArray[np.int64]
    tokens: TokenRows
    candidate: SideMatches
    reference: SideMatches
    floor: float = 0.0
    order: NDArray[np.float64] | None = None

    def compute_parts(self) -> Parts:
        """Precision, recall and F of every pair with the metric's own weights.

        Zhang et al. (2020), "BERTScore: Evaluating Text Generation with BERT", eq. 1-3 and the
        weighted forms of section 3. All are 0 where a side has no token with a weight.
        """
        weight = self.tokens.weight
        return self.weighted(weight[self.candidate.token], weight[self.reference.token])

    def weighted(self, candidate: NDArray[np.float64], reference: NDArray[np.float64]) -> Parts:
        """Precision, recall and F of every pair under other weights.

        Args:
            candidate: float64, weight of every slot of the candidates' side.
            reference: float64, weight of every slot of the other side.
        """
        precision = self.candidate.mean(self.candidate.best, candidate)
        recall = self.reference.mean(self.reference.best, reference)
        empty = _weightless(self.candidate, candidate) | _weightless(self.reference, reference)
        precision[empty] = recall[empty] = 0.0
        return Parts(precision, recall, harmonic_mean(precision, recall))

    def best_of(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The best value over the comparisons of each cell, float64 [K, N]; NaN where none is.

        Args:
            values: float64 [D], one value per distinct pair.
        """
        return best_by_cell(self.shape, self.cell, values[self.pair])


def harmonic_mean(
    a: NDArray[np.float64], b: NDArray[np.float64], beta: float = 1.0
) -> NDArray[np.float64]:
    """F of precision and recall, elementwise; 0 where both are 0."""
    below = beta * beta * a + b
    above = (1 + beta * beta) * a * b
    return np.divide(above, below, out=np.zeros_like(above), where=below != 0)


def _weightless(side: SideMatches, weights: NDArray[np.float64]) -> NDArray[np.bool_]:
    total = np.bincount(side.pair, weights, minlength=len(side.offsets) - 1)
    return total <= 0
