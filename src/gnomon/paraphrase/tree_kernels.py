"""Similarity of two constituency trees."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from gnomon.core.errors import UsageError
from gnomon.data.formats import Tree, parse_tree

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Nodes", "check_decay", "similarity", "tree_similarity"]


@dataclass(frozen=True, eq=False)
class Nodes:
    """A tree as its productions, children before their parents."""

    productions: tuple[tuple[str, ...], ...]
    children: tuple[tuple[int, ...], ...]
    decay: float

    @classmethod
    def from_tree(cls, tree: Tree, *, decay: float, words: bool) -> Nodes:
        """Number the nodes of a tree; without words, its lowest constituents are no nodes."""
        productions: list[tuple[str, ...]] = []
        children: list[tuple[int, ...]] = []
        _number(tree, words, productions, children)
        return cls(tuple(productions), tuple(children), decay)

    @cached_property
    def group_by_production(self) -> Mapping[tuple[str, ...], list[int]]:
        """The nodes of each production."""
        by_production: dict[tuple[str, ...], list[int]] = {}
        for node, production in enumerate(self.productions):
            by_production.setdefault(production, []).append(node)
        return by_production

    @cached_property
    def log_self_kernel(self) -> float:
        """Logarithm of the kernel of the tree with itself."""
        return _log_kernel(self, self)


def tree_similarity(
    a: Tree | str, b: Tree | str, *, decay: float = 0.4, words: bool = True
) -> float | None:
    """Similarity of two constituency trees (Moschitti, 2006; kernel of Collins and Duffy, 2002).

    K(a, b) is the sum over pairs of nodes of C; C = 0 where the productions differ, else decay
    times the product over the children of 1 + C. The result is K(a, b) / sqrt(K(a, a) K(b, b)).

    >>> round(tree_similarity("(NP (DT a) (NN cat))", "(NP (DT a) (NN dog))"), 3)
    0.606
    """
    check_decay(decay)
    nodes, other = (_nodes(tree, decay, words) for tree in (a, b))
    return None if nodes is None or other is None else similarity(nodes, other)


def check_decay(decay: float) -> None:
    """Refuse a decay outside of (0, 1]."""
    if not 0 < decay <= 1:
        raise UsageError(f"the decay (lambda) of the tree kernel is in (0, 1]; got {decay}")


def similarity(a: Nodes, b: Nodes) -> float | None:
    """The normalised kernel of two numbered trees; ``None`` where one has no production."""
    if not a.productions or not b.productions:
        return None
    return min(1.0, math.exp(_log_kernel(a, b) - (a.log_self_kernel + b.log_self_kernel) / 2))


def _nodes(tree: Tree | str, decay: float, words: bool) -> Nodes | None:  # noqa: FBT001  # passed on
    parsed = parse_tree(tree) if isinstance(tree, str) else tree
    return None if parsed is None else Nodes.from_tree(parsed, decay=decay, words=words)


def _number(
    tree: Tree,
    words: bool,  # noqa: FBT001  # passed on
    productions: list[tuple[str, ...]],
    children: list[tuple[int, ...]],
) -> int | None:
    """Append a constituent after those below it; its number, or nothing for a leaf."""
    below = [
        _number(child, words, productions, children) for child in tree if isinstance(child, Tree)
    ]
    names = [tree.label]
    for child in tree:
        if isinstance(child, Tree):
            names.append(child.label)
        elif words:
            names += ["", child]
    if len(names) == 1:
        return None
    productions.append(tuple(names))
    children.append(tuple(-1 if node is None else node for node in below))
    return len(productions) - 1


def _log_kernel(a: Nodes, b: Nodes) -> float:
    """Logarithm of the sum over pairs of nodes; minus infinity where none match."""
    decay, total = a.decay, 0.0
    counts: dict[tuple[int, int], float] = {}
    theirs = b.group_by_production
    for i, production in enumerate(a.productions):
        for j in theirs.get(production, ()):
            count = decay
            for pair in zip(a.children[i], b.children[j], strict=True):
                count *= 1.0 + counts.get(pair, 0.0)
            counts[i, j] = count
            total += count
    if math.isinf(total):  # trees of a thousand nodes and more have too many fragments in common
        return _log_kernel_of_large(a, b)
    return math.log(total) if total else -math.inf


def _log_kernel_of_large(a: Nodes, b: Nodes) -> float:
    decay, logs = math.log(a.decay), dict[tuple[int, int], float]()
    theirs = b.group_by_production
    for i, production in enumerate(a.productions):
        for j in theirs.get(production, ()):
            pairs = zip(a.children[i], b.children[j], strict=True)
            logs[i, j] = decay + sum(_log_one_more(logs[pair]) for pair in pairs if pair in logs)
    largest = max(logs.values())
    return largest + math.log(sum(math.exp(value - largest) for value in logs.values()))


def _log_one_more(log: float) -> float:
    """log(1 + exp(log)) without overflow."""
    return max(log, 0.0) + math.log1p(math.exp(-abs(log)))
