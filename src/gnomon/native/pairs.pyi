import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "count_far_pairs",
    "count_pairs",
    "count_sole_successes",
    "count_sorted",
    "exchanged_flips",
    "exchanged_pairs",
    "leanings",
    "pairs_of_bins",
    "tie_bins",
]

def count_pairs(human: ArrayLike, metric: ArrayLike, epsilon: float) -> NDArray[np.int64]: ...
def count_sole_successes(
    human: ArrayLike, first: ArrayLike, second: ArrayLike, epsilon: float, other_epsilon: float
) -> NDArray[np.int64]: ...
def count_sorted(
    human: ArrayLike, metric: ArrayLike, least: float, epsilon: float
) -> tuple[int, int, int, int]: ...
def count_far_pairs(human: ArrayLike, metric: ArrayLike, threshold: float) -> NDArray[np.int64]: ...
def tie_bins(
    human: ArrayLike, metric: ArrayLike, widest: float, bins: int
) -> NDArray[np.int64]: ...
def pairs_of_bins(
    human: ArrayLike,
    metric: ArrayLike,
    weights: ArrayLike,
    widest: float,
    wanted: NDArray[np.bool_],
    size: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]: ...
def exchanged_pairs(
    human: ArrayLike, first: ArrayLike, second: ArrayLike, words: NDArray[np.uint64]
) -> tuple[NDArray[np.int16], NDArray[np.int64]]: ...
def leanings(
    human: ArrayLike, first: ArrayLike, second: ArrayLike, alike: bool
) -> tuple[NDArray[np.int16], NDArray[np.bool_]]: ...
def exchanged_flips(
    ahead: ArrayLike,
    moved: ArrayLike,
    sizes: ArrayLike,
    shifts: ArrayLike,
    first: int,
    second: int,
    rounding: float,
) -> NDArray[np.int64]: ...
