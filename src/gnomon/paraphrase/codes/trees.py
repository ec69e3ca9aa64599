"""Trees without words: cut at a depth, and as arrays level by level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeGuard

    from numpy.typing import NDArray

    from gnomon.data.formats import Child, Tree

__all__ = ["Flat", "Forest", "Pruned", "flat", "forest", "pruned"]


# Trees without words, cut at a depth.


_TRACE = "-NONE-"


@dataclass(frozen=True)
class Pruned:
    """A tree of labels alone.

    Attributes:
        label: of the root.
        children: in order.
    """

    label: str
    children: tuple[Pruned, ...] = ()

    def __str__(self) -> str:
        """The tree in brackets."""
        return f"({' '.join([self.label, *map(str, self.children)])})"


def pruned(tree: Tree, depth: int | None = 4, *, most_children: int | None = None) -> Pruned:
    """A tree without words, cut below a depth; labels lose functions and indices, traces go.

    >>> from gnomon.data.formats import parse_tree
    >>> tree = parse_tree("(S (NP (DT the) (NN cat)) (VP (VBZ sits)))")
    >>> str(pruned(tree, 2)), str(pruned(tree, 3))
    ('(S (NP) (VP))', '(S (NP (DT) (NN)) (VP (VBZ)))')
    """
    below = [child for child in tree if _has_word(child)] if depth != 1 else []
    deeper = None if depth is None else depth - 1
    parts = (pruned(child, deeper, most_children=most_children) for child in below[:most_children])
    return Pruned(tree.category, tuple(parts))


def _has_word(child: Child) -> TypeGuard[Tree]:
    """True if a child is a constituent that holds a word; traces hold none."""
    if isinstance(child, str) or child.label == _TRACE:
        return False
    return any(isinstance(inner, str) or _has_word(inner) for inner in child)


# Many trees as arrays, level by level, so that a network runs over a level at once.


@dataclass(frozen=True, eq=False)
class Flat:
    """A tree as columns, its nodes from the root down, level by level."""

    labels: NDArray[np.int64]
    parents: NDArray[np.int64]
    places: NDArray[np.int64]
    levels: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TreeLevel:
    """The nodes of all trees on one level."""

    labels: NDArray[np.int64]
    parents: NDArray[np.int64]
    places: NDArray[np.int64]
    children: NDArray[np.int64]
    trees: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees side by side; the roots, one per tree in order, are the first level."""

    levels: tuple[TreeLevel, ...]


def flat(tree: Pruned, numbers: Mapping[str, int]) -> Flat:
    """A tree as columns; labels without a number get 0."""
    nodes = [(tree, 0, 0, 0)]
    for row, (node, _, _, level) in enumerate(nodes):  # grows while it is read: breadth first
        nodes.extend(
            (child, row, position, level + 1) for position, child in enumerate(node.children)
        )
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
    tree_levels = []
    for level, (first, last) in enumerate(zip(bounds.tolist(), bounds[1:].tolist(), strict=False)):
        rows = order[first:last]
        above = rank[parents[rows]] - (bounds[level - 1] if level else 0)
        tree_levels.append(
            TreeLevel(labels[rows], above, places[rows], children[rows], owner[rows])
        )
    return Forest(tuple(tree_levels))
