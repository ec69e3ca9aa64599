"""One layer of a transformer as a function from texts to vectors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.models._batches import length_batches
from gnomon.models._embedded import Embedded
from gnomon.models._pieces import Pieces, cut

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from gnomon.models._engine import Backend, Engine, Precision
    from gnomon.models._folder import ModelFolder

__all__ = ["Encoder"]


@dataclass(eq=False)
class Encoder:
    """One layer of a transformer; made by :func:`load_encoder`.

    Attributes:
        folder: the model.
        layer: which layer's output is taken; 0 is the embedding layer.
        depth: number of layers of the whole model.
        dimensions: size of a vector.
        limit: most pieces of a text, special ones included; None where there is no limit.
        device: "cpu", "cuda", ...
        precision: "fp32", the type of automatic mixed precision, or "int8".
        backend: "torch" or "onnx".
        tokenised: texts cut into pieces so far.
        encoded: texts encoded so far.
        tokens: pieces encoded so far, padding not counted.
        memory: what was found with this encoder last, by name; metrics that share it share that.
    """

    folder: ModelFolder
    layer: int
    depth: int
    dimensions: int
    limit: int | None
    device: str
    precision: Precision
    backend: Backend
    tokenizer: Any = field(repr=False)
    engine: Engine = field(repr=False)
    tokenised: int = 0
    encoded: int = 0
    tokens: int = 0
    memory: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def identity(self) -> str:
        """Model and revision or hash, and the precision unless it is full."""
        half = "" if self.precision == "fp32" else f",{self.precision}"
        return f"{self.folder.identity}{half}"

    @property
    def approximate(self) -> bool:
        """Whether vectors are rounded so far that scores are not those of the model."""
        return self.precision == "int8"

    def pieces(self, texts: Sequence[str], wanted: Iterable[int] | None = None) -> Pieces:
        """Cut texts into pieces.

        Args:
            texts: the texts.
            wanted: which of them to cut (the others get no pieces); all by default.
        """
        chosen = range(len(texts)) if wanted is None else list(wanted)
        self.tokenised += len(chosen)
        return cut(self.tokenizer, texts, chosen, self.limit)

    def embed(self, pieces: Pieces, texts: NDArray[np.int64]) -> Embedded:
        """The vectors of all pieces of some texts, special pieces too, as unit vectors.

        Args:
            pieces: pieces of all texts.
            texts: int64 [E], distinct numbers of the texts to encode; each is encoded once.
        """
        import torch

        lengths = pieces.lengths[texts]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        shape = int(offsets[-1]), self.dimensions
        vectors = torch.empty(shape, dtype=torch.float32, device=self.device)
        for group in length_batches(lengths, self.budget):
            hidden = self._forward(pieces, texts[group])
            hidden = torch.nn.functional.normalize(hidden, dim=-1)
            vectors[self._rows(offsets, lengths, group)] = hidden
        return Embedded(texts, offsets, vectors)

    def pooled(self, pieces: Pieces, texts: NDArray[np.int64]) -> NDArray[np.float32]:
        """The mean vector of each text over all its pieces, float32 [E, dimensions]."""
        import torch

        lengths = pieces.lengths[texts]
        means = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for group in length_batches(lengths, self.budget):
            hidden = self._forward(pieces, texts[group])
            sizes = torch.as_tensor(lengths[group], device=self.device)
            owner = torch.repeat_interleave(torch.arange(len(group), device=self.device), sizes)
            total = torch.zeros(len(group), self.dimensions, device=self.device)
            total.index_add_(0, owner, hidden)
            means[group] = (total / sizes.clamp(min=1)[:, None]).cpu().numpy()
        return means

    @property
    def budget(self) -> int:
        """Padded pieces per batch: what fits a core's caches, and what keeps a GPU busy."""
        return 1024 if self.device == "cpu" else 32768

    def _forward(self, pieces: Pieces, texts: NDArray[np.int64]) -> Any:
        """Vectors of the pieces of some texts, one text after the other, float32 [rows, d]."""
        lengths = pieces.lengths[texts]
        width = int(lengths.max(initial=0))
        kept = np.arange(width) < lengths[:, None]
        padding = self.tokenizer.pad_token_id or 0
        ids = np.full(kept.shape, padding, dtype=np.int64)
        ids[kept] = np.concatenate([pieces.ids[_rows_of(pieces, t)] for t in texts.tolist()])
        self.encoded += len(texts)
        self.tokens += int(kept.sum())
        return self.engine.hidden(ids, kept)

    def _rows(
        self, offsets: NDArray[np.int64], lengths: NDArray[np.int64], group: NDArray[np.int64]
    ) -> Any:
        import torch

        sizes = lengths[group]
        within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        rows = np.repeat(offsets[group], sizes) + within
        return torch.as_tensor(rows, device=self.device)


def _rows_of(pieces: Pieces, text: int) -> slice:
    return slice(int(pieces.offsets[text]), int(pieces.offsets[text + 1]))
