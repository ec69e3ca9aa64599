"""Adequacy by metrics and by people."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import gnomon
from gnomon.cli import main
from gnomon.core.errors import DataError, FormatError, UsageError
from gnomon.core.testset import Paraphrase, TestSet
from gnomon.data.formats import write_paraphrases
from gnomon.methods.paraphrase import (
    adequacy_sheet,
    diversity,
    judge,
    read_key,
    write_key,
    write_sheet,
)

_REFERENCES = ["the cat sat", "a dog ran off", "it rained"]


@pytest.fixture
def testset() -> TestSet:
    return TestSet.from_lists({}, _REFERENCES)


@pytest.fixture
def made() -> list[Paraphrase]:
    return [
        *(Paraphrase(i, text, "copy") for i, text in enumerate(_REFERENCES, start=1)),
        Paraphrase(1, "the cat lay", "other"),
        Paraphrase(1, "=the cat", "other"),
        Paraphrase(3, "", "other"),
    ]


def test_paraphrases_are_scored_as_outputs_and_averaged_by_method(
    testset: TestSet, made: list[Paraphrase]
) -> None:
    found = diversity(made, testset, metrics=["chrf", "bleu"]).table("adequacy").rows
    rows = {(row["method"], row["measure"]): row for row in found}
    assert rows["copy", "chrf"]["value"] == pytest.approx(100)
    assert (rows["copy", "chrf"]["n"], rows["copy", "chrf"]["segments"]) == (3, 3)
    assert (rows["other", "chrf"]["n"], rows["other", "chrf"]["segments"]) == (2, 1)
    wanted = [
        gnomon.score(TestSet.from_lists({"p": [p.text]}, [_REFERENCES[0]]), "chrf").segments[0, 0]
        for p in made[3:5]
    ]
    assert rows["other", "chrf"]["value"] == pytest.approx(sum(wanted) / 2)
    low, high = rows["copy", "bleu"]["low"], rows["copy", "bleu"]["high"]
    assert low == pytest.approx(100)
    assert high == pytest.approx(100)


def test_wrong_segments_and_no_paraphrases_are_errors(testset: TestSet) -> None:
    with pytest.raises(DataError, match="out of range"):
        diversity([Paraphrase(4, "x")], testset, metrics="chrf")
    with pytest.raises(DataError, match="no paraphrase"):
        diversity([], testset, metrics="chrf")
    with pytest.raises(UsageError, match="references"):
        diversity([Paraphrase(1, "x")], metrics="chrf")


def test_a_sheet_hides_methods_and_its_key_tells_them(
    tmp_path: Path, testset: TestSet, made: list[Paraphrase]
) -> None:
    items = adequacy_sheet(testset, made, items=2, seed=3)
    assert items == adequacy_sheet(testset, made, items=2, seed=3)
    assert sorted(one.method for one in items) == ["copy", "copy", "other"]
    write_sheet(tmp_path / "s.tsv", items)
    write_key(tmp_path / "k.tsv", items)
    sheet = (tmp_path / "s.tsv").read_text(encoding="utf-8")
    assert sheet.startswith("item\treference\tparaphrase\tscore\tcomment\n")
    assert "copy" not in sheet
    assert "\t=" not in sheet
    key = read_key(tmp_path / "k.tsv")
    assert {(k, one.method, one.text) for k, one in key.items()} == {
        (one.item, one.method, one.text) for one in items
    }


def test_scores_of_several_people_are_averaged_item_by_item(
    tmp_path: Path, testset: TestSet, made: list[Paraphrase]
) -> None:
    items = adequacy_sheet(testset, made)
    write_key(tmp_path / "k.tsv", items)
    copies = [one.item for one in items if one.method == "copy"]
    _answers(tmp_path / "anna.tsv", {copies[0]: "100", copies[1]: "80", copies[2]: ""})
    _answers(tmp_path / "ben.tsv", {copies[0]: "50"})
    found = judge([tmp_path / "anna.tsv", tmp_path / "ben.tsv"], tmp_path / "k.tsv")
    (row,) = found.rows
    assert (row["method"], row["measure"], row["value"], row["n"]) == ("copy", "human", 77.5, 2)
    assert [one["annotator"] for one in found.table("scores").rows] == ["anna", "anna", "ben"]
    assert found.facts["scored"] == "2 of 4 items"


def _answers(path: Path, scores: dict[str, str]) -> None:
    rows = "".join(f"{item}\t{score}\n" for item, score in scores.items())
    path.write_text("item\tscore\n" + rows, encoding="utf-8")


@pytest.mark.parametrize("score", ["101", "-1", "good", "nan"])
def test_what_is_no_score_is_refused_where_it_stands(
    tmp_path: Path, testset: TestSet, made: list[Paraphrase], score: str
) -> None:
    items = adequacy_sheet(testset, made)
    write_key(tmp_path / "k.tsv", items)
    _answers(tmp_path / "a.tsv", {items[0].item: "5", items[1].item: score})
    with pytest.raises(FormatError, match=r"a\.tsv:3: .*0 to 100"):
        judge([tmp_path / "a.tsv"], tmp_path / "k.tsv")


def test_unknown_items_and_empty_sheets_are_refused(
    tmp_path: Path, testset: TestSet, made: list[Paraphrase]
) -> None:
    write_key(tmp_path / "k.tsv", adequacy_sheet(testset, made))
    _answers(tmp_path / "a.tsv", {"x-1": "5"})
    with pytest.raises(FormatError, match=r"a\.tsv:2: .*not in the key"):
        judge([tmp_path / "a.tsv"], tmp_path / "k.tsv")
    _answers(tmp_path / "a.tsv", {"x-1": ""})
    with pytest.raises(DataError, match="no item is scored"):
        judge([tmp_path / "a.tsv"], tmp_path / "k.tsv")


def test_the_command_scores_paraphrases_against_references(
    tmp_path: Path, made: list[Paraphrase], capsys: pytest.CaptureFixture[str]
) -> None:
    ref, file = tmp_path / "ref.txt", tmp_path / "p.jsonl"
    ref.write_text("".join(line + "\n" for line in _REFERENCES), encoding="utf-8")
    write_paraphrases(file, made)
    base = ["paraphrase", "diversity", str(ref), "-f", "json", "-m", "chrf"]
    assert main([*base, "--paraphrases", str(file)]) == 0
    rows = json.loads(capsys.readouterr().out)["tables"]["adequacy"]
    assert [row["method"] for row in rows] == ["copy", "other"]
    assert main(base) == 2
    assert "--paraphrases FILE" in capsys.readouterr().err
