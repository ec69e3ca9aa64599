"""From the name of a model to an encoder."""

from __future__ import annotations

from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from gnomon.errors import DataError, UsageError
from gnomon.models._folder import ModelFolder, find_model, missing_package
from gnomon.models.encoder import Encoder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.models.encoder import Precision

__all__ = ["load_encoder"]

#: byte-level tokenisers: the first word of a text gets a space before it, like all others
_BYTE_LEVEL = frozenset(("bart", "deberta", "gpt2", "longformer", "roberta"))
#: their positions begin after the padding index
_SHIFTED = frozenset(("camembert", "longformer", "mpnet", "roberta", "xlm-roberta"))
#: where architectures keep their layers: BERT and RoBERTa, DistilBERT, T5, BART
_LAYERS = (("encoder", "layer"), ("transformer", "layer"), ("block",), ("layers",))
_UNLIMITED = 1_000_000


def load_encoder(
    name: str,
    *,
    layer: int | None = None,
    revision: str | None = None,
    device: str | None = None,
    precision: Precision = "fp32",
    limit: int | None = None,
) -> Encoder:
    """Load a transformer, up to a layer; the same request gives the same object.

    Args:
        name: a folder, ``package:NAME/FOLDER``, or a name on the hub; see :func:`find_model`.
        layer: whose output to take; 0 is the embedding layer, by default the last one. Layers
            above it are dropped and cost nothing.
        revision: commit, tag or branch on the hub.
        device: "cpu", "cuda", "cuda:1"; by default a GPU if there is one.
        precision: "fp32", or automatic mixed precision with "bf16" or "fp16".
        limit: most pieces of a text, if fewer than the model takes.

    Raises:
        MissingDependencyError: torch, transformers or the model is not installed.
        DataError: the folder is no model that can be loaded.
        UsageError: the model has no such layer, or the machine no such device.
    """
    folder = find_model(name, revision)
    return _load(folder, folder.identity, layer, _device(device), precision, limit)


@lru_cache(maxsize=4)
def _load(
    folder: ModelFolder,
    _identity: str,  # changed files are another model
    layer: int | None,
    device: str,
    precision: Precision,
    limit: int | None,
) -> Encoder:
    tokenizer, model = _read(folder)
    config = model.config
    if getattr(model, "decoder", None) is not None and hasattr(model, "get_encoder"):
        model = model.get_encoder()
    if getattr(model, "pooler", None) is not None:
        model.pooler = None  # sentence vectors of another kind, which nobody asks for
    depth = int(config.num_hidden_layers)
    chosen = depth if layer is None else layer
    if not 0 <= chosen <= depth:
        raise UsageError(f"model {folder.name!r} has layers 0 to {depth}; layer {chosen} is asked")
    if not _drop_layers(model, chosen):
        model.config.output_hidden_states = True
    most = _limit(tokenizer, config)
    return Encoder(
        folder=folder,
        layer=chosen,
        depth=depth,
        dimensions=int(config.hidden_size),
        limit=most if limit is None else min(limit, most or limit),
        device=device,
        precision=precision,
        tokenizer=tokenizer,
        model=model.to(device).eval().requires_grad_(False),  # noqa: FBT003  # torch's signature
    )


def _read(folder: ModelFolder) -> tuple[Any, Any]:
    try:
        import torch
        from safetensors import SafetensorError
        from transformers import AutoConfig, AutoModel, AutoTokenizer
    except ImportError as error:
        raise missing_package(error.name or "transformers", f"model {folder.name!r}") from error
    path, safe = str(folder.path), {"local_files_only": True, "trust_remote_code": False}
    with _quiet():
        try:
            config = AutoConfig.from_pretrained(path, **safe)
            spaced = {"add_prefix_space": True} if config.model_type in _BYTE_LEVEL else {}
            tokenizer = AutoTokenizer.from_pretrained(path, use_fast=True, **safe, **spaced)
            model = AutoModel.from_pretrained(
                path, config=config, use_safetensors=True, dtype=torch.float32, **safe
            )
        except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
            raise DataError(
                f"model {folder.name!r} ({folder.path}) cannot be loaded: {error}"
            ) from error
    if not tokenizer.is_fast:
        raise DataError(
            f"model {folder.name!r} has no fast tokeniser, which alone tells where pieces stand in"
            " a text; save it with a tokenizer.json"
        )
    return tokenizer, model


def _device(asked: str | None) -> str:
    try:
        import torch
    except ImportError:
        raise missing_package("torch", "a metric on a transformer model") from None
    if asked is None:
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(0, device=asked)
    except (RuntimeError, AssertionError) as error:
        raise UsageError(f"device {asked!r} cannot be used here: {error}") from error
    return asked


def _drop_layers(model: Any, layer: int) -> bool:
    """Drop the layers above one; whether that architecture is known."""
    for *owners, name in _LAYERS:
        holder = model
        for owner in owners:
            holder = getattr(holder, owner, None)
        if hasattr(holder, name) and hasattr(getattr(holder, name), "__getitem__"):
            setattr(holder, name, getattr(holder, name)[:layer])
            return True
    return False


def _limit(tokenizer: Any, config: Any) -> int | None:
    limits = [int(tokenizer.model_max_length)]
    positions = getattr(config, "max_position_embeddings", None)
    if positions and positions > 0:
        shift = int(config.pad_token_id or 0) + 1 if config.model_type in _SHIFTED else 0
        limits.append(int(positions) - shift)
    most = min(limits)
    return most if most < _UNLIMITED else None


@contextmanager
def _quiet() -> Iterator[None]:
    """No progress bars, no reports on weights that are not needed."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
