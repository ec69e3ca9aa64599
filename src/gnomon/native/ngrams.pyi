import numpy as np
from numpy.typing import ArrayLike, NDArray

KEPT: int
SHARED: int
PRIVATE: int
LEFT_OUT: int

class Rows:
    def __init__(self, offsets: ArrayLike, ids: ArrayLike, width: int) -> None: ...
    def __len__(self) -> int: ...
    def matches(
        self,
        candidates: ArrayLike,
        groups: ArrayLike,
        references: ArrayLike,
        reference_groups: ArrayLike,
        orders: int,
    ) -> NDArray[np.int32]: ...

class MaskedRows:
    def __init__(
        self,
        rows: Rows,
        offsets: ArrayLike,
        starts: ArrayLike | None = None,
        ends: ArrayLike | None = None,
    ) -> None: ...
    def matches(
        self,
        tokens: ArrayLike,
        fates: ArrayLike,
        runs: ArrayLike | None,
        candidates: ArrayLike,
        groups: ArrayLike,
        references: ArrayLike,
        reference_groups: ArrayLike,
        orders: int,
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]: ...

def spelled(
    words: ArrayLike, bounds: ArrayLike, codes: ArrayLike
) -> tuple[NDArray[np.int32], NDArray[np.int64]]: ...
def covered_tokens(
    offsets: ArrayLike,
    starts: ArrayLike,
    ends: ArrayLike,
    span_text: ArrayLike,
    span_group: ArrayLike,
    span_start: ArrayLike,
    span_end: ArrayLike,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]: ...
