import numpy as np
from numpy.typing import NDArray

__all__ = ["look"]

def look(
    texts: list[str | None], references: int, pairs: bool
) -> tuple[NDArray[np.int64], NDArray[np.int32], int, NDArray[np.int32]]: ...
