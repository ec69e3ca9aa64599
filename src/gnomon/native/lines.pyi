import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["places"]

def places(
    offsets: ArrayLike,
    ids: ArrayLike,
    terms: int,
    references: int,
    rows: ArrayLike,
    most: int,
    like: float,
    times: float,
) -> NDArray[np.int64]: ...
