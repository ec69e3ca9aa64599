"""Vectors of the pieces of some texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Embedded"]


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
