"""MetricX and BLEURT as their originals run them, on transformers' own classes; for ``learned.py``.

Both have random weights: MetricX that of a small mT5, BLEURT those of an encoder under a random
head. The originals read every output of every system, in batches in the order of the files, each
padded to its longest input; MetricX computes the logits of all pieces and takes one.
"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from transformers import (
    AutoTokenizer,
    BertConfig,
    BertModel,
    MT5Config,
    MT5ForConditionalGeneration,
    PreTrainedTokenizerFast,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_BATCH = 16
#: the piece whose logit is MetricX's prediction, and the most pieces of a prompt
_REGRESSION, _PIECES = 250089, 1536


class MetricXPeer:
    """MetricX-24 without gnomon."""

    def __init__(self, vocabulary: Path, folder: Path) -> None:
        """Make a model whose vocabulary is that of a folder, and write it for gnomon."""
        folder.mkdir()
        for name in ("tokenizer.json", "spiece.model"):
            shutil.copy(vocabulary / name, folder / name)
        torch.manual_seed(5)
        config = MT5Config(
            vocab_size=250112, d_model=128, d_kv=32, d_ff=256, num_layers=6, num_decoder_layers=2,
            num_heads=4, feed_forward_proj="gated-gelu", pad_token_id=0, decoder_start_token_id=0,
            tie_word_embeddings=False,
        )  # fmt: skip
        self.model = MT5ForConditionalGeneration(config).eval()
        self.model.set_input_embeddings(self.model.shared)
        # transformers 5 ties what the original keeps apart
        self.output = torch.randn(config.vocab_size, config.d_model) / 2
        copies = ("embed_tokens.weight", "lm_head.weight")
        weights = {k: v for k, v in self.model.state_dict().items() if not k.endswith(copies)}
        save_file({**weights, "lm_head.weight": self.output}, folder / "model.safetensors")
        said = config.to_dict() | {"tie_word_embeddings": False}
        (folder / "config.json").write_text(json.dumps(said), encoding="utf-8")
        self.tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))

    def scores(self, rows: Sequence[tuple[str, str, str]]) -> NDArray[np.float64]:
        """Errors of outputs, with sources and references."""
        values: list[float] = []
        for some in _batches(rows):
            prompts = [f"source: {s} candidate: {c} reference: {r}" for s, c, r in some]
            every = self.tokenizer(prompts, add_special_tokens=False)["input_ids"]
            ids, kept = _padded([pieces[: _PIECES - 1] for pieces in every])
            start = torch.zeros((len(some), 1), dtype=torch.long)
            with torch.inference_mode():
                seen = self.model.encoder(input_ids=ids, attention_mask=kept).last_hidden_state
                state = self.model.decoder(
                    input_ids=start, encoder_hidden_states=seen, encoder_attention_mask=kept
                ).last_hidden_state[:, 0]
                logits = (state @ self.output.T)[:, _REGRESSION]
            values += logits.clamp(0, 25).tolist()
        return np.array(values)


class BleurtPeer:
    """BLEURT of word pieces without gnomon."""

    def __init__(self, encoder: Path, folder: Path) -> None:
        """Put a random head on an encoder, and write both for gnomon."""
        folder.mkdir()
        config = BertConfig.from_pretrained(encoder)
        self.model = BertModel.from_pretrained(encoder).eval()
        self.tokenizer = AutoTokenizer.from_pretrained(encoder)
        generator = torch.Generator().manual_seed(5)
        self.head = torch.randn(1, config.hidden_size, generator=generator) / 10
        weights = {f"bleurt.{k}": v for k, v in load_file(encoder / "model.safetensors").items()}
        weights |= {"classifier.weight": self.head, "classifier.bias": torch.zeros(1)}
        save_file(weights, folder / "model.safetensors")
        said = config.to_dict() | {"model_type": "bleurt"}
        (folder / "config.json").write_text(json.dumps(said), encoding="utf-8")
        words = sorted(self.tokenizer.get_vocab().items(), key=lambda item: item[1])
        vocabulary = "".join(f"{word}\n" for word, _ in words)
        (folder / "vocab.txt").write_text(vocabulary, encoding="utf-8")

    def scores(self, rows: Sequence[tuple[str, str, str]]) -> NDArray[np.float64]:
        """Scores of outputs, with references."""
        values: list[float] = []
        for some in _batches(rows):
            given = self.tokenizer(
                [r for _, _, r in some], [c for _, c, _ in some],
                padding="longest", truncation=True, max_length=512, return_tensors="pt",
            )  # fmt: skip
            with torch.inference_mode():
                pooled = self.model(**given).pooler_output
            values += (pooled @ self.head.T)[:, 0].tolist()
        return np.array(values)


def _batches(rows: Sequence[tuple[str, str, str]]) -> Iterator[Sequence[tuple[str, str, str]]]:
    for at in range(0, len(rows), _BATCH):
        yield rows[at : at + _BATCH]


def _padded(rows: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids padded with 0, and what is no padding."""
    ids = torch.zeros((len(rows), max(map(len, rows))), dtype=torch.long)
    kept = torch.zeros_like(ids)
    for row, pieces in enumerate(rows):
        ids[row, : len(pieces)] = torch.tensor(pieces)
        kept[row, : len(pieces)] = 1
    return ids, kept
