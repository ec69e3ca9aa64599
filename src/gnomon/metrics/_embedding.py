"""What the metrics on embeddings share: encoders, weights, fields of signatures, notices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from gnomon.metrics._pairs import PairRows, pair_rows

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from gnomon.batch import Batch
    from gnomon.models import Backend, Encoder, Long, Pieces, Precision
    from gnomon.testset import TestSet

__all__ = [
    "EncoderOptions",
    "compared_rows",
    "encoder_of",
    "model_fields",
    "notices_of",
    "reference_texts",
    "target_language",
    "unit_weights",
]

#: share of unknown pieces from which on a language counts as foreign to the model
_FOREIGN = 0.05


class EncoderOptions(Protocol):
    """Options that say how a model is run."""

    @property
    def revision(self) -> str | None: ...
    @property
    def device(self) -> str | None: ...
    @property
    def precision(self) -> Precision: ...
    @property
    def backend(self) -> Backend: ...
    @property
    def long(self) -> Long: ...
    @property
    def embeddings(self) -> str | None: ...


def encoder_of(
    options: EncoderOptions, model: str, layer: int | None, limit: int | None = None
) -> Encoder:
    """The encoder that a metric's options ask for.

    Args:
        options: of the metric.
        model: its name.
        layer: whose vectors to take; the last one by default.
        limit: most pieces of a text, if fewer than the model takes.
    """
    from gnomon.models import load_encoder

    return load_encoder(
        model,
        layer=layer,
        revision=options.revision,
        device=options.device,
        precision=options.precision,
        backend=options.backend,
        long=options.long,
        embeddings=options.embeddings,
        limit=limit,
    )


def target_language(testset: TestSet) -> str | None:
    """The language of references and candidates, where known."""
    pair = testset.language_pair
    return pair.split("-")[-1] if pair else None


def reference_texts(testset: TestSet) -> list[str]:
    """All references that all systems share."""
    return [text for column in testset.references.values() for text in column if text is not None]


def compared_rows(batch: Batch, needs: Collection[str]) -> PairRows:
    """Every candidate beside its references, or beside its source where these are needed."""
    if "sources" not in needs:
        return pair_rows(batch)
    systems, segments = batch.shape
    sources = np.zeros(segments) if batch.sources is None else batch.sources
    return PairRows(
        shape=batch.shape,
        cell=np.arange(systems * segments),
        candidate=batch.candidates.astype(np.int64).ravel(),
        reference=np.tile(sources.astype(np.int64), systems),
    )


def unit_weights(pieces: Pieces) -> NDArray[np.float64]:
    """1 for every piece, 0 for special ones, float64 [rows]."""
    return (~pieces.special).astype(np.float64)


def model_fields(encoder: Encoder) -> dict[str, object]:
    """What a signature says of the model, and of what runs it where that is not torch."""
    fields: dict[str, object] = {"model": encoder.identity, "layer": encoder.layer}
    if encoder.engine.name:
        fields["backend"] = encoder.engine.name
    if encoder.approximate:
        fields["scores"] = "approximate"
    return fields


def notices_of(spec: str, encoder: Encoder, pieces: Pieces) -> tuple[str, ...]:
    """What a reader should know of how a model read the texts."""
    notices = []
    if encoder.approximate:
        notices.append(
            f"{spec}: scores are approximate: the model computes with integers of 8 bits; take"
            " precision='fp32' for scores to report"
        )
    cut, windowed = int(pieces.truncated.sum()), encoder.windowed(pieces)
    if cut or windowed:
        what = (
            "only their beginnings are scored; long='window' reads them whole"
            if cut
            else "they are read in overlapping windows"
        )
        notices.append(
            f"{spec}: {cut or windowed} of {int((pieces.lengths > 0).sum())} texts are longer than"
            f" the model takes ({encoder.limit} pieces); {what}"
        )
    plain = int((~pieces.special).sum())
    if plain and pieces.unknown > _FOREIGN * plain:
        notices.append(
            f"{spec}: {pieces.unknown / plain:.0%} of the pieces are unknown to the model's"
            " vocabulary; take a model of this language or a multilingual one"
        )
    return tuple(notices)
