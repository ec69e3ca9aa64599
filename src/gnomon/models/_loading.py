"""From the name of a model to an encoder."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING

from gnomon.errors import UsageError
from gnomon.models._engine import TorchEngine
from gnomon.models._folder import ModelFolder, find_model, missing_package
from gnomon.models._reading import piece_limit, read_causal, read_model, read_tokenizer
from gnomon.models._store import open_store
from gnomon.models.causal import CausalModel
from gnomon.models.encoder import Encoder

if TYPE_CHECKING:
    from typing import Any

    from gnomon.models._engine import Backend, Engine, Long, Precision

__all__ = ["load_causal", "load_encoder"]


def load_encoder(
    name: str,
    *,
    layer: int | None = None,
    revision: str | None = None,
    device: str | None = None,
    precision: Precision = "fp32",
    backend: Backend = "torch",
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
        precision: "fp32"; automatic mixed precision with "bf16" or "fp16" (torch); products of
            8-bit integers with "int8" (onnx), which makes vectors approximate.
        backend: "torch", or "onnx" for ONNX Runtime on the CPU. A model is written as ONNX once,
            into gnomon's cache; an ONNX file in its folder serves for the last layer.
        limit: most pieces of a text, if fewer than the model takes.
        long: what becomes of longer texts: "truncate" cuts them, "window" reads them in windows
            that overlap by half.
        embeddings: folder where vectors are kept between runs, if at all. They are found by the
            pieces of a text, the model, layer, limit and what runs it. At 20 GB (or at
            ``GNOMON_EMBEDDINGS_LIMIT`` bytes) those go that were not used for longest.

    Raises:
        MissingDependencyError: torch, transformers, onnxruntime or the model is not installed.
        DataError: the folder is no model that can be loaded.
        OutputError: the cache, or the folder for vectors, cannot be written.
        UsageError: the model has no such layer, the machine no such device, or the backend no such
            precision.
    """
    folder = find_model(name, revision)
    _check_precision(backend, precision)
    chosen = _device(device, backend)
    run = (chosen, precision, backend, limit, long, embeddings)
    return _load(folder, folder.identity, layer, *run)


def load_causal(
    name: str, *, revision: str | None = None, device: str | None = None
) -> CausalModel:
    """Load a model that predicts texts from left to right, such as gpt2.

    Args:
        name: a folder, ``package:NAME/FOLDER``, or a name on the hub; see :func:`find_model`.
        revision: commit, tag or branch on the hub.
        device: "cpu", "cuda", "cuda:1"; by default a GPU if there is one.

    Raises:
        MissingDependencyError: torch, transformers or the model is not installed.
        DataError: the folder is no such model, or cannot be loaded.
        UsageError: the machine has no such device.
    """
    folder = find_model(name, revision)
    return _load_causal(folder, folder.identity, _device(device, "torch"))


@lru_cache(maxsize=2)
def _load_causal(folder: ModelFolder, _identity: str, device: str) -> CausalModel:
    tokenizer, model = read_causal(folder)
    limit = piece_limit(tokenizer, model.config)
    return CausalModel(folder, limit, device, tokenizer, model.to(device))


@lru_cache(maxsize=4)
def _load(
    folder: ModelFolder,
    _identity: str,  # changed files are another model
    layer: int | None,
    device: str,
    precision: Precision,
    backend: Backend,
    limit: int | None,
    long: Long,
    embeddings: str | None,
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
        limit=most if limit is None else min(limit, most or limit),
        device=device,
        precision=precision,
        backend=backend,
        long=long,
        tokenizer=tokenizer,
        engine=_engine(folder, config, chosen, device, precision, backend),
    )
    if embeddings is not None:
        encoder.store = open_store(embeddings, _about(encoder), encoder.dimensions)
    return encoder


def _about(encoder: Encoder) -> dict[str, object]:
    """What vectors depend on, beside the pieces of their text."""
    return {
        "model": encoder.identity,
        "layer": encoder.layer,
        "engine": encoder.engine.name or "torch",
        "device": encoder.device.split(":")[0],
        "limit": encoder.limit,
        "long": encoder.long,
    }


def _engine(
    folder: ModelFolder,
    config: Any,
    layer: int,
    device: str,
    precision: Precision,
    backend: Backend,
) -> Engine:
    read = partial(read_model, folder, config, layer)
    if backend == "torch":
        return TorchEngine(read().to(device), layer, device, precision)
    from gnomon.models._export import onnx_engine

    last = layer == int(config.num_hidden_layers)
    return onnx_engine(folder, layer, last=last, int8=precision == "int8", torch_model=read)


def _check_precision(backend: Backend, precision: Precision) -> None:
    allowed = {"torch": ("fp32", "bf16", "fp16"), "onnx": ("fp32", "int8")}
    if backend not in allowed:
        raise UsageError(f"there is no backend {backend!r}; there are 'torch' and 'onnx'")
    if precision not in allowed[backend]:
        other = "; precision='int8' needs backend='onnx'" if precision == "int8" else ""
        raise UsageError(
            f"backend {backend!r} has no precision {precision!r}; it has"
            f" {', '.join(map(repr, allowed[backend]))}{other}"
        )


def _device(asked: str | None, backend: Backend) -> str:
    try:
        import torch
    except ImportError:
        raise missing_package("torch", "a metric on a transformer model") from None
    if backend == "onnx":
        if asked not in {None, "cpu"}:
            raise UsageError(
                f"backend='onnx' runs on the CPU; got device={asked!r}: leave it out, or take"
                " backend='torch'"
            )
        return "cpu"
    if asked is None:
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(0, device=asked)
    except (RuntimeError, AssertionError) as error:
        raise UsageError(f"device {asked!r} cannot be used here: {error}") from error
    return asked
