"""A metric is trained on what people said: it learns, goes on, and is read by its folder."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.told import notes

import gnomon as gn
from gnomon.core.errors import DataError, FormatError, UnknownNameError, UsageError
from gnomon.core.human import HumanScores
from gnomon.core.testset import TestSet
from gnomon.learned import find_learned
from gnomon.metrics import parse
from gnomon.train.recipe import HeadRecipe

if TYPE_CHECKING:
    from collections.abc import Callable

    from gnomon.core.findings import Finding

_WORDS = ("the", "cat", "sat", "on", "mat", "dog", "house", "a", "unbelievable", "mats", "dogs")
_FILES = ("model.safetensors", "config.json", "tokenizer.json")
_QUICK = {
    "hidden_sizes": [16],
    "epochs": 40,
    "learning_rate": 3e-3,
    "resamples": 50,
    "device": "cpu",
    "dropout": 0.1,
    "held_out": 0.25,
}


def planted(segments: int = 60, systems: int = 3, *, kind: str = "da-z", seed: int = 3) -> TestSet:
    """Outputs that are worse the more of their words are not the reference's; people see that."""
    draw = np.random.default_rng(seed)
    references = [" ".join(draw.choice(_WORDS, 8).tolist()) for _ in range(segments)]
    outputs: dict[str, list[str]] = {}
    scores = np.zeros((systems, segments))
    for system in range(systems):
        texts = []
        for segment, reference in enumerate(references):
            words, wrong = reference.split(), int(draw.integers(0, 7))
            for place in draw.permutation(8)[:wrong].tolist():
                words[place] = "zxqj"
            scores[system, segment] = -wrong + draw.normal(0, 0.2)
            texts.append(" ".join(words))
        outputs[f"system{system}"] = texts
    human = HumanScores(kind, "segment", tuple(outputs), scores)
    return TestSet(
        name="planted",
        references={"A": references},
        systems=outputs,
        sources=[f"source {number} {text[::-1]}" for number, text in enumerate(references)],
        language_pair="xx-en",
        human=(human,),
    )


@pytest.fixture(scope="module")
def made(
    tiny_model: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Finding, TestSet]:
    """A metric, what its training reported, and what it was trained on."""
    folder = tmp_path_factory.mktemp("trained") / "metric"
    testset = planted()
    finding = gn.train.metric(
        testset, save=folder, encoder=str(tiny_model), inputs="reference", **_QUICK
    )
    return folder, finding, testset


def _bytes(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in _FILES}


def test_a_planted_signal_is_learnt_and_seen_in_new_texts(
    made: tuple[Path, Finding, TestSet],
) -> None:
    folder, finding, _ = made
    row = finding.table("held_out").rows[0]
    assert 0.3 < row["pearson_low"] < row["pearson"] < row["pearson_high"] <= 1
    new = planted(40, seed=11)
    scores = gn.score(new, f"comet('{folder}', device='cpu')")
    assert gn.stats.pearson(new.human_scores("da-z"), scores.segments) > 0.4


def test_turned_scores_teach_the_contrary(tiny_model: Path, tmp_path: Path) -> None:
    testset = planted()
    human = replace(testset.human[0], values=-testset.human_scores("da-z"))
    gn.train.metric(
        replace(testset, human=(human,)),
        save=tmp_path / "m",
        encoder=str(tiny_model),
        inputs="reference",
        **_QUICK,
    )
    new = planted(40, seed=11)
    scores = gn.score(new, f"comet('{tmp_path / 'm'}', device='cpu')")
    assert gn.stats.pearson(new.human_scores("da-z"), scores.segments) < -0.4


def test_the_report_holds_the_curve_the_sets_and_what_stands_beside(
    made: tuple[Path, Finding, TestSet],
) -> None:
    folder, finding, testset = made
    (row,) = finding.rows
    curve = finding.table("curve").rows
    assert [one["number"] for one in curve] == list(range(row["passes"] + 1))
    assert max(one["pearson"] for one in curve) == curve[row["best"]]["pearson"]
    held = {one["metric"]: one for one in finding.table("held_out").rows}
    assert list(held) == [f"comet('{folder}')", "chrf", "length of the output"]
    own = held[f"comet('{folder}')"]["pearson"]
    assert held["chrf"]["difference"] == pytest.approx(own - held["chrf"]["pearson"])
    (learnt,) = finding.table("sets").rows
    assert learnt["outputs"] + learnt["held_out"] == testset.human_scores("da-z").size
    assert any("what was held out" in str(one) for one in finding.verdict)


def test_what_stands_beside_is_that_metric_on_the_very_outputs_that_are_held_out(
    made: tuple[Path, Finding, TestSet],
) -> None:
    from gnomon.train.judged import judged_outputs

    _, finding, testset = made
    data = judged_outputs([testset], HeadRecipe(inputs="reference", held_out=0.25, seed=12345))
    _, system, segment = data.output[data.held_out].T
    chrf = gn.score(testset, "chrf").segments[system, segment]
    expected = gn.stats.pearson(testset.human_scores("da-z")[system, segment], chrf)
    found = {one["metric"]: one["pearson"] for one in finding.table("held_out").rows}
    assert found["chrf"] == pytest.approx(expected)


def test_a_folder_scores_the_same_in_another_process_as_in_training(
    made: tuple[Path, Finding, TestSet], tmp_path: Path
) -> None:
    folder, finding, testset = made
    spec = f"comet('{folder}', device='cpu')"
    here = gn.score(testset, spec).segments
    program = (
        "import sys, json, gnomon as gn\n"
        "from gnomon.core.testset import TestSet\n"
        "refs, systems, sources = json.load(open(sys.argv[1]))\n"
        "ts = TestSet(name='t', references={'A': refs}, systems=systems, sources=sources)\n"
        "print(json.dumps(gn.score(ts, sys.argv[2]).segments.tolist()))\n"
    )
    data = [list(testset.references["A"]), {k: list(v) for k, v in testset.systems.items()}]
    (tmp_path / "texts.json").write_text(json.dumps([*data, list(testset.sources or ())]))
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "texts.json"), spec],
        capture_output=True,
        text=True,
        check=True,
    )
    # other texts beside them in a batch of the encoder change the last digits
    np.testing.assert_allclose(np.array(json.loads(done.stdout)), here, atol=1e-5, rtol=0)
    from gnomon.train.judged import judged_outputs

    data_ = judged_outputs([testset], HeadRecipe(inputs="reference", held_out=0.25, seed=12345))
    _, system, segment = data_.output[data_.held_out].T
    r = gn.stats.pearson(testset.human_scores("da-z")[system, segment], here[system, segment])
    assert r == pytest.approx(finding.table("held_out").rows[0]["pearson"], abs=1e-5)


def test_the_folder_tells_where_the_metric_comes_from(
    made: tuple[Path, Finding, TestSet], tiny_model: Path
) -> None:
    folder, finding, _ = made
    found = find_learned(str(folder))
    assert found.kind == "referenceless_regression_metric"
    assert found.settings["encoder_model"] == "BERT"
    assert found.origin["encoder"].startswith(tiny_model.name)
    assert found.licence == finding.rows[0]["licence"] == "unknown"
    about = json.loads((folder / "config.json").read_text())
    assert about["trained_on"][0]["test_set"] == "planted xx-en"
    assert parse(f"comet('{folder}')").needs == {"references"}


def test_a_metric_is_not_judged_by_what_it_was_trained_on(
    made: tuple[Path, Finding, TestSet],
) -> None:
    folder, _, testset = made
    spec = f"comet('{folder}', device='cpu')"
    part = testset.select(segments=range(20, 40))
    with pytest.raises(UsageError, match="was made with human scores"):
        gn.metaeval(part, spec, resamples=0)
    found = gn.metaeval(part, spec, resamples=0, allow_circular=True)
    assert any("CIRCULAR" in one for one in notes(found.notices))
    assert gn.metaeval(planted(20, seed=11), spec, resamples=0).rows


class _StopError(Exception):
    """Stands for a kill."""


def _stopping(at: int) -> Callable[[str, int, int], None]:
    def progress(stage: str, done: int, _: int) -> None:
        if stage == "training" and done == at:
            raise _StopError

    return progress


@pytest.mark.parametrize(
    "more",
    [pytest.param({"inputs": "both"}, marks=pytest.mark.verify), {"train_encoder": True}],
    ids=str,
)
def test_a_run_that_was_killed_goes_on_to_the_same_bytes(
    tiny_model: Path, tmp_path: Path, more: dict[str, Any]
) -> None:
    options = {**_QUICK, "epochs": 4, "encoder": str(tiny_model), **more}
    testset = planted(24)
    for folder in ("whole", "again"):
        gn.train.metric(testset, save=tmp_path / folder, **options)
    for at in (1, 3):
        with pytest.raises(_StopError):
            gn.train.metric(
                testset,
                save=tmp_path / "killed",
                resume=True,
                progress=_stopping(at),
                **options,
            )
    assert not (tmp_path / "killed" / "config.json").exists()
    found = gn.train.metric(testset, save=tmp_path / "killed", resume=True, **options)
    assert _bytes(tmp_path / "whole") == _bytes(tmp_path / "again") == _bytes(tmp_path / "killed")
    assert [one["number"] for one in found.table("curve").rows] == [0, 1, 2, 3, 4]


def test_the_encoder_learns_where_it_is_asked_to_and_its_embeddings_stay(
    tiny_model: Path, tmp_path: Path
) -> None:
    from safetensors.torch import load_file

    found = gn.train.metric(
        planted(24),
        save=tmp_path / "m",
        encoder=str(tiny_model),
        train_encoder=True,
        encoder_learning_rate=1e-3,
        layer_decay=0.5,
        **{**_QUICK, "epochs": 4},
    )
    before = load_file(tiny_model / "model.safetensors")
    after = load_file(tmp_path / "m" / "model.safetensors")
    moved = {
        name: float((after[f"encoder.model.{name}"] - one).abs().max())
        for name, one in before.items()
        if not name.startswith("pooler.")
    }
    assert all(one == 0 for name, one in moved.items() if name.startswith("embeddings."))
    layer = "encoder.layer.{}.attention.self.query.weight"
    if found.rows[0]["best"] > 1:  # the first pass is the head's alone
        top, bottom = moved[layer.format(2)], moved[layer.format(0)]
        assert 0 < bottom < top
    new = planted(20, seed=9)
    scores = gn.score(new, f"comet('{tmp_path / 'm'}', device='cpu')").segments
    assert np.isfinite(scores).all()


@pytest.mark.parametrize(
    ("inputs", "kind", "needs"),
    [
        ("both", "regression_metric", {"sources", "references"}),
        ("source", "referenceless_regression_metric", {"sources"}),
        ("source-alone", "sentinel_regression_metric", {"sources"}),
        ("output-alone", "sentinel_regression_metric", set()),
    ],
)
def test_what_a_metric_looks_at_is_chosen(
    tiny_model: Path, tmp_path: Path, inputs: str, kind: str, needs: set[str]
) -> None:
    testset, folder = planted(24), tmp_path / "m"
    options = {**_QUICK, "epochs": 2, "encoder": str(tiny_model)}
    gn.train.metric(testset, save=folder, inputs=inputs, layers="last", **options)
    assert find_learned(str(folder)).kind == kind
    assert parse(f"comet('{folder}')").needs == needs
    scores = gn.score(testset, f"comet('{folder}', device='cpu')").segments
    assert np.isfinite(scores).all()


def test_no_text_is_on_both_sides_of_what_is_held_out() -> None:
    from gnomon.train.judged import judged_outputs

    one = planted(40)
    documents = [f"d{number // 4}" for number in range(40)]
    sets = [
        replace(one, documents=documents),
        replace(planted(30, seed=4), sources=one.sources[:30]),
    ]
    data = judged_outputs(sets, HeadRecipe(held_out=0.25, seed=1))
    sources = [sets[t].sources[n] for t, _, n in data.output.tolist()]
    held = {text for text, out in zip(sources, data.held_out, strict=True) if out}
    kept = {text for text, out in zip(sources, data.held_out, strict=True) if not out}
    assert held
    assert not held & kept
    inside = [documents[n] for t, _, n in data.output.tolist() if t == 0]
    sides = dict(zip(inside, data.held_out, strict=False))
    assert all(sides[name] == out for name, out in zip(inside, data.held_out, strict=False))
    assert 0.15 < data.held_out.mean() < 0.4


def test_labels_have_mean_0_and_variance_1_within_each_set_and_kind() -> None:
    from gnomon.train.judged import judged_outputs

    scores = planted(40, kind="mqm").human[0]
    mqm = replace(scores, values=scores.values * 7 - 3)
    sets = [planted(40), replace(planted(40, seed=5), name="other", human=(mqm,))]
    data = judged_outputs(sets, HeadRecipe(held_out=0.25, held_out_by="segment", seed=1))
    for number, one in enumerate(data.sets):
        label = data.label[(data.judged == number) & ~data.held_out]
        assert (label.mean(), label.std()) == (pytest.approx(0, abs=1e-9), pytest.approx(1))
        assert one.kind == ("da-z", "mqm")[number]


def test_several_references_are_examples_of_one_output(tiny_model: Path, tmp_path: Path) -> None:
    from gnomon.train.judged import judged_outputs

    one = planted(30)
    second = [None if n % 2 else text for n, text in enumerate(one.references["A"])]
    two = replace(one, references={**one.references, "B": second})
    data = judged_outputs([two], HeadRecipe(held_out=0.25, held_out_by="segment", seed=1))
    assert (len(data.score), len(data.cell)) == (90, 135)
    assert data.cell_means(np.arange(135.0))[:2].tolist() == [0.5, 2.0]
    options = {**_QUICK, "epochs": 1, "encoder": str(tiny_model)}
    found = gn.train.metric(two, save=tmp_path / "m", **options)
    assert sum(row["outputs"] + row["held_out"] for row in found.table("sets").rows) == 90


def test_what_cannot_be_learnt_from_is_refused_with_what_there_is(tmp_path: Path) -> None:
    one, folder = planted(20), tmp_path / "m"
    system = HumanScores("da-z", "system", tuple(one.systems), np.zeros((3, 1)))
    with pytest.raises(DataError, match="scored no segments of it; there are: da-z of systems"):
        gn.train.metric(replace(one, human=(system,)), save=folder)
    with pytest.raises(DataError, match="scored no segments of it"):
        gn.train.metric([one, replace(one, human=())], save=folder)
    with pytest.raises(UnknownNameError, match="mqm"):
        gn.train.metric(one, save=folder, human="mqm")
    both = (*one.human, replace(one.human[0], kind="mqm"))
    with pytest.raises(DataError, match=r"several kinds .* \(da-z, mqm\); name those"):
        gn.train.metric(replace(one, human=both), save=folder)
    with pytest.raises(DataError, match="has no sources"):
        gn.train.metric(replace(one, sources=None), save=folder)
    with pytest.raises(DataError, match="has no references"):
        gn.train.metric(replace(one, references={}), save=folder, inputs="reference")
    flat = replace(one.human[0], values=np.ones((3, 20)))
    with pytest.raises(DataError, match="do not differ"):
        gn.train.metric(replace(one, human=(flat,)), save=folder, held_out=0.25)
    with pytest.raises(DataError, match="cannot be divided"):
        gn.train.metric(replace(one, documents=["one"] * 20), save=folder)
    with pytest.raises(UsageError, match="above 0 and below 1"):
        gn.train.metric(one, save=folder, held_out=1.0)
    with pytest.raises(UsageError, match="no test set"):
        gn.train.metric([], save=folder)
    assert not folder.exists()


def test_human_scores_may_come_from_a_file(tiny_model: Path, tmp_path: Path) -> None:
    one = planted(24)
    lines = ["system\tseg\tmqm"]
    for name, row in zip(one.systems, one.human_scores("da-z"), strict=True):
        lines += [f"{name}\t{n}\t{value:.3f}" for n, value in enumerate(row, start=1)]
    file = tmp_path / "xx-en.mqm.seg.tsv"
    file.write_text("\n".join(lines) + "\n")
    options = {**_QUICK, "epochs": 1, "encoder": str(tiny_model)}
    found = gn.train.metric(replace(one, human=()), save=tmp_path / "m", human=str(file), **options)
    assert [row["human"] for row in found.table("sets").rows] == ["mqm"]


def test_folders_that_hold_something_else_and_other_runs_are_refused(
    tiny_model: Path, tmp_path: Path
) -> None:
    options = {**_QUICK, "epochs": 1, "encoder": str(tiny_model)}
    other = tmp_path / "other"
    other.mkdir()
    (other / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="holds something else"):
        gn.train.metric(planted(20), save=other, **options)
    folder = tmp_path / "m"
    gn.train.metric(planted(20), save=folder, **options)
    with pytest.raises(UsageError, match="holds a run; go on with it"):
        gn.train.metric(planted(20), save=folder, **options)
    with pytest.raises(DataError, match="has another data"):
        gn.train.metric(planted(21), save=folder, resume=True, **options)
    with pytest.raises(DataError, match="has another recipe"):
        gn.train.metric(planted(20), save=folder, resume=True, **{**options, "dropout": 0.2})
    (folder / "training" / "state.safetensors").write_bytes(b"x")
    with pytest.raises(FormatError, match="no state of this run"):
        gn.train.metric(planted(20), save=folder, resume=True, **options)
    more = {**options, "epochs": 3}
    (folder / "training" / "state.safetensors").unlink()
    found = gn.train.metric(planted(20), save=folder, resume=True, **more)
    assert found.rows[0]["passes"] == 3


def test_the_command_trains_and_its_folder_is_a_metric(
    tiny_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from gnomon.cli import main

    one = planted(24)
    place = tmp_path / "set" / "xx-en"
    for name, texts in {"src": one.sources, "ref.A": one.references["A"]}.items():
        (place / "systems").mkdir(parents=True, exist_ok=True)
        (place / f"{name}.txt").write_text("\n".join(map(str, texts or ())) + "\n")
    for name, outputs in one.systems.items():
        (place / "systems" / f"{name}.txt").write_text("\n".join(outputs) + "\n")
    (place / "human").mkdir()
    rows = ["system\tseg\tz"]
    for name, row in zip(one.systems, one.human_scores("da-z"), strict=True):
        rows += [f"{name}\t{n}\t{value:.3f}" for n, value in enumerate(row, start=1)]
    (place / "human" / "da-z.seg.tsv").write_text("\n".join(rows) + "\n")
    folder, recipe = tmp_path / "metric", tmp_path / "recipe.toml"
    settings = ("held_out = 0.25", "inputs = 'reference'", "hidden_sizes = [16]", "epochs = 2")
    recipe.write_text("\n".join(settings), encoding="utf-8")
    code = main(
        ["train", "metric", str(recipe), "-t", str(place), "--human", "da-z",
         "--encoder", str(tiny_model), "--device", "cpu",
         "--save", str(folder), "-f", "json"]
    )  # fmt: skip
    assert code == 0
    said = json.loads(capsys.readouterr().out)
    assert said["rows"][0]["folder"] == str(folder)
    assert main(["score", "-t", str(place), "-m", f"comet('{folder}')", "-f", "json"]) == 0
