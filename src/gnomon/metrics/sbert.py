"""Sentence vectors: the cosine between the mean vectors of two texts.

Reimers and Gurevych (2019), "Sentence-BERT".
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np

from gnomon.core.errors import DataError, SpecError
from gnomon.core.options import MODEL
from gnomon.core.signature import Signature
from gnomon.metrics.base import OfOptions, check_needs
from gnomon.metrics.differentiable import attributions
from gnomon.metrics.embeddings import (
    EncoderOptions,
    compared_rows,
    encoder_of,
    model_fields,
    notices_of,
)
from gnomon.metrics.means import best_by_cell

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.testset import TestSet
    from gnomon.messages import Message
    from gnomon.metrics.base import Input
    from gnomon.metrics.differentiable import Attributions
    from gnomon.models import Encoder, Pieces

__all__ = ["BoundSbert", "Sbert"]

_MODEL = "sentence-transformers/stsb-xlm-r-multilingual"


@dataclass(frozen=True)
class Sbert(EncoderOptions):
    """SBERT: cosine between the mean vectors of candidate and reference, or source.

    The mean is over all tokens of the text, special ones included, as in sentence-transformers
    with mean pooling. With several references the best counts. The system score is the mean over
    segments. An empty text on either side scores 0.
    """

    name: ClassVar[str] = "sbert"
    title: ClassVar[str] = "SBERT"
    opening: ClassVar[str] = "model"
    pooled: ClassVar[bool] = False
    can: ClassVar[frozenset[str]] = frozenset(("statistics", "gradients"))

    # a name of ``gnomon list models``, a folder, ``package:NAME/FOLDER`` or a name on the model hub
    model: Annotated[str, MODEL] = _MODEL
    # "reference" or "source" (which needs a multilingual model)
    against: Literal["reference", "source"] = "reference"
    layer: int | None = None  # whose vectors are averaged; the last one by default
    prefix: str = ""  # put before every text, for models that were trained so ("query: ")

    @property
    def needs(self) -> frozenset[Input]:
        """References or sources, as ``against`` says."""
        return frozenset(("references",) if self.against == "reference" else ("sources",))

    def bind(self, testset: TestSet) -> BoundSbert:
        """Load the model."""
        check_needs(self, testset.outline)
        return BoundSbert(self, self._encoder())

    def _encoder(self) -> Encoder:
        from gnomon.models import find_model

        folder = find_model(self.model, self.revision).path
        pooling = _setting(folder / "1_Pooling" / "config.json")
        if pooling and not pooling.get("pooling_mode_mean_tokens", True):
            raise SpecError(
                f"sbert: model {self.model!r} was trained with another pooling than the mean over"
                " tokens (1_Pooling/config.json); take a model with mean pooling"
            )
        limit = _setting(folder / "sentence_bert_config.json").get("max_seq_length")
        return encoder_of(self, self.model, self.layer, limit)


@dataclass(frozen=True, eq=False)
class BoundSbert(OfOptions):
    """SBERT, ready to score; remembers the vectors of the batch that it saw last."""

    metric: Sbert
    encoder: Encoder  # counts what it encodes

    @property
    def signature(self) -> Signature:
        """Spec, and model with revision or hash."""
        return Signature(self.metric.spec).adding(model_fields(self.encoder))

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """Sentence scores, float64 [K, N]; NaN where there is nothing to compare with."""
        rows = compared_rows(batch, self.needs)
        vectors, _ = self._vectors(batch)
        cosines = np.einsum(
            "pd,pd->p", vectors[rows.candidate], vectors[rows.reference], dtype=np.float64
        )
        return best_by_cell(rows.shape, rows.cell, cosines)

    def attributions(self, batch: Batch) -> Attributions:
        """Input times gradient of every token of both sides; the prefix counts as special."""
        from torch.nn.functional import cosine_similarity

        rows = compared_rows(batch, self.needs)
        used = np.union1d(rows.candidate, rows.reference)
        shift = len(self.metric.prefix)
        pieces = self.encoder.pieces([self.metric.prefix + t for t in batch.texts], used.tolist())
        start = pieces.start - np.int32(shift)
        empty = [not text.strip() for text in batch.texts]

        def score(number: int, candidate: Any, other: Any) -> Any:
            cosine = cosine_similarity(candidate.mean(dim=0), other.mean(dim=0), dim=0)
            texts = rows.candidate[number], rows.reference[number]
            return cosine * 0.0 if any(empty[text] for text in texts) else cosine

        placed = replace(pieces, start=start, special=pieces.special | (start < 0))
        return attributions(self.encoder, placed, rows, score)

    def notices(self, batch: Batch) -> tuple[Message, ...]:
        """Texts that were cut at the model's limit, or that its tokeniser does not know."""
        return notices_of(self.metric.spec, self.encoder, self._vectors(batch)[1])

    def _vectors(self, batch: Batch) -> tuple[NDArray[np.float32], Pieces]:
        """Unit vectors of the texts that are compared, float32 [T, d]; zeros for empty ones."""
        rows = compared_rows(batch, self.needs)
        used = np.union1d(rows.candidate, rows.reference)
        memory = self.memory_of(batch.texts)
        if not memory or not np.isin(used, memory["texts"]).all():
            memory["texts"], memory["encoded"] = used, self._encoded(batch, used)
        encoded: tuple[NDArray[np.float32], Pieces] = memory["encoded"]
        return encoded

    def _encoded(self, batch: Batch, used: NDArray[np.int64]) -> tuple[NDArray[np.float32], Pieces]:
        texts = [self.metric.prefix + text for text in batch.texts]
        pieces = self.encoder.pieces(texts, used.tolist())
        vectors = np.zeros((len(texts), self.encoder.dimensions), dtype=np.float32)
        means = self.encoder.pooled(pieces, used)
        norms = np.linalg.norm(means, axis=1, keepdims=True)
        vectors[used] = np.divide(means, norms, out=np.zeros_like(means), where=norms > 0)
        vectors[[not text.strip() for text in batch.texts]] = 0.0
        return vectors, pieces


def _setting(path: Path) -> dict[str, int]:
    if not path.is_file():
        return {}
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path} cannot be read: {error}; fetch the model anew") from error
    return settings if isinstance(settings, dict) else {}
