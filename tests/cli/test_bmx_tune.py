"""``gnomon bmx tune`` as a user meets it."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from gnomon import TestSet
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
    return main(["bmx", "tune", "-q", "--resamples", "20", *map(str, arguments)])


def test_several_test_sets_are_explained_and_each_is_judged_in_turn(sets, capsys, tmp_path):
    page = tmp_path / "page.html"
    assert run("-t", *sets, "-m", "chrf", "-f", "json", "--html", page) == 0
    told = json.loads(capsys.readouterr().out)
    assert {row["explainer"] for row in told["rows"]} == {"erasure"}
    assert [(row["data"], row["language_pair"]) for row in told["rows"]] == [
        ("in turn", None),
        ("in turn", "de-en"),
        ("in turn", "fi-en"),
    ]
    assert None not in [row["over_control"] for row in told["rows"]]
    assert list(told["tables"]) == ["curve"]
    assert "Correlation over p" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("named", ["fi-en", "wmt30/fi-en", "path"])
def test_one_test_set_is_held_back_from_the_choice(sets, named, capsys):
    back = sets[1] if named == "path" else named
    assert run("-t", *sets, "-m", "chrf", "--rule", "median", "--test-on", back, "-f", "json") == 0
    told = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["data"], row["language_pair"]) for row in told] == [
        ("held back", None),
        ("held back", "fi-en"),
    ]
    assert told[0]["p"] == told[1]["p"]


def test_a_set_that_is_not_there_is_refused_with_those_that_are(sets, capsys):
    assert run("-t", *sets, "-m", "chrf", "--test-on", "wmt30/fo-en") == 2
    assert "did you mean 'wmt30/fi-en'?" in capsys.readouterr().err


def test_several_explainers_metrics_and_a_sample(sets, capsys):
    options = ("-m", "chrf", "bleu", "--explainers", "erasure", "lime(samples=10)")
    assert run("-t", sets[0], *options, "--sample", 12, "--sides", "candidate", "-f", "json") == 0
    told = json.loads(capsys.readouterr().out)
    assert {row["explainer"] for row in told["rows"]} == {"erasure", "lime(samples=10)"}
    assert {row["sides"] for row in told["rows"]} == {"candidate"}


def test_text_shows_gains_and_notices(sets, capsys):
    assert run("-t", sets[0], "-m", "chrf", "-v") == 0
    shown = capsys.readouterr().out
    assert "Gains where p and w were not chosen" in shown
    assert "halves" in shown
    assert "one test set alone" in shown
