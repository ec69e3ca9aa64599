"""MoverScore: distance that a candidate's words have to move to become the reference's.

Zhao et al. (2019), "MoverScore"; against the source Zhao et al. (2020), "On the Limitations of
Cross-lingual Encoders as Exposed by Reference-Free Machine Translation Evaluation".
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np

from gnomon.core.errors import SpecError, not_installed
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
    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.signature import Signature
    from gnomon.core.testset import TestSet
    from gnomon.metrics.base import Input
    from gnomon.metrics.embeddings import EncodedTexts
    from gnomon.metrics.matching import TokenRows
    from gnomon.models import CausalModel

__all__ = ["BoundMoverScore", "MoverScore", "Words", "XMoverScore"]


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

    Rubner et al. (2000). Arguments are those of :func:`transport_flow`.
    """
    return float((transport_flow(supply, demand, cost) * cost).sum())


def transport_flow(
    supply: NDArray[np.float64], demand: NDArray[np.float64], cost: NDArray[np.float64]
) -> NDArray[np.float64]:
    """A flow f of least cost sum f_ij c_ij with the given margins, float64 [n, m], of sum 1.

    Solved by the network simplex, without regularisation.

    ``supply``: float64 [n], positive; scaled to sum 1. ``demand``: float64 [m], positive; scaled to
    sum 1. ``cost``: float64 [n, m].
    """
    a, b = supply / supply.sum(), demand / demand.sum()
    if len(a) == 1 or len(b) == 1:
        return np.outer(a, b)  # there is only one flow
    flow: NDArray[np.float64] = load_transport().emd(a, b, np.ascontiguousarray(cost))
    return flow


#: vectors whose cosine is this close to 1 are the same: the root would magnify what float32 rounds
_ROUNDING = 1e-6
_LM = "gpt2"


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

    Vectors are not mapped from one language to the other. Variant "authors" is what the authors'
    program does for single pieces: all of them count alike, special ones and punctuation too; of
    the flow between them the smallest 30 % of its parts are left out; and a tenth of a language
    model's mean log-probability of the candidate is added.
    """

    name: ClassVar[str] = "xmoverscore"
    title: ClassVar[str] = "XMoverScore"
    needs: ClassVar[frozenset[Input]] = frozenset(("sources",))

    # a name of ``gnomon list models``, a folder, ``package:NAME/FOLDER`` or a name on the model hub
    model: Annotated[str, MODEL] = "bert-base-multilingual-cased"
    layer: int | None = 8  # whose vectors are compared
    idf: bool = False  # weigh words by their inverse document frequency in the test set's sources
    variant: Literal["authors"] | None = field(default=None, kw_only=True)  # None, or "authors"
    # the language model of variant "authors", named like ``model``; gpt2 by default
    lm: Annotated[str | None, MODEL] = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.variant is None and self.lm is not None:
            raise SpecError("xmoverscore: lm belongs to variant='authors'; leave it out, or say so")
        if self.variant == "authors" and self.idf:
            raise SpecError(
                "xmoverscore: variant='authors' takes pieces of equal weight; leave out idf"
            )

    def bind(self, testset: TestSet) -> BoundMoverScore:
        """Load the model, and the language model if there is to be one; freeze idf weights."""
        bound = super().bind(testset)
        if self.variant is None:
            return bound
        from gnomon.models import load_causal

        lm = load_causal(self.lm or _LM, device=self.device)
        return BoundAuthorsXMoverScore(self, bound.encoder, None, lm)


@dataclass(frozen=True, eq=False)
class BoundMoverScore(BoundMatching):
    """MoverScore, ready to score; remembers the similarities in the batch that it saw last."""

    metric: MoverScore

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """Sentence scores, float64 [K, N]; NaN where there is nothing to compare with."""
        rows = compared_rows(batch, self.needs)
        encoded, pair = self.encode(batch, rows)
        used, back = np.unique(pair, return_inverse=True)
        tokens = self.matcher.tokens(encoded.pieces)
        words = self._words(encoded, tokens, batch.texts)
        scores = np.array([words.score(int(d)) for d in used])
        return best_by_cell(rows.shape, rows.cell, scores[back.reshape(-1)])

    @property
    def _words(self) -> type[Words]:
        return Words


class Words:
    """The words of the texts of a batch, and the distance between two texts."""

    def __init__(self, encoded: EncodedTexts, tokens: TokenRows, texts: tuple[str, ...]) -> None:
        self.encoded = encoded
        self.tokens = tokens
        self._texts = texts
        self._words: dict[int, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}

    def score(self, pair: int) -> float:
        """1 - the earth mover's distance of a pair; 0 where a side has no weight."""
        candidate, other = (int(t) for t in self.encoded.texts[pair])
        (i, a), (j, b) = self.weighed(candidate), self.weighed(other)
        if not (a.sum() > 0 and b.sum() > 0):
            return 0.0
        cosine = self._matrix(pair)[np.ix_(i, j)]
        distance = np.sqrt(np.where(cosine > 1 - _ROUNDING, 0, 2 - 2 * cosine))
        some, more = a > 0, b > 0
        return 1 - self.cost(a[some], b[more], distance[np.ix_(some, more)])

    def cost(
        self, own: NDArray[np.float64], other: NDArray[np.float64], distance: NDArray[np.float64]
    ) -> float:
        """Cost of moving the weights of one text onto those of the other."""
        return transport_cost(own, other, distance)

    def _matrix(self, pair: int) -> NDArray[np.float64]:
        cosines = self.encoded.similarities
        width = int(self.encoded.pieces.lengths[self.encoded.texts[pair, 1]])
        values = cosines.values[cosines.offsets[pair] : cosines.offsets[pair + 1]]
        return np.asarray(values, dtype=np.float64).reshape(-1, width)

    def weighed(self, text: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Positions and weights of the pieces of a text that count."""
        if text not in self._words:
            rows = self.tokens.rows(text)
            plain = np.flatnonzero(~self.tokens.special[rows])
            word = self.tokens.word[rows]
            first = plain[np.diff(word[plain], prepend=-1) != 0]
            start, end = self.tokens.start[rows], self.tokens.end[rows]
            spelt = [self._texts[text][start[i] : end[i]] for i in first]
            kept = first[[not _punctuation(piece) for piece in spelt]] if len(first) else first
            chosen = kept if len(kept) else plain
            self._words[text] = chosen, self.tokens.weight[rows][chosen]
        return self._words[text]


def _punctuation(piece: str) -> bool:
    return all(unicodedata.category(character)[0] in "PS" for character in piece)


# XMoverScore as its authors' program computes it, without mapped vectors.


#: share of the parts of a flow that are left out, the smallest ones
_DROPPED = 0.3
#: weight of the language model
_FLUENCY = 0.1
#: what counts as no flow, and as equal flows
_NOTHING = 1e-12


@dataclass(frozen=True, eq=False)
class BoundAuthorsXMoverScore(BoundMoverScore):
    """XMoverScore of the authors, ready to score."""

    lm: CausalModel

    @property
    def signature(self) -> Signature:
        """Spec, model with revision or hash, layer, language model."""
        return super().signature.adding(variant="authors", lm=self.lm.identity)

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """Sentence scores, float64 [K, N]."""
        return super().segments(batch) + _FLUENCY * self._fluency(batch)

    def _fluency(self, batch: Batch) -> NDArray[np.float64]:
        """Mean log-probabilities of the candidates, float64 [K, N]; each text is scored once."""
        scored: dict[int, float] = self.memory_of(batch.texts)
        used = np.unique(batch.candidates).tolist()
        new = [number for number in used if number not in scored]
        log_probabilities = self.lm.log_probabilities([batch.texts[number] for number in new])
        scored |= dict(zip(new, log_probabilities.tolist(), strict=True))
        values = np.array([scored[number] for number in used])
        return values[np.searchsorted(used, batch.candidates)].reshape(batch.shape)

    @property
    def _words(self) -> type[Words]:
        return _Pieces


class _Pieces(Words):
    """All pieces of the texts, special ones too, of equal weight."""

    def weighed(self, text: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Positions and weights of all pieces."""
        rows = self.tokens.rows(text)
        count = rows.stop - rows.start
        return np.arange(count), np.ones(count)

    def cost(
        self, own: NDArray[np.float64], other: NDArray[np.float64], distance: NDArray[np.float64]
    ) -> float:
        """The cost of what is left of the flow."""
        return float((thin_flow(transport_flow(own, other, distance)) * distance).sum())


def thin_flow(flow: NDArray[np.float64]) -> NDArray[np.float64]:
    """A flow without its smallest parts.

    Of n parts, those are left out that are smaller than the k-th smallest, k = max(floor(.3 n), 1).

    >>> thin_flow(np.array([0.04, 0.06, 0.1, 0.15, 0.2, 0.2, 0.25])).tolist()
    [0.0, 0.06, 0.1, 0.15, 0.2, 0.2, 0.25]
    """
    parts = np.sort(flow[flow > _NOTHING])
    least = parts[max(int(_DROPPED * len(parts)), 1) - 1]
    return np.where(flow < least - _NOTHING, 0.0, flow)
