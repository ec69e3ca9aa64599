"""Precision of a model in torch, and the output of a layer."""

from __future__ import annotations

from contextlib import nullcontext
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from gnomon.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

__all__ = ["TYPES", "Long", "Precision", "check_precision", "hidden_layer", "mixed_precision"]

#: what becomes of texts that are longer than a model takes
Long: TypeAlias = Literal["truncate", "window"]
Precision: TypeAlias = Literal["fp32", "bf16", "fp16"]
#: precision -> its type in torch
TYPES: Mapping[str, str] = MappingProxyType(
    {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}
)


def check_precision(precision: str) -> None:
    """Refuse a precision that there is not."""
    if precision not in TYPES:
        allowed = ", ".join(map(repr, TYPES))
        raise UsageError(f"precision={precision!r} is not known here; there are {allowed}")


def mixed_precision(device: str, precision: str) -> AbstractContextManager[Any]:
    """Within it torch computes in mixed precision; as always for "fp32"."""
    import torch

    if precision == "fp32":
        return nullcontext()
    mixed: AbstractContextManager[Any] = torch.autocast(
        device.partition(":")[0], dtype=getattr(torch, TYPES[precision])
    )
    return mixed


def hidden_layer(output: Any, layer: int) -> Any:
    """The output of a layer in what a model of transformers returns."""
    return output.last_hidden_state if output.hidden_states is None else output.hidden_states[layer]
