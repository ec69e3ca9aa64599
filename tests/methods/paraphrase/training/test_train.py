import json
import math
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gnomon.core.errors import DataError, FormatError, OutputError, UsageError
from gnomon.paraphrase.codes import CodeFacts
from gnomon.paraphrase.training import Recipe, SentencePair, fit, plan
from gnomon.paraphrase.training.training_pairs import hold_out

Rows = list[tuple[str, str]]


def _last(folder: Path) -> Path:
    """The last checkpoint of a run."""
    every = (folder / "training").glob("checkpoint-*")
    return max(every, key=lambda one: int(one.name.removeprefix("checkpoint-")))


def _weights(folder: Path) -> dict[str, bytes]:
    """The weights and Adam's moments of the last checkpoint."""
    import torch
    from safetensors.numpy import load_file

    found = load_file(_last(folder) / "model.safetensors")
    moments = torch.load(_last(folder) / "optimizer.pt", weights_only=True)["state"]
    return {
        **{name: value.tobytes() for name, value in found.items()},
        **{f"{i}/{slot}": v.numpy().tobytes() for i, m in moments.items() for slot, v in m.items()},
    }


def _pairs(rows: Rows, codes: int = 0) -> list[SentencePair]:
    return [SentencePair(a, b, i % codes if codes else None) for i, (a, b) in enumerate(rows)]


@pytest.fixture(scope="module")
def two_steps(
    tmp_path_factory: pytest.TempPathFactory, tiny: dict[str, object], rows: Rows
) -> Path:
    """A run of two steps, to copy."""
    folder = tmp_path_factory.mktemp("two-steps")
    fit(_pairs(rows), folder, recipe=Recipe(**tiny, max_steps=2), device="cpu")  # type: ignore[arg-type]  # plain options
    return folder


@pytest.fixture
def short_run(two_steps: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(two_steps, tmp_path / "run"))


@pytest.mark.verify
def test_a_run_killed_and_resumed_gives_the_same_weights(
    tmp_path: Path, tiny: dict[str, object], rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = Recipe(**tiny, max_steps=18, accumulate=2)  # type: ignore[arg-type]  # plain options
    whole = fit(_pairs(rows), tmp_path / "whole", recipe=recipe, device="cpu")
    assert whole.epochs >= 1

    from gnomon.paraphrase.training.trainer import ParaphraseTrainer

    step = ParaphraseTrainer.training_step
    calls = 0

    def dying(*given: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls in {13, 20}:
            raise KeyboardInterrupt
        return step(*given, **options)

    monkeypatch.setattr(ParaphraseTrainer, "training_step", dying)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            fit(_pairs(rows), tmp_path / "parts", recipe=recipe, device="cpu", resume=True)
    again = fit(_pairs(rows), tmp_path / "parts", recipe=recipe, device="cpu", resume=True)
    assert (again.steps, again.loss) == (whole.steps, whole.loss)
    assert _weights(tmp_path / "parts") == _weights(tmp_path / "whole")
    best = "model.safetensors"
    assert (tmp_path / "parts" / best).read_bytes() == (tmp_path / "whole" / best).read_bytes()


@pytest.mark.verify
def test_a_run_stopped_by_a_limit_goes_on_as_if_there_had_been_none(
    tmp_path: Path, tiny: dict[str, object], rows: Rows
) -> None:
    recipe = Recipe(**tiny, max_steps=16)  # type: ignore[arg-type]  # plain options
    fit(_pairs(rows), tmp_path / "whole", recipe=recipe, device="cpu")
    short = replace(recipe, max_steps=6)
    fit(_pairs(rows), tmp_path / "parts", recipe=short, device="cpu")
    fit(_pairs(rows), tmp_path / "parts", recipe=recipe, device="cpu", resume=True)
    assert _weights(tmp_path / "parts") == _weights(tmp_path / "whole")


def _loss_by_transformers(folder: Path, pairs: list[SentencePair]) -> float:
    """In nats per piece, pair by pair."""
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    total = pieces = 0.0
    for pair in pairs:
        code = [] if pair.code is None else [f"<code:{pair.code}>"]
        ids = tokenizer.convert_tokens_to_ids(code) + tokenizer(pair.target)["input_ids"]
        with torch.inference_mode():
            source = tokenizer(pair.source, return_tensors="pt")
            loss = model(**source, labels=torch.tensor([ids])).loss
        total, pieces = total + float(loss) * len(ids), pieces + len(ids)
    return total / pieces


def test_transformers_loads_the_model_and_gets_its_validation_loss(
    tmp_path: Path, tiny: dict[str, object], rows: Rows
) -> None:
    recipe = Recipe(**tiny, max_steps=8, stop_on="loss")  # type: ignore[arg-type]  # plain options
    done = fit(_pairs(rows, 4), tmp_path, recipe=recipe, codes=CodeFacts("random", 4, "abc"))
    dev = hold_out(_pairs(rows, 4), recipe.dev, recipe.seed)[1]
    assert _loss_by_transformers(tmp_path, dev) == pytest.approx(done.loss, rel=1e-5)


@pytest.mark.verify
def test_two_processes_train_one_model_and_measure_it_exactly(
    tmp_path: Path, tiny: dict[str, object], rows: Rows
) -> None:
    file, folder = tmp_path / "pairs.tsv", tmp_path / "model"
    file.write_text("".join(f"{a}\t{b}\n" for a, b in rows), encoding="utf-8")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2"]
    recipe = tmp_path / "recipe.toml"
    command += ["-m", "gnomon", "paraphrase", "train", str(recipe), "--pairs", str(file)]
    command += ["--save", str(folder), "--device", "cpu", "-f", "json", "--resume"]
    found = []
    for steps in (6, 12):
        settings = {**tiny, "stop_on": "loss", "max_steps": steps}
        lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items())
        recipe.write_text(lines, encoding="utf-8")
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        found.append(json.loads(done.stdout)["rows"][0])
    assert [row["steps"] for row in found] == [6, 12]
    dev = hold_out(_pairs(rows), 10, Recipe().seed)[1]
    assert _loss_by_transformers(folder, dev) == pytest.approx(found[1]["loss"], rel=1e-5)


def test_the_model_says_what_it_was_made_of(
    tmp_path: Path, tiny: dict[str, object], rows: Rows
) -> None:
    recipe = Recipe(**tiny, max_steps=5)  # type: ignore[arg-type]  # plain options
    codes = CodeFacts("semantic", 4, "abc")
    fit(_pairs(rows, 4), tmp_path, recipe=recipe, codes=codes)
    about = json.loads((tmp_path / "gnomon-paraphraser.json").read_text(encoding="utf-8"))
    assert about["format"] == 1
    assert about["codes"] == {"kind": "semantic", "count": 4, "identity": "abc"}
    assert about["data"]["pairs"] == len(rows)
    assert about["recipe"]["dimensions"] == 16
    assert about["steps"] in {4, 5}


def test_training_lowers_the_loss_and_keeps_the_last_checkpoint(
    tmp_path: Path, tiny: dict[str, object], rows: Rows
) -> None:
    options = {**tiny, "dimensions": 32, "learning_rate": 1e-2, "validate_every": 15}
    recipe = Recipe(**options, max_steps=75, stop_on="loss")  # type: ignore[arg-type]  # plain options
    done = fit(_pairs(rows), tmp_path, recipe=recipe)
    state = json.loads((_last(tmp_path) / "trainer_state.json").read_text(encoding="utf-8"))
    losses = [one["eval_loss"] for one in state["log_history"] if "eval_loss" in one]
    assert len(losses) == 5
    assert done.loss <= min(losses)
    assert done.loss < 0.5 * losses[0]
    assert len(list((tmp_path / "training").glob("checkpoint-*"))) == 1


def test_the_callers_random_numbers_are_left_alone(
    tmp_path: Path, tiny: dict[str, object], rows: Rows
) -> None:
    import random

    import numpy as np
    import torch

    def states() -> tuple[object, ...]:
        return random.getstate(), np.random.get_state()[1].tobytes(), torch.get_rng_state().tolist()  # type: ignore[index]  # noqa: NPY002  # what is left alone

    before = states()
    fit(_pairs(rows), tmp_path, recipe=Recipe(**tiny, max_steps=2))  # type: ignore[arg-type]  # plain options
    assert states() == before


@pytest.mark.verify
def test_plan_counts_what_training_does(
    tmp_path: Path, tiny: dict[str, object], rows: Rows
) -> None:
    from transformers import AutoModelForSeq2SeqLM

    recipe = Recipe(**tiny, epochs=1)  # type: ignore[arg-type]  # plain options
    found = plan(_pairs(rows), recipe=recipe)
    done = fit(_pairs(rows), tmp_path, recipe=recipe)
    weights = AutoModelForSeq2SeqLM.from_pretrained(tmp_path).named_parameters()
    learnt = (one for name, one in weights if "embed_positions" not in name)  # these are computed
    assert found.steps == done.steps
    assert found.parameters == sum(one.numel() for one in learnt)
    assert found.pairs + found.dev + found.too_long == len(rows)


def test_a_pass_holds_each_pair_once_in_an_order_of_its_own(tiny: dict[str, object]) -> None:
    from gnomon.paraphrase.training.trainer import PassOrder

    lengths = [i % 11 + 1 for i in range(200)]
    orders = []
    for seed, number in [(0, 0), (0, 0), (0, 1), (1, 0)]:
        order = PassOrder(lengths, 8, seed)
        order.set_epoch(number)
        orders.append(list(order))
        assert sorted(orders[-1]) == list(range(200))
        widths = [{lengths[i] for i in orders[-1][n : n + 8]} for n in range(0, 200, 8)]
        assert sum(map(len, widths)) < 3 * len(widths)  # of 11 lengths
    assert orders[0] == orders[1]
    assert orders[0] not in orders[2:]


@pytest.mark.verify
@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_mixed_precision_trains_or_says_why_not(
    tmp_path: Path, tiny: dict[str, object], rows: Rows, precision: str
) -> None:
    recipe = Recipe(**tiny, max_steps=2, precision=precision)  # type: ignore[arg-type]  # plain options
    if precision == "fp16":
        with pytest.raises(UsageError, match="'fp16' is for GPUs; take bf16"):
            fit(_pairs(rows), tmp_path, recipe=recipe, device="cpu")
        assert not list(tmp_path.iterdir())
        return
    done = fit(_pairs(rows), tmp_path / "half", recipe=recipe, device="cpu")
    plain = replace(recipe, precision="fp32")
    full = fit(_pairs(rows), tmp_path / "full", recipe=plain, device="cpu")
    assert done.loss != full.loss
    assert done.loss == pytest.approx(full.loss, rel=0.02)


@pytest.mark.verify
def test_label_smoothing_and_accumulation_do_not_change_what_validation_measures(
    tmp_path: Path, tiny: dict[str, object], rows: Rows
) -> None:
    recipe = Recipe(**tiny, max_steps=1, learning_rate=1e-9)  # type: ignore[arg-type]  # plain options
    losses = [
        fit(_pairs(rows), tmp_path / str(i), recipe=replace(recipe, **more)).loss  # type: ignore[arg-type]  # plain options
        for i, more in enumerate([{}, {"label_smoothing": 0.5}, {"accumulate": 3}])
    ]
    assert losses == pytest.approx([losses[0]] * 3, rel=1e-5)


def test_a_device_that_is_not_there_is_refused_before_anything_is_written(
    tmp_path: Path, tiny: dict[str, object], rows: Rows
) -> None:
    for device in ("cuda:1", "tpu"):
        with pytest.raises(UsageError, match="runs on 'cpu' or 'cuda'"):
            fit(_pairs(rows), tmp_path, recipe=Recipe(**tiny), device=device)  # type: ignore[arg-type]  # plain options
    assert not list(tmp_path.iterdir())


def test_an_infinite_loss_ends_training(
    tmp_path: Path, tiny: dict[str, object], rows: Rows
) -> None:
    recipe = Recipe(**{**tiny, "warmup": 1}, max_steps=20, learning_rate=1e30)  # type: ignore[arg-type]  # plain options
    with pytest.raises(DataError, match="training has gone astray; take a lower learning rate"):
        fit(_pairs(rows), tmp_path, recipe=recipe, device="cpu")


def test_no_file_of_a_run_can_run_code(
    short_run: Path, tiny: dict[str, object], rows: Rows
) -> None:
    import torch

    assert not list(short_run.rglob("*.bin"))
    for name in ("optimizer.pt", "scheduler.pt"):
        torch.load(_last(short_run) / name, weights_only=True)

    class Hostile:
        def __reduce__(self) -> tuple[object, ...]:
            return exec, ("raise SystemExit",)

    torch.save(Hostile(), _last(short_run) / "optimizer.pt")
    with pytest.raises(DataError, match="checkpoint-2 cannot be used"):
        fit(
            _pairs(rows),
            short_run,
            recipe=Recipe(**tiny, max_steps=4),  # type: ignore[arg-type]  # plain options
            device="cpu",
            resume=True,
        )


def test_a_run_that_is_over_is_left_as_it_is(
    tmp_path: Path, tiny: dict[str, object], rows: Rows
) -> None:
    recipe = Recipe(**tiny, max_steps=3)  # type: ignore[arg-type]  # plain options
    done = fit(_pairs(rows), tmp_path, recipe=recipe, device="cpu")
    before = _weights(tmp_path)
    again = fit(_pairs(rows), tmp_path, recipe=recipe, device="cpu", resume=True)
    assert (again.steps, again.loss) == (done.steps, done.loss)
    assert _weights(tmp_path) == before


@pytest.mark.verify
def test_a_checkpoint_that_was_cut_off_is_passed_over(
    tmp_path: Path, tiny: dict[str, object], rows: Rows
) -> None:
    recipe = Recipe(**tiny, max_steps=10)  # type: ignore[arg-type]  # plain options
    fit(_pairs(rows), tmp_path / "whole", recipe=recipe, device="cpu")
    fit(_pairs(rows), tmp_path / "cut", recipe=replace(recipe, max_steps=5), device="cpu")
    (tmp_path / "cut" / "training" / "checkpoint-7").mkdir()
    fit(_pairs(rows), tmp_path / "cut", recipe=recipe, device="cpu", resume=True)
    assert _weights(tmp_path / "cut") == _weights(tmp_path / "whole")
    assert not (tmp_path / "cut" / "training" / "checkpoint-7").exists()


def test_a_folder_with_a_run_is_not_overwritten(
    short_run: Path, tiny: dict[str, object], rows: Rows
) -> None:
    recipe = Recipe(**tiny, max_steps=2)  # type: ignore[arg-type]  # plain options
    with pytest.raises(UsageError, match="holds a run; go on with it"):
        fit(_pairs(rows), short_run, recipe=recipe)
    with pytest.raises(DataError, match=r"other recipe: dropout 0\.1, now 0\.3; give"):
        fit(_pairs(rows), short_run, recipe=replace(recipe, dropout=0.3), resume=True)
    with pytest.raises(DataError, match="other data"):
        fit(_pairs(rows[:-1]), short_run, recipe=recipe, resume=True)


@pytest.mark.parametrize(
    "name", ["model.safetensors", "optimizer.pt", "rng_state.pth", "trainer_state.json"]
)
def test_a_damaged_checkpoint_is_named(
    short_run: Path, tiny: dict[str, object], rows: Rows, name: str
) -> None:
    recipe = Recipe(**tiny, max_steps=4)  # type: ignore[arg-type]  # plain options
    state = _last(short_run) / name
    state.write_bytes(state.read_bytes()[:100])
    with pytest.raises(DataError, match=r"checkpoint-2 cannot be used.*; delete it"):
        fit(_pairs(rows), short_run, recipe=recipe, resume=True)


def test_a_damaged_description_is_named(
    tmp_path: Path, tiny: dict[str, object], rows: Rows
) -> None:
    recipe = Recipe(**tiny, max_steps=1)  # type: ignore[arg-type]  # plain options
    fit(_pairs(rows), tmp_path, recipe=recipe)
    for name, text in (("gnomon-paraphraser.json", "{}"), ("training/run.json", "[" * 100_000)):
        (tmp_path / name).write_text(text, encoding="utf-8")
        with pytest.raises(FormatError, match=f"{name}: .*; train into another folder"):
            fit(_pairs(rows), tmp_path, recipe=recipe, resume=True)


def test_held_out_pairs_that_are_all_too_long_are_refused(
    tiny: dict[str, object], rows: Rows
) -> None:
    dev = set(hold_out(_pairs(rows), 10, Recipe().seed)[1])
    long = [pair._replace(target=pair.target * 9) if pair in dev else pair for pair in _pairs(rows)]
    with pytest.raises(DataError, match="all 10 pairs that are held out have more pieces"):
        plan(long, recipe=Recipe(**tiny, limit=90))  # type: ignore[arg-type]  # plain options


def test_a_folder_that_cannot_be_made_is_named(
    tmp_path: Path, tiny: dict[str, object], rows: Rows
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(OutputError, match="cannot write"):
        fit(_pairs(rows), tmp_path / "file" / "model", recipe=Recipe(**tiny))  # type: ignore[arg-type]  # plain options


def test_a_full_disk_leaves_the_last_checkpoint(
    tmp_path: Path, tiny: dict[str, object], rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno
    import os
    import shutil

    recipe = Recipe(**tiny, max_steps=4)  # type: ignore[arg-type]  # plain options
    fit(_pairs(rows), tmp_path, recipe=recipe)
    before = _weights(tmp_path)

    import torch

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(torch, "save", full)
        with pytest.raises(OutputError, match=r"No space left|full"):
            fit(_pairs(rows), tmp_path, recipe=replace(recipe, max_steps=9), resume=True)
    shutil.rmtree(_last(tmp_path))
    assert _weights(tmp_path) == before


@pytest.mark.parametrize(
    ("codes", "kind", "said"),
    [
        (4, None, "pair 1 has a code"),
        (0, CodeFacts("random", 4, "abc"), "pair 1 has no code"),
        (4, CodeFacts("random", 3, "abc"), "pair 4 has code 3, and codes go from 0 to 2"),
    ],
)
def test_codes_must_fit(
    tiny: dict[str, object], rows: Rows, codes: int, kind: CodeFacts | None, said: str
) -> None:
    with pytest.raises(DataError, match=said):
        plan(_pairs(rows, codes), recipe=Recipe(**tiny), codes=kind)  # type: ignore[arg-type]  # plain options


@pytest.mark.parametrize(
    "bad",
    [
        {"dropout": 1.0},
        {"dimensions": 30, "heads": 4},
        {"batch_size": 0},
        {"learning_rate": math.nan},
        {"max_steps": 0},
        {"stop_on": "chrf"},
        {"precision": "fp8"},
        {"bleu_pairs": 0},
    ],
)
def test_recipes_that_make_no_sense_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        Recipe(**bad)  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "notes.txt"])
def test_a_folder_of_somebody_else_is_not_trained_into(tmp_path: Path, name: str) -> None:
    from gnomon.models.training_runs import open_run

    (tmp_path / name).write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="holds something else, and no run to go on with"):
        open_run(tmp_path, {}, resume=True)
    (tmp_path / "new" / "training").mkdir(parents=True)
    (tmp_path / "new" / "tokenizer.json").touch()  # a run that ended as it began
    assert not open_run(tmp_path / "new", {}, resume=True)
    assert [one.name for one in tmp_path.iterdir() if one.is_file()] == [name]
