"""How different the structures of paraphrases are."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from gnomon.errors import UnknownNameError
from gnomon.formats import Tree, parse_tree
from gnomon.paraphrase._lexical import mean
from gnomon.paraphrase._tree_kernel import Nodes, check_decay, similarity

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["LONE", "counted", "syntactic_diversity", "syntactic_values"]

LONE = ("zero", "skip")


def syntactic_diversity(
    trees: Sequence[Sequence[Tree | str | None]] | Sequence[Tree | str],
    *,
    decay: float = 0.4,
    words: bool = True,
    lone: str = "zero",
) -> float | None:
    """How different the constituency trees of paraphrases are, DS_t (Bawden et al., 2020).

    The mean over sentences of the mean over unordered pairs of 1 - :func:`tree_similarity`.

    Args:
        trees: the trees of one sentence's paraphrases, or one list of trees for each sentence;
            trees in brackets are read. ``None`` and ``(())`` are left out.
        decay: lambda in (0, 1]. The published figures need about .4, which the paper does not say.
        words: whether words are parts of the trees.
        lone: what a sentence counts that has fewer than two trees left: "zero" (as published) or
            "skip", which leaves it out.

    Returns:
        0 (equal) to 1 (no production in common); ``None`` where no sentence has two trees.

    Raises:
        FormatError: brackets do not balance.
        UsageError: the decay is not in (0, 1].
        UnknownNameError: ``lone`` is neither "zero" nor "skip".

    >>> round(syntactic_diversity(["(NP (DT a) (NN cat))", "(NP (DT a) (NN dog))"]), 3)
    0.394
    """
    if lone not in LONE:
        raise UnknownNameError("way to count a lone tree", lone, LONE)
    flat = all(isinstance(tree, (Tree, str)) for tree in trees)
    values = syntactic_values([trees] if flat else trees, decay=decay, words=words)  # type: ignore[list-item, arg-type]  # told apart by the line above
    return counted(values, lone)


def counted(values: Sequence[float | None], lone: str) -> float | None:
    """The mean over sentences, those without a value counted or left out."""
    found = mean(values)
    if found is None or lone == "skip":
        return found
    return sum(value or 0.0 for value in values) / len(values)


def syntactic_values(
    groups: Sequence[Sequence[Tree | str | None]], *, decay: float = 0.4, words: bool = True
) -> list[float | None]:
    """DS_t of each sentence; ``None`` where it has fewer than two trees."""
    check_decay(decay)
    return [_apart(group, decay, words) for group in groups]


def _apart(group: Sequence[Tree | str | None], decay: float, words: bool) -> float | None:  # noqa: FBT001  # passed on
    read = (parse_tree(tree) if isinstance(tree, str) else tree for tree in group)
    nodes = [Nodes.of(tree, decay=decay, words=words) for tree in read if tree is not None]
    alike = [similarity(a, b) for a, b in combinations(nodes, 2)]
    return mean([None if value is None else 1 - value for value in alike])
