"""Features of dependencies: lengths of arcs, arcs that cross, constituents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.data.formats import Tree

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["constituents", "crossing", "reach"]


# Long and crossing arcs of a dependency tree.


def reach(heads: Sequence[int]) -> list[int]:
    """For each token the length of its longest arc, as head or as dependent, in tokens.

    >>> reach([1, 1, 1, 5, 5, 1])
    [1, 4, 1, 2, 1, 4]
    """
    lengths = [0] * len(heads)
    for dependent, head in enumerate(heads):
        length = abs(dependent - head)
        lengths[dependent] = max(lengths[dependent], length)
        lengths[head] = max(lengths[head], length)
    return lengths


def crossing(heads: Sequence[int]) -> list[bool]:
    """For each token whether it is head or dependent of an arc that crosses another arc.

    >>> crossing([1, 1, 3, 1]), crossing([2, 3, 2, 2])
    ([False, False, False, False], [True, True, True, True])
    """
    crossed = [False] * len(heads)
    # of those that begin at one place, the longest first
    arcs = sorted([(d, -h) if d < h else (h, -d) for d, h in enumerate(heads) if d != h])
    open_arcs: list[tuple[int, int]] = []
    for low, end in arcs:
        high = -end
        open_arcs = [arc for arc in open_arcs if arc[1] > low]
        for other in open_arcs:
            if other[0] < low and other[1] < high:
                for token in (low, high, *other):
                    crossed[token] = True
        open_arcs.append((low, high))
    return crossed


# Constituents from dependencies: the trees of sentences where no treebank parser is at hand.


def constituents(words: Sequence[str], tags: Sequence[str], heads: Sequence[int]) -> Tree | None:
    """A tree of constituents from a tree of dependencies.

    Each word that has dependents heads a phrase, named after its tag (``NOUN`` -> ``NOUNP``), over
    itself and theirs, in the order of the text; a word alone is its tag over the word. Crossing
    arcs are lifted first: a dependent whose arc crosses another moves up to its head's head
    (Nivre and Nilsson, 2005), the shortest arc first, until no arcs cross.

    Args:
        words: the words.
        tags: a part of speech for each.
        heads: position of each word's head; its own for a root.

    Returns:
        The tree, several roots side by side under a label "S"; ``None`` without words.
    """
    lifted = _projective(list(heads))
    below: list[list[int]] = [[] for _ in words]
    roots: list[int] = []
    for token, head in enumerate(lifted):
        (roots if head == token else below[head]).append(token)
    made: dict[int, Tree] = {}
    for token in _upwards(roots, below):
        word = Tree(tags[token], (words[token],))
        parts = {**{child: made[child] for child in below[token]}, token: word}
        phrase = Tree(f"{tags[token]}P", tuple(parts[p] for p in sorted(parts)))
        made[token] = phrase if below[token] else word
    if not roots:
        return None
    return Tree("S", tuple(made[root] for root in roots))


def _upwards(roots: Sequence[int], below: Sequence[Sequence[int]]) -> list[int]:
    """All words, each after those below it."""
    order: list[int] = []
    stack = list(roots)
    while stack:
        token = stack.pop()
        order.append(token)
        stack.extend(below[token])
    return order[::-1]


def _projective(heads: list[int]) -> list[int]:
    """The heads after crossing arcs have been lifted."""
    while True:
        crossing = [token for token in range(len(heads)) if _crosses(token, heads)]
        if not crossing:
            return heads
        token = min(crossing, key=lambda p: abs(p - heads[p]))
        head = heads[token]
        heads[token] = heads[head] if heads[head] != head else head
        if heads[token] == head:  # its head is a root: the word becomes a root beside it
            heads[token] = token


def _crosses(token: int, heads: Sequence[int]) -> bool:
    """True if a word between a word and its head is not below that head."""
    head = heads[token]
    low, high = sorted((token, head))
    return any(not _below(between, head, heads) for between in range(low + 1, high))


def _below(token: int, head: int, heads: Sequence[int]) -> bool:
    while token != head and heads[token] != token:
        token = heads[token]
    return token == head
