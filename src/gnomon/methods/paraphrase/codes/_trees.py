"""Trees without words: cut at a depth, as arrays level by level, and how many there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.errors import DataError, UsageError
from gnomon.core.findings import Finding, Lines, Listing
from gnomon.core.records import Record, column, columns_of, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import TypeGuard

    from numpy.typing import NDArray

    from gnomon.core.findings import Cell
    from gnomon.data.formats import Child, Tree


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

    @property
    def depth(self) -> int:
        """Its levels, the root being the first."""
        return 1 + max((child.depth for child in self.children), default=0)

    @property
    def size(self) -> int:
        """Its nodes."""
        return 1 + sum(child.size for child in self.children)


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
    """Whether a child is a constituent that holds a word; traces hold none."""
    if isinstance(child, str) or child.label == _TRACE:
        return False
    return any(isinstance(part, str) or _has_word(part) for part in child)


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
        found.append(TreeLevel(labels[rows], above, places[rows], children[rows], owner[rows]))
    return Forest(tuple(found))


# How many different structures there are, by the depth that trees are cut at (table 5).


#: levels that trees are cut at unless one asks for others
DEPTHS = (1, 2, 3, 4, 5, 6)
_ALL = "all"
_TITLE = "Different pruned trees by depth"


class TreeStatsRow(Record):
    """How many different trees there are at a depth."""

    set: str = column("Set", help="a file of trees; all: every one of them together")
    depth: int | None = column("Depth", help="levels that are kept; blank: the whole tree")
    trees: int = column("Trees", help="sentences that have one")
    distinct: int = column("Distinct", help="different ones among them, words left out")
    share: float | None = column("Share", kind="share", digits=4, help="different ones per tree")
    once: int = column("Once", help="that a single sentence has")
    commonest: float | None = column(
        "Commonest", kind="share", digits=4, help="share of sentences that have the commonest"
    )
    with_words: int = column("With words", help="different ones where words are kept")
    nodes: float | None = column("Nodes", digits=1, help="mean number of nodes")
    skipped: int = column("Skipped", help="sentences without a tree")


def count_trees(
    trees: Mapping[str, Sequence[Tree | None]],
    *,
    depths: Iterable[int] = DEPTHS,
    most_children: int | None = None,
) -> Finding:
    """Count different trees, pruned to some depths and whole (Bawden et al., 2020, table 5)."""
    levels = sorted(set(depths))
    if any(level < 1 for level in levels):
        raise UsageError(f"depths count from 1, the root alone; got {levels}")
    if not any(tree is not None for each in trees.values() for tree in each):
        raise DataError("no line holds a tree, so that there is nothing to count")
    sets = dict(trees)
    if len(sets) > 1:
        sets[_ALL] = [tree for each in trees.values() for tree in each]
    rows = tuple(
        _row(name, each, level, most_children)
        for name, each in sets.items()
        for level in (*levels, None)
    )
    counted = table("tree stats", _TITLE, TreeStatsRow, rows, note="Depth 1 is the root alone.")
    views = (
        Listing("tree stats", _TITLE, tuple(one.name for one in columns_of(TreeStatsRow))),
        Lines("tree stats", _TITLE, x="depth", y="distinct", series="set"),
    )
    return Finding("paraphrase tree-stats", _TITLE, (counted,), {}, views)


def _row(
    name: str, trees: Sequence[Tree | None], depth: int | None, most: int | None
) -> dict[str, Cell]:
    from collections import Counter

    known = [tree for tree in trees if tree is not None]
    cut = [pruned(tree, depth, most_children=most) for tree in known]
    counts = Counter(cut)
    return {
        "set": name,
        "depth": depth,
        "trees": len(known),
        "distinct": len(counts),
        "share": len(counts) / len(known) if known else None,
        "once": sum(count == 1 for count in counts.values()),
        "commonest": max(counts.values()) / len(known) if known else None,
        "with_words": len({_worded(tree, depth, most) for tree in known}),
        "nodes": sum(tree.size for tree in cut) / len(cut) if cut else None,
        "skipped": len(trees) - len(known),
    }


def _worded(tree: Tree, depth: int | None, most: int | None) -> str:
    """A tree cut at a depth, with the words that stand above the cut."""
    if depth == 1:
        return tree.label
    deeper = None if depth is None else depth - 1
    parts = (c if isinstance(c, str) else _worded(c, deeper, most) for c in tree.children[:most])
    return f"({' '.join([tree.label, *parts])})"
