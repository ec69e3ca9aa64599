"""Trees without words, cut at a depth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections import Counter

    from gnomon.formats import Tree

__all__ = ["Pruned", "pruned"]


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


def pruned(
    tree: Tree,
    depth: int | None = 4,
    *,
    most_children: int | None = None,
    dropped: Counter[str] | None = None,
) -> Pruned:
    """A tree without words, cut below a depth.

    Args:
        tree: the tree; its root is on level 1.
        depth: levels that are kept; None keeps all.
        most_children: of a node, the first ones; None keeps all.
        dropped: counts, under "children", the nodes that had more.

    >>> from gnomon.formats import parse_tree
    >>> tree = parse_tree("(S (NP (DT the) (NN cat)) (VP (VBZ sits)))")
    >>> str(pruned(tree, 2)), str(pruned(tree, 3))
    ('(S (NP) (VP))', '(S (NP (DT) (NN)) (VP (VBZ)))')
    """
    below = [child for child in tree if not isinstance(child, str)] if depth != 1 else []
    if most_children is not None and len(below) > most_children:
        below = below[:most_children]
        if dropped is not None:
            dropped["children"] += 1
    deeper = None if depth is None else depth - 1
    parts = (pruned(child, deeper, most_children=most_children, dropped=dropped) for child in below)
    return Pruned(tree.label, tuple(parts))
