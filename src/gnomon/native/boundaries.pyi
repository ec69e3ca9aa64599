from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["cut_text"]

def cut_text(
    output: Sequence[ArrayLike],
    guide: Sequence[ArrayLike],
    ends: ArrayLike,
    costs: tuple[int, int],
    places: ArrayLike,
    ends_like: ArrayLike,
    likeness: ArrayLike,
    band: Sequence[ArrayLike],
) -> tuple[int, NDArray[np.int64], NDArray[np.int32]]: ...
