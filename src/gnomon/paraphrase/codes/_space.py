"""What makes a vector of a sentence: the spaces that codes are clusters of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from gnomon.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.models import Encoder

__all__ = ["Semantic", "Space", "same_model"]

#: texts whose vectors are held at a time
_CHUNK = 4096


@runtime_checkable
class Space(Protocol):
    """Sentences, or their trees, as vectors.

    Attributes:
        kind: "semantic" or "syntactic".
        identity: what the vectors depend on, in words and hashes.
    """

    @property
    def kind(self) -> str: ...  # documented above

    @property
    def identity(self) -> str: ...  # documented above

    def about(self) -> Mapping[str, Any]:
        """What a folder of codes must keep to find the space again, ready for JSON."""
        ...

    def tensors(self) -> Mapping[str, NDArray[np.float32]]:
        """Weights that the space has of its own."""
        ...

    def vectors(self, items: Sequence[Any]) -> Iterator[NDArray[np.float32]]:
        """The vectors of some items in chunks, float32 [rows, dimensions] each."""
        ...


@dataclass(frozen=True, eq=False)
class Semantic:
    """Mean vectors of a sentence encoder.

    Attributes:
        encoder: one layer of a transformer.
        unit: whether vectors are brought to length 1, so that nearness is the cosine.
        revision: the commit that was asked for, on the hub.
        known_as: identity of the encoder where codes were made, if its folder was another one.
    """

    encoder: Encoder
    unit: bool = True
    revision: str | None = None
    known_as: str | None = None

    @property
    def kind(self) -> str:
        """It is "semantic"."""
        return "semantic"

    @property
    def identity(self) -> str:
        """The model with its layer, and whether vectors have length 1."""
        return f"{self._model},layer:{self.encoder.layer},unit:{int(self.unit)}"

    @property
    def _model(self) -> str:
        return self.known_as or self.encoder.identity

    def about(self) -> dict[str, Any]:
        """Model, layer, unit."""
        return {
            "model": self.encoder.folder.name,
            "revision": self.revision,
            "identity": self._model,
            "layer": self.encoder.layer,
            "unit": self.unit,
        }

    def tensors(self) -> dict[str, NDArray[np.float32]]:
        """None: the model lies elsewhere."""
        return {}

    def vectors(self, items: Sequence[str]) -> Iterator[NDArray[np.float32]]:
        """The vectors of some texts in chunks, float32 [rows, dimensions] each."""
        for first in range(0, len(items), _CHUNK):
            part = items[first : first + _CHUNK]
            pieces = self.encoder.pieces(part)
            found = self.encoder.pooled(pieces, np.arange(len(part)))
            yield _unit(found) if self.unit else found


def same_model(asked: str, kept: str) -> bool:
    """Whether two identities name the same weights, wherever their folders lie."""
    return re.split("[#@]", asked)[-1] == re.split("[#@]", kept)[-1]


def check_model(encoder: Encoder, kept: str) -> None:
    """Refuse codes of one model and vectors of another.

    Raises:
        DataError: they differ.
    """
    if not same_model(encoder.identity, kept):
        raise DataError(
            f"these codes were made with {kept}, and the model given is {encoder.identity}: its"
            " vectors mean something else; give the model of the codes, or fit new ones"
        )


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.sqrt((vectors**2).sum(1, keepdims=True))
    found: NDArray[np.float32] = vectors / np.maximum(lengths, np.float32(1e-12))
    return found
