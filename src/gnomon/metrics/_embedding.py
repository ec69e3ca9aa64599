"""What the metrics on embeddings share: weights, fields of signatures, notices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.models import Encoder, Pieces

__all__ = ["model_fields", "notices_of", "unit_weights"]

#: share of unknown pieces from which on a language counts as foreign to the model
_FOREIGN = 0.05


def unit_weights(pieces: Pieces) -> NDArray[np.float64]:
    """1 for every piece, 0 for special ones, float64 [rows]."""
    return (~pieces.special).astype(np.float64)


def model_fields(encoder: Encoder) -> dict[str, object]:
    """What a signature says of the model."""
    return {"model": encoder.identity, "layer": encoder.layer}


def notices_of(spec: str, encoder: Encoder, pieces: Pieces) -> tuple[str, ...]:
    """What a reader should know of how a model read the texts."""
    notices = []
    cut = int(pieces.truncated.sum())
    if cut:
        notices.append(
            f"{spec}: {cut} of {int((pieces.lengths > 0).sum())} texts are longer than the model"
            f" takes ({encoder.limit} pieces); only their beginnings are scored"
        )
    plain = int((~pieces.special).sum())
    if plain and pieces.unknown > _FOREIGN * plain:
        notices.append(
            f"{spec}: {pieces.unknown / plain:.0%} of the pieces are unknown to the model's"
            " vocabulary; take a model of this language or a multilingual one"
        )
    return tuple(notices)
