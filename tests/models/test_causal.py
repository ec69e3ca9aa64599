"""How probable a causal language model finds texts, against transformers' own loss."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gnomon.core.errors import DataError, MissingDependencyError
from gnomon.models import load_causal

REASON = "needs torch and transformers: pip install 'gnomon[models]'"
torch = pytest.importorskip("torch", reason=REASON)
transformers = pytest.importorskip("transformers", reason=REASON)

TEXTS = ["the cat sat on the mat", "a dog", "", "x", "naïve café", "mat " * 30]


def _loss(folder: Path, text: str, limit: int = 32) -> float:
    """The mean log-probability as transformers has it: minus the loss of the text."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    ids = torch.tensor([tokenizer(text)["input_ids"][:limit]], dtype=torch.long)
    if ids.shape[1] < 2:
        return 0.0
    with torch.no_grad():
        return -float(model(ids, labels=ids).loss)


def test_log_probabilities_are_minus_the_loss_of_transformers(tiny_gpt2: Path) -> None:
    found = load_causal(str(tiny_gpt2), device="cpu").log_probabilities(TEXTS)
    expected = [_loss(tiny_gpt2, text) for text in TEXTS]
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert (found[[0, 1, 4, 5]] < -1).all()


def test_nothing_and_one_piece_are_certain(tiny_gpt2: Path) -> None:
    lm = load_causal(str(tiny_gpt2), device="cpu")
    assert lm.log_probabilities(["", "x"]).tolist() == [0.0, 0.0]
    assert lm.log_probabilities([]).tolist() == []


def test_texts_beside_a_text_change_nothing(tiny_gpt2: Path) -> None:
    lm = load_causal(str(tiny_gpt2), device="cpu")
    alone = [float(lm.log_probabilities([text])[0]) for text in TEXTS]
    np.testing.assert_allclose(lm.log_probabilities(TEXTS), alone, atol=1e-6)


def test_pickled_weights_are_not_read(tiny_gpt2: Path, tmp_path: Path) -> None:
    for file in tiny_gpt2.iterdir():
        if file.suffix != ".safetensors":
            (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x04K\x01.")
    with pytest.raises(DataError, match=r"holds no \*\.safetensors file"):
        load_causal(str(tmp_path), device="cpu")


def test_a_model_that_is_not_there_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("GNOMON_ALLOW_DOWNLOADS", raising=False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(MissingDependencyError, match="hf download gpt2"):
        load_causal("gpt2")
