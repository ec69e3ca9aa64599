"""``gnomon bmx tune`` as a user meets it."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from gnomon import TestSet, bmx
from gnomon.cli import main

WORDS = ["the", "red", "cat", "sat", "on", "a", "mat", "near", "the", "door", "of", "my", "house"]


@pytest.fixture
def sets(tmp_path: Path) -> list[Path]:
    """Two test sets whose systems drop words, and people who count them."""
    draw, paths = random.Random(0), []
    for pair in ("de-en", "fi-en"):
        path = tmp_path / "wmt30" / pair
        path.parent.mkdir(exist_ok=True)
        kept = {name: [draw.randint(4, 13) for _ in range(15)] for name in ("a", "b")}
        systems = {name: [" ".join(WORDS[:k]) for k in some] for name, some in kept.items()}
        references = [" ".join(WORDS)] * 15
        TestSet.from_lists(systems, references, language_pair=pair, name="wmt30").write(path)
        rows = [
            f"{name}\t{i + 1}\t{k + draw.random()}"
            for name, some in kept.items()
            for i, k in enumerate(some)
        ]
        (path / "human").mkdir()
        table = "\n".join(["system\tseg\tesa", *rows, ""])
        (path / "human" / "esa.seg.tsv").write_text(table, encoding="utf-8")
        paths.append(path)
    return paths


def run(*arguments: object) -> int:
    return main(["bmx", "tune", "-q", "--splits", "1", "--resamples", "20", *map(str, arguments)])


def test_test_sets_are_explained_and_tuned(sets, capsys, tmp_path):
    page, grids = tmp_path / "page.html", tmp_path / "grids.npz"
    options = ("-m", "chrf", "-f", "json", "--html", page, "--save-grids", grids)
    assert run("-t", *sets, *options) == 0
    told = json.loads(capsys.readouterr().out)
    assert {row["explainer"] for row in told["rows"]} == {"erasure"}
    held_out = [row for row in told["rows"] if row["rule"] == "held-out"]
    assert [row["over_control"] is None for row in held_out] == [False]
    assert "Correlation over p" in page.read_text(encoding="utf-8")
    assert [str(one) for one in bmx.read_grids(grids).experiments] == [
        f"wmt30 {pair} chrf {explainer}"
        for pair in ("de-en", "fi-en")
        for explainer in ("erasure", "random")
    ]


def test_saved_grids_are_tuned_again_and_give_the_same(sets, capsys, tmp_path):
    grids = tmp_path / "grids.npz"
    assert run("-t", *sets, "-m", "chrf", "-f", "json", "--save-grids", grids) == 0
    first = json.loads(capsys.readouterr().out)["rows"]
    assert run("--grids", grids, "-f", "json") == 0
    again = json.loads(capsys.readouterr().out)["rows"]
    assert [row["mean_gain"] for row in first] == [row["mean_gain"] for row in again]
    assert run("--grids", grids, "--only", "language_pair=fi-en", "-f", "json") == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["chosen_from"] == 1


def test_several_explainers_metrics_and_a_sample(sets, capsys):
    options = ("-m", "chrf", "bleu", "--explainers", "erasure", "lime(samples=10)")
    assert run("-t", sets[0], *options, "--sample", 12, "--sides", "candidate", "-f", "json") == 0
    told = json.loads(capsys.readouterr().out)
    assert {row["explainer"] for row in told["rows"]} == {"erasure", "lime(samples=10)"}
    assert {row["sides"] for row in told["rows"]} == {"candidate"}


def test_text_shows_settings_experiments_and_notices(sets, capsys):
    assert run("-t", sets[0], "-m", "chrf") == 0
    shown = capsys.readouterr().out
    assert "Settings by rule" in shown
    assert "wmt30 de-en chrf erasure" in shown
    assert "one language pair alone" in shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--grids", "x.npz", "-t", "y"), "leave out the data"),
        (("-t", "y", "--only", "sides=both"), "--only goes with grids"),
        (("--grids", "x.npz"), "no grids at x.npz"),
    ],
)
def test_requests_that_contradict_themselves_are_refused(arguments, said, capsys):
    assert run(*arguments) > 0
    assert said in capsys.readouterr().err


def test_what_only_names_must_be_there(sets, capsys, tmp_path):
    grids = tmp_path / "grids.npz"
    run("-t", sets[0], "-m", "chrf", "--save-grids", grids)
    with pytest.raises(SystemExit):
        run("--grids", grids, "--only", "sides")
    assert "FACTOR=NAME" in capsys.readouterr().err
    assert run("--grids", grids, "--only", "metrics=bleu") == 2
    assert "did you mean 'metric'" in capsys.readouterr().err
    assert run("--grids", grids, "--only", "metric=chrf,chfr") == 2
    said = capsys.readouterr().err
    assert "unknown metric of the experiments 'chfr'; did you mean 'chrf'?" in said
