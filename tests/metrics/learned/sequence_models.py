"""What the originals said of shared texts, and tiny models of one's own with random weights."""

from __future__ import annotations

import json
import string
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.testset import TestSet
from gnomon.metrics import parse

if TYPE_CHECKING:
    from numpy.typing import NDArray

LETTERS = (*string.ascii_lowercase, ":", ".", "▁")


# Models of the shared folder, with the scores of the original packages.


class Original:
    """The texts of a family, and what its package said of them.

    Attributes:
        folder: of the family.
        rows: texts by name: ``id``, ``src``, ``mt``, ``ref``, ``mt2``.
        expected: what the package gave.
    """

    def __init__(self, shared: Path, family: str) -> None:
        self.folder = shared / "oracles" / "learned" / family
        lines = (self.folder / "inputs.jsonl").read_text(encoding="utf-8").split("\n")
        self.rows: list[dict[str, str]] = [json.loads(line) for line in lines if line]
        self.expected: dict[str, Any] = json.loads(
            (self.folder / "expected.json").read_text(encoding="utf-8")
        )

    def plain(self, longest: int = 10**9) -> NDArray[np.int64]:
        """The rows without literal special pieces, and without texts beyond a length."""
        kept = [
            number
            for number, row in enumerate(self.rows)
            if not row["id"].startswith("literal-") and max(map(len, row.values())) <= longest
        ]
        return np.array(kept)

    def differences(
        self, spec: str, expected: Sequence[float], batch: int, rows: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """How far gnomon's scores are from the package's."""
        chosen = [self.rows[number] for number in rows.tolist()]
        testset = test_set_of(chosen)
        bound: Any = parse(spec).bind(testset)
        bound.model.forget()
        sized = replace(bound, metric=replace(bound.metric, batch=batch))
        found = sized.segments(testset.batch())[0]
        return np.asarray(np.abs(found - np.array(expected)[rows]))


def test_set_of(rows: Sequence[dict[str, str]]) -> TestSet:
    """Texts as a test set of one system."""
    return TestSet.from_lists(
        {"system": [row["mt"] for row in rows]},
        [row["ref"] for row in rows],
        sources=[row["src"] for row in rows],
    )


# Tiny models.


def metricx(folder: Path, *, tied: bool = False, vocabulary: bool = True) -> Path:
    """A random MetricX that spells texts out letter by letter."""
    import torch
    from safetensors.torch import save_file
    from transformers import MT5Config, MT5ForConditionalGeneration

    folder.mkdir(parents=True, exist_ok=True)
    config = MT5Config(
        vocab_size=250112,
        d_model=8,
        d_kv=4,
        d_ff=16,
        num_layers=2,
        num_decoder_layers=1,
        num_heads=2,
        feed_forward_proj="gated-gelu",
        pad_token_id=0,
        decoder_start_token_id=0,
    )
    with torch.random.fork_rng():
        torch.manual_seed(3)
        model = MT5ForConditionalGeneration(config)
        state = {
            name: torch.randn(value.shape) * 0.5
            for name, value in model.state_dict().items()
            if "embed_tokens" not in name and "lm_head" not in name
        }
        head = torch.zeros(250112, 8)
        head[250089] = _middling(model, state)
    if not tied:
        state["lm_head.weight"] = head
    else:
        state["shared.weight"][250089] = head[250089]
    save_file(state, folder / "model.safetensors")
    said = config.to_dict() | {"tie_word_embeddings": tied}
    (folder / "config.json").write_text(json.dumps(said), encoding="utf-8")
    if vocabulary:
        spelling(folder)
    return folder


def _middling(model: Any, state: dict[str, Any]) -> Any:
    """A row of the output layer under which scores lie about the middle of the scale."""
    import torch

    model.load_state_dict(state, strict=False)
    model.set_input_embeddings(model.shared)
    with torch.inference_mode():
        seen = model.encoder(torch.arange(3, 30)[None]).last_hidden_state
        start = torch.zeros((1, 1), dtype=torch.long)
        first = model.decoder(start, encoder_hidden_states=seen).last_hidden_state[0, 0]
    return 12 * first / first.dot(first) + torch.randn(8)


def spelling(folder: Path) -> Path:
    """A vocabulary of letters, as T5 has it."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    folder.mkdir(parents=True, exist_ok=True)
    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", -20.0), *((one, -3.0) for one in LETTERS)]
    made = Tokenizer(models.Unigram(pieces, unk_id=2, byte_fallback=False))
    made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    made.add_special_tokens(["</s>", "<pad>"])
    made.save(str(folder / "tokenizer.json"))
    return folder


def spelled(ids: Sequence[int]) -> str:
    """The text that some pieces of such a vocabulary spell."""
    pieces = ["<pad>", "</s>", "<unk>", *LETTERS]
    return "".join(pieces[number] for number in ids).replace("▁", " ").strip()


def bleurt(folder: Path, **changed: Any) -> Path:
    """A random BLEURT of word pieces that spells words out.

    Args:
        folder: where to.
        changed: entries of its configuration, other than the weights have them.
    """
    import torch
    from safetensors.torch import save_file
    from transformers import BertConfig, BertModel

    folder.mkdir(parents=True, exist_ok=True)
    letters = list(string.ascii_lowercase)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[", "]", ".", *letters]
    words += [f"##{one}" for one in letters]
    (folder / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    sizes = {
        "vocab_size": len(words),
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 24,
        "max_position_embeddings": 24,
        "type_vocab_size": 2,
    }
    with torch.random.fork_rng():
        torch.manual_seed(4)
        model = BertModel(BertConfig(**sizes))
        state = {
            f"bleurt.{name}": torch.randn(value.shape) * 0.3
            for name, value in model.state_dict().items()
        }
        state["classifier.weight"] = torch.randn(1, 16)
        state["classifier.bias"] = torch.zeros(1)
    save_file(state, folder / "model.safetensors")
    said = sizes | {"model_type": "bleurt", "pad_token_id": 0} | changed
    (folder / "config.json").write_text(json.dumps(said), encoding="utf-8")
    return folder
