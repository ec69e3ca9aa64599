"""Error spans of people, metrics and judges: what one writes, the other reads."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.data.formats.judged_sets import SOURCES, SYSTEMS, judged_set, written
from tests.told import notes

from gnomon.core.errors import DataError, FormatError
from gnomon.core.human import HumanScores, OutputLookedAt
from gnomon.core.spans import ErrorSpan
from gnomon.data.formats import read_human, write_human
from gnomon.metrics.error_marks import people_marks

if TYPE_CHECKING:
    from pathlib import Path

    from gnomon import TestSet

NAN = float("nan")


def marked_set() -> TestSet:
    """Two people's spans and scores, one behind an astral character, and one without a place."""
    errors = (
        ErrorSpan("alpha", 0, "candidate", 4, 7, "", "minor", "ann", "esa"),
        ErrorSpan("beta", 0, "candidate", 6, 7, "style", "major", "ann", "esa"),
        ErrorSpan("beta", 0, "candidate", 8, 10, "", "minor", "bob", "esa"),
        ErrorSpan("beta", 1, "candidate", 20, 20, "missing", "major", "ann", "esa"),
    )
    values = {
        None: [[80, NAN, 100], [55, 70, NAN]],
        "ann": [[80, NAN, 100], [50, 70, NAN]],
        "bob": [[NAN, NAN, NAN], [60, NAN, NAN]],
    }
    human = tuple(
        HumanScores("esa", "segment", ("alpha", "beta"), np.array(each, np.float64), rater=rater)
        for rater, each in values.items()
    )
    return judged_set(errors=errors, human=human)


def automatic(**more: object) -> tuple[ErrorSpan, ...]:
    """A metric's spans, each of a confidence of its own."""
    fixed: dict[str, object] = {"rater": "auto", "kind": "auto", "by": "metric"} | more
    return (
        ErrorSpan("alpha", 0, "candidate", 4, 7, "", "minor", confidence=0.5, **fixed),  # type: ignore[arg-type]  # of any type
        ErrorSpan("alpha", 0, "candidate", 9, 14, "", "critical", confidence=1 / 3, **fixed),  # type: ignore[arg-type]  # likewise
        ErrorSpan("beta", 2, "candidate", 0, 4, "", "major", confidence=0.0, **fixed),  # type: ignore[arg-type]  # likewise
    )


def same(found: tuple[ErrorSpan, ...], wanted: tuple[ErrorSpan, ...]) -> bool:
    return sorted(found, key=repr) == sorted(wanted, key=repr)


@pytest.mark.parametrize(
    ("form", "file"),
    [
        ("spans", "a.jsonl"),
        ("gnomon", "esa.spans.tsv"),
    ],
)
def test_what_people_marked_is_read_as_it_was_written(tmp_path: Path, form: str, file: str) -> None:
    testset = marked_set()
    level = "spans" if form == "gnomon" else "segment"
    write_human(tmp_path / file, testset, "esa", format=form, level=level)
    found = read_human(tmp_path / file, judged_set(), kind="esa")
    assert same(found.errors, testset.errors)
    if form != "gnomon":
        for one in testset.human:
            [mine] = [h for h in found.scores if h.rater == one.rater]
            np.testing.assert_array_equal(mine.aligned(one.systems), one.values)


def looked_at_set() -> TestSet:
    """Spans without scores; one output was found clean, and others nobody looked at."""
    places = (("ann", "alpha", 0), ("ann", "alpha", 1), ("bob", "beta", 1), ("bob", "alpha", 2))
    errors = (
        ErrorSpan("alpha", 0, "candidate", 4, 7, "", "minor", "ann", "k"),
        ErrorSpan("beta", 1, "candidate", 0, 3, "", "major", "bob", "k"),
    )
    return judged_set(errors=errors, looked_at=tuple(OutputLookedAt("k", *p) for p in places))


def judged_by(testset: TestSet) -> set[tuple[str, int, int]]:
    """Who looked at which outputs, as whatever counts errors takes it."""
    marks = people_marks(testset, "k")
    assert not notes(marks.notices)
    return {(marks.raters[one.rater], one.system, one.segment) for one in marks.judgements()}


@pytest.mark.parametrize(
    ("form", "file"),
    [
        ("spans", "a.jsonl"),
        ("gnomon", "k.spans.tsv"),
    ],
)
def test_outputs_that_were_found_clean_survive_without_scores(
    tmp_path: Path, form: str, file: str
) -> None:
    testset = looked_at_set()
    level = "spans" if form == "gnomon" else "segment"
    write_human(tmp_path / file, testset, "k", format=form, level=level)
    found = read_human(tmp_path / file, judged_set(), kind="k", format=form)
    assert judged_by(judged_set().with_human(found)) == judged_by(testset)


@pytest.mark.parametrize("layout", ["gnomon", "mt-metrics-eval"])
def test_a_folder_keeps_the_outputs_that_were_found_clean(tmp_path: Path, layout: str) -> None:
    testset = looked_at_set()
    testset.write(tmp_path / "set", layout=layout)
    read = type(testset).read(tmp_path / "set")
    assert judged_by(read) == judged_by(testset)
    assert judged_by(read.select(segments=[1, 2])) == {("ann", 0, 0), ("bob", 1, 0), ("bob", 0, 1)}


def test_penalties_are_no_scores_of_a_kind_that_has_none_below_zero(tmp_path: Path) -> None:
    errors = tuple(replace(e, kind="esa", rater=None) for e in looked_at_set().errors)
    looked_at = [one._replace(kind="esa", rater=None) for one in looked_at_set().looked_at]
    testset = judged_set(errors=errors, looked_at=tuple(looked_at))
    testset.write(tmp_path / "set", layout="mt-metrics-eval")
    found = type(testset).read(tmp_path / "set")
    assert (found.human, set(found.looked_at)) == ((), set(looked_at))
    assert same(tuple(replace(e, score=None) for e in found.errors), errors)


def test_a_folder_in_which_all_outputs_are_clean_says_who_looked(tmp_path: Path) -> None:
    scores = HumanScores("mqm", "segment", ("alpha",), np.array([[0.0, NAN, 0.0]]), rater="ann")
    looked_at = tuple(OutputLookedAt("mqm", "ann", "alpha", segment) for segment in (0, 2))
    testset = judged_set(human=(scores,), looked_at=looked_at)
    testset.write(tmp_path / "set", layout="mt-metrics-eval")
    marks = people_marks(type(testset).read(tmp_path / "set"), "mqm")
    assert [(one.system, one.segment) for one in marks.judgements()] == [(0, 0), (0, 2)]


def test_spans_beside_scores_of_others_are_not_lost(tmp_path: Path) -> None:
    marked = (
        *marked_set().errors,
        ErrorSpan("beta", 2, "candidate", 0, 4, "", "minor", "cy", "esa"),
    )
    testset = replace(marked_set(), errors=marked)
    write_human(tmp_path / "a.jsonl", testset, "esa")
    assert same(read_human(tmp_path / "a.jsonl", judged_set()).errors, marked)


@pytest.mark.parametrize("by", ["metric", "judge"])
def test_confidence_and_kind_of_marker_survive_in_a_folder_and_in_files(
    tmp_path: Path, by: str
) -> None:
    testset = judged_set(errors=automatic(by=by))
    testset.write(tmp_path / "set")
    assert same(type(testset).read(tmp_path / "set").errors, testset.errors)
    for form, file in (("gnomon", "auto.spans.tsv"), ("spans", "auto.jsonl")):
        write_human(tmp_path / file, testset, "auto", format=form, level="spans")
        assert same(read_human(tmp_path / file, judged_set(), kind="auto").errors, testset.errors)


def test_the_output_of_xcomet_is_read_as_comet_score_writes_it(tmp_path: Path) -> None:
    marks = [{"text": "dog", "confidence": 0.41, "severity": "minor", "start": 4, "end": 7}]
    rows = [
        {"src": s, "mt": t, "COMET": 0.9, "errors": marks if i == 0 else []}
        for i, (s, t) in enumerate(zip(SOURCES, SYSTEMS["alpha"], strict=True))
    ]
    given = written(tmp_path, "y.json", json.dumps({"alpha.txt": rows}))
    [error] = read_human(given, judged_set()).errors
    assert (error.system, error.start, error.end, error.by, error.confidence) == (
        "alpha", 4, 7, "metric", 0.41,
    )  # fmt: skip


def test_a_table_of_2023_counts_from_any_number_and_writes_minus_one(tmp_path: Path) -> None:
    columns = ["mt_model", "doc_id", "seg_id", "annotator_id", "source", "target"]
    head = "\t".join([*columns, "error start id", "error end id", "error type"])
    rows = [
        "\t".join(
            ["alpha", "d", "7", "r", SOURCES[0], SYSTEMS["alpha"][0], "0 4", "3 7", "major minor"]
        ),
        "\t".join(
            ["alpha", "d", "8", "r", SOURCES[1], SYSTEMS["alpha"][1], "-1", "-1", "no-error"]
        ),
    ]
    found = read_human(written(tmp_path, "t.tsv", head, *rows), judged_set())
    assert [(e.segment, e.start, e.end, e.severity) for e in found.errors] == [
        (0, 0, 3, "major"), (0, 4, 7, "minor"),
    ]  # fmt: skip
    np.testing.assert_array_equal(found.scores[0].values, [[-6, 0, NAN]])


LINE = {"system": "alpha", "segment": 1, "errors": [{"start": 0, "end": 3, "severity": "minor"}]}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"segment": 4}, "whole number from 1 to 3"),
        ({"segment": True}, "whole number from 1 to 3"),
        ({"errors": {}}, "must be a list of objects"),
        ({"errors": [{"start": 3, "end": 2}]}, "0 <= start <= end <= 15"),
        ({"errors": [{"start": 0, "end": 99}]}, "0 <= start <= end <= 15"),
        ({"errors": [{"start": 0, "end": 1, "side": "left"}]}, "candidate or source"),
        ({"errors": [{"start": 0, "end": 1, "confidence": 2}]}, "confidence is 2; from 0 to 1"),
        ({"by": "oracle"}, "one of person, metric, judge"),
        ({"system": "nobody"}, "none of its systems"),
    ],
)
def test_damaged_lines_are_refused_where_they_stand(
    tmp_path: Path, change: dict[str, object], problem: str
) -> None:
    file = written(
        tmp_path, "a.jsonl", json.dumps(LINE), json.dumps(LINE | change | {"rater": "b"})
    )
    if change.get("system"):
        file = written(tmp_path, "a.jsonl", json.dumps(LINE | change))
        with pytest.raises(DataError, match=problem):
            read_human(file, judged_set())
        return
    with pytest.raises(FormatError, match=problem) as error:
        read_human(file, judged_set())
    assert "a.jsonl:2" in str(error.value)


def test_an_output_may_have_one_line_of_each_rater(tmp_path: Path) -> None:
    twice = written(tmp_path, "a.jsonl", json.dumps(LINE), json.dumps(LINE))
    with pytest.raises(FormatError, match="a second annotation of segment 1 of alpha; line 1"):
        read_human(twice, judged_set())


def test_a_confidence_beyond_one_is_refused_in_a_folder(tmp_path: Path) -> None:
    judged_set().write(tmp_path / "set")
    (tmp_path / "set" / "human").mkdir()
    columns = ("system", "seg", "side", "start", "end", "category", "severity", "confidence", "by")
    for confidence, by, problem in (
        ("1.5", "metric", "confidence is 1.5"),
        ("1", "x", "by is 'x'"),
    ):
        cells = ("alpha", "1", "candidate", "0", "3", "", "minor", confidence, by)
        written(tmp_path / "set" / "human", "m.spans.tsv", "\t".join(columns), "\t".join(cells))
        with pytest.raises(FormatError, match=problem):
            type(judged_set()).read(tmp_path / "set")
