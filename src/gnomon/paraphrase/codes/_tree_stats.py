"""How many different structures there are, by the depth that trees are cut at (table 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.errors import DataError, UsageError
from gnomon.findings import Column, Finding, Lines, Listing, Table
from gnomon.paraphrase.codes._prune import pruned

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gnomon.findings import Cell
    from gnomon.formats import Tree

__all__ = ["DEPTHS", "tree_stats"]

#: levels that trees are cut at unless one asks for others
DEPTHS = (1, 2, 3, 4, 5, 6)
_ALL = "all"
_TITLE = "Different pruned trees by depth"
_COLUMNS = (
    Column("set", "Set", help="a file of trees; all: every one of them together"),
    Column("depth", "Depth", "count", help="levels that are kept; blank: the whole tree"),
    Column("trees", "Trees", "count", help="sentences that have one"),
    Column("distinct", "Distinct", "count", help="different ones among them, words left out"),
    Column("share", "Share", "share", 4, help="different ones per tree"),
    Column("once", "Once", "count", help="that a single sentence has"),
    Column("commonest", "Commonest", "share", 4, help="share of sentences that have the commonest"),
    Column("with_words", "With words", "count", help="different ones where words are kept"),
    Column("nodes", "Nodes", "number", 1, help="mean number of nodes"),
    Column("skipped", "Skipped", "count", help="sentences without a tree"),
)


def tree_stats(
    trees: Mapping[str, Sequence[Tree | None]],
    *,
    depths: Iterable[int] = DEPTHS,
    most_children: int | None = None,
) -> Finding:
    """Count different trees, pruned to some depths and whole (Bawden et al., 2020, table 5).

    Args:
        trees: name -> trees, None where there is none.
        depths: levels that are kept.
        most_children: of a node, the first ones; None keeps all.

    Returns:
        A finding with rows ``set, depth, trees, distinct, share, once, commonest, with_words,
        nodes, skipped``; the last depth of each set, None, is the whole tree.

    Raises:
        DataError: there is no tree at all.
        UsageError: a depth is below 1.
    """
    levels = sorted(set(depths))
    if any(level < 1 for level in levels):
        raise UsageError(f"depths count from 1, the root alone; got {levels}")
    if not any(tree is not None for column in trees.values() for tree in column):
        raise DataError("no line holds a tree, so that there is nothing to count")
    sets = dict(trees)
    if len(sets) > 1:
        sets[_ALL] = [tree for column in trees.values() for tree in column]
    rows = tuple(
        _row(name, column, level, most_children)
        for name, column in sets.items()
        for level in (*levels, None)
    )
    table = Table("tree stats", _TITLE, _COLUMNS, rows, note="Depth 1 is the root alone.")
    views = (
        Listing("tree stats", _TITLE, tuple(column.name for column in _COLUMNS)),
        Lines("tree stats", _TITLE, x="depth", y="distinct", series="set"),
    )
    return Finding("paraphrase codes", _TITLE, (table,), {}, views)


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
