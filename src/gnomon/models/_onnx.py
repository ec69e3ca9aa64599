"""ONNX Runtime as what turns piece numbers into vectors, on a CPU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.errors import DataError, MissingDependencyError

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from numpy.typing import NDArray

__all__ = ["OnnxEngine", "load_onnx", "onnx_packages"]


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
