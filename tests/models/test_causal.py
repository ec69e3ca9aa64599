"""Which causal language models are loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from gnomon.core.errors import DataError, MissingDependencyError
from gnomon.models import load_causal

REASON = "needs torch and transformers: pip install 'gnomon[models]'"
pytest.importorskip("torch", reason=REASON)
pytest.importorskip("transformers", reason=REASON)


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
