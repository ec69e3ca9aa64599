"""Diversity of the words and the structures of paraphrases."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Literal, TypeAlias

from gnomon.data.formats import Tree, parse_tree
from gnomon.metrics.diversity import lexical_values
from gnomon.metrics.means import mean
from gnomon.paraphrase.tree_kernels import Nodes, check_decay, similarity

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Lone", "lexical_diversity", "set_mean", "syntactic_diversity", "syntactic_values"]


def lexical_diversity(
    sentences: Sequence[Sequence[str | None]] | Sequence[str],
    variant: str = "lexical",
    *,
    tokenizer: str | None = None,
) -> float | None:
    """Lexical diversity of paraphrases, DS_x (Bawden et al., 2020).

    The mean over sentences of the mean over unordered pairs of 1 - (common distinct words) / (mean
    length). By default lengths count distinct words, so that this is Dice's coefficient and equal
    texts do not differ; with ``lexical-tokens`` they count all words, as the authors do, and equal
    texts with a repeated word do differ. Two empty texts do not differ.

    >>> lexical_diversity(["the cat sat here", "the cat lay here"])
    0.25
    """
    groups = [sentences] if all(isinstance(s, str) for s in sentences) else sentences
    return mean(lexical_values(groups, variant, tokenizer=tokenizer))  # type: ignore[arg-type]  # lexical_values refuses what is no group


Lone: TypeAlias = Literal["zero", "skip"]


def syntactic_diversity(
    trees: Sequence[Sequence[Tree | str | None]] | Sequence[Tree | str],
    *,
    decay: float = 0.4,
    words: bool = True,
    lone: Lone = "zero",
) -> float | None:
    """Syntactic diversity of paraphrases, by constituency trees, DS_t (Bawden et al., 2020).

    The mean over sentences of the mean over unordered pairs of 1 - :func:`tree_similarity`.

    >>> round(syntactic_diversity(["(NP (DT a) (NN cat))", "(NP (DT a) (NN dog))"]), 3)
    0.394
    """
    flat = all(isinstance(tree, (Tree, str)) for tree in trees)
    values = syntactic_values([trees] if flat else trees, decay=decay, words=words)  # type: ignore[list-item, arg-type]  # the line above tells which
    return set_mean(values, lone)


def set_mean(values: Sequence[float | None], lone: str) -> float | None:
    """The mean over sentences, those without a value counted or left out."""
    average = mean(values)
    if average is None or lone == "skip":
        return average
    return sum(value or 0.0 for value in values) / len(values)


def syntactic_values(
    groups: Sequence[Sequence[Tree | str | None]], *, decay: float = 0.4, words: bool = True
) -> list[float | None]:
    """DS_t of each sentence; ``None`` where it has fewer than two trees."""
    check_decay(decay)
    return [_tree_distance(group, decay, words) for group in groups]


def _tree_distance(group: Sequence[Tree | str | None], decay: float, words: bool) -> float | None:  # noqa: FBT001  # passed on
    read = (parse_tree(tree) if isinstance(tree, str) else tree for tree in group)
    nodes = [Nodes.from_tree(tree, decay=decay, words=words) for tree in read if tree is not None]
    alike = [similarity(a, b) for a, b in combinations(nodes, 2)]
    return mean([None if value is None else 1 - value for value in alike])
