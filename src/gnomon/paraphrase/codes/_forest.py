"""Many trees as arrays, level by level, so that a network runs over a level at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.paraphrase.codes._prune import Pruned

__all__ = ["Flat", "Forest", "flat", "forest"]


@dataclass(frozen=True, eq=False)
class Flat:
    """A tree as columns, its nodes from the root down, level by level.

    Attributes:
        labels: int64 [nodes].
        parents: int64 [nodes], row of the parent; 0 for the root.
        places: int64 [nodes], place among the parent's children, from 0.
        levels: int64 [nodes], 0 for the root.
    """

    labels: NDArray[np.int64]
    parents: NDArray[np.int64]
    places: NDArray[np.int64]
    levels: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Level:
    """The nodes of all trees on one level.

    Attributes:
        labels: int64 [nodes].
        parents: int64 [nodes], row of the parent on the level above.
        places: int64 [nodes], place among the parent's children.
        children: int64 [nodes], how many they have.
        trees: int64 [nodes], the tree of each.
    """

    labels: NDArray[np.int64]
    parents: NDArray[np.int64]
    places: NDArray[np.int64]
    children: NDArray[np.int64]
    trees: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees side by side; the roots, one per tree in order, are the first level."""

    levels: tuple[Level, ...]


def flat(tree: Pruned, numbers: Mapping[str, int]) -> Flat:
    """A tree as columns; labels without a number get 0."""
    nodes = [(tree, 0, 0, 0)]
    for row, (node, _, _, level) in enumerate(nodes):  # grows while it is read: breadth first
        nodes.extend((child, row, place, level + 1) for place, child in enumerate(node.children))
    table = [(numbers.get(node.label, 0), *rest) for node, *rest in nodes]
    columns = np.array(table, np.int64).T
    return Flat(*np.ascontiguousarray(columns))


def forest(trees: Sequence[Flat]) -> Forest:
    """Trees side by side, level by level."""
    sizes = np.array([len(tree.labels) for tree in trees])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    owner = np.repeat(np.arange(len(trees)), sizes)
    levels = np.concatenate([tree.levels for tree in trees])
    parents = np.concatenate([tree.parents for tree in trees]) + starts[owner]
    labels = np.concatenate([tree.labels for tree in trees])
    places = np.concatenate([tree.places for tree in trees])
    children = np.bincount(parents[levels > 0], minlength=len(levels))
    order = np.argsort(levels, kind="stable")
    bounds = np.searchsorted(levels[order], np.arange(int(levels.max()) + 2))
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    found = []
    for level, (first, last) in enumerate(zip(bounds.tolist(), bounds[1:].tolist(), strict=False)):
        rows = order[first:last]
        above = rank[parents[rows]] - (bounds[level - 1] if level else 0)
        found.append(Level(labels[rows], above, places[rows], children[rows], owner[rows]))
    return Forest(tuple(found))
