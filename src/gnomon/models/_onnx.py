"""ONNX Runtime as what computes vectors on a CPU, and models as ONNX files."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.cache import ONNX, default_path
from gnomon.errors import DataError, MissingDependencyError, OutputError
from gnomon.models._engine import TorchEngine, hidden_layer
from gnomon.models._folder import carried_onnx
from gnomon.signature import content_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from types import ModuleType

    from numpy.typing import NDArray

    from gnomon.models._folder import ModelFolder


@dataclass(frozen=True, eq=False)
class OnnxEngine:
    """A model in ONNX Runtime.

    Attributes:
        session: takes ``input_ids`` and ``attention_mask``; its first output are the vectors.
        name: "onnxruntime" and its version, and the file where it came with the model.
    """

    session: Any
    name: str

    def hidden(self, ids: NDArray[np.int64], kept: NDArray[np.bool_]) -> Any:
        """Vectors of the kept pieces, float32 tensor [rows, d]."""
        import torch

        return torch.from_numpy(self._run(ids, kept)[kept])

    def _run(self, ids: NDArray[np.int64], kept: NDArray[np.bool_]) -> NDArray[np.float32]:
        given = {"input_ids": ids, "attention_mask": kept.astype(np.int64)}
        wanted = [place.name for place in self.session.get_inputs()]
        feed = {name: given[name] if name in given else np.zeros_like(ids) for name in wanted}
        found: NDArray[np.float32] = self.session.run(None, feed)[0]
        return found


def onnx_packages() -> ModuleType:
    """The module onnxruntime.

    Raises:
        MissingDependencyError: it, or onnx, is not installed.
    """
    try:
        import onnx  # noqa: F401  # torch and the quantiser need it to write a model
        import onnxruntime
    except ImportError as error:
        raise MissingDependencyError(
            f"backend='onnx' needs the package {error.name or 'onnxruntime'}, which is not"
            " installed; install it with: pip install 'gnomon[models,onnx]', or take"
            " backend='torch'"
        ) from error
    module: ModuleType = onnxruntime
    return module


def load_onnx(file: Path, model: str, shown: str = "") -> OnnxEngine:
    """Load a model.

    Args:
        file: the model.
        model: its name, for messages.
        shown: what to add to the engine's name.

    Raises:
        DataError: it cannot be loaded, or takes or gives something else than an encoder does.
    """
    import torch

    runtime = onnx_packages()
    options = runtime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    options.inter_op_num_threads = 1
    options.enable_mem_pattern = False  # every batch has a shape of its own
    options.log_severity_level = 3
    # threads that wait in a loop would take the time of those that compare the vectors
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        session = runtime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors have no base of their own
        raise DataError(f"model {model!r}: {file} cannot be loaded: {error}") from error
    _check(session, file, model)
    return OnnxEngine(session, f"onnxruntime-{runtime.__version__}{shown}")


def _check(session: Any, file: Path, model: str) -> None:
    inputs = {place.name for place in session.get_inputs()}
    known = {"input_ids", "attention_mask", "token_type_ids"}
    output = session.get_outputs()[0]
    if not ("input_ids" in inputs and inputs <= known and len(output.shape) == 3):
        raise DataError(
            f"model {model!r}: {file} is no encoder: it takes {', '.join(sorted(inputs))} and gives"
            f" {output.name} {output.shape}; wanted are input_ids (and"
            " attention_mask, token_type_ids) and, first, the vectors of all pieces"
        )


# Models as ONNX files: those that came with them, or written once into gnomon's cache.


_FILE = "model.onnx"
_PROOF = "digest"
#: the number is that of the way in which files are written
_FORMAT = "1"
_OPSET = 17
_CHUNK = 1 << 20
#: what a file of protocol buffers cannot hold
_LARGE = 1 << 31
#: largest difference that a written model may have, relative to the largest value
_TOLERANCE = 1e-4

_log = logging.getLogger(__name__)


def onnx_engine(
    folder: ModelFolder, layer: int, *, last: bool, int8: bool, torch_model: Callable[[], Any]
) -> OnnxEngine:
    """A model in ONNX Runtime, up to a layer.

    Args:
        folder: the model.
        layer: whose output to take.
        last: whether it is the last one, which a file that came with the model gives.
        int8: whether weights, and what they are multiplied with, are rounded to 8 bits.
        torch_model: loads the model in torch, up to the layer; called when there is no file.

    Raises:
        MissingDependencyError: onnx or onnxruntime is not installed.
        DataError: the model cannot be written as ONNX, or the file cannot be loaded.
        OutputError: the cache cannot be written.
    """
    onnx_packages()
    file = carried_onnx(folder) if last else None
    if file is not None:
        digest = _digest([file])
        if not int8:
            return load_onnx(file, folder.name, f"/{_FILE}#{digest}")
        key = content_hash(_FORMAT, digest, "int8")
        shown = f"/{_FILE}#{digest}"
        return _cached_engine(key, folder.name, lambda into: _round(file, into), shown)
    key = content_hash(_FORMAT, folder.identity, str(layer))
    if not int8:
        return _cached_engine(
            key, folder.name, lambda into: _export(folder, layer, torch_model(), into)
        )

    def rounded(into: Path) -> None:
        whole = into / "whole"
        whole.mkdir()
        _export(folder, layer, torch_model(), whole)
        _round(whole / _FILE, into)
        shutil.rmtree(whole)

    return _cached_engine(content_hash(key, "int8"), folder.name, rounded)


def _cached_engine(
    key: str, model: str, write: Callable[[Path], None], shown: str = ""
) -> OnnxEngine:
    """Load what the cache holds; write it where it is not there or damaged."""
    folder = default_path() / ONNX / key
    if folder.is_dir():
        try:
            if (folder / _PROOF).read_text(encoding="ascii") == _digest(_model_files(folder)):
                return load_onnx(folder / _FILE, model, shown)
        except (OSError, ValueError) as error:
            _log.info("%s: %s", folder, error)
        _log.warning("the model in %s is damaged; it is written anew", folder)
        shutil.rmtree(folder, ignore_errors=True)
    try:
        _write(folder, write)
    except OSError as error:
        raise OutputError(
            f"model {model!r} cannot be written to {folder}: {error}; make room or give the cache"
            " another place (GNOMON_CACHE=FOLDER), or take backend='torch'"
        ) from error
    return load_onnx(folder / _FILE, model, shown)


def _write(folder: Path, write: Callable[[Path], None]) -> None:
    """Write a model's files; they appear all at once."""
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = folder.with_name(f".{folder.name}-{os.getpid()}")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(mode=0o700)
    try:
        write(part)
        (part / _PROOF).write_text(_digest(_model_files(part)), encoding="ascii")
        try:
            part.rename(folder)
        except OSError:
            if not (folder / _PROOF).is_file():  # else another process was faster
                raise
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _model_files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.iterdir() if file.is_file() and file.name != _PROOF)


def _digest(files: list[Path]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for file in files:
        digest.update(f"{file.name}:{file.stat().st_size}\n".encode())
        with file.open("rb") as stream:
            while chunk := stream.read(_CHUNK):
                digest.update(chunk)
    return digest.hexdigest()


def _export(folder: ModelFolder, layer: int, model: Any, into: Path) -> None:
    """Write a model of torch, with free numbers of texts and pieces, and try it."""
    import torch

    class TracedLayer(torch.nn.Module):  # type: ignore[misc]  # torch may be absent when types are checked
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            found = self.model(input_ids=input_ids, attention_mask=attention_mask)
            return hidden_layer(found, layer)

    ids, mask = (torch.from_numpy(array) for array in _sample(2, 7, model))
    free = {0: "texts", 1: "pieces"}
    names = ["input_ids", "attention_mask"]
    try:
        with torch.no_grad(), warnings.catch_warnings():
            # the exporter warns of its own age and of every shape that it traces
            warnings.simplefilter("ignore")
            torch.onnx.export(
                TracedLayer().eval(),
                (ids, mask.long()),
                str(into / _FILE),
                dynamo=False,
                input_names=names,
                output_names=["vectors"],
                dynamic_axes=dict.fromkeys([*names, "vectors"], free),
                opset_version=_OPSET,
            )
    except (RuntimeError, ValueError, TypeError, NotImplementedError) as error:
        raise DataError(
            f"model {folder.name!r} cannot be written as ONNX: {error}; take backend='torch'"
        ) from error
    _try(folder, layer, model, into / _FILE)


def _sample(texts: int, width: int, model: Any) -> tuple[Any, Any]:
    """Numbers of pieces and which are no padding, both [texts, width]."""
    count = int(model.config.vocab_size)
    ids = (np.arange(texts * width, dtype=np.int64) * 7919 % count).reshape(texts, width)
    return ids, np.arange(width) < width - np.arange(texts)[:, None]


def _try(folder: ModelFolder, layer: int, model: Any, file: Path) -> None:
    """Compare the written model with the one of torch, on another shape than it was traced with.

    Raises:
        DataError: they differ.
    """
    ids, kept = _sample(3, 11, model)
    wanted = TorchEngine(model, layer, "cpu", "fp32").hidden(ids, kept)
    found = load_onnx(file, folder.name).hidden(ids, kept)
    difference = float((found - wanted).abs().max())
    if not difference <= _TOLERANCE * float(wanted.abs().max()):
        raise DataError(
            f"model {folder.name!r} written as ONNX gives other vectors (by {difference:.2g});"
            " take backend='torch'"
        )


def _round(file: Path, into: Path) -> None:
    """Write a model whose products are taken in 8 bits; scales are those of each batch."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    with _quiet():
        quantize_dynamic(
            file,
            into / _FILE,
            op_types_to_quantize=["MatMul"],
            per_channel=True,
            weight_type=QuantType.QInt8,
            use_external_data_format=sum(f.stat().st_size for f in _model_files(file.parent))
            > _LARGE,
        )


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what the quantiser says to the root logger."""
    root = logging.getLogger()

    def silent(_: logging.LogRecord) -> bool:
        return False

    root.addFilter(silent)  # holds back what is said to the root itself, nothing else
    try:
        yield
    finally:
        root.removeFilter(silent)
