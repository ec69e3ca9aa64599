from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

WORDS: int
T13A: int
CHRF: int

def tokens_of(
    texts: Sequence[str], rule: int, lowercase: bool, reread: Callable[[int], str]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint8], NDArray[np.int64]]: ...
def places_of(
    texts: Sequence[str], rule: int, lowercase: bool, reread: Callable[[int], str]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
