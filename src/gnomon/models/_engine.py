"""What turns piece numbers into vectors: torch here, ONNX Runtime in ``_onnx``."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Backend", "EncoderEngine", "Long", "Precision", "TorchEngine", "hidden_layer"]

Backend: TypeAlias = Literal["torch", "onnx"]
#: what becomes of texts that are longer than a model takes
Long: TypeAlias = Literal["truncate", "window"]
Precision: TypeAlias = Literal["fp32", "bf16", "fp16", "int8"]


class EncoderEngine(Protocol):
    """A model up to one layer."""

    @property
    def name(self) -> str:
        """What runs, as signatures name it; "" for torch."""
        ...

    def hidden(self, ids: NDArray[np.int64], kept: NDArray[np.bool_]) -> Any:
        """Vectors of the pieces of some texts."""
        ...


@dataclass(frozen=True, eq=False)
class TorchEngine:
    """A model in torch."""

    model: Any
    layer: int
    device: str
    precision: Precision
    name: str = ""

    def hidden(self, ids: NDArray[np.int64], kept: NDArray[np.bool_]) -> Any:
        """Vectors of the kept pieces, float32 tensor [rows, d]."""
        import torch

        mask = None if kept.all() else torch.as_tensor(kept, device=self.device).long()
        with torch.inference_mode(), self._mixed():
            output = self.model(
                input_ids=torch.as_tensor(ids, device=self.device), attention_mask=mask
            )
        hidden = hidden_layer(output, self.layer).float()
        return hidden[torch.as_tensor(kept, device=self.device)]

    def _mixed(self) -> AbstractContextManager[Any]:
        import torch

        types = {"bf16": torch.bfloat16, "fp16": torch.float16}
        if self.precision not in types:
            return nullcontext()
        mixed: AbstractContextManager[Any] = torch.autocast(
            self.device.split(":")[0], dtype=types[self.precision]
        )
        return mixed


def hidden_layer(output: Any, layer: int) -> Any:
    """The output of a layer in what a model of transformers returns."""
    return output.last_hidden_state if output.hidden_states is None else output.hidden_states[layer]
