"""Groups of linked items: sentences that share a text, outputs that share a source."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

__all__ = ["linked"]

K = TypeVar("K", bound="Hashable")


def linked(pairs: Iterable[tuple[K, K]]) -> Callable[[K], K]:
    """Map each key to one key that stands for its group; keys of a pair are of one group.

    >>> group = linked([(1, 2), (3, 4), (2, 3)])
    >>> group(1) == group(4), group(1) == group(5)
    (True, False)
    """
    parent: dict[K, K] = {}

    def root(key: K) -> K:
        parent.setdefault(key, key)
        while parent[key] != key:
            parent[key] = parent[parent[key]]
            key = parent[key]
        return key

    for first, second in pairs:
        parent[root(first)] = root(second)
    return root
