"""Which model stays, when a run stops, and what a stop leaves for the run that goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gnomon.paraphrase.training import Recipe, SentencePair, Trained, fit
from gnomon.paraphrase.training.recipe import Score

Rows = list[tuple[str, str]]


def _judge(patch: pytest.MonkeyPatch, scores: dict[int, Score]) -> None:
    """Let validations give the scores of these steps."""
    from transformers.trainer_utils import EvalLoopOutput

    from gnomon.paraphrase.training.trainer import ParaphraseTrainer

    def validated(trainer: Any, *_: object, **__: object) -> Any:
        score = scores[trainer.state.global_step]
        metrics = {"eval_loss": score.loss, "eval_bleu": score.bleu}
        return EvalLoopOutput(predictions=None, label_ids=None, metrics=metrics, num_samples=1)

    patch.setattr(ParaphraseTrainer, "evaluation_loop", validated)


def _run(folder: Path, tiny: dict[str, object], rows: Rows, **more: Any) -> Trained:
    options: dict[str, Any] = {**tiny, **more}
    resume = bool(options.pop("resume", False))
    pairs = [SentencePair(*row) for row in rows]
    return fit(pairs, folder, recipe=Recipe(**options), device="cpu", resume=resume)


def _checkpoints(folder: Path) -> list[str]:
    return sorted(one.name for one in (folder / "training").glob("checkpoint-*"))


def _place(folder: Path) -> dict[str, Any]:
    """What the run in a folder knows of itself."""
    last = max(_checkpoints(folder), key=lambda name: int(name.split("-")[1]))
    path = folder / "training" / last / "progress.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _kept(folder: Path) -> int:
    """The step of the model in the folder."""
    about = json.loads((folder / "gnomon-paraphraser.json").read_text(encoding="utf-8"))
    return int(about["steps"])


def test_patience_counts_validations_that_are_no_better(
    tmp_path: Path, tiny: dict[str, object], rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    bleu = {5: 3.0, 10: 2.0, 15: 4.0, 20: 4.0, 25: 3.9, 30: 9.0}
    _judge(monkeypatch, {step: Score(2.0, value) for step, value in bleu.items()})
    done = _run(tmp_path, tiny, rows, patience=2, max_steps=60)
    assert (done.stopped, done.steps, done.bleu, _kept(tmp_path)) == ("patience", 25, 4.0, 15)


def test_where_bleu_ties_the_lower_loss_is_better(
    tmp_path: Path, tiny: dict[str, object], rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    loss = {5: 5.0, 10: 4.0, 15: 3.0, 20: 2.0, 25: 2.5, 30: 2.0}
    _judge(monkeypatch, {step: Score(value, 0.0) for step, value in loss.items()})
    done = _run(tmp_path, tiny, rows, patience=2, max_steps=60)
    assert (done.stopped, done.steps, done.loss, _kept(tmp_path)) == ("patience", 30, 2.0, 20)


def test_patience_waits_while_nothing_matches_and_the_loss_falls(
    tmp_path: Path, tiny: dict[str, object], rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    loss = {5: 5.0, 10: 4.0, 15: 3.0, 20: 2.0, 25: 2.0, 30: 2.1}
    scores = {step: Score(value, 0.1 if step == 5 else 0.0) for step, value in loss.items()}
    _judge(monkeypatch, scores)
    done = _run(tmp_path, tiny, rows, patience=2, max_steps=60)
    assert (done.stopped, done.steps, _kept(tmp_path)) == ("patience", 30, 5)


@pytest.mark.verify
def test_stops_by_a_limit_are_not_counted(
    tmp_path: Path, tiny: dict[str, object], rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    loss = {5: 3.0, 7: 4.0, 8: 4.0, 10: 3.1, 13: 1.0, 15: 2.0, 20: 2.1, 25: 2.2, 30: 2.3}
    _judge(monkeypatch, {step: Score(value, None) for step, value in loss.items()})
    options = {"stop_on": "loss", "bleu_pairs": 0, "patience": 2}
    whole = _run(tmp_path / "whole", tiny, rows, **options)
    for stop in (7, 8, 13, None):
        last = _run(tmp_path / "parts", tiny, rows, **options, max_steps=stop, resume=True)
    assert (last.stopped, last.steps) == (whole.stopped, whole.steps) == ("patience", 25)
    first, second = (_place(tmp_path / name) | {"seconds": 0} for name in ("whole", "parts"))
    assert first == second
    assert _checkpoints(tmp_path / "whole") == _checkpoints(tmp_path / "parts")
    assert _kept(tmp_path / "parts") == 13  # seen by chance, and better than what came after
    assert _kept(tmp_path / "whole") == 15
