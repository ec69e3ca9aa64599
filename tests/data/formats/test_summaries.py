from __future__ import annotations

import copy
import json
import logging
import pickle
from typing import TYPE_CHECKING

import pytest
from tests.data.formats.published_sets import fill, realsumm_object, summeval_line, summeval_lines

from gnomon import TestSet
from gnomon.core.errors import DataError, FormatError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NAME = "model_annotations.aligned.jsonl"


def test_summeval_has_eleven_references_and_four_dimensions(tmp_path: Path) -> None:
    testset = TestSet.read(fill(tmp_path, {NAME: summeval_lines()}) / NAME)
    assert list(testset.systems) == ["M0", "M1"]
    assert testset.systems["M1"] == ("storm .", "won .")
    assert list(testset.references) == ["original", *(f"crowd-{i}" for i in range(1, 11))]
    assert testset.references["crowd-10"] == ("reference 10 of dm-1 .", "reference 10 of dm-2 .")
    assert (testset.documents, testset.language_pair) == (("dm-1", "dm-2"), "en")
    assert testset.sources is None
    dimensions = ("coherence", "consistency", "fluency", "relevance")
    crowd = tuple(f"crowd-{dimension}" for dimension in dimensions)
    assert testset.human_kinds("segment") == dimensions + crowd
    assert testset.human_scores("coherence").tolist() == [[4.0, pytest.approx(4 / 3)], [2.0, 5.0]]
    assert testset.human_scores("crowd-fluency").tolist() == [[3.0, 3.0], [3.0, 3.0]]


def test_articles_are_sources_where_they_are_paired(tmp_path: Path) -> None:
    lines = [json.dumps(json.loads(line) | {"text": "An article."}) for line in summeval_lines()]
    testset = TestSet.read(fill(tmp_path, {NAME: lines}))
    assert testset.sources == ("An article.",) * 2


def test_references_that_differ_between_summaries_are_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lines = summeval_lines()
    other = json.loads(lines[2])
    lines[2] = json.dumps(other | {"references": ["another"]})
    with caplog.at_level(logging.WARNING, "gnomon.formats"):
        testset = TestSet.read(fill(tmp_path, {NAME: lines}) / NAME)
    assert "1 rows come with other references" in caplog.text
    assert "the first of them is in line 3" in caplog.text
    assert testset.references["original"][0] == "reference 0 of dm-1 ."


def changed(change: Callable[[dict[str, object]], object]) -> list[str]:
    lines = summeval_lines()
    record = json.loads(lines[1])
    change(record)
    return [lines[0], json.dumps(record), *lines[2:]]


DAMAGED: list[tuple[list[str], str]] = [
    (changed(lambda r: r.pop("decoded")), r"jsonl:2: .*column or key 'decoded'"),
    (changed(lambda r: r.update(references=[])), r"jsonl:2: references must be a text, or a list"),
    (changed(lambda r: r.update(expert_annotations=5)), r"jsonl:2: expert_annotations must be"),
    (
        changed(lambda r: r.update(expert_annotations=[{"coherence": 1}])),
        r"jsonl:2: an object in expert_annotations lacks the key 'consistency'",
    ),
    (
        changed(
            lambda r: r.update(
                turker_annotations=[
                    dict.fromkeys(("coherence", "consistency", "fluency", "relevance"), "high")
                ]
            )
        ),
        r"jsonl:2: coherence in turker_annotations is 'high'; a number",
    ),
    ([*summeval_lines()[:2], "{broken", *summeval_lines()[2:]], r"jsonl:3: is not a JSON object"),
    ([*summeval_lines(), summeval_lines()[0]], r"jsonl:5: a second row for segment dm-1 of M0"),
]


@pytest.mark.parametrize(("lines", "problem"), DAMAGED)
def test_a_damaged_line_of_summeval_is_named(
    tmp_path: Path, lines: list[str], problem: str
) -> None:
    with pytest.raises(FormatError, match=problem):
        TestSet.read(fill(tmp_path, {NAME: lines}) / NAME)


def test_a_summary_that_is_missing_is_named(tmp_path: Path) -> None:
    lines = [*summeval_lines(), summeval_line("dm-1", "M2", "x", [1])]
    with pytest.raises(DataError, match="'M2' has 1 of 2 segments; segment dm-2 is missing"):
        TestSet.read(fill(tmp_path, {NAME: lines}) / NAME)


def realsumm(folder: Path, data: object) -> Path:
    file = folder / "abs.json"
    file.write_text(json.dumps(data, indent=1), encoding="utf-8")
    return file


def test_realsumm_is_read_from_json_without_its_sentence_marks(tmp_path: Path) -> None:
    testset = TestSet.read(realsumm(tmp_path, realsumm_object()))
    assert list(testset.systems) == ["bart_out", "t5_out_base"]
    assert testset.systems["bart_out"] == ("a storm .", "a team won .")
    assert testset.references["A"] == ("a storm came . it left .", "a team won .")
    assert testset.documents == ("0", "19")
    assert testset.human_scores("litepyramid").tolist() == [[0.5, 1.0], [0.0, 0.75]]


def test_realsumm_as_bartscore_has_it_brings_the_articles(tmp_path: Path) -> None:
    data = {
        "0": {
            "src": "An article.",
            "ref_summ": "a storm .",
            "sys_summs": {
                "bart_out.txt": {"sys_summ": "a storm .", "scores": {"litepyramid_recall": 1}}
            },
        }
    }
    testset = TestSet.read(realsumm(tmp_path, data))
    assert testset.sources == ("An article.",)
    assert testset.human_scores("litepyramid").tolist() == [[1.0]]


def test_a_pickle_is_never_opened(tmp_path: Path) -> None:
    for protocol in (2, 4, 5):
        (tmp_path / "abs.pkl").write_bytes(pickle.dumps({"0": {}}, protocol=protocol))
        with pytest.raises(FormatError, match=r"abs\.pkl: is a Python pickle.*write it as JSON"):
            TestSet.read(tmp_path / "abs.pkl")


def test_damaged_scores_of_realsumm_are_named(tmp_path: Path) -> None:
    def refused(problem: str, *path: str, value: object) -> None:
        data = copy.deepcopy(realsumm_object())
        place: dict[str, object] = data  # type: ignore[assignment]  # JSON of any depth
        for key in path[:-1]:
            place = place[key]  # type: ignore[assignment]  # likewise
        place[path[-1]] = value
        with pytest.raises(FormatError, match=problem):
            TestSet.read(realsumm(tmp_path, data))

    bart = ("19", "system_summaries", "bart_out.txt")
    refused(
        "'bart_out.txt' in '19', row 3: scores.litepyramid_recall is 'x'",
        *bart,
        "scores",
        "litepyramid_recall",
        value="x",
    )
    refused(
        "'bart_out.txt' in '19', row 3: unknown column or key 'scores.litepyramid_recall'",
        *bart,
        "scores",
        value={},
    )
    refused("'bart_out.txt' in '19' is no JSON object", *bart, value=[])
    refused("'19' lacks an object system_summaries", "19", "system_summaries", value=None)
    refused("'19', row 3: ref_summ is 3; a string is expected", "19", "ref_summ", value=3)
    refused("'19', row 3: ref_summ holds a lone surrogate", "19", "ref_summ", value="a \ud800")
    refused("'0', row 1: unknown column or key 'src'", "19", "src", value="An article.")
    file = realsumm(tmp_path, realsumm_object())
    file.write_text(file.read_text(encoding="utf-8")[:-3], encoding="utf-8")
    with pytest.raises(FormatError, match=r"abs\.json:\d+: is not JSON"):
        TestSet.read(file)
    incomplete = realsumm_object()
    incomplete["19"]["system_summaries"].pop("bart_out.txt")  # type: ignore[attr-defined]  # a dict
    with pytest.raises(DataError, match="'bart_out' has 1 of 2 segments"):
        TestSet.read(realsumm(tmp_path, incomplete))


def test_two_names_of_one_system_of_realsumm_are_refused(tmp_path: Path) -> None:
    data = copy.deepcopy(realsumm_object())
    summaries = data["0"]["system_summaries"]
    summaries["bart_out"] = summaries["bart_out.txt"]
    with pytest.raises(FormatError, match="'0' has two outputs of 'bart_out'"):
        TestSet.read(realsumm(tmp_path, data))
