"""Input times gradient: what each piece of some texts adds to a function of their vectors."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.models._precision import hidden_layer
from gnomon.models.word_pieces import length_batches, windows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.models.encoder import Encoder
    from gnomon.models.word_pieces import Pieces, Window

__all__ = ["input_gradients", "input_leaves"]


def input_gradients(
    encoder: Encoder,
    pieces: Pieces,
    texts: NDArray[np.int64],
    function: Callable[[Sequence[Any]], Any],
) -> list[NDArray[np.float64]]:
    """The product of each piece's input embedding with the gradient of a function in it.

    The embedding is the model's vector of the piece's type, before its position is added. To first
    order, the product is what the function would lose if the vector shrank to nothing.

    Args:
        encoder: the model.
        pieces: pieces of all texts.
        texts: int64 [E], numbers of the texts; one that occurs twice is encoded twice, so that its
            pieces may matter differently in each place.
        function: from the vectors of the texts, tensors [pieces, d] as the layer gives them, to a
            scalar tensor.

    Returns:
        For each text the products of all of its pieces, special ones too, float64 [pieces].
    """
    import torch

    encoder.encoded += len(texts)
    parts = windows(pieces, texts, encoder.limit)
    with torch.enable_grad(), input_leaves(encoder.model) as inputs:
        vectors: list[Any] = [None] * len(parts)
        groups = length_batches(np.array([len(window) for window in parts]), encoder.budget)
        for group in groups:
            chosen = [parts[number] for number in group.tolist()]
            read = _forward(encoder, pieces, chosen)
            for number, hidden in zip(group.tolist(), read, strict=True):
                vectors[number] = hidden
        value = function(_whole(parts, vectors, len(texts)))
        if value.requires_grad:
            value.backward()
    by_text = [np.zeros(int(size)) for size in pieces.lengths[texts]]
    for group, leaf in zip(groups, inputs, strict=True):
        if leaf.grad is None:
            continue
        products = (leaf.detach() * leaf.grad).sum(dim=-1).double().cpu().numpy()
        for number, row in zip(group.tolist(), products, strict=True):
            window = parts[number]
            positions = window.rows - pieces.offsets[texts[window.text]]
            # a piece may stand in several windows
            by_text[window.text][positions] += row[: len(window)]
    return by_text


@contextmanager
def input_leaves(model: Any) -> Iterator[list[Any]]:
    """The input embeddings of every forward pass meanwhile, as leaves that gather gradients.

    Args:
        model: of transformers.

    Yields:
        Tensors [B, W, d], one for each pass, in their order.
    """
    leaves: list[Any] = []

    def remember(_module: Any, _given: Any, embeddings: Any) -> Any:
        leaves.append(embeddings.detach().requires_grad_())
        return leaves[-1]

    handle = model.get_input_embeddings().register_forward_hook(remember)
    try:
        yield leaves
    finally:
        handle.remove()


def _forward(encoder: Encoder, pieces: Pieces, batch: Sequence[Window]) -> Iterator[Any]:
    """The vectors of the kept pieces of each window."""
    import torch

    ids, kept = encoder.padded(pieces, batch)
    output = encoder.model(
        input_ids=torch.as_tensor(ids, device=encoder.device),
        attention_mask=torch.as_tensor(kept, device=encoder.device).long(),
    )
    hidden = hidden_layer(output, encoder.layer)
    for row, window in enumerate(batch):
        yield hidden[row, window.kept]


def _whole(parts: Sequence[Window], vectors: Sequence[Any], count: int) -> list[Any]:
    """The vectors of whole texts from those of their windows, which are in order."""
    import torch

    of: list[list[Any]] = [[] for _ in range(count)]
    for window, hidden in zip(parts, vectors, strict=True):
        of[window.text].append(hidden)
    return [hidden[0] if len(hidden) == 1 else torch.cat(hidden) for hidden in of]
