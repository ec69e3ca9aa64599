"""Best matches of the pieces of two texts, from the states that a learned metric pools.

The score is what its head makes of whole texts; matches tell how near each piece of one text comes
to one of the other in what the head looks at. Difficulty weighs words by them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.metrics.sequences import offsets_of
from gnomon.models import Embedded, Pieces, text_places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.learned.encoder import MetricEncoder, States, TextPieces

__all__ = ["PooledPieces", "piece_places"]

_WORD = re.compile(r"\S+")


@dataclass(eq=False)
class PooledPieces:
    """The encoder of a learned metric, as :class:`gnomon.metrics.Matcher` takes encoders."""

    encoder: MetricEncoder  # of the metric
    # from the states of all layers to the one that is pooled, tensor [B, W, d]
    read: Callable[[States], Any]
    limit: int  # most pieces of a text, special ones included
    identity: str  # of the metric's files
    memory: dict[str, Any]  # what was found last, by name

    layer = "pooled"
    long = "truncate"

    @property
    def device(self) -> str:
        """Where it runs: "cpu", "cuda"."""
        return self.encoder.device

    @property
    def dimensions(self) -> int:
        """Size of a vector."""
        return self.encoder.dimensions

    @property
    def precision(self) -> str:
        """Precision of the computations."""
        return self.encoder.precision

    def pieces(self, texts: Sequence[str], wanted: Iterable[int]) -> Pieces:
        """Some of the texts in pieces, special ones at both ends; words end at white space."""
        order = sorted(wanted)
        ids: list[NDArray[np.int32]] = []
        places: list[NDArray[np.int32]] = []
        words: list[NDArray[np.int32]] = []
        lengths = np.zeros(len(texts), dtype=np.int64)
        truncated = np.zeros(len(texts), dtype=np.bool_)
        split = self.encoder.pieces([texts[number] for number in order])
        for number, text_pieces in zip(order, split, strict=True):
            ids.append(self.encoder.alone(text_pieces.ids, self.limit))
            places.append(piece_places(texts[number], text_pieces, self.limit))
            words.append(_words(texts[number], places[-1]))
            lengths[number] = len(ids[-1])
            truncated[number] = len(text_pieces.ids) > self.limit - 2
        whole = np.concatenate([np.zeros((0, 2), np.int32), *places])
        word = np.concatenate([np.zeros(0, np.int32), *words])
        return Pieces(
            offsets=offsets_of(lengths),
            ids=np.concatenate([np.zeros(0, np.int32), *ids]),
            start=np.ascontiguousarray(whole[:, 0]),
            end=np.ascontiguousarray(whole[:, 1]),
            word=word,
            special=word < 0,
            truncated=truncated,
            unknown=0,
        )

    def embed(self, pieces: Pieces, texts: NDArray[np.int64]) -> Embedded:
        """The states of all pieces of some texts as unit vectors; each text is encoded once."""
        import torch

        sizes = pieces.lengths[texts]
        offsets = offsets_of(sizes)
        vectors = torch.empty((int(offsets[-1]), self.dimensions), device=self.device)
        for group, states in self.states(pieces, texts):
            units = torch.nn.functional.normalize(states, dim=-1)
            for row, number in enumerate(group.tolist()):
                rows = slice(int(offsets[number]), int(offsets[number + 1]))
                vectors[rows] = units[row, : int(sizes[number])]
        return Embedded(texts, offsets, vectors)

    def states(
        self, pieces: Pieces, texts: NDArray[np.int64]
    ) -> Iterator[tuple[NDArray[np.int64], Any]]:
        """States to pool of some texts, in batches: their positions, and tensor [B, W, d]."""
        bounds = zip(
            pieces.offsets[texts].tolist(), pieces.offsets[texts + 1].tolist(), strict=True
        )
        for group, layers in self.encoder.states([pieces.ids[low:high] for low, high in bounds]):
            yield group, self.read(layers)


def _words(text: str, places: NDArray[np.int32]) -> NDArray[np.int32]:
    """The word of each piece, int32 [n]; -1 for the special ones at both ends."""
    starts = np.array([word.start() for word in _WORD.finditer(text)], dtype=np.int32)
    words = np.maximum(np.searchsorted(starts, places[:, 0], side="right") - 1, 0)
    words[[0, -1]] = -1
    return words.astype(np.int32)


def piece_places(text: str, pieces: TextPieces, limit: int) -> NDArray[np.int32]:
    """Where the pieces of a text stand that is encoded, those at both ends too, int32 [n, 2]."""
    places = [(0, 0), *map(tuple, pieces.places[: limit - 2].tolist()), (0, 0)]
    special = [1, *[0] * (len(places) - 2), 1]
    clean = text or " "
    return np.array(text_places(clean, 0, places, special), dtype=np.int32)
