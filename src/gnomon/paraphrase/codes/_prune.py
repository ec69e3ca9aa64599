"""Trees without words, cut at a depth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TypeGuard

    from gnomon.formats import Child, Tree

__all__ = ["Pruned", "pruned"]

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

    Args:
        tree: the tree; its root is on level 1.
        depth: levels that are kept; None keeps all.
        most_children: of a node, the first ones; None keeps all.

    >>> from gnomon.formats import parse_tree
    >>> tree = parse_tree("(S (NP (DT the) (NN cat)) (VP (VBZ sits)))")
    >>> str(pruned(tree, 2)), str(pruned(tree, 3))
    ('(S (NP) (VP))', '(S (NP (DT) (NN)) (VP (VBZ)))')
    """
    below = [child for child in tree if _kept(child)] if depth != 1 else []
    deeper = None if depth is None else depth - 1
    parts = (pruned(child, deeper, most_children=most_children) for child in below[:most_children])
    return Pruned(tree.category, tuple(parts))


def _kept(child: Child) -> TypeGuard[Tree]:
    """Whether a child is a constituent that holds a word; traces hold none."""
    if isinstance(child, str) or child.label == _TRACE:
        return False
    return any(isinstance(part, str) or _kept(part) for part in child)
