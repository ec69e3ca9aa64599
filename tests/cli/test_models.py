"""Metrics on vectors through the commands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def outputs(tmp_path: Path) -> Path:
    texts = {
        "ref": ["the cat sat on the mat .", "an unbelievable dog"],
        "a": ["the cat sat .", "unbelievable !"],
        "b": ["a dog sat on the mat", "the house " * 40],
    }
    for name, lines in texts.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def test_muler_of_bertscore_masks_pieces_by_words(
    gnomon: Callable, outputs: Path, tiny_model: Path
) -> None:
    answer = gnomon(
        "muler", "score", outputs / "ref.txt", "-i", outputs / "a.txt", outputs / "b.txt",
        "-m", f"bertscore(model='{tiny_model}', layer=2, device='cpu')", "-l", "en", "-f", "json",
        "--features", "re:word", "--pattern", r"word=\b(cat|unbelievable|mat)\b",
    )  # fmt: skip
    assert answer.code == 0, answer.err
    rows = {row["system"]: row for row in answer.json()["rows"] if row["variant"] == "ratio"}
    assert rows["a"]["segments"] == 2
    assert rows["b"]["segments"] == 1
    for row in rows.values():
        assert row["anti_oracle"] < row["base"] <= row["oracle"]
        assert 0 <= row["muler"] <= 1


def test_texts_that_were_cut_are_said_below_the_scores(
    gnomon: Callable, outputs: Path, tiny_model: Path
) -> None:
    answer = gnomon(
        "score", outputs / "ref.txt", "-i", outputs / "b.txt",
        "-m", f"bertscore(model='{tiny_model}', layer=2, device='cpu')",
    )  # fmt: skip
    assert answer.code == 0, answer.err
    said = " ".join((answer.out + answer.err).split())
    assert "1 of 4 texts are longer than the model takes (40 pieces)" in said


def test_a_model_that_is_not_here_is_a_usage_error_with_the_remedy(
    gnomon: Callable, outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("huggingface_hub", reason="needs gnomon[models]")
    pytest.importorskip("torch", reason="needs gnomon[models]")
    monkeypatch.delenv("GNOMON_ALLOW_DOWNLOADS", raising=False)
    answer = gnomon(
        "score", outputs / "ref.txt", "-i", outputs / "a.txt",
        "-m", "bertscore(model='no/where', layer=1)",
    )  # fmt: skip
    assert answer.code == 2
    assert "hf download no/where" in answer.err
    assert "Traceback" not in answer.err
