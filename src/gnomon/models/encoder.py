"""One layer of a transformer as a function from texts to vectors."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gnomon.core.errors import UsageError
from gnomon.models._folder import (
    ModelFolder,
    find_model,
    piece_limit,
    read_model,
    read_tokenizer,
    usable_device,
)
from gnomon.models._precision import check_precision, hidden_layer, mixed_precision
from gnomon.models.vector_store import open_store, vector_key
from gnomon.models.word_pieces import cut, length_batches, padded, windows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.models._precision import Long, Precision
    from gnomon.models.vector_store import VectorStore
    from gnomon.models.word_pieces import Pieces, Window

__all__ = ["Embedded", "Encoder", "load_encoder"]


@dataclass(frozen=True, eq=False)
class Embedded:
    """One vector per piece of some texts, float32, on the model's device.

    Attributes:
        texts: int64 [E], numbers of the texts.
        offsets: int64 [E + 1]; the vectors of the e-th text are rows
            ``offsets[e]:offsets[e + 1]``.
        vectors: tensor [rows, dimensions].
    """

    texts: NDArray[np.int64]
    offsets: NDArray[np.int64]
    vectors: Any  # a torch tensor


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
        precision: "fp32", or the type of automatic mixed precision.
        long: "truncate" or "window": what becomes of texts beyond the limit.
        tokenised: texts cut into pieces so far.
        encoded: texts encoded so far.
        tokens: pieces encoded so far, padding not counted; once for every window.
        store: vectors on disk, if they are kept.
        memory: what was found with this encoder last, by name; metrics that share it share that.
    """

    folder: ModelFolder
    layer: int
    depth: int
    dimensions: int
    limit: int | None
    device: str
    precision: Precision
    long: Long
    tokenizer: Any = field(repr=False)
    model: Any = field(repr=False)
    tokenised: int = 0
    encoded: int = 0
    tokens: int = 0
    store: VectorStore | None = field(default=None, repr=False)
    memory: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def identity(self) -> str:
        """Model and revision or hash, and the precision unless it is full."""
        half = "" if self.precision == "fp32" else f",{self.precision}"
        return f"{self.folder.identity}{half}"

    def pieces(self, texts: Sequence[str], wanted: Iterable[int] | None = None) -> Pieces:
        """Cut texts into pieces.

        Args:
            texts: the texts.
            wanted: which of them to cut (the others get no pieces); all by default.
        """
        chosen = range(len(texts)) if wanted is None else list(wanted)
        self.tokenised += len(chosen)
        limit = self.limit if self.long == "truncate" else None
        return cut(self.tokenizer, texts, chosen, limit)

    def windowed(self, pieces: Pieces) -> int:
        """Number of texts that are read in several windows."""
        return 0 if self.limit is None else int((pieces.lengths > self.limit).sum())

    def embed(self, pieces: Pieces, texts: NDArray[np.int64]) -> Embedded:
        """The vectors of all pieces of some texts, special pieces too, as unit vectors.

        Args:
            pieces: pieces of all texts.
            texts: int64 [E], distinct numbers of the texts to encode; each is encoded once.
        """
        offsets = _offsets(pieces.lengths[texts])
        if self.store is None:
            return Embedded(texts, offsets, self._embed(pieces, texts))
        import torch

        vectors = self._recall(
            "pieces", pieces, texts, offsets, lambda new: self._embed(pieces, new).cpu().numpy()
        )
        return Embedded(texts, offsets, torch.from_numpy(vectors).to(self.device))

    def pooled(self, pieces: Pieces, texts: NDArray[np.int64]) -> NDArray[np.float32]:
        """The mean vector of each text over all its pieces, float32 [E, dimensions]."""
        if self.store is None:
            return self._pool(pieces, texts)
        offsets = np.arange(len(texts) + 1)
        return self._recall("mean", pieces, texts, offsets, lambda new: self._pool(pieces, new))

    def _embed(self, pieces: Pieces, texts: NDArray[np.int64]) -> Any:
        """Unit vectors of all pieces, float32 tensor [rows, dimensions]."""
        import torch

        offsets = _offsets(pieces.lengths[texts])
        shape = int(offsets[-1]), self.dimensions
        vectors = torch.empty(shape, dtype=torch.float32, device=self.device)
        for owner, position, hidden in self._encoded(pieces, texts):
            rows = torch.as_tensor(offsets[owner] + position, device=self.device)
            vectors[rows] = torch.nn.functional.normalize(hidden, dim=-1)
        return vectors

    def _pool(self, pieces: Pieces, texts: NDArray[np.int64]) -> NDArray[np.float32]:
        import torch

        total = torch.zeros(len(texts), self.dimensions, device=self.device)
        for owner, _, hidden in self._encoded(pieces, texts):
            total.index_add_(0, torch.as_tensor(owner, device=self.device), hidden)
        sizes = np.maximum(pieces.lengths[texts], 1).astype(np.float32)
        means: NDArray[np.float32] = total.cpu().numpy() / sizes[:, None]
        return means

    @property
    def budget(self) -> int:
        """Padded pieces per batch: what fits a core's caches, and what keeps a GPU busy."""
        return 1024 if self.device == "cpu" else 32768

    def _recall(
        self,
        kind: str,
        pieces: Pieces,
        texts: NDArray[np.int64],
        offsets: NDArray[np.int64],
        make: Callable[[NDArray[np.int64]], NDArray[np.float32]],
    ) -> NDArray[np.float32]:
        """Vectors from disk; those that are not there are made, and kept."""
        if self.store is None:
            return make(texts)
        keys = [vector_key(kind, pieces.ids[_rows_of(pieces, text)]) for text in texts.tolist()]
        into = np.empty((int(offsets[-1]), self.dimensions), dtype=np.float32)
        stored = self.store.fill(keys, offsets, into)
        missing = np.flatnonzero(~stored)
        if len(missing):
            new = make(texts[missing])
            sizes = np.diff(offsets)
            into[np.repeat(~stored, sizes)] = new
            self.store.keep([keys[m] for m in missing.tolist()], _offsets(sizes[missing]), new)
        return into

    def _encoded(
        self, pieces: Pieces, texts: NDArray[np.int64]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], Any]]:
        """Batches: text (position in ``texts``) and place in it of each piece, and vectors."""
        parts = windows(pieces, texts, self.limit)
        self.encoded += len(texts)
        for group in length_batches(np.array([len(window) for window in parts]), self.budget):
            batch = [parts[number] for number in group.tolist()]
            hidden = self.hidden(*self.padded(pieces, batch))
            kept = [np.arange(len(window))[window.kept] for window in batch]
            sizes = [len(positions) for positions in kept]
            if any(size < len(window) for size, window in zip(sizes, batch, strict=True)):
                starts = np.cumsum([0, *(len(window) for window in batch[:-1])])
                rows = [start + positions for start, positions in zip(starts, kept, strict=True)]
                hidden = hidden[np.concatenate(rows)]
            places = [window.place + np.arange(n) for window, n in zip(batch, sizes, strict=True)]
            owner = np.repeat([window.text for window in batch], sizes)
            yield owner, np.concatenate(places), hidden

    def hidden(self, ids: NDArray[np.int64], kept: NDArray[np.bool_]) -> Any:
        """Vectors of the kept pieces of a padded batch, float32 tensor [rows, d]."""
        import torch

        mask = None if kept.all() else torch.as_tensor(kept, device=self.device).long()
        with torch.inference_mode(), mixed_precision(self.device, self.precision):
            output = self.model(
                input_ids=torch.as_tensor(ids, device=self.device), attention_mask=mask
            )
        vectors = hidden_layer(output, self.layer).float()
        return vectors[torch.as_tensor(kept, device=self.device)]

    def padded(
        self, pieces: Pieces, batch: Sequence[Window]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The ids of the pieces of some windows, and what of them is no padding, [B, W] each.

        They count as encoded.
        """
        fill = self.tokenizer.pad_token_id or 0
        ids, kept = padded([pieces.ids[window.rows] for window in batch], fill)
        self.tokens += int(kept.sum())
        return ids, kept


def _offsets(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes)])


def _rows_of(pieces: Pieces, text: int) -> slice:
    return slice(int(pieces.offsets[text]), int(pieces.offsets[text + 1]))


def load_encoder(
    name: str,
    *,
    layer: int | None = None,
    revision: str | None = None,
    device: str | None = None,
    precision: Precision = "fp32",
    limit: int | None = None,
    long: Long = "truncate",
    embeddings: str | None = None,
) -> Encoder:
    """Load a transformer, up to a layer; the same request gives the same object.

    Args:
        name: a folder, ``package:NAME/FOLDER``, or a name on the hub; see :func:`find_model`.
        layer: whose output to take; 0 is the embedding layer, by default the last one. Layers
            above it are dropped and cost nothing.
        revision: commit, tag or branch on the hub.
        device: "cpu", "cuda", "cuda:1"; by default a GPU if there is one.
        precision: "fp32"; automatic mixed precision with "bf16" or "fp16".
        limit: most pieces of a text, if fewer than the model takes.
        long: what becomes of longer texts: "truncate" cuts them, "window" reads them in windows
            that overlap by half.
        embeddings: folder where vectors are kept between runs, if at all. They are found by the
            pieces of a text, the model, layer, limit and what runs it. At 20 GB (or at
            ``GNOMON_EMBEDDINGS_LIMIT`` bytes) those go that were not used for longest.

    Raises:
        MissingDependencyError: torch, transformers or the model is not installed.
        DataError: the folder is no model that can be loaded.
        OutputError: the folder for vectors cannot be written.
        UsageError: the model has no such layer, the machine no such device, or there is no such
            precision.
    """
    folder = find_model(name, revision)
    check_precision(precision)
    chosen = usable_device(device, "a metric on a transformer model")
    run = _EncoderRun(chosen, precision, limit, long, embeddings)
    return _load(folder, folder.identity, layer, run)


class _EncoderRun(NamedTuple):
    """Where a model runs, and how texts are read."""

    device: str
    precision: Precision
    limit: int | None
    long: Long
    embeddings: str | None


@lru_cache(maxsize=4)
def _load(
    folder: ModelFolder,
    _identity: str,  # changed files are another model
    layer: int | None,
    run: _EncoderRun,
) -> Encoder:
    tokenizer, config = read_tokenizer(folder)
    depth = int(config.num_hidden_layers)
    chosen = depth if layer is None else layer
    if not 0 <= chosen <= depth:
        raise UsageError(f"model {folder.name!r} has layers 0 to {depth}; layer {chosen} is asked")
    most = piece_limit(tokenizer, config)
    encoder = Encoder(
        folder=folder,
        layer=chosen,
        depth=depth,
        dimensions=int(config.hidden_size),
        limit=most if run.limit is None else min(run.limit, most or run.limit),
        device=run.device,
        precision=run.precision,
        long=run.long,
        tokenizer=tokenizer,
        model=read_model(folder, config, chosen).to(run.device),
    )
    if run.embeddings is not None:
        encoder.store = open_store(run.embeddings, _vector_facts(encoder), encoder.dimensions)
    return encoder


def _vector_facts(encoder: Encoder) -> dict[str, object]:
    """Facts that vectors depend on, beside the pieces of their text."""
    return {
        "model": encoder.identity,
        "layer": encoder.layer,
        "engine": "torch",
        "device": encoder.device.split(":")[0],
        "limit": encoder.limit,
        "long": encoder.long,
    }
