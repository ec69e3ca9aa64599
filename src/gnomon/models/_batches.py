"""Texts of similar length together, so that little is padded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["length_batches"]


def length_batches(lengths: NDArray[np.int64], budget: int) -> list[NDArray[np.int64]]:
    """Positions, longest first, in groups whose padded size stays within a budget.

    Args:
        lengths: size of each item.
        budget: most padded sizes (longest times number) in a group; an item beyond it stands alone.

    >>> [group.tolist() for group in length_batches(np.array([2, 9, 3, 2]), 6)]
    [[1], [2, 0], [3]]
    """
    order = np.argsort(-lengths, kind="stable")
    groups: list[NDArray[np.int64]] = []
    first = 0
    while first < len(order):
        longest = max(int(lengths[order[first]]), 1)
        count = max(budget // longest, 1)
        groups.append(order[first : first + count])
        first += count
    return groups
