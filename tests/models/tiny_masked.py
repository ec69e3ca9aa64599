"""Masked language models of a few words: with random weights, or with known probabilities."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PIECES = ("the", "cat", "dog", "sat", "on", "mat", ".", ",", "un", "##able", "##er", "big")
VOCABULARY = (*SPECIAL, *PIECES)
LIMIT = 16


def save_masked_lm(folder: Path, probabilities: Mapping[str, float] | None = None) -> Path:
    """Save a BertForMaskedLM of one layer.

    Args:
        folder: where to.
        probabilities: of pieces, whatever the text; what is left is shared by all others. Random
            weights without them.
    """
    import torch
    from transformers import BertConfig, BertForMaskedLM, BertTokenizerFast

    config = BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=LIMIT,
        initializer_range=1.0,
    )
    with torch.random.fork_rng():
        torch.manual_seed(3)
        model = BertForMaskedLM(config)
    if probabilities is not None:
        left = (1 - sum(probabilities.values())) / (len(VOCABULARY) - len(probabilities))
        for weight in model.parameters():
            torch.nn.init.zeros_(weight)
        bias = [math.log(probabilities.get(piece, left)) for piece in VOCABULARY]
        model.cls.predictions.bias.data = torch.tensor(bias)
    model.save_pretrained(folder)
    tokenizer = BertTokenizerFast(
        vocab={piece: number for number, piece in enumerate(VOCABULARY)}, model_max_length=LIMIT
    )
    tokenizer.save_pretrained(folder)
    return folder
