"""``gnomon muler validate`` as a user meets it."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

WORD = ["--features", "re:word", "--pattern", r"word=\b[a-z]+\b"]
FIELDS = {
    "range": (
        "system metric feature masks alpha share segments anti_oracle oracle base muler hybrid"
        " position"
    ),
    "frequency": (
        "system metric feature variant masks alpha share segments muler gain muler_change"
        " gain_change"
    ),
    "random": (
        "system metric feature masks segments reference_share muler groups draws"
        " random_reference_share random_output_share mean variance deviation"
        " deviation_low deviation_high below apart"
    ),
}
OWN = {"range": [], "frequency": [], "random": ["--draws", "5"]}


@pytest.mark.parametrize("experiment", FIELDS)
def test_json_and_tsv_hold_the_same_rows(gnomon, files, experiment) -> None:
    common = [
        "muler", "validate", files / "ref.txt", "-i", files / "a.txt",
        files / "b.txt", *WORD, *OWN[experiment], "-q", "--experiments", experiment,
    ]  # fmt: skip
    found = gnomon(*common, "-f", "json").json()
    assert found["command"] == "muler validate"
    assert set(found["rows"][0]) == set(FIELDS[experiment].split())
    assert "method:muler-validate|" in found["signatures"]["bleu"]
    table = list(csv.DictReader(io.StringIO(gnomon(*common, "-f", "tsv").out), delimiter="\t"))
    assert len(table) == len(found["rows"])
    assert [row["system"] for row in table] == [row["system"] for row in found["rows"]]


@pytest.mark.parametrize("experiment", FIELDS)
@pytest.mark.parametrize(("form", "said"), [("text", "re:word"), ("latex", "\\toprule")])
def test_tables_show_every_metric(gnomon, files, experiment, form, said) -> None:
    answer = gnomon(
        "muler", "validate", files / "ref.txt", "-i", files / "a.txt", *WORD,
        *OWN[experiment], "-m", "bleu", "rouge1", "-f", form, "--experiments", experiment, "-v",
    )  # fmt: skip
    assert answer.code == 0
    assert said in answer.out
    assert "under BLEU" in answer.out
    assert "under ROUGE" in answer.out  # LaTeX writes the hyphen otherwise
    assert "time: " in answer.err


@pytest.mark.parametrize("experiment", FIELDS)
def test_a_page_is_written(gnomon, files, experiment, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    answer = gnomon(
        "muler", "validate", files / "ref.txt", "-i", files / "a.txt", *WORD,
        *OWN[experiment], "--html", page, "-q", "--experiments", experiment,
    )  # fmt: skip
    assert answer.code == 0
    assert "<!doctype html>" in page.read_text(encoding="utf-8")


def test_shares_draws_groups_and_seed_are_options(gnomon, files) -> None:
    common = ["muler", "validate", files / "ref.txt", "-i", files / "a.txt", *WORD, "-f", "json"]
    common += ["-q", "--experiments"]
    rows = gnomon(*common, "range", "--shares", ".25", ".75").json()["rows"]
    assert {row["alpha"] for row in rows} == {0.25, 0.75}
    rows = gnomon(*common, "frequency", "--shares", ".25").json()["rows"]
    assert {row["alpha"] for row in rows} == {0.25, 1.0}
    found = gnomon(*common, "random", "--draws", "7", "--groups", "2", "--seed", "11").json()
    assert "draws:7|seed:11|p:2" in found["signatures"]["bleu"]


@pytest.mark.parametrize(
    ("experiment", "options", "said"),
    [
        ("range", ["--shares", "0"], "--shares must be one or more above 0; got 0"),
        ("frequency", ["--shares", "1.5"], "--shares: it must be a number, from 0 to 1; got 1.5"),
        ("random", ["--draws", "1"], "--draws: it must be a whole number, 2 or more; got 1"),
        ("random", ["--groups", "1"], "--groups: it must be a whole number, 2 or more; got 1"),
        ("range", ["-m", "bleu", "bleu"], "twice"),
    ],
)
def test_wrong_options_end_with_2_and_say_what_is_allowed(
    gnomon, files, experiment, options, said
) -> None:
    answer = gnomon(
        "muler",
        "validate",
        files / "ref.txt",
        "-i",
        files / "a.txt",
        *WORD,
        *options,
        "--experiments",
        experiment,
    )
    assert answer.code == 2
    assert said in answer.err
    assert not answer.out


def test_all_experiments_are_made_where_none_is_named(gnomon, files) -> None:
    data = [files / "ref.txt", "-i", files / "a.txt", *WORD, "--draws", "5", "-f", "json", "-q"]
    assert list(gnomon("muler", "validate", *data).json()["tables"]) == ["frequency", "random"]
