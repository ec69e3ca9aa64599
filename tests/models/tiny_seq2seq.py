"""Encoder-decoder models of a few words with random weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

WORDS = ("the", "a", "cat", "dog", "sat", "lay", "on", "mat", "rug", ".")
SPECIAL = ("<pad>", "</s>", "<unk>")
LIMIT = 64


def build(
    folder: Path,
    *,
    words: Sequence[str] = WORDS,
    codes: int = 0,
    seed: int = 0,
    kind: str = "marian",
    end_bias: float = 0.0,
    std: float = 0.5,
    **options: Any,
) -> Path:
    """Save a tiny random model whose tokeniser knows whole words.

    Args:
        folder: where to.
        words: the vocabulary.
        codes: number of sentence codes ``<code:0>``, ... in the vocabulary.
        seed: of the weights.
        kind: "marian", "bart" or "t5".
        end_bias: added to the logit of ``</s>`` (Marian and BART).
        std: standard deviation of the weights.
        options: entries of the configuration.
    """
    import torch

    vocabulary = vocabulary_of(words, codes)
    save_tokenizer(folder, vocabulary)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = _model(kind, len(vocabulary), options)
        for weight in model.parameters():
            if weight.dim() > 1:
                torch.nn.init.normal_(weight, std=std)
    if end_bias:
        model.final_logits_bias[0, vocabulary["</s>"]] = end_bias
    model.save_pretrained(folder)
    return folder


def vocabulary_of(words: Sequence[str], codes: int = 0) -> Mapping[str, int]:
    """Numbers of the pieces."""
    pieces = dict.fromkeys([*SPECIAL, *words, *(f"<code:{code}>" for code in range(codes))])
    return {piece: number for number, piece in enumerate(pieces)}


def save_tokenizer(folder: Path, vocabulary: Mapping[str, int]) -> None:
    """Save a tokeniser that splits at spaces and ends with ``</s>``."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    inner = Tokenizer(models.WordLevel(dict(vocabulary), unk_token=SPECIAL[2]))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    inner.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", vocabulary["</s>"])]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner,
        **dict(zip(("pad_token", "eos_token", "unk_token"), SPECIAL, strict=True)),
        model_max_length=LIMIT,
    )
    tokenizer.save_pretrained(folder)


def _model(kind: str, size: int, options: Mapping[str, Any]) -> Any:
    import transformers

    ends = {"pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0}
    if kind == "t5":
        sizes = {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 2}
        config = transformers.T5Config(vocab_size=size, **(ends | sizes | dict(options)))
        return transformers.T5ForConditionalGeneration(config).eval()
    layers = {f"{side}_layers": 2 for side in ("encoder", "decoder")}
    heads = {f"{side}_attention_heads": 2 for side in ("encoder", "decoder")}
    inner = {f"{side}_ffn_dim": 32 for side in ("encoder", "decoder")}
    more = {"d_model": 16, "max_position_embeddings": LIMIT, "forced_eos_token_id": None}
    made = {**ends, **layers, **heads, **inner, **more, "bos_token_id": None, **options}
    if kind == "bart":
        config = transformers.BartConfig(vocab_size=size, **made)
        return transformers.BartForConditionalGeneration(config).eval()
    config = transformers.MarianConfig(vocab_size=size, **made)
    return transformers.MarianMTModel(config).eval()
