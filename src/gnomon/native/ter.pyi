import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["edit_pairs"]

def edit_pairs(
    candidates: tuple[ArrayLike, ArrayLike],
    references: tuple[ArrayLike, ArrayLike],
    pairs: ArrayLike,
    *,
    align: bool = False,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]: ...
