"""Adequacy by metrics and by people."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import gnomon
from gnomon.cli import main
from gnomon.core.errors import DataError, UsageError
from gnomon.core.testset import Paraphrase, TestSet
from gnomon.data.formats import write_paraphrases
from gnomon.paraphrase import (
    diversity,
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
