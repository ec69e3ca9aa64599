"""Features of texts by a frozen encoder: one vector per layer, computed once, kept on disk."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from gnomon.core.errors import DataError
from gnomon.learned.architectures import ENCODERS
from gnomon.learned.checkpoints import stated_licence
from gnomon.learned.encoder import Remembered, read_encoder
from gnomon.learned.heads import pooled
from gnomon.learned.weights import CONFIG, VOCABULARY
from gnomon.models import find_model, missing_package
from gnomon.models.vector_store import open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from gnomon.learned.encoder import MetricEncoder, States
    from gnomon.models import ModelFolder
    from gnomon.train.recipe import Pool

#: texts that are encoded between two calls to the progress
_BLOCK = 512


class BaseEncoder(NamedTuple):
    """A pretrained encoder, and what the folder of a metric says of it."""

    folder: ModelFolder
    kind: str
    config: dict[str, Any]
    licence: str
    encoder: MetricEncoder


def load_base(name: str, device: str) -> BaseEncoder:
    """Load a pretrained encoder for a head."""
    folder = find_model(name)
    vocabulary = folder.path / VOCABULARY
    if not vocabulary.is_file():
        raise DataError(
            f"model {name!r} ({folder.path}) holds no {VOCABULARY}; save its fast tokeniser there"
        )
    try:
        config = json.loads((folder.path / CONFIG).read_text(encoding="utf-8"))
        settings = json.loads(vocabulary.read_text(encoding="utf-8"))
        pieces = settings["model"]["vocab"]
        special = {piece["content"] for piece in settings.get("added_tokens", ())}
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(f"model {name!r} ({folder.path}) cannot be read: {error}") from error
    pairs = pieces if isinstance(pieces, dict) else [piece[0] for piece in pieces]
    kind = _kind(name, config, {*pairs, *special})
    encoder = read_encoder(
        ENCODERS[kind],
        config,
        lambda: _pretrained(folder),
        vocabulary,
        name=f"model {name!r} ({folder.path})",
        device=device,
    )
    _ = encoder.model  # what is wrong with it is told now
    return BaseEncoder(folder, kind, config, stated_licence(folder.path, name), encoder)


def _kind(name: str, config: dict[str, Any], pieces: set[str]) -> str:
    """COMET's name of an encoder, by its configuration and by the special pieces that it has."""
    for kind, encoder in ENCODERS.items():
        if encoder.model_type == config.get("model_type") and pieces.issuperset(encoder.special):
            return kind
    there = ", ".join(dict.fromkeys(encoder.model_type for encoder in ENCODERS.values()))
    raise DataError(
        f"model {name!r} is a {config.get('model_type')!r} that heads of learned metrics cannot be"
        f" put on; take one of these architectures: {there}"
    )


def _pretrained(folder: ModelFolder) -> dict[str, Any]:
    """Weights of an encoder by name, those of heads and poolers left out."""
    try:
        from safetensors import SafetensorError
        from safetensors.torch import load_file
    except ImportError as error:
        raise missing_package(error.name or "safetensors", f"model {folder.name!r}") from error

    weights: dict[str, Any] = {}
    try:
        for file in sorted(folder.path.glob("*.safetensors")):
            weights |= load_file(file)
    except (OSError, SafetensorError) as error:
        raise DataError(f"model {folder.name!r} ({folder.path}): {error}") from error
    # of a model with another head, the encoder's names have the architecture's before them
    heads = ("embeddings.", "encoder.")
    bare = {
        name if name.startswith(heads) else name.partition(".")[2]: weight
        for name, weight in weights.items()
    }
    return {name: weight for name, weight in bare.items() if name.startswith(heads)}


@dataclass(frozen=True, eq=False)
class Features:
    """Pooled states of texts."""

    base: BaseEncoder
    pool: Pool
    layers: Literal["mix", "last"]
    limit: int

    @property
    def depth(self) -> int:
        """Number of layers that are kept of a text, the embeddings among them."""
        return self.base.encoder.depth + 1 if self.layers == "mix" else 1

    def sequences(self, texts: Sequence[str]) -> list[NDArray[np.int32]]:
        """The ids of texts, special ones included, cut."""
        encoder = self.base.encoder
        return [encoder.alone(pieces.ids, self.limit) for pieces in encoder.pieces(texts)]

    def pool_states(self, states: States) -> Any:
        """One vector for each text and layer, tensor [B, layers, d]; gradients flow."""
        import torch

        kept = states.layers if self.layers == "mix" else states.layers[-1:]
        return torch.stack([pooled(layer, states.kept, self.pool) for layer in kept], dim=1)

    def fill(
        self,
        texts: Sequence[str],
        path: Path,
        store: str,
        progress: Callable[[str, int, int], object] | None,
    ) -> NDArray[np.float32]:
        """The vectors of texts, float32 [T, layers, d], in a file that is mapped into memory."""
        encoder = self.base.encoder
        about = {
            "model": self.base.folder.identity,
            "precision": encoder.precision,
            "device": encoder.device.split(":")[0],
            "results": f"layers {self.layers} {self.pool} {self.limit}",
        }
        remembered: Remembered[str] = Remembered(
            encoder,
            lambda some: [(ids, self.depth) for ids in self.sequences(some)],
            lambda states, _: list(self.pool_states(states).cpu().numpy()),
            encoder.dimensions,
            "layers",
            open_store(store, about, encoder.dimensions),
        )
        shape = (len(texts), self.depth, encoder.dimensions)
        vectors = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=shape)
        for at in range(0, len(texts), _BLOCK):
            some = texts[at : at + _BLOCK]
            vectors[at : at + len(some)] = remembered.look_up(some)
            if progress:
                progress("encoding", at + len(some), len(texts))
        return vectors
