"""MoverScore: how far the words of a candidate have to move to become those of a reference.

Zhao et al. (2019), "MoverScore"; against the source Zhao et al. (2020), "On the Limitations of
Cross-lingual Encoders as Exposed by Reference-Free Machine Translation Evaluation".
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from gnomon.core.errors import not_installed
from gnomon.core.options import MODEL
from gnomon.metrics.base import check_needs
from gnomon.metrics.embeddings import (
    BoundMatching,
    EncoderOptions,
    compared_rows,
    compared_texts,
    encoder_of,
    idf_of,
)
from gnomon.metrics.means import best_by_cell

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.testset import TestSet
    from gnomon.metrics.base import Input
    from gnomon.metrics.embeddings import EncodedTexts
    from gnomon.metrics.matching import TokenRows

    # number of a text -> places and weights of the pieces that count
    Words = Callable[[int], tuple[NDArray[np.int64], NDArray[np.float64]]]

__all__ = ["BoundMoverScore", "MoverScore", "XMoverScore"]


# The least cost of turning one distribution of weight into another, exactly.


def load_transport() -> Any:  # a module
    """The solver."""
    try:
        import ot.lp
    except ImportError:
        raise not_installed("moverscore", "POT", "models") from None
    return ot.lp


def transport_cost(
    supply: NDArray[np.float64], demand: NDArray[np.float64], cost: NDArray[np.float64]
) -> float:
    """Earth mover's distance: the minimum of sum f_ij c_ij over flows with the given margins.

    Rubner et al. (2000). Solved by the network simplex, without regularisation.

    ``supply``: float64 [n], positive; scaled to sum 1. ``demand``: float64 [m], positive; scaled to
    sum 1. ``cost``: float64 [n, m].
    """
    a, b = supply / supply.sum(), demand / demand.sum()
    if len(a) == 1 or len(b) == 1:
        return float((np.outer(a, b) * cost).sum())  # there is only one flow
    return float((load_transport().emd(a, b, np.ascontiguousarray(cost)) * cost).sum())


#: vectors whose cosine is this close to 1 are the same: the root would magnify what float32 rounds
_ROUNDING = 1e-6


@dataclass(frozen=True)
class MoverScore(EncoderOptions):
    """MoverScore: 1 - the earth mover's distance between the words of two texts.

    The distance between words is that of their unit vectors (0 to 2). Only the first piece of a
    word counts, and neither punctuation nor special pieces do; a text of nothing else keeps what
    it has. The transport is exact. With several references the best counts; the system score is
    the mean over segments; an empty text on either side scores 0.
    """

    name: ClassVar[str] = "moverscore"
    title: ClassVar[str] = "MoverScore"
    opening: ClassVar[str] = "model"
    pooled: ClassVar[bool] = False

    # a name of ``gnomon list models``, a folder, ``package:NAME/FOLDER`` or a name on the model hub
    model: Annotated[str, MODEL] = "distilbert-base-uncased"
    layer: int | None = None  # whose vectors are compared; the last one by default
    idf: bool = True  # weigh words by their inverse document frequency in the test set's references

    def bind(self, testset: TestSet) -> BoundMoverScore:
        """Load the model, and freeze idf weights."""
        check_needs(self, testset.outline)
        load_transport()
        encoder = encoder_of(self, self.model, self.layer)
        weights = idf_of(encoder, compared_texts(testset, self.needs)) if self.idf else None
        return BoundMoverScore(self, encoder, weights)


@dataclass(frozen=True)
class XMoverScore(MoverScore):
    """MoverScore against the source, by the vectors of a multilingual transformer.

    Vectors are not mapped from one language to the other, and no language model is added.
    """

    name: ClassVar[str] = "xmoverscore"
    title: ClassVar[str] = "XMoverScore"
    needs: ClassVar[frozenset[Input]] = frozenset(("sources",))

    # a name of ``gnomon list models``, a folder, ``package:NAME/FOLDER`` or a name on the model hub
    model: Annotated[str, MODEL] = "bert-base-multilingual-cased"
    layer: int | None = 8  # whose vectors are compared
    idf: bool = False  # weigh words by their inverse document frequency in the test set's sources


@dataclass(frozen=True, eq=False)
class BoundMoverScore(BoundMatching):
    """MoverScore, ready to score; remembers the similarities in the batch that it saw last."""

    metric: MoverScore

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """Sentence scores, float64 [K, N]; NaN where there is nothing to compare with."""
        rows = compared_rows(batch, self.needs)
        encoded, pair = self.encode(batch, rows)
        used, back = np.unique(pair, return_inverse=True)
        words = words_of(self.matcher.tokens(encoded.pieces), batch.texts)
        scores = np.array([self._score(encoded, words, pair) for pair in used.tolist()])
        return best_by_cell(rows.shape, rows.cell, scores[back.reshape(-1)])

    def _score(self, encoded: EncodedTexts, words: Words, pair: int) -> float:
        """1 - the earth mover's distance of a pair; 0 where a side has no weight."""
        candidate, other = (int(text) for text in encoded.texts[pair])
        (i, a), (j, b) = words(candidate), words(other)
        if not (a.sum() > 0 and b.sum() > 0):
            return 0.0
        cosine = _matrix(encoded, pair)[np.ix_(i, j)]
        distance = np.sqrt(np.where(cosine > 1 - _ROUNDING, 0, 2 - 2 * cosine))
        some, more = a > 0, b > 0
        return 1 - transport_cost(a[some], b[more], distance[np.ix_(some, more)])


def _matrix(encoded: EncodedTexts, pair: int) -> NDArray[np.float64]:
    cosines = encoded.similarities
    width = int(encoded.pieces.lengths[encoded.texts[pair, 1]])
    values = cosines.values[cosines.offsets[pair] : cosines.offsets[pair + 1]]
    return np.asarray(values, dtype=np.float64).reshape(-1, width)


def words_of(tokens: TokenRows, texts: tuple[str, ...]) -> Words:
    """Positions and weights of the pieces that count, for each text by its number."""

    @cache
    def words(text: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        rows = tokens.rows(text)
        plain = np.flatnonzero(~tokens.special[rows])
        word = tokens.word[rows]
        first = plain[np.diff(word[plain], prepend=-1) != 0]
        start, end = tokens.start[rows], tokens.end[rows]
        spelt = [texts[text][start[i] : end[i]] for i in first]
        kept = first[[not _punctuation(piece) for piece in spelt]] if len(first) else first
        chosen = kept if len(kept) else plain
        return chosen, tokens.weight[rows][chosen]

    return words


def _punctuation(piece: str) -> bool:
    return all(unicodedata.category(character)[0] in "PS" for character in piece)
