"""BLEURT: a BERT that reads reference and candidate together and gives one number.

Sellam et al. (2020), "BLEURT", and Pu et al. (2021), "Learning compact metrics for MT" (BLEURT-20).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gnomon.core.errors import DataError, UsageError
from gnomon.learned.joint import (
    JointModel,
    JointOptions,
    PieceSequence,
    torch_type,
)
from gnomon.learned.vocabularies import piece_reader

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.learned.metric import Triple
    from gnomon.models import ModelFolder

__all__ = ["Bleurt", "BleurtModel"]

#: ``[CLS]`` and both ``[SEP]``
_SPECIAL = 3
_PREFIX = "bleurt."
#: names that differ in RemBERT
_PROJECTION = ("encoder.embedding_projection.", "encoder.embedding_hidden_mapping_in.")


@dataclass(frozen=True)
class Bleurt(JointOptions):
    """BLEURT: how far a candidate says what the reference says, learned from people's scores.

    Reference and candidate are one sequence; the first position of a BERT (BLEURT-20: a RemBERT)
    gives one number, mostly between 0 and 1, but not bounded. Higher is better. With several
    references the score is the mean over them. The system score is the mean over segments. Empty
    texts are read like all others.

    Attributes:
        model: a folder, ``package:NAME/FOLDER`` or a name on the model hub: safetensors with the
            names of bleurt-pytorch, and ``vocab.txt`` or SentencePiece's ``spm.model``.
        limit: most pieces of both texts together; by default as many as the model has positions.
            Pieces are left out of the longer text until both are equally long, then of both.
        revision: commit of the model on the hub.
        device: "cpu", "cuda", ...; by default a GPU if there is one.
        precision: of the weights: "fp32", or "bf16" for approximate scores in half the memory.
        batch: most pairs that are read at once; specs do not show it.

    Raises:
        SpecError: an option has a value that it cannot have.
    """

    name: ClassVar[str] = "bleurt"
    title: ClassVar[str] = "BLEURT"
    lost: ClassVar[str] = "pairs"
    bounds = MappingProxyType({"limit": (_SPECIAL + 1, 1 << 16), "batch": (1, 1 << 16)})

    def load(self, folder: ModelFolder, device: str) -> BleurtModel:
        """The model in a folder."""
        return _load(folder, folder.identity, device, self.precision, self.limit)


def fitting(reference: int, candidate: int, most: int, *, words: bool = False) -> tuple[int, int]:
    """Numbers of pieces kept of each text where they do not fit: the longer one loses first.

    >>> fitting(10, 4, 9), fitting(5, 6, 9), fitting(5, 6, 9, words=True)
    ((5, 4), (5, 4), (4, 5))
    """
    if reference + candidate <= most:
        return reference, candidate
    half, odd = divmod(most, 2)
    if min(reference, candidate) <= half:
        longer = most - min(reference, candidate)
        return (longer, candidate) if reference > candidate else (reference, longer)
    if not words or reference > candidate:
        return half + odd, half
    return half, half + odd


class BleurtModel(JointModel):
    """BLEURT in torch."""

    def __init__(self, folder: ModelFolder, device: str, precision: str, limit: int | None) -> None:
        config = read_settings(folder)
        positions = config["max_position_embeddings"]
        if limit is not None and limit > positions:
            raise UsageError(
                f"bleurt: model {folder.name!r} has {positions} positions; limit={limit} is more"
            )
        super().__init__(folder, device, precision, limit or positions)
        self._config = config
        self._pad = int(config.get("pad_token_id") or 0)
        self._reader = piece_reader(folder)

    @cached_property
    def network(self) -> tuple[Any, Any, Any]:
        """The encoder, and weight and bias of the layer on top of it."""
        kind = torch_type(self.precision)
        model, weight, bias = (
            loaded.to(device=self.device, dtype=kind)
            for loaded in _read_model(self.folder, self._config)
        )
        return model, weight, bias

    @property
    def pad(self) -> int:
        """The piece that fills up shorter sequences."""
        return self._pad

    def sequences(self, triples: Sequence[Triple]) -> list[PieceSequence]:
        """``[CLS] reference [SEP] candidate [SEP]``; each distinct text is split once."""
        texts = dict.fromkeys(
            text for triple in triples for text in (triple.candidate, triple.reference or "")
        )
        pieces = {text: self._reader.split(text) for text in texts}
        sequences = []
        for candidate, _, reference in triples:
            first, second = pieces[reference or ""], pieces[candidate]
            kept = fitting(len(first), len(second), self.limit - _SPECIAL, words=self._reader.words)
            head = [self._reader.start, *first[: kept[0]], self._reader.stop]
            ids = [*head, *second[: kept[1]], self._reader.stop]
            sequences.append(PieceSequence(ids, len(head), kept != (len(first), len(second))))
        return sequences

    def forward(
        self, ids: NDArray[np.int64], kept: NDArray[np.bool_], first: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """The model's answer at the first position: tanh of a linear layer, and another one."""
        import torch

        model, weight, bias = self.network
        second = (np.arange(ids.shape[1]) >= first[:, None]) & kept
        with torch.inference_mode():
            pooled = model(
                input_ids=torch.as_tensor(ids, device=self.device),
                attention_mask=torch.as_tensor(kept, device=self.device).long(),
                token_type_ids=torch.as_tensor(second, device=self.device).long(),
            ).pooler_output
            scores = (pooled @ weight.T + bias).reshape(-1)
            return np.asarray(scores.float().cpu().numpy(), dtype=np.float64)


@lru_cache(maxsize=2)
def _load(folder: ModelFolder, _identity: str, *about: Any) -> BleurtModel:
    return BleurtModel(folder, *about)


_COUNTS = (
    "vocab_size",
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
    "max_position_embeddings",
    "type_vocab_size",
)


def read_settings(folder: ModelFolder) -> Mapping[str, Any]:
    """The configuration of a BLEURT."""
    import json

    try:
        config = json.loads((folder.path / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"model {folder.name!r}: config.json cannot be read: {error}") from error
    kind = config.get("model_type") if isinstance(config, dict) else None
    if kind != "bleurt":
        raise DataError(
            f"model {folder.name!r} ({folder.path}) is no BLEURT: its config.json says model_type"
            f" {kind!r}; BLEURT in the form of bleurt-pytorch says 'bleurt'"
        )
    for name in _COUNTS:
        if type(config.get(name)) is not int or config[name] < 1:
            raise DataError(
                f"model {folder.name!r}: config.json says {name} {config.get(name)!r}; it is a"
                " whole number, 1 or more"
            )
    settings: Mapping[str, Any] = config
    return settings


def _read_model(folder: ModelFolder, config: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """The BERT, and weight and bias of the layer on top of it."""
    from gnomon.models import reading_model

    with reading_model(folder):
        import torch
        from transformers import BertConfig, BertModel, RemBertConfig, RemBertModel

        state = _state(folder)
        size = config.get("embedding_size")
        shared = {name: config[name] for name in _COUNTS} | {
            "hidden_act": config.get("hidden_act", "gelu"),
            "layer_norm_eps": config.get("layer_norm_eps", 1e-12),
            "pad_token_id": config.get("pad_token_id", 0),
        }
        layers = {name.split(".")[2] for name in state if name.startswith("encoder.layer.")}
        if len(layers) != config["num_hidden_layers"]:
            raise ValueError(
                f"it holds {len(layers)} layers, and config.json says {config['num_hidden_layers']}"
            )
        weight, bias = state.pop("classifier.weight", None), state.pop("classifier.bias", None)
        if weight is None or bias is None or weight.shape != (1, config["hidden_size"]):
            raise ValueError("it lacks the layer that gives the score (classifier)")
        kind, made = (
            (BertModel, BertConfig(**shared))
            if size is None
            else (RemBertModel, RemBertConfig(**shared, input_embedding_size=size))
        )
        with torch.device("meta"):  # nothing is allocated for what a file may claim
            wanted = {name: weights.shape for name, weights in kind(made).state_dict().items()}
        for name, shape in wanted.items():
            given = state.get(name)
            if given is None or given.shape != shape:
                shown = "nothing" if given is None else f"shape {list(given.shape)}"
                raise ValueError(f"it holds {shown} for {name!r}, which is of shape {list(shape)}")
        model = kind.from_pretrained(
            None, config=made, state_dict={name: state[name] for name in wanted}
        )
    return model.eval().requires_grad_(False), weight, bias  # noqa: FBT003  # torch's signature


def _state(folder: ModelFolder) -> dict[str, Any]:
    """All weights, under the names that transformers has for them."""
    import torch
    from safetensors.torch import load_file

    state: dict[str, Any] = {}
    for file in sorted(folder.path.glob("*.safetensors")):
        for name, value in load_file(file).items():
            if not name.endswith(".position_ids"):
                plain = name.removeprefix(_PREFIX).replace(*_PROJECTION)
                state[plain] = value.to(torch.float32)
    return state
