"""``gnomon muler correlate`` as a user meets it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from gnomon import TestSet

WORD = ["--features", "re:word", "--pattern", r"word=\b(?:cat|dog)\b"]


@pytest.fixture
def sets(tmp_path: Path) -> list[Path]:
    """Two test sets in directories, with years, architectures and a human submission."""
    draw = random.Random(3)
    words = ["the", "cat", "dog", "sat", "on", "a", "red", "mat"]
    paths = []
    for year in (18, 19):
        reference = [" ".join(draw.choices(words, k=7)) for _ in range(12)]
        outputs = {
            f"sys{k}": [
                " ".join(draw.choice(words) if draw.random() < k / 6 else w for w in line.split())
                for line in reference
            ]
            for k in range(1, 5)
        }
        path = tmp_path / f"wmt{year}" / "de-en"
        path.parent.mkdir()
        TestSet.from_lists(outputs, reference, language_pair="de-en", name=f"wmt{year}").write(path)
        (path / "systems.tsv").write_text(
            "system\tyear\tarchitecture\tconstrained\thuman\n"
            + "".join(
                f"sys{k}\t\t{'rnn' if k % 2 else 'transformer'}\tyes\t{'yes' if k == 4 else 'no'}\n"
                for k in range(1, 5)
            ),
            encoding="utf-8",
        )
        paths.append(path)
    return paths


def test_several_test_sets_are_correlated_alone_and_together(gnomon, sets) -> None:
    answer = gnomon("muler", "correlate", "-t", *sets, *WORD, "-f", "json", "-q")
    found = answer.json()
    assert (answer.code, found["command"]) == (0, "muler correlate")
    fields = "test_set metric variant feature against r low high p_corrected decided n segments"
    assert list(found["rows"][0]) == fields.split()
    assert list(dict.fromkeys(row["test_set"] for row in found["rows"])) == [
        "wmt18 de-en", "wmt19 de-en", "all systems", "all systems, centred",
    ]  # fmt: skip
    assert {row["against"] for row in found["rows"]} == {"bleu", "indices", "spread"}
    assert {row["n"] for row in found["rows"]} == {3, 6}
    assert "bleu" in found["signatures"]


def test_text_shows_n_in_each_cell_and_few_systems_in_parentheses(gnomon, sets) -> None:
    answer = gnomon("muler", "correlate", "-t", *sets, *WORD, "-w", "3", "-v")
    assert "fewer than 8 (n): no finding" in answer.out
    assert "human submissions are left out: sys4" in answer.out
    assert ") [6]" in answer.out
    assert ") [3]" in answer.out
    assert "Mean MuLER under BLEU, by architecture" in answer.out


def test_files_make_a_single_test_set(gnomon, files) -> None:
    answer = gnomon(
        "muler", "correlate", files / "ref.txt", "-i", files / "a.txt", files / "b.txt",
        "--features", "re:w", "--pattern", "w=[a-z]+", "-f", "json", "-q",
    )  # fmt: skip
    assert answer.code == 0
    assert len({row["test_set"] for row in answer.json()["rows"]}) == 1
    assert {row["n"] for row in answer.json()["rows"]} == {2}
    assert {row["r"] for row in answer.json()["rows"]} == {None}


def test_systems_of_ones_own_belong_to_one_test_set(gnomon, sets, files) -> None:
    answer = gnomon("muler", "correlate", "-t", *sets, "-i", files / "a.txt", *WORD)
    assert answer.code == 2
    assert "belong to one test set" in answer.err


def test_the_page_holds_plots_and_contrasts(gnomon, sets, tmp_path) -> None:
    page = tmp_path / "page.html"
    answer = gnomon(
        "muler", "correlate", "-t", *sets, *WORD, "--html", page, "--max-score-gap", "100",
        "-o", tmp_path / "out.txt",
    )  # fmt: skip
    assert answer.code == 0
    text = page.read_text(encoding="utf-8")
    assert "contrast under bleu, wmt18 de-en" in text
    assert "one point per system" in text


@pytest.mark.parametrize("form", ["latex", "markdown", "tsv"])
def test_every_format_is_written(gnomon, sets, form) -> None:
    answer = gnomon("muler", "correlate", "-t", sets[0], *WORD, "-f", form)
    assert answer.code == 0
    assert "re:word" in answer.out
