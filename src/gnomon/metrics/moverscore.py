"""MoverScore: how far the words of a candidate have to move to become those of a reference.

Zhao et al. (2019), "MoverScore"; against the source Zhao et al. (2020), "On the Limitations of
Cross-lingual Encoders as Exposed by Reference-Free Machine Translation Evaluation".
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from gnomon.errors import SpecError
from gnomon.metrics._check import check_needs
from gnomon.metrics._embedding import (
    compared_rows,
    encoder_of,
    model_fields,
    notices_of,
    reference_texts,
    unit_weights,
)
from gnomon.metrics._idf import Idf, idf_of
from gnomon.metrics._matcher import Matcher
from gnomon.metrics._of_options import MeanOfSegments
from gnomon.metrics._spec import Options
from gnomon.metrics._transport import load_transport, transport_cost
from gnomon.signature import Signature

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.batch import Batch
    from gnomon.metrics._matcher import Seen
    from gnomon.metrics._pairs import PairRows
    from gnomon.metrics.matching import TokenRows
    from gnomon.metrics.protocol import Need
    from gnomon.models import Encoder, Pieces
    from gnomon.testset import TestSet

__all__ = ["BoundMoverScore", "Grams", "MoverScore", "XMoverScore"]

#: vectors whose cosine is this close to 1 are the same: the root would magnify what float32 rounds
_ROUNDING = 1e-6
_LM = "gpt2"


@dataclass(frozen=True)
class MoverScore(Options):
    """MoverScore: 1 - the earth mover's distance between the n-grams of two texts.

    The distance between n-grams is that of their unit vectors (0 to 2). Only the first piece of a
    word counts, and neither punctuation nor special pieces do; a text of nothing else keeps what
    it has. The transport is exact. With several references the best counts; the system score is
    the mean over segments; an empty text on either side scores 0.

    Attributes:
        model: a folder, ``package:NAME/FOLDER`` or a name on the model hub.
        layer: whose vectors are compared; the last one by default.
        ngram: 1, or 2: the vector of two neighbours is their weighted sum, their weight the sum.
        idf: weigh words by their inverse document frequency in the test set's references.
        revision: commit of the model on the hub.
        device: "cpu", "cuda", ...; by default a GPU if there is one.
        precision: "fp32"; mixed precision with "bf16" or "fp16"; approximate scores by integers of
            8 bits with "int8" (backend "onnx").
        backend: "torch", or "onnx" for ONNX Runtime on the CPU.
        long: texts beyond the model's limit are cut ("truncate") or read in overlapping windows
            ("window").
        embeddings: folder where vectors are kept for later runs; specs do not show it.

    Raises:
        SpecError: an option has a value that it cannot have.
    """

    name: ClassVar[str] = "moverscore"
    needs: ClassVar[frozenset[Need]] = frozenset(("references",))
    higher_is_better: ClassVar[bool] = True

    model: str = "distilbert-base-uncased"
    layer: int | None = None
    ngram: int = 1
    idf: bool = True
    revision: str | None = None
    device: str | None = None
    precision: Literal["fp32", "bf16", "fp16", "int8"] = "fp32"
    backend: Literal["torch", "onnx"] = "torch"
    long: Literal["truncate", "window"] = "truncate"
    embeddings: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ngram not in (1, 2):
            raise SpecError(f"{self.name}: ngram is 1 or 2; got {self.ngram}")

    def bind(self, testset: TestSet) -> BoundMoverScore:
        """Load the model, and freeze idf weights.

        Raises:
            DataError: the test set lacks what is compared with, or the model cannot be loaded.
            MissingDependencyError: torch, transformers, POT or the model is not there.
        """
        other = self._compared(testset)
        load_transport()
        encoder = encoder_of(self, self.model, self.layer)
        return BoundMoverScore(self, encoder, idf_of(encoder, other) if self.idf else None)

    def _compared(self, testset: TestSet) -> list[str]:
        check_needs(self, testset.outline)
        return reference_texts(testset)


@dataclass(frozen=True)
class XMoverScore(MoverScore):
    """MoverScore against the source, by the vectors of a multilingual transformer.

    Vectors are not mapped from one language to the other. Variant "authors" is what the authors'
    program does for single pieces: all of them count alike, special ones and punctuation too; of
    the flow between them the smallest 30 % of its parts are left out; and a tenth of a language
    model's mean log-probability of the candidate is added.

    Attributes:
        model: a folder, ``package:NAME/FOLDER`` or a name on the model hub.
        layer: whose vectors are compared.
        ngram: 1, or 2.
        idf: weigh words by their inverse document frequency in the test set's sources.
        variant: None, or "authors".
        lm: the language model of variant "authors", named like ``model``; gpt2 by default.
        revision: commit of the model on the hub.
        device: "cpu", "cuda", ...
        precision: "fp32", "bf16", "fp16" or "int8".
        backend: "torch", or "onnx" for ONNX Runtime on the CPU.
        long: texts beyond the model's limit are cut ("truncate") or read in overlapping windows
            ("window").
        embeddings: folder where vectors are kept for later runs; specs do not show it.

    Raises:
        SpecError: an option has a value that it cannot have.
    """

    name: ClassVar[str] = "xmoverscore"
    needs: ClassVar[frozenset[Need]] = frozenset(("sources",))

    model: str = "bert-base-multilingual-cased"
    layer: int | None = 8
    idf: bool = False
    variant: Literal["authors"] | None = None
    lm: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.variant is None and self.lm is not None:
            raise SpecError("xmoverscore: lm belongs to variant='authors'; leave it out, or say so")
        if self.variant == "authors" and (self.idf or self.ngram != 1):
            raise SpecError(
                "xmoverscore: variant='authors' takes single pieces of equal weight; leave out"
                " ngram and idf"
            )

    def bind(self, testset: TestSet) -> BoundMoverScore:
        """Load the model, and the language model if there is to be one; freeze idf weights.

        Raises:
            DataError: the test set has no sources, or a model cannot be loaded.
            MissingDependencyError: torch, transformers, POT or a model is not there.
        """
        bound = super().bind(testset)
        if self.variant is None:
            return bound
        from gnomon.metrics._xmoverscore_authors import BoundAuthorsXMoverScore
        from gnomon.models import load_causal

        lm = load_causal(self.lm or _LM, device=self.device)
        return BoundAuthorsXMoverScore(self, bound.encoder, None, lm)

    def _compared(self, testset: TestSet) -> list[str]:
        check_needs(self, testset.outline)
        return list(testset.sources or ())


@dataclass(frozen=True, eq=False)
class BoundMoverScore(MeanOfSegments):
    """MoverScore, ready to score; remembers the similarities in the batch that it saw last.

    Attributes:
        metric: the options.
        encoder: the model; counts what it encodes.
        weights: frozen idf weights, if asked for.
    """

    metric: MoverScore
    encoder: Encoder
    weights: Idf | None

    @property
    def signature(self) -> Signature:
        """Spec, model with revision or hash, layer, idf."""
        fields = model_fields(self.encoder)
        if self.weights is not None:
            fields["idf"] = self.weights.identity
        return Signature(self.metric.spec).adding(fields)

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """Sentence scores, float64 [K, N]; NaN where there is nothing to compare with."""
        rows = compared_rows(batch, self.needs)
        seen, pair = self._seen(batch, rows)
        used, back = np.unique(pair, return_inverse=True)
        tokens = self._matcher.tokens(seen.pieces)
        grams = self._grams(seen, tokens, batch.texts, self.metric.ngram)
        found = np.array([grams.score(int(d)) for d in used])
        best = np.full(rows.shape[0] * rows.shape[1], -np.inf)
        np.maximum.at(best, rows.cell, found[back.reshape(-1)])
        best[np.isneginf(best)] = np.nan
        return best.reshape(rows.shape)

    def notices(self, batch: Batch) -> tuple[str, ...]:
        """Texts that were cut at the model's limit, or that its tokeniser does not know."""
        seen, _ = self._seen(batch, compared_rows(batch, self.needs))
        return notices_of(self.metric.spec, self.encoder, seen.pieces)

    def _seen(self, batch: Batch, rows: PairRows) -> tuple[Seen, NDArray[np.int64]]:
        """What is known of the pairs; with bigrams, of every text beside itself too."""
        if self.metric.ngram == 1:
            return self._matcher.seen(batch, rows)
        texts = np.union1d(rows.candidate, rows.reference)
        cell = np.zeros(len(texts), dtype=np.int64)
        for column in (rows.candidate, rows.reference):
            cell[np.searchsorted(texts, column)] = rows.cell
        both = replace(
            rows,
            cell=np.concatenate([rows.cell, cell]),
            candidate=np.concatenate([rows.candidate, texts]),
            reference=np.concatenate([rows.reference, texts]),
        )
        seen, pair = self._matcher.seen(batch, both)
        return seen, pair[: len(rows.cell)]

    @property
    def _grams(self) -> type[Grams]:
        return Grams

    @cached_property
    def _matcher(self) -> Matcher:
        return Matcher(self.encoder, self._weigh, "match")

    def _weigh(self, pieces: Pieces) -> NDArray[np.float64]:
        return unit_weights(pieces) if self.weights is None else self.weights.of(pieces)


class Grams:
    """The n-grams of the texts of a batch, and the distance between two texts."""

    def __init__(self, seen: Seen, tokens: TokenRows, texts: tuple[str, ...], order: int) -> None:
        self._seen = seen
        self.tokens = tokens
        self._texts = texts
        self._order = order
        self._words: dict[int, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}

    def score(self, pair: int) -> float:
        """1 - the earth mover's distance of a pair; 0 where a side has no weight."""
        own, other = (int(t) for t in self._seen.texts[pair])
        (i, a), (j, b) = self.kept(own), self.kept(other)
        if not (a.sum() > 0 and b.sum() > 0):
            return 0.0
        cosine = self._matrix(pair)[np.ix_(i, j)]
        if self._order == 2:
            cosine, a, b = self._bigrams(own, other, cosine)
        distance = np.sqrt(np.where(cosine > 1 - _ROUNDING, 0, 2 - 2 * cosine))
        some, more = a > 0, b > 0
        return 1 - self.cost(a[some], b[more], distance[np.ix_(some, more)])

    def cost(
        self, own: NDArray[np.float64], other: NDArray[np.float64], distance: NDArray[np.float64]
    ) -> float:
        """What it costs to move the weights of one text onto those of the other."""
        return transport_cost(own, other, distance)

    def _matrix(self, pair: int) -> NDArray[np.float64]:
        found = self._seen.similarities
        width = int(self._seen.pieces.lengths[self._seen.texts[pair, 1]])
        values = found.values[found.offsets[pair] : found.offsets[pair + 1]]
        return np.asarray(values, dtype=np.float64).reshape(-1, width)

    def kept(self, text: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
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

    def _bigrams(
        self, own: int, other: int, cosine: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Cosines and weights of neighbours from those of single words."""
        (left, size, a), (right, length, b) = self._neighbours(own), self._neighbours(other)
        inner = left @ cosine @ right.T
        scale = np.maximum(np.outer(size, length), 1e-30)
        return inner / scale, a, b

    def _neighbours(
        self, text: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Mixing weights [bigrams, words], lengths of the mixed vectors, and bigram weights."""
        positions, weights = self.kept(text)
        count = max(len(weights) - 1, 1)
        mixing = np.zeros((count, len(weights)))
        for shift in (0, 1)[: len(weights)]:
            mixing[np.arange(count), np.arange(count) + shift] = weights[shift : shift + count]
        pair = int(np.flatnonzero((self._seen.texts == text).all(axis=1))[0])
        itself = self._matrix(pair)[np.ix_(positions, positions)]
        lengths = np.sqrt(np.maximum(np.einsum("gi,ij,gj->g", mixing, itself, mixing), 0))
        return mixing, lengths, mixing.sum(axis=1)


def _punctuation(piece: str) -> bool:
    return all(unicodedata.category(character)[0] in "PS" for character in piece)
