"""``gnomon difficulty``: both commands as a user runs them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.methods.difficulty.sets import contest

SCORE = ("system", "metric", "score", "base_score", "rank", "base_rank")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A test set of ten systems with human scores."""
    path = tmp_path_factory.mktemp("difficulty") / "de-en"
    contest().write(path)
    return path


def test_score_prints_one_table_and_who_is_on_top(gnomon: Callable, folder: Path) -> None:
    answer = gnomon("difficulty", "score", "-t", folder, "-m", "rouge1")
    assert answer.code == 0, answer.err
    assert "Scores with and without difficulty" in answer.out
    assert "with and without weights for hard words" in " ".join(answer.out.split())
    assert "pool:10#" in answer.out


def test_score_has_the_fields_of_the_contract_in_every_machine_format(
    gnomon: Callable, folder: Path
) -> None:
    start = ("difficulty", "score", "-t", folder, "-m", "rouge1", "-q")
    content = gnomon(*start, "-f", "json").json()
    assert content["command"] == "difficulty score"
    assert tuple(content["rows"][0]) == SCORE
    assert not content.get("tables")
    rows = list(csv.DictReader(io.StringIO(gnomon(*start, "-f", "tsv").out), delimiter="\t"))
    assert [row["system"] for row in rows] == [row["system"] for row in content["rows"]]
    assert "\\begin{tabular}" in gnomon(*start, "-f", "latex").out
    assert "| System" in gnomon(*start, "-f", "markdown").out


def test_words_prints_hard_words_and_who_has_them(
    gnomon: Callable, folder: Path, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    answer = gnomon("difficulty", "words", "-t", folder, "-m", "rouge1", "--html", page)
    assert answer.code == 0, answer.err
    for heading in ("Hardest words", "Who has the hard words"):
        assert heading in answer.out
    heading = re.search("<h1[^>]*>([^<]*)", page.read_text(encoding="utf-8"))[1]
    assert re.search(r"\S \(\S+\)$", heading)  # the test set is named, and once
    assert heading.count("(") == 1
    found = gnomon("difficulty", "words", "-t", folder, "-m", "rouge1", "-f", "json").json()
    assert list(found["rows"][0]) == [
        "word", "difficulty", "count", "segments", "similarity", "exact",
    ]  # fmt: skip
    assert list(found["tables"]) == ["systems"]
    wrong = gnomon("difficulty", "words", "-t", folder, "--min-count", "0")
    assert wrong.code == 2
    assert "a whole number, 1 or more" in wrong.err


def test_difficulties_are_saved_and_applied_to_a_new_system(
    gnomon: Callable, folder: Path, tmp_path: Path
) -> None:
    hard, new = tmp_path / "hard.npz", tmp_path / "new.txt"
    start = ("difficulty", "score", "-m", "rouge1", "-q")
    first = gnomon(*start, "-t", folder, "--save", hard, "-f", "json").json()
    new.write_bytes((folder / "systems" / "s4.txt").read_bytes())
    frozen = (
        "difficulty",
        "score",
        "-q",
        "-f",
        "json",
        "-m",
        f"difficulty(rouge1, frozen='{hard}')",
    )
    again = gnomon(*frozen, "-i", new, "--", folder / "ref.A.txt").json()
    expected = {row["system"]: row["score"] for row in first["rows"]}
    assert again["rows"][0]["score"] == pytest.approx(expected["s4"])
    other = gnomon(*frozen, "-i", new, "--", new)
    assert other.code == 1
    assert "are of other references" in other.err
    assert again["rows"][0]["system"] == "new"
    hard.write_bytes(b"broken")
    damaged = gnomon(*frozen, "-i", new, "--", folder / "ref.A.txt")
    assert damaged.code == 1
    assert "no file of difficulties" in damaged.err


def test_pools_are_rules_or_names(gnomon: Callable, folder: Path) -> None:
    start = ("difficulty", "score", "-t", folder, "-f", "json", "-m")
    named = gnomon(*start, "difficulty(rouge1, pool=['s1', 's2'])").json()
    (signature,) = named["signatures"].values()
    assert "chosen:2 systems by name" in signature
    best = gnomon(*start, "difficulty(rouge1, pool='top:4', by='bleu')")
    assert best.code == 0, best.err
    for pool, said in (
        ("['nobody']", "unknown system of the pool 'nobody'"),
        ("'top:0'", "names no pool"),
    ):
        answer = gnomon(*start, f"difficulty(rouge1, pool={pool})")
        assert answer.code == 2
        assert said in answer.err


def test_circular_figures_need_leave(gnomon: Callable, folder: Path) -> None:
    spec = "difficulty(rouge1, pool='top:4')"
    meta = gnomon("metaeval", "-t", folder, "-m", spec, "--resamples", 0)
    assert meta.code == 2
    assert "--allow-circular" in meta.err
    free = gnomon("metaeval", "-t", folder, "-m", spec, "--resamples", 0, "--allow-circular", "-v")
    assert free.code == 0, free.err
    assert "CIRCULAR" in free.out


def test_only_metrics_of_words_are_weighed(gnomon: Callable, folder: Path) -> None:
    whole = gnomon("difficulty", "words", "-t", folder, "-m", "random")
    assert whole.code == 2
    assert "weighs whole segments and tells no words" in whole.err
    ter = gnomon("difficulty", "words", "-t", folder, "-m", "ter")
    assert ter.code == 0, ter.err


def test_outputs_that_cannot_be_written_are_refused_before_any_work(
    gnomon: Callable, folder: Path
) -> None:
    answer = gnomon(
        "difficulty", "score", "-t", folder, "-m", "rouge1", "--save", "/nowhere/hard.npz"
    )
    assert answer.code == 1
    assert "/nowhere" in answer.err
