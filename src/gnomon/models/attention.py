"""Attention: how much the pieces of a text attend to each of them, in one layer of an encoder."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.errors import UsageError
from gnomon.models._engine import TorchEngine
from gnomon.models._pieces import length_batches, windows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from gnomon.models._pieces import Pieces
    from gnomon.models.encoder import Encoder

__all__ = ["attention_received", "check_attention"]


def check_attention(encoder: Encoder, layer: int, head: int | None) -> None:
    """Refuse a layer or head that an encoder does not have.

    Args:
        encoder: of torch, up to some layer.
        layer: from 1.
        head: from 1; None for all.

    Raises:
        UsageError: there is none, or the encoder does not run in torch.
    """
    engine = encoder.engine
    if not isinstance(engine, TorchEngine):
        raise UsageError(
            f"attention needs backend='torch'; model {encoder.folder.name!r} runs in {engine.name}"
        )
    if not 1 <= layer <= encoder.layer:
        raise UsageError(
            f"model {encoder.folder.name!r} is read up to layer {encoder.layer}: there is attention"
            f" in layers 1 to {encoder.layer}; layer {layer} is asked"
        )
    heads = int(engine.model.config.num_attention_heads)
    if head is not None and not 1 <= head <= heads:
        raise UsageError(
            f"model {encoder.folder.name!r} has heads 1 to {heads}; head {head} is asked"
        )


def attention_received(
    encoder: Encoder, pieces: Pieces, layer: int, head: int | None = None
) -> list[NDArray[np.float64]]:
    """The share of the attention that each piece of some texts gets.

    The mean over all pieces that attend (special ones too), and over heads: the shares of a text
    add up to 1. A text beyond the model's limit is read in windows that overlap; of a piece in
    several windows that counts in which the encoder keeps it, and shares are divided by their sum.

    Args:
        encoder: see :func:`check_attention`.
        pieces: the pieces of the texts.
        layer: from 1.
        head: from 1; None for the mean of all.

    Returns:
        float64 [pieces] for each text, special pieces too.

    Raises:
        UsageError: as :func:`check_attention`.
    """
    check_attention(encoder, layer, head)
    texts = np.flatnonzero(pieces.lengths > 0)
    parts = windows(pieces, texts, encoder.limit)
    encoder.encoded += len(texts)
    by_text = [np.zeros(int(size)) for size in pieces.lengths]
    groups = length_batches(np.array([len(window) for window in parts]), encoder.budget)
    with _eager(encoder.engine) as (model, device):
        for group in groups:
            chosen = [parts[number] for number in group.tolist()]
            ids, kept = encoder.padded(pieces, chosen)
            for window, shares in zip(
                chosen, _shares(model, device, ids, kept, layer, head), strict=True
            ):
                text = int(texts[window.text])
                positions = window.rows[window.kept] - pieces.offsets[text]
                by_text[text][positions] = shares[: len(window)][window.kept]
    return [shares / shares.sum() if shares.any() else shares for shares in by_text]


@contextmanager
def _eager(engine: Any) -> Iterator[tuple[Any, str]]:
    """The model, with the implementation of attention that can show it."""
    model, before = engine.model, engine.model.config._attn_implementation  # noqa: SLF001  # no public name
    if before != "eager":
        model.set_attn_implementation("eager")
    try:
        yield model, engine.device
    finally:
        if before != "eager":
            model.set_attn_implementation(before)


def _shares(
    model: Any,
    device: str,
    ids: NDArray[np.int64],
    kept: NDArray[np.bool_],
    layer: int,
    head: int | None,
) -> NDArray[np.float64]:
    """Attention that pieces get, mean over the kept pieces that attend, float64 [B, W]."""
    import torch

    with torch.inference_mode():
        read = model(
            input_ids=torch.as_tensor(ids, device=device),
            attention_mask=torch.as_tensor(kept, device=device).long(),
            output_attentions=True,
        )
    attention = read.attentions[layer - 1].double().cpu().numpy()  # [B, heads, from, to]
    received = attention.mean(axis=1) if head is None else attention[:, head - 1]
    attending = kept / kept.sum(axis=1, keepdims=True)
    shares: NDArray[np.float64] = np.einsum("bf,bft->bt", attending, received)
    return shares
