"""The fewest pieces that some phrases still need, of all states of their machine at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["fewest", "states"]


def states(tails: int, asked: tuple[int, ...]) -> int:
    """How many states there are: tails times counts of the phrases.

    >>> states(3, (1, 2))
    18
    """
    found = tails
    for count in asked:
        found *= count + 1
    return found


def fewest(
    after: NDArray[np.int64],
    inner: NDArray[np.bool_],
    ends: NDArray[np.bool_],
    asked: tuple[int, ...],
) -> NDArray[np.int64]:
    """The fewest pieces by which each state comes to hold all phrases.

    Args:
        after: the tail after a tail and a piece [T, A].
        inner: pieces that go on with a word [A].
        ends: phrases that stand at the end of a tail [T, P].
        asked: how often each phrase is to stand [P].

    Returns:
        int64 [T, *(asked + 1)]: of each tail and counts before it.
    """
    shape = tuple(count + 1 for count in asked)
    counts = np.indices(shape).reshape(len(shape), -1).T  # [C, P]
    added = np.minimum(counts + ends[:, None], asked)  # [T, C, P]
    ended = np.ravel_multi_index(tuple(np.moveaxis(added, 2, 0)), shape)  # [T, C]
    size = len(counts)
    kept = np.where(inner, np.arange(size)[:, None], ended[:, :, None])  # [T, C, A]
    follows = (after[:, None] * size + kept).reshape(-1, after.shape[1])
    found = np.where(ended == size - 1, 0, len(follows)).reshape(-1)
    while True:
        nearer = np.minimum(found, found[follows].min(axis=1) + 1)
        if np.array_equal(nearer, found):
            return found.reshape(-1, *shape)
        found = nearer
