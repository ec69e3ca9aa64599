"""Inverse document frequencies of a model's pieces, frozen from some texts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gnomon.signature import content_hash

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gnomon.models import Encoder, Pieces

__all__ = ["Idf", "idf_of"]


@dataclass(frozen=True, eq=False)
class Idf:
    """Weights of pieces: log((M + 1) / (df + 1)) over M texts (Zhang et al. 2020, section 3).

    Attributes:
        documents: number of texts, M.
        types: int32, the pieces that occur, ascending.
        weights: float64, the weight of each.
    """

    documents: int
    types: NDArray[np.int32]
    weights: NDArray[np.float64]

    @property
    def identity(self) -> str:
        """Number of texts and a hash of the weights."""
        return f"{self.documents}#{content_hash(self.types.tobytes(), self.weights.tobytes())}"

    def of(self, pieces: Pieces) -> NDArray[np.float64]:
        """The weight of every piece, float64 [rows]; special pieces have none."""
        weights = np.full(len(pieces.ids), math.log(self.documents + 1))
        if len(self.types):
            place = np.minimum(np.searchsorted(self.types, pieces.ids), len(self.types) - 1)
            known = self.types[place] == pieces.ids
            weights[known] = self.weights[place[known]]
        weights[pieces.special] = 0.0
        return weights


def idf_of(encoder: Encoder, texts: Sequence[str]) -> Idf:
    """The frequencies of a model's pieces in some texts; equal texts count each."""
    numbers: dict[str, int] = {}
    for text in texts:
        numbers[text] = numbers.get(text, 0) + 1
    pieces = encoder.pieces(tuple(numbers))
    times = np.array(list(numbers.values()), dtype=np.int64)
    pairs = np.unique(np.stack([pieces.text_of, pieces.ids.astype(np.int64)], axis=-1), axis=0)
    types, back = np.unique(pairs[:, 1], return_inverse=True)
    frequency = np.bincount(back.reshape(-1), times[pairs[:, 0]], minlength=len(types))
    weights = np.log((len(texts) + 1) / (frequency + 1))
    return Idf(len(texts), types.astype(np.int32), weights)
