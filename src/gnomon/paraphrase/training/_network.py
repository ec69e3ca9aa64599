"""The network: a Transformer of the Marian kind, its loss, and greedy decoding to validate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gnomon.paraphrase.training._batches import batches, padded
from gnomon.paraphrase.training._vocabulary import EOS, PAD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.paraphrase.training._batches import Encoded
    from gnomon.paraphrase.training._recipe import Recipe

__all__ = ["build", "dev_loss", "greedy", "loss_sum", "parameters"]

_MOST = 2.0
_MORE = 10


def build(recipe: Recipe, vocabulary: int) -> Any:
    """A network with fresh weights, drawn from torch's generator (Glorot; embeddings d**-0.5)."""
    import torch
    from transformers import MarianConfig, MarianMTModel

    config = MarianConfig(
        vocab_size=vocabulary,
        d_model=recipe.dimensions,
        encoder_layers=recipe.encoder_layers,
        decoder_layers=recipe.decoder_layers,
        encoder_attention_heads=recipe.heads,
        decoder_attention_heads=recipe.heads,
        encoder_ffn_dim=recipe.feed_forward,
        decoder_ffn_dim=recipe.feed_forward,
        dropout=recipe.dropout,
        activation_function="relu",
        max_position_embeddings=recipe.limit,
        scale_embedding=True,
        pad_token_id=PAD,
        eos_token_id=EOS,
        forced_eos_token_id=None,
        decoder_start_token_id=PAD,
    )
    model = MarianMTModel(config)
    for name, weight in model.named_parameters():
        if not weight.requires_grad or weight.dim() < 2:
            continue
        if name.endswith("shared.weight"):
            torch.nn.init.normal_(weight, std=recipe.dimensions**-0.5)
        else:
            torch.nn.init.xavier_uniform_(weight)
    return model


def parameters(model: Any) -> int:
    """How many weights are learnt."""
    return sum(weight.numel() for weight in model.parameters() if weight.requires_grad)


def loss_sum(model: Any, pairs: Sequence[Encoded], device: str, smoothing: float) -> Any:
    """Sum of the cross-entropy over the target's pieces, in nats; padding costs nothing."""
    import torch

    source = padded([one.source for one in pairs], device)
    target = padded([one.target for one in pairs], device)
    given = torch.full_like(target, PAD)
    given[:, 1:] = target[:, :-1]
    hidden = model.model(
        input_ids=source,
        attention_mask=(source != PAD).long(),
        decoder_input_ids=given,
        use_cache=False,
    ).last_hidden_state
    real = target != PAD
    logits = model.lm_head(hidden[real]) + model.final_logits_bias
    return torch.nn.functional.cross_entropy(
        logits.float(), target[real], label_smoothing=smoothing, reduction="sum"
    )


def dev_loss(model: Any, pairs: Sequence[Encoded], device: str, tokens: int) -> float:
    """Mean cross-entropy of a target piece, in nats, without label smoothing and dropout."""
    import torch

    model.eval()
    with torch.inference_mode():
        total = sum(
            float(loss_sum(model, [pairs[i] for i in batch], device, 0.0))
            for batch in batches(pairs, tokens)
        )
    return total / sum(len(one.target) for one in pairs)


def greedy(
    model: Any,
    sources: Sequence[list[int]],
    device: str,
    tokens: int,
    codes: Sequence[int] = (),
) -> list[list[int]]:
    """The likeliest next piece, again and again, without ``</s>``; at most 2 n + 10 pieces.

    Args:
        model: the network.
        sources: pieces of each source.
        device: where the network is.
        tokens: most pieces of a batch, padding counted.
        codes: pieces that may come first, and nowhere else.
    """
    from gnomon.paraphrase.training._batches import Encoded

    found: list[list[int]] = [[] for _ in sources]
    for batch in batches([Encoded(one, one) for one in sources], tokens):
        made = _greedy_batch(model, [sources[i] for i in batch], device, codes)
        for number, pieces in zip(batch, made, strict=True):
            found[number] = pieces[: pieces.index(EOS)] if EOS in pieces else pieces
    return found


def _greedy_batch(
    model: Any, sources: Sequence[list[int]], device: str, codes: Sequence[int]
) -> list[list[int]]:
    import torch

    model.eval()
    limit = int(model.config.max_position_embeddings)
    with torch.inference_mode():
        source = padded(sources, device)
        mask = (source != PAD).long()
        encoded = model.get_encoder()(input_ids=source, attention_mask=mask)
        last = torch.full((len(sources), 1), PAD, dtype=torch.long, device=device)
        ended, past = torch.zeros_like(last, dtype=torch.bool), None
        made: list[Any] = []
        for _ in range(min(limit, int(_MOST * source.shape[1]) + _MORE)):
            step = model(
                encoder_outputs=encoded,
                attention_mask=mask,
                decoder_input_ids=last,
                past_key_values=past,
                use_cache=True,
            )
            past = step.past_key_values
            scores = step.logits[:, -1:]
            scores[..., [PAD, *codes] if made else [PAD]] = -torch.inf
            last = scores.argmax(dim=-1).masked_fill(ended, EOS)
            made.append(last)
            ended |= last == EOS
            if bool(ended.all()):
                break
    found: list[list[int]] = torch.cat(made, dim=1).tolist()
    return found
