"""Structures as vectors: pruned trees through an autoencoder."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.errors import DataError, MissingDependencyError, UsageError
from gnomon.paraphrase.codes._codes import Codes, check_enough, clustered
from gnomon.paraphrase.codes._forest import flat, forest
from gnomon.paraphrase.codes._prune import pruned
from gnomon.paraphrase.codes._recipe import TreeRecipe
from gnomon.paraphrase.codes._reconstruction import Reconstruction, reconstruction
from gnomon.paraphrase.codes._tree_lstm import encoded, trained
from gnomon.signature import content_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.cache import Cache
    from gnomon.formats import Tree
    from gnomon.paraphrase.codes._prune import Pruned
    from gnomon.paraphrase.codes._tree_lstm import Weights

__all__ = ["Syntactic", "fit_syntactic", "read_syntactic"]

_CHUNK = 1000
_UNKNOWN = ""


@dataclass(frozen=True, eq=False)
class Syntactic:
    """Vectors of pruned trees.

    Attributes:
        recipe: depth, sizes and training of the autoencoder.
        labels: the labels that it knows, from 1; 0 is any other.
        weights: torch tensors by name.
        parser: what made the trees: ``spacy:NAME``, ...; None where they were given.
        reconstruction: how much of the trees it gives back that it was trained on.
        reader: what makes trees of further sentences, where the first ones were given.
    """

    recipe: TreeRecipe
    labels: tuple[str, ...]
    weights: Weights
    parser: str | None
    reconstruction: Reconstruction
    reader: str | None = None

    @property
    def needs_trees(self) -> bool:
        """Whether sentences alone have no vectors, since nothing parses them."""
        return self.parser is None and self.reader is None

    @property
    def kind(self) -> str:
        """It is "syntactic"."""
        return "syntactic"

    @property
    def identity(self) -> str:
        """Depth, children, parser, and a hash of labels and weights."""
        data = (value.tobytes() for _, value in sorted(self.tensors().items()))
        found = content_hash(*self.labels, *data)
        given = self.parser or "trees"
        return f"{given},depth:{self.recipe.depth},most:{self.recipe.most_children}#{found}"

    def about(self) -> dict[str, Any]:
        """Recipe, labels, parser, reconstruction."""
        return {
            "recipe": asdict(self.recipe),
            "labels": list(self.labels),
            "parser": self.parser,
            "reconstruction": asdict(self.reconstruction),
        }

    def tensors(self) -> dict[str, NDArray[np.float32]]:
        """The weights."""
        return {name: value.cpu().numpy() for name, value in self.weights.items()}

    def vectors(self, items: Sequence[Pruned]) -> Iterator[NDArray[np.float32]]:
        """The vectors of some pruned trees in chunks, float32 [rows, hidden] each."""
        import torch

        numbers = _numbers(self.labels)
        with torch.no_grad():
            for first in range(0, len(items), _CHUNK):
                part = [flat(tree, numbers) for tree in items[first : first + _CHUNK]]
                found: NDArray[np.float32] = encoded(self.weights, forest(part)).cpu().numpy()
                yield found

    def pruned(
        self,
        texts: Sequence[str | None],
        trees: Sequence[Tree | None] | None,
        *,
        cache: Cache | None = None,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> list[Pruned | None]:
        """The pruned tree of each sentence; None where it has no tree."""
        if trees is None and self.needs_trees:
            raise UsageError(
                "these codes were made from trees that were given, so that sentences alone have"
                " none: give their trees (--trees FILE), or name the parser that made them"
                " (--parser NAME)"
            )
        parser = self.parser or self.reader
        return _pruned(texts, trees, self.recipe, parser, None, cache, progress)


def fit_syntactic(
    texts: Sequence[str | None],
    trees: Sequence[Tree | None] | None,
    *,
    k: int,
    seed: int,
    parser: str | None = None,
    language: str | None = None,
    recipe: TreeRecipe | None = None,
    device: str | None = None,
    passes: int = 10,
    cache: Cache | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Codes:
    """Train an autoencoder on pruned trees and cluster its vectors; see :func:`fit`."""
    chosen = _device(device)
    used = recipe or TreeRecipe()
    if trees is None:
        parser = _named(parser, language)
        trees = _parsed(texts, parser, cache, progress)
    cut = _pruned(texts, trees, used, parser, None, None, None)
    counts = Counter(tree for tree in cut if tree is not None)
    check_enough(len(counts), k, "syntactic")
    labels = tuple(sorted({label for tree in counts for label in _labels(tree)}))
    numbers = _numbers(labels)
    rows, often = [flat(tree, numbers) for tree in counts], np.array(list(counts.values()))
    weights = trained(
        rows, often, used, labels=len(labels) + 1, seed=seed, device=chosen, progress=progress
    )
    back = reconstruction(weights, rows, often)
    space = Syntactic(used, labels, weights, parser, back)
    return clustered(
        space, texts, trees=trees, k=k, seed=seed, passes=passes, cache=cache, progress=progress
    )


def read_syntactic(
    about: Mapping[str, Any],
    tensors: Mapping[str, NDArray[np.float32]],
    device: str | None = None,
    parser: str | None = None,
) -> Syntactic:
    """The space of a folder.

    Raises:
        DataError: another parser is given than the one that made the trees.
    """
    chosen = _device(device)
    import torch

    kept = about["parser"]
    if None not in (kept, parser) and kept != parser:
        raise DataError(
            f"these codes were made from trees of {kept}, and the parser given is {parser}: its"
            " labels mean something else; leave it out, or fit new codes"
        )
    return Syntactic(
        TreeRecipe(**about["recipe"]),
        tuple(about["labels"]),
        {name: torch.tensor(value, device=chosen) for name, value in tensors.items()},
        kept,
        Reconstruction(**about["reconstruction"]),
        parser,
    )


def _pruned(
    texts: Sequence[str | None],
    trees: Sequence[Tree | None] | None,
    recipe: TreeRecipe,
    parser: str | None,
    language: str | None,
    cache: Cache | None,
    progress: Callable[[str, int, int], None] | None,
) -> list[Pruned | None]:
    if trees is None:
        trees = _parsed(texts, _named(parser, language), cache, progress)
    known = dict.fromkeys(tree for tree in trees if tree is not None)
    cut = {tree: pruned(tree, recipe.depth, most_children=recipe.most_children) for tree in known}
    return [None if tree is None else cut[tree] for tree in trees]


def _parsed(
    texts: Sequence[str | None],
    parser: str,
    cache: Cache | None,
    progress: Callable[[str, int, int], None] | None,
) -> list[Tree | None]:
    from gnomon.annotate import parse

    said = [text if text and text.strip() else "" for text in texts]
    found = parse([t for t in said if t], tagger=parser, cache=cache, progress=progress)
    each = iter(found)
    return [next(each) if text else None for text in said]


def _named(parser: str | None, language: str | None) -> str:
    """The parser by its whole name."""
    if parser is not None:
        return parser
    if language is None:
        raise UsageError(
            "syntactic codes need trees: name the language (-l en; language='en') or a parser"
            " (--parser spacy:NAME), or give trees in brackets (--trees FILE.ptb)"
        )
    from gnomon.annotate import standard_parser

    return standard_parser(language)


def _labels(tree: Pruned) -> set[str]:
    return {tree.label}.union(*(_labels(child) for child in tree.children))


def _numbers(labels: Sequence[str]) -> dict[str, int]:
    return {label: number for number, label in enumerate(labels, start=1)}


def _device(asked: str | None) -> str:
    try:
        import torch
    except ImportError:
        raise MissingDependencyError(
            "syntactic codes need the package torch, which is not installed; install it with:"
            " pip install 'gnomon[models]'"
        ) from None
    if asked is not None:
        return asked
    return "cuda" if torch.cuda.is_available() else "cpu"
