from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

WORDS: int
T13A: int
CHRF: int

class Distinct:
    def __init__(self) -> None: ...
    @property
    def texts(self) -> tuple[str, ...]: ...
    def number(self, texts: Iterable[str]) -> NDArray[np.int32]: ...

def tokens_of(
    texts: Sequence[str], rule: int, lowercase: bool, reread: Callable[[int], str]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint8], NDArray[np.int64]]: ...
def places_of(
    texts: Sequence[str], rule: int, lowercase: bool, reread: Callable[[int], str]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
