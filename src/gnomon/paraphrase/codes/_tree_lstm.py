"""A TreeLSTM that packs a tree into a vector, and unpacks it again.

Encoder: the child-sum TreeLSTM of Tai et al. (2015), which does not read the order of children.
Decoder: each node's state is expanded into the states of its children by an LSTM cell that reads
the node's label and the child's place; from a state, label and number of children are told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.paraphrase.codes._forest import Flat, Forest
    from gnomon.paraphrase.codes._recipe import TreeRecipe

__all__ = ["Weights", "encoded", "fresh", "told", "trained"]

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


def told(weights: Weights, trees: Forest, vectors: Any) -> list[tuple[Any, Any]]:
    """Per level, what the decoder says of each node: logits of labels and of numbers of children.

    It goes down the true tree: children of a node are expanded under its true label.
    """
    import torch

    device = vectors.device
    state, cell = (vectors @ weights["root"].T + weights["root.bias"]).chunk(2, dim=1)
    state = torch.tanh(state)
    by_label = weights["expand.label"] @ weights["expand.in"].T + weights["expand.bias"]
    by_place = weights["expand.place"] @ weights["expand.in"].T
    found = []
    above = None
    for level in trees.levels:
        if above is not None:
            parents = torch.from_numpy(level.parents).to(device)
            places = torch.from_numpy(level.places).to(device)
            labels = torch.from_numpy(above.labels).to(device)[parents]
            read = by_label[labels] + by_place[places]
            state, cell = _lstm(read, state[parents], cell[parents], weights["expand.state"])
        found.append(
            (
                state @ weights["tell.label"].T + weights["tell.label.bias"],
                state @ weights["tell.children"].T + weights["tell.children.bias"],
            )
        )
        above = level
    return found


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
    """Weights that pack and unpack some trees.

    Args:
        trees: different trees.
        counts: int64 [trees], how many sentences have each.
        recipe: sizes and training.
        labels: number of labels, 0 (one that is not known) among them.
        seed: of the weights and of the order of trees.
        device: where to compute.
        progress: called with "training trees", iterations done, all iterations.
    """
    import torch

    from gnomon.paraphrase.codes._forest import forest

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
            own, often = np.unique(order[first : first + recipe.batch], return_counts=True)
            optimiser.zero_grad()
            _loss(weights, forest([trees[i] for i in own]), often).backward()
            optimiser.step()
        if progress is not None:
            progress("training trees", iteration + 1, recipe.iterations)
    found = {name: value.detach() for name, value in weights.items()}
    if labels > 1:  # a label that is not known is like the mean of those that are
        for name in ("label", "expand.label"):
            found[name][0] = found[name][1:].mean(0)
    return found


def _loss(weights: Weights, trees: Forest, often: NDArray[np.int64]) -> Any:
    """Mean over nodes of the cross entropies of label and number of children."""
    import torch
    from torch.nn.functional import cross_entropy

    vectors = encoded(weights, trees)
    total, nodes = torch.zeros((), device=vectors.device), 0.0
    for level, (labels, children) in zip(trees.levels, told(weights, trees, vectors), strict=True):
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
