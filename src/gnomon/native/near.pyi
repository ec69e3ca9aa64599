import numpy as np
from numpy.typing import NDArray

__all__ = ["near_edits"]

def near_edits(
    texts: list[str | None], others: list[str | None], share: float
) -> NDArray[np.int32]: ...
