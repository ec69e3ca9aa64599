"""Probabilities of pieces under masks, computed for the masks alone."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["masked_probabilities"]


def masked_probabilities(
    model: Any,
    ids: NDArray[np.int64],
    kept: NDArray[np.bool_],
    masked: NDArray[np.bool_],
    allowed: NDArray[np.bool_],
    most: int,
) -> Iterator[tuple[list[int], list[float]]]:
    """The most probable of the allowed pieces of each of M masks, row by row.

    Args:
        model: a masked language model of transformers.
        ids: int64 [B, W], numbers of the pieces, masks in their places.
        kept: bool [B, W], False for padding, which gets no attention.
        masked: bool [B, W].
        allowed: bool [M, V], which pieces are looked at; probabilities are those among all V.
        most: how many pieces to return.

    Yields:
        Numbers of pieces and their probabilities, falling; 0 for pieces that are not allowed.
    """
    import torch

    device = model.device
    at = torch.as_tensor(masked, device=device)
    with torch.inference_mode(), _only(model, at) as narrowed:
        logits = model(
            input_ids=torch.as_tensor(ids, device=device),
            attention_mask=torch.as_tensor(kept, device=device).long(),
        ).logits
        shares = torch.softmax((logits if narrowed else logits[at]).double(), dim=-1)
        shares *= torch.as_tensor(allowed, device=device)
        top = shares.topk(min(most, shares.shape[-1]), dim=-1)
    yield from zip(top.indices.tolist(), top.values.tolist(), strict=True)


@contextmanager
def _only(model: Any, at: Any) -> Iterator[bool]:
    """Let the model's last layer, which is as wide as its vocabulary, see some rows alone."""
    last = model.get_output_embeddings()
    if last is None:
        yield False
        return
    handle = last.register_forward_pre_hook(lambda _, given: (given[0][at], *given[1:]))
    try:
        yield True
    finally:
        handle.remove()
