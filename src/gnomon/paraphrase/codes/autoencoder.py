"""Structures as vectors: pruned trees through a TreeLSTM that packs and unpacks them."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import numpy as np

from gnomon.core.errors import DataError, UsageError, not_installed
from gnomon.core.options import Above0, Limits, Metavar, Positive, check_fields
from gnomon.core.signature import content_hash
from gnomon.messages.audiences import add_language, flag
from gnomon.paraphrase.codes.kmeans import check_enough
from gnomon.paraphrase.codes.trees import flat, forest, pruned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.cache import Cache
    from gnomon.data.formats import Tree
    from gnomon.paraphrase.codes.clustering import CodeRequest
    from gnomon.paraphrase.codes.trees import Flat, Forest, Pruned

__all__ = [
    "Syntactic",
    "TreeRecipe",
    "decoder_logits",
    "encoded",
    "read_syntactic",
    "syntactic_space",
]


# Construction and training of the autoencoder of trees.


@dataclass(frozen=True)
class TreeRecipe:
    """Options of a TreeLSTM autoencoder; the defaults are those of Bawden et al. (2020).

    Attributes:
        depth: levels that a pruned tree keeps, its root being the first.
        most_children: of a node; further ones are dropped.
        hidden: numbers in a vector.
        embedding: numbers in the vector of a label.
        iterations: times that the training sees every tree.
        batch: trees at once.
        rate: learning rate of Adagrad.
        decay: its weight decay.

    Raises:
        UsageError: a number is out of its range.
    """

    depth: Positive = 4
    most_children: Positive = 10
    hidden: Positive = 256
    embedding: Positive = 256
    iterations: Positive = 20
    batch: Positive = 400
    rate: Above0 = 0.025
    decay: Annotated[float, Limits(0), Metavar("X")] = 1e-4

    def __post_init__(self) -> None:
        check_fields(self)


# A TreeLSTM that packs a tree into a vector, and unpacks it again.


#: torch tensors by name
Weights: TypeAlias = "Mapping[str, Any]"


def fresh(recipe: TreeRecipe, labels: int, *, seed: int, device: str) -> dict[str, Any]:
    """Weights before training, drawn evenly from +-1/sqrt(hidden)."""
    import torch

    size, narrow, most = recipe.hidden, recipe.embedding, recipe.most_children
    shapes = {
        "label": (labels, narrow),
        "in": (4 * size, narrow),
        "in.bias": (4 * size,),
        "sum": (3 * size, size),
        "forget": (size, size),
        "root": (2 * size, size),
        "root.bias": (2 * size,),
        "expand.label": (labels, narrow),
        "expand.place": (most, narrow),
        "expand.in": (4 * size, narrow),
        "expand.state": (4 * size, size),
        "expand.bias": (4 * size,),
        "tell.label": (labels, size),
        "tell.label.bias": (labels,),
        "tell.children": (most + 1, size),
        "tell.children.bias": (most + 1,),
    }
    generator = torch.Generator().manual_seed(seed)
    bound = size**-0.5
    return {
        name: (torch.rand(shape, generator=generator) * 2 * bound - bound).to(device)
        for name, shape in shapes.items()
    }


def encoded(weights: Weights, trees: Forest) -> Any:
    """The vector of each tree, float32 tensor [trees, hidden]: the state of its root."""
    import torch

    size = weights["forget"].shape[0]
    read = weights["label"] @ weights["in"].T + weights["in.bias"]  # of every label, once
    device = read.device
    below_state = below_cell = torch.zeros(0, size, device=device)
    below = torch.zeros(0, dtype=torch.int64, device=device)
    for level in reversed(trees.levels):
        x = read[torch.from_numpy(level.labels).to(device)]
        total = torch.zeros(len(level.labels), size, device=device)
        total = total.index_add(0, below, below_state)
        forget = torch.sigmoid(x[below, 3 * size :] + below_state @ weights["forget"].T)
        kept = torch.zeros_like(total).index_add(0, below, forget * below_cell)
        gates = x[:, : 3 * size] + total @ weights["sum"].T
        enter, out, new = gates.split(size, dim=1)
        below_cell = torch.sigmoid(enter) * torch.tanh(new) + kept
        below_state = torch.sigmoid(out) * torch.tanh(below_cell)
        below = torch.from_numpy(level.parents).to(device)
    return below_state


def decoder_logits(weights: Weights, trees: Forest, vectors: Any) -> list[tuple[Any, Any]]:
    """Per level, what the decoder says of each node: logits of labels and of numbers of children.

    It goes down the true tree: children of a node are expanded under its true label.
    """
    import torch

    device = vectors.device
    state, cell = (vectors @ weights["root"].T + weights["root.bias"]).chunk(2, dim=1)
    state = torch.tanh(state)
    by_label = weights["expand.label"] @ weights["expand.in"].T + weights["expand.bias"]
    by_place = weights["expand.place"] @ weights["expand.in"].T
    logits = []
    above = None
    for level in trees.levels:
        if above is not None:
            parents = torch.from_numpy(level.parents).to(device)
            places = torch.from_numpy(level.places).to(device)
            labels = torch.from_numpy(above.labels).to(device)[parents]
            read = by_label[labels] + by_place[places]
            state, cell = _lstm(read, state[parents], cell[parents], weights["expand.state"])
        logits.append(
            (
                state @ weights["tell.label"].T + weights["tell.label.bias"],
                state @ weights["tell.children"].T + weights["tell.children.bias"],
            )
        )
        above = level
    return logits


def trained(
    trees: Sequence[Flat],
    counts: NDArray[np.int64],
    recipe: TreeRecipe,
    *,
    labels: int,
    seed: int,
    device: str,
    progress: Callable[[str, int, int], None] | None = None,
) -> dict[str, Any]:
    """Weights that pack and unpack some trees."""
    import torch

    weights = fresh(recipe, labels, seed=seed, device=device)
    for value in weights.values():
        value.requires_grad_()
    optimiser = torch.optim.Adagrad(
        list(weights.values()), lr=recipe.rate, weight_decay=recipe.decay
    )
    sentences = np.repeat(np.arange(len(trees)), counts)
    rng = np.random.default_rng(seed)
    for iteration in range(recipe.iterations):
        order = rng.permutation(sentences)
        for first in range(0, len(order), recipe.batch):
            # equal trees of a batch are computed once, and count as often as they are there
            drawn, often = np.unique(order[first : first + recipe.batch], return_counts=True)
            optimiser.zero_grad()
            _loss(weights, forest([trees[i] for i in drawn]), often).backward()
            optimiser.step()
        if progress is not None:
            progress("training trees", iteration + 1, recipe.iterations)
    learnt = {name: value.detach() for name, value in weights.items()}
    if labels > 1:  # a label that is not known is like the mean of those that are
        for name in ("label", "expand.label"):
            learnt[name][0] = learnt[name][1:].mean(0)
    return learnt


def _loss(weights: Weights, trees: Forest, often: NDArray[np.int64]) -> Any:
    """Mean over nodes of the cross entropies of label and number of children."""
    import torch
    from torch.nn.functional import cross_entropy

    vectors = encoded(weights, trees)
    total, nodes = torch.zeros((), device=vectors.device), 0.0
    for level, (labels, children) in zip(
        trees.levels, decoder_logits(weights, trees, vectors), strict=True
    ):
        weight = torch.from_numpy(often[level.trees].astype(np.float32)).to(vectors.device)
        for logits, true in ((labels, level.labels), (children, level.children)):
            target = torch.from_numpy(true).to(vectors.device)
            total = total + (cross_entropy(logits, target, reduction="none") * weight).sum()
        nodes += float(often[level.trees].sum())
    return total / nodes


def _lstm(read: Any, state: Any, cell: Any, recurrent: Any) -> tuple[Any, Any]:
    import torch

    enter, forget, new, out = (read + state @ recurrent.T).chunk(4, dim=1)
    cell = torch.sigmoid(forget) * cell + torch.sigmoid(enter) * torch.tanh(new)
    return torch.sigmoid(out) * torch.tanh(cell), cell


# Structures as vectors: pruned trees through an autoencoder.


#: trees that are packed at a time
_CHUNK = 1000


@dataclass(frozen=True, eq=False)
class Syntactic:
    """Vectors of pruned trees."""

    recipe: TreeRecipe
    labels: tuple[str, ...]
    weights: Weights
    parser: str | None
    reader: str | None = None

    @property
    def needs_trees(self) -> bool:
        """True if sentences alone have no vectors, since nothing parses them."""
        return self.parser is None and self.reader is None

    @property
    def kind(self) -> str:
        """It is "syntactic"."""
        return "syntactic"

    @property
    def identity(self) -> str:
        """Depth, children, parser, and a hash of labels and weights."""
        data = (value.tobytes() for _, value in sorted(self.tensors().items()))
        digest = content_hash(*self.labels, *data)
        given = self.parser or "trees"
        return f"{given},depth:{self.recipe.depth},most:{self.recipe.most_children}#{digest}"

    def about(self) -> dict[str, Any]:
        """Recipe, labels, parser."""
        return {
            "recipe": asdict(self.recipe),
            "labels": list(self.labels),
            "parser": self.parser,
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
                chunk = [flat(tree, numbers) for tree in items[first : first + _CHUNK]]
                vectors: NDArray[np.float32] = encoded(self.weights, forest(chunk)).cpu().numpy()
                yield vectors

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
                " none: give their trees (",
                flag("trees", "FILE"),
                "), or name the parser that made them (",
                flag("tagger", "NAME", ""),
                ")",
            )
        if trees is None:
            trees = _parse_texts(texts, str(self.parser or self.reader), cache, progress)
        return _prune(trees, self.recipe)


def syntactic_space(
    texts: Sequence[str | None],
    trees: Sequence[Tree | None] | None,
    request: CodeRequest,
    *,
    parser: str | None = None,
    language: str | None = None,
    recipe: TreeRecipe | None = None,
    device: str | None = None,
) -> tuple[Syntactic, Sequence[Tree | None]]:
    """Train an autoencoder on pruned trees; the trees, too, which texts have by now."""
    chosen = _device(device)
    used = recipe or TreeRecipe()
    if trees is None:
        parser = _parser_name(parser, language)
        trees = _parse_texts(texts, parser, request.cache, request.progress)
    cut = _prune(trees, used)
    counts = Counter(tree for tree in cut if tree is not None)
    check_enough(len(counts), request.k, "syntactic")
    labels = tuple(sorted({label for tree in counts for label in _labels(tree)}))
    numbers = _numbers(labels)
    rows, often = [flat(tree, numbers) for tree in counts], np.array(list(counts.values()))
    weights = trained(
        rows,
        often,
        used,
        labels=len(labels) + 1,
        seed=request.seed,
        device=chosen,
        progress=request.progress,
    )
    return Syntactic(used, labels, weights, parser), trees


def read_syntactic(
    about: Mapping[str, Any],
    tensors: Mapping[str, NDArray[np.float32]],
    device: str | None = None,
    parser: str | None = None,
) -> Syntactic:
    """The space of a folder."""
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
        parser,
    )


def _prune(trees: Sequence[Tree | None], recipe: TreeRecipe) -> list[Pruned | None]:
    different = dict.fromkeys(tree for tree in trees if tree is not None)
    cut = {
        tree: pruned(tree, recipe.depth, most_children=recipe.most_children) for tree in different
    }
    return [None if tree is None else cut[tree] for tree in trees]


def _parse_texts(
    texts: Sequence[str | None],
    parser: str,
    cache: Cache | None,
    progress: Callable[[str, int, int], None] | None,
) -> list[Tree | None]:
    from gnomon.linguistics import parse

    sentences = [text if text and text.strip() else "" for text in texts]
    trees = parse([t for t in sentences if t], tagger=parser, cache=cache, progress=progress)
    each = iter(trees)
    return [next(each) if text else None for text in sentences]


def _parser_name(parser: str | None, language: str | None) -> str:
    """The parser by its whole name."""
    if parser is not None:
        return parser
    if language is None:
        raise UsageError(
            "syntactic codes need trees: name the language (",
            add_language(),
            ") or a parser (",
            flag("tagger", "spacy:NAME"),
            "), or give trees in brackets (",
            flag("trees", "FILE.ptb"),
            ")",
        )
    from gnomon.linguistics import standard_parser

    return standard_parser(language)


def _labels(tree: Pruned) -> set[str]:
    return {tree.label}.union(*(_labels(child) for child in tree.children))


def _numbers(labels: Sequence[str]) -> dict[str, int]:
    return {label: number for number, label in enumerate(labels, start=1)}


def _device(asked: str | None) -> str:
    try:
        import torch
    except ImportError:
        raise not_installed("the encoder of syntactic codes", "torch", "models") from None
    if asked is not None:
        return asked
    return "cuda" if torch.cuda.is_available() else "cpu"
