import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from gnomon.errors import DataError, FormatError, OutputError, UsageError
from gnomon.paraphrase.training import CodeKind, Pair, Recipe, plan, train
from gnomon.paraphrase.training import _loop as loop
from gnomon.paraphrase.training._batches import Encoded, batches

Rows = list[tuple[str, str]]


def _weights(folder: Path) -> dict[str, bytes]:
    from safetensors.numpy import load_file

    found = load_file(folder / "training" / "state.safetensors")
    return {name: value.tobytes() for name, value in found.items()}


def _pairs(rows: Rows, codes: int = 0) -> list[Pair]:
    return [Pair(a, b, i % codes if codes else None) for i, (a, b) in enumerate(rows)]


def test_a_run_killed_and_resumed_gives_the_same_weights(
    tmp_path: Path, tiny: dict[str, object], rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = Recipe(**tiny, max_steps=30, accumulate=2)  # type: ignore[arg-type]  # plain options
    whole = train(_pairs(rows), tmp_path / "whole", recipe=recipe, device="cpu")
    assert whole.epochs >= 1

    update = loop.Run._update
    calls = 0

    def dying(self: loop.Run, group: list[list[int]]) -> tuple[float, int]:
        nonlocal calls
        calls += 1
        if calls in {7, 12, 25}:
            raise KeyboardInterrupt
        return update(self, group)

    monkeypatch.setattr(loop.Run, "_update", dying)
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            train(_pairs(rows), tmp_path / "parts", recipe=recipe, device="cpu", resume=True)
    again = train(_pairs(rows), tmp_path / "parts", recipe=recipe, device="cpu", resume=True)
    assert (again.steps, again.tokens, again.loss) == (whole.steps, whole.tokens, whole.loss)
    assert _weights(tmp_path / "parts") == _weights(tmp_path / "whole")
    best = "model.safetensors"
    assert (tmp_path / "parts" / best).read_bytes() == (tmp_path / "whole" / best).read_bytes()


def test_a_run_stopped_by_a_limit_goes_on_as_if_there_had_been_none(
    tmp_path: Path, tiny: dict[str, object], rows: Rows
) -> None:
    recipe = Recipe(**tiny, max_steps=16)  # type: ignore[arg-type]  # plain options
    train(_pairs(rows), tmp_path / "whole", recipe=recipe, device="cpu")
    short = replace(recipe, max_steps=6)
    train(_pairs(rows), tmp_path / "parts", recipe=short, device="cpu")
    train(_pairs(rows), tmp_path / "parts", recipe=recipe, device="cpu", resume=True)
    assert _weights(tmp_path / "parts") == _weights(tmp_path / "whole")


def test_transformers_loads_the_model_and_gets_its_validation_loss(
    tmp_path: Path, tiny: dict[str, object], rows: Rows
) -> None:
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    from gnomon.paraphrase.training._selection import held_out

    recipe = Recipe(**tiny, max_steps=8, stop_on="loss")  # type: ignore[arg-type]  # plain options
    done = train(_pairs(rows, 4), tmp_path, recipe=recipe, codes=CodeKind("random", 4))
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    model = AutoModelForSeq2SeqLM.from_pretrained(tmp_path).eval()
    total = pieces = 0.0
    for pair in held_out(_pairs(rows, 4), recipe.dev, recipe.seed)[1]:
        code = tokenizer.convert_tokens_to_ids(f"<code:{pair.code}>")
        labels = torch.tensor([[code, *tokenizer(pair.target)["input_ids"]]])
        with torch.inference_mode():
            loss = model(**tokenizer(pair.source, return_tensors="pt"), labels=labels).loss
        total, pieces = total + float(loss) * labels.numel(), pieces + labels.numel()
    assert total / pieces == pytest.approx(done.loss, rel=1e-5)


def test_the_model_says_what_it_was_made_of(
    tmp_path: Path, tiny: dict[str, object], rows: Rows
) -> None:
    recipe = Recipe(**tiny, max_steps=5)  # type: ignore[arg-type]  # plain options
    codes = CodeKind("semantic", 4, "abc")
    train(_pairs(rows, 4), tmp_path, recipe=recipe, codes=codes)
    about = json.loads((tmp_path / "gnomon-paraphraser.json").read_text(encoding="utf-8"))
    assert about["format"] == 1
    assert about["codes"] == {"kind": "semantic", "count": 4, "identity": "abc"}
    assert about["data"]["pairs"] == len(rows)
    assert about["recipe"]["dimensions"] == 16
    assert about["steps"] in {4, 5}


def test_training_lowers_the_loss_and_the_mean_of_checkpoints_is_tried(
    tmp_path: Path, tiny: dict[str, object], rows: Rows
) -> None:
    options = {**tiny, "dimensions": 32, "learning_rate": 5e-3, "validate_every": 30}
    recipe = Recipe(**options, max_steps=150, average=3, stop_on="loss")  # type: ignore[arg-type]  # plain options
    done = train(_pairs(rows), tmp_path, recipe=recipe)
    lines = (tmp_path / "training" / "log.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
    losses = [json.loads(line)["loss"] for line in lines]
    assert done.loss == min(losses)
    assert done.loss < 0.5 * losses[0]
    assert json.loads(lines[-1])["what"] == "mean of 3 checkpoints"
    assert len(list((tmp_path / "training").glob("weights-*"))) == 3


def test_the_callers_random_numbers_are_left_alone(
    tmp_path: Path, tiny: dict[str, object], rows: Rows
) -> None:
    import torch

    before = torch.get_rng_state()
    train(_pairs(rows), tmp_path, recipe=Recipe(**tiny, max_steps=2))  # type: ignore[arg-type]  # plain options
    assert torch.equal(before, torch.get_rng_state())


def test_plan_counts_what_training_does(
    tmp_path: Path, tiny: dict[str, object], rows: Rows
) -> None:
    recipe = Recipe(**tiny, epochs=1)  # type: ignore[arg-type]  # plain options
    found = plan(_pairs(rows), recipe=recipe)
    done = train(_pairs(rows), tmp_path, recipe=recipe)
    assert (found.steps, found.tokens, found.parameters) == (
        done.steps,
        done.tokens,
        done.parameters,
    )
    assert found.pairs + found.dev + found.too_long == len(rows)


@pytest.mark.parametrize("seed", [None, (1, 2)])
def test_batches_hold_each_pair_once_within_the_budget(seed: tuple[int, int] | None) -> None:
    pairs = [Encoded([1] * (i % 7 + 1), [1] * (i % 11 + 1)) for i in range(200)]
    found = batches(pairs, 50, seed)
    assert sorted(i for batch in found for i in batch) == list(range(200))
    for batch in found:
        assert len(batch) * max(max(map(len, pairs[i])) for i in batch) <= 50


def test_another_seed_is_another_order_of_the_same_pairs() -> None:
    pairs = [Encoded([1] * (i % 7 + 1), [1] * (i % 11 + 1)) for i in range(200)]
    assert batches(pairs, 50, (0, 0)) == batches(pairs, 50, (0, 0))
    assert batches(pairs, 50, (0, 0)) != batches(pairs, 50, (0, 1))


def test_a_folder_with_a_run_is_not_overwritten(
    tmp_path: Path, tiny: dict[str, object], rows: Rows
) -> None:
    recipe = Recipe(**tiny, max_steps=2)  # type: ignore[arg-type]  # plain options
    train(_pairs(rows), tmp_path, recipe=recipe)
    with pytest.raises(UsageError, match="holds a run; go on with it"):
        train(_pairs(rows), tmp_path, recipe=recipe)
    with pytest.raises(DataError, match=r"other recipe: dropout 0\.1, now 0\.3; give"):
        train(_pairs(rows), tmp_path, recipe=replace(recipe, dropout=0.3), resume=True)
    with pytest.raises(DataError, match="other data"):
        train(_pairs(rows[:-1]), tmp_path, recipe=recipe, resume=True)


def test_a_damaged_checkpoint_is_named(tmp_path: Path, tiny: dict[str, object], rows: Rows) -> None:
    recipe = Recipe(**tiny, max_steps=2)  # type: ignore[arg-type]  # plain options
    train(_pairs(rows), tmp_path, recipe=recipe)
    state = tmp_path / "training" / "state.safetensors"
    state.write_bytes(state.read_bytes()[:1000])
    with pytest.raises(DataError, match=r"state\.safetensors cannot be used"):
        train(_pairs(rows), tmp_path, recipe=recipe, resume=True)


def test_a_damaged_description_is_named(
    tmp_path: Path, tiny: dict[str, object], rows: Rows
) -> None:
    recipe = Recipe(**tiny, max_steps=1)  # type: ignore[arg-type]  # plain options
    train(_pairs(rows), tmp_path, recipe=recipe)
    for name, text in (("gnomon-paraphraser.json", "{}"), ("training/run.json", '{"codes": n')):
        (tmp_path / name).write_text(text, encoding="utf-8")
        with pytest.raises(FormatError, match=f"{name}: .*; train into another folder"):
            train(_pairs(rows), tmp_path, recipe=recipe, resume=True)


def test_held_out_pairs_that_are_all_too_long_are_refused(
    tiny: dict[str, object], rows: Rows
) -> None:
    from gnomon.paraphrase.training._selection import held_out

    dev = set(held_out(_pairs(rows), 10, 0)[1])
    long = [pair._replace(target=pair.target * 9) if pair in dev else pair for pair in _pairs(rows)]
    with pytest.raises(DataError, match="all 10 pairs that are held out have more pieces"):
        plan(long, recipe=Recipe(**tiny, limit=90))  # type: ignore[arg-type]  # plain options


def test_a_folder_that_cannot_be_made_is_named(
    tmp_path: Path, tiny: dict[str, object], rows: Rows
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(OutputError, match="cannot write"):
        train(_pairs(rows), tmp_path / "file" / "model", recipe=Recipe(**tiny))  # type: ignore[arg-type]  # plain options


def test_a_full_disk_leaves_the_last_checkpoint(
    tmp_path: Path, tiny: dict[str, object], rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno
    import os

    recipe = Recipe(**tiny, max_steps=4)  # type: ignore[arg-type]  # plain options
    train(_pairs(rows), tmp_path, recipe=recipe)
    before = _weights(tmp_path)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OutputError, match=r"No space left|full"):
            train(_pairs(rows), tmp_path, recipe=replace(recipe, max_steps=9), resume=True)
    assert _weights(tmp_path) == before


@pytest.mark.parametrize(
    ("codes", "kind", "said"),
    [
        (4, None, "pair 1 has a code"),
        (0, CodeKind("random", 4), "pair 1 has no code"),
        (4, CodeKind("random", 3), "pair 4 has code 3, and codes go from 0 to 2"),
    ],
)
def test_codes_must_fit(
    tiny: dict[str, object], rows: Rows, codes: int, kind: CodeKind | None, said: str
) -> None:
    with pytest.raises(DataError, match=said):
        plan(_pairs(rows, codes), recipe=Recipe(**tiny), codes=kind)  # type: ignore[arg-type]  # plain options


@pytest.mark.parametrize(
    "bad",
    [
        {"dropout": 1.0},
        {"dimensions": 30, "heads": 4},
        {"batch_tokens": 0},
        {"learning_rate": math.nan},
        {"max_steps": 0},
        {"stop_on": "chrf"},
        {"bleu_pairs": 0},
    ],
)
def test_recipes_that_make_no_sense_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        Recipe(**bad)  # type: ignore[arg-type]  # wrong on purpose
