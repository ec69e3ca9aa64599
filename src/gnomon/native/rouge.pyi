import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "aligned_subsequences",
    "common_subsequences",
    "shared_ngrams",
    "union_subsequences",
]

def shared_ngrams(
    order: int,
    candidates: tuple[ArrayLike, ArrayLike],
    references: tuple[ArrayLike, ArrayLike],
    pairs: ArrayLike,
) -> NDArray[np.int64]: ...
def common_subsequences(
    candidates: tuple[ArrayLike, ArrayLike],
    references: tuple[ArrayLike, ArrayLike],
    pairs: ArrayLike,
) -> NDArray[np.int64]: ...
def union_subsequences(
    line_break: int,
    candidates: tuple[ArrayLike, ArrayLike],
    references: tuple[ArrayLike, ArrayLike],
    pairs: ArrayLike,
) -> NDArray[np.int64]: ...
def aligned_subsequences(
    candidates: tuple[ArrayLike, ArrayLike],
    references: tuple[ArrayLike, ArrayLike],
    pairs: ArrayLike,
) -> NDArray[np.int64]: ...
