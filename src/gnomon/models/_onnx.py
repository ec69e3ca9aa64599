"""ONNX Runtime as what computes vectors on a CPU, and models as ONNX files."""

from __future__ import annotations

import logging
import os
import shutil
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.cache import ONNX, default_path
from gnomon.core.errors import DataError, MissingDependencyError, OutputError
from gnomon.core.signature import content_hash
from gnomon.models._engine import hidden_layer
from gnomon.models._folder import carried_onnx, digest_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from types import ModuleType

    from numpy.typing import NDArray

    from gnomon.models._folder import ModelFolder


@dataclass(frozen=True, eq=False)
class OnnxEngine:
    """A model in ONNX Runtime."""

    session: Any
    name: str

    def hidden(self, ids: NDArray[np.int64], kept: NDArray[np.bool_]) -> Any:
        """Vectors of the kept pieces, float32 tensor [rows, d]."""
        import torch

        return torch.from_numpy(self.run(ids, kept)[kept])

    def run(
        self, ids: NDArray[np.int64], kept: NDArray[np.bool_], **more: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """What the model gives for each piece, padding too, float32 [B, W, columns]."""
        given = {"input_ids": ids, "attention_mask": kept.astype(np.int64), **more}
        wanted = [given_input.name for given_input in self.session.get_inputs()]
        feed = {name: given[name] if name in given else np.zeros_like(ids) for name in wanted}
        vectors: NDArray[np.float32] = self.session.run(None, feed)[0]
        return vectors


def onnx_packages(what: str = "backend='onnx'", other: str = "backend='torch'") -> ModuleType:
    """The module onnxruntime."""
    try:
        import onnx  # noqa: F401  # torch and the quantiser need it to write a model
        import onnxruntime
    except ImportError as error:
        raise MissingDependencyError(
            f"{what} needs the package {error.name or 'onnxruntime'}, which is not"
            f" installed; install it with: pip install 'gnomon[models,onnx]', or take {other}"
        ) from error
    module: ModuleType = onnxruntime
    return module


def load_onnx(file: Path, model: str, shown: str = "") -> OnnxEngine:
    """Load a model."""
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
    inputs = {model_input.name for model_input in session.get_inputs()}
    allowed = {"input_ids", "attention_mask", "token_type_ids"}
    output = session.get_outputs()[0]
    if not ("input_ids" in inputs and inputs <= allowed and len(output.shape) == 3):
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
#: what a file of protocol buffers cannot hold
_LARGE = 1 << 31
#: largest difference that a written model may have, relative to the largest value
_TOLERANCE = 1e-4

_log = logging.getLogger(__name__)


def onnx_engine(
    folder: ModelFolder, layer: int, *, last: bool, int8: bool, torch_model: Callable[[], Any]
) -> OnnxEngine:
    """A model in ONNX Runtime, up to a layer."""
    onnx_packages()
    file = carried_onnx(folder) if last else None
    if file is not None:
        digest = digest_of([file])
        if not int8:
            return load_onnx(file, folder.name, f"/{_FILE}#{digest}")
        key = content_hash(_FORMAT, digest, "int8")
        shown = f"/{_FILE}#{digest}"
        return _cached_engine(key, folder.name, lambda into: _round(file, into), shown)
    key = content_hash(_FORMAT, folder.identity, str(layer))

    def whole(into: Path) -> None:
        _export(folder, layer, torch_model(), into)

    if not int8:
        return _cached_engine(key, folder.name, whole)
    return _cached_engine(
        content_hash(key, "int8"), folder.name, lambda into: _write_rounded(whole, into)
    )


def rounded_layers(
    name: str, identity: str, torch_model: Callable[[], Any], *, types: bool
) -> OnnxEngine:
    """An encoder in ONNX Runtime whose products are taken in 8 bits, with all of its layers.

    The states of a piece stand side by side, the embeddings first: float32 [B, W, (L + 1) d]; the
    last ones are what the model itself gives, after its last norm.

    Args:
        name: of the model, for messages.
        identity: hash of what it is.
        torch_model: loads the model in torch; called when there is no file.
        types: whether it takes ``token_type_ids``.

    Raises:
        MissingDependencyError: onnx or onnxruntime is not installed.
        DataError: the model cannot be written as ONNX, or the file cannot be loaded.
        OutputError: the cache cannot be written.
    """
    onnx_packages("precision='int8'", "precision='fp32'")

    def layers(output: Any) -> Any:
        import torch

        return torch.cat([*output.hidden_states[:-1], output.last_hidden_state], dim=-1)

    def whole(into: Path) -> None:
        traced = _traced(torch_model(), layers, output_hidden_states=True)
        names = (*_NAMES, "token_type_ids") if types else _NAMES
        _write_onnx(name, traced, into, names, "take precision='fp32'")

    key = content_hash(_FORMAT, identity, "all layers", str(types), "int8")
    return _cached_engine(key, name, lambda into: _write_rounded(whole, into))


def _write_rounded(write: Callable[[Path], None], into: Path) -> None:
    """Write a model as it is, and then its rounded form in its place."""
    whole = into / "whole"
    whole.mkdir()
    write(whole)
    _round(whole / _FILE, into)
    shutil.rmtree(whole)


def _cached_engine(
    key: str, model: str, write: Callable[[Path], None], shown: str = ""
) -> OnnxEngine:
    """Load what the cache holds; write it where it is not there or damaged."""
    folder = default_path() / ONNX / key
    if folder.is_dir():
        try:
            if (folder / _PROOF).read_text(encoding="ascii") == digest_of(_model_files(folder)):
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
    partial = folder.with_name(f".{folder.name}-{os.getpid()}")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(mode=0o700)
    try:
        write(partial)
        (partial / _PROOF).write_text(digest_of(_model_files(partial)), encoding="ascii")
        try:
            partial.rename(folder)
        except OSError:
            if not (folder / _PROOF).is_file():  # else another process was faster
                raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _model_files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.iterdir() if file.is_file() and file.name != _PROOF)


_NAMES = ("input_ids", "attention_mask")


def _traced(model: Any, read: Callable[[Any], Any], **options: bool) -> Any:
    """A module that takes inputs by place and gives one tensor, as the exporter wants it."""
    import torch

    class TracedModel(torch.nn.Module):  # type: ignore[misc]  # torch may be absent when types are checked
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *inputs: Any) -> Any:
            given = dict(zip((*_NAMES, "token_type_ids"), inputs, strict=False))
            return read(self.model(**given, **options))

    return TracedModel().eval()


def _export(folder: ModelFolder, layer: int, model: Any, into: Path) -> None:
    """Write a model of torch up to a layer."""
    traced = _traced(model, lambda output: hidden_layer(output, layer))
    _write_onnx(folder.name, traced, into, _NAMES, "take backend='torch'")


def _write_onnx(name: str, traced: Any, into: Path, names: tuple[str, ...], instead: str) -> None:
    """Write a model of torch, with free numbers of texts and pieces, and try it."""
    import torch

    count = int(traced.model.config.vocab_size)
    inputs = tuple(map(torch.from_numpy, _sample(2, 7, count)))[: len(names)]
    free = {0: "texts", 1: "pieces"}
    try:
        with torch.no_grad(), warnings.catch_warnings():
            # the exporter warns of its own age and of every shape that it traces
            warnings.simplefilter("ignore")
            torch.onnx.export(
                traced,
                inputs,
                str(into / _FILE),
                dynamo=False,
                input_names=list(names),
                output_names=["vectors"],
                dynamic_axes=dict.fromkeys((*names, "vectors"), free),
                opset_version=_OPSET,
            )
    except (RuntimeError, ValueError, TypeError, NotImplementedError) as error:
        raise DataError(f"model {name!r} cannot be written as ONNX: {error}; {instead}") from error
    _try(name, traced, into / _FILE, names, instead)


def _sample(texts: int, width: int, count: int) -> tuple[NDArray[np.int64], ...]:
    """Numbers of pieces, which are no padding, and types, int64 [texts, width] each."""
    ids = (np.arange(texts * width, dtype=np.int64) * 7919 % count).reshape(texts, width)
    kept = np.arange(width) < width - np.arange(texts)[:, None]
    types = np.broadcast_to(np.arange(width) > width // 2, kept.shape)
    return ids, kept.astype(np.int64), types.astype(np.int64)


def _try(name: str, traced: Any, file: Path, names: tuple[str, ...], instead: str) -> None:
    """Compare the written model with the one of torch, on another shape than it was traced with."""
    import torch

    inputs = _sample(3, 11, int(traced.model.config.vocab_size))[: len(names)]
    kept = inputs[1] > 0
    with torch.inference_mode():
        wanted = traced(*map(torch.from_numpy, inputs)).float().numpy()[kept]
    more = dict(zip(names[2:], inputs[2:], strict=True))
    vectors = load_onnx(file, name).run(inputs[0], kept, **more)[kept]
    difference = float(np.abs(vectors - wanted).max())
    if not difference <= _TOLERANCE * float(np.abs(wanted).max()):
        raise DataError(
            f"model {name!r} written as ONNX gives other vectors (by {difference:.2g}); {instead}"
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
    """Without messages of the quantiser to the root logger."""
    root = logging.getLogger()

    def silent(_: logging.LogRecord) -> bool:
        return False

    root.addFilter(silent)  # stops messages to the root logger itself, nothing else
    try:
        yield
    finally:
        root.removeFilter(silent)
