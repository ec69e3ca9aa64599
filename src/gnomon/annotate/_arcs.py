"""Long and crossing arcs of a dependency tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["crossing", "reach"]


def reach(heads: Sequence[int]) -> list[int]:
    """For each token the length of its longest arc, as head or as dependent, in tokens.

    Args:
        heads: position of each token's head; a root is its own head.

    >>> reach([1, 1, 1, 5, 5, 1])
    [1, 4, 1, 2, 1, 4]
    """
    found = [0] * len(heads)
    for dependent, head in enumerate(heads):
        length = abs(dependent - head)
        found[dependent] = max(found[dependent], length)
        found[head] = max(found[head], length)
    return found


def crossing(heads: Sequence[int]) -> list[bool]:
    """For each token whether it is head or dependent of an arc that crosses another arc.

    >>> crossing([1, 1, 3, 1]), crossing([2, 3, 2, 2])
    ([False, False, False, False], [True, True, True, True])
    """
    found = [False] * len(heads)
    arcs = sorted((min(d, h), max(d, h)) for d, h in enumerate(heads) if d != h)
    open_arcs: list[tuple[int, int]] = []
    for low, high in arcs:
        open_arcs = [arc for arc in open_arcs if arc[1] > low]
        for other in open_arcs:
            if other[0] < low and other[1] < high:
                for token in (low, high, *other):
                    found[token] = True
        open_arcs.append((low, high))
    return found
