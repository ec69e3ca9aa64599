"""Marks beside people's: by hand, beside the raters themselves, and from the command line."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.methods.metaeval.marked import Marking, marked_set
from tests.told import notes

import gnomon as gn
from gnomon.cli import main
from gnomon.core.errors import (
    DataError,
    FormatError,
    MissingFileError,
    UnknownNameError,
    UsageError,
)
from gnomon.core.spans import ErrorSpan
from gnomon.data.formats import write_human
from gnomon.metrics.error_marks import people_marks
from gnomon.metrics.marked_outputs import highlights, marked_exhibit

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from gnomon.core.batch import Batch
    from gnomon.core.findings import Cell, Finding

ALL = {"dog": "major", "cat": "minor", "rains": "major"}


def found(testset: gn.TestSet, metrics: object = (), **options: object) -> Finding:
    """Without intervals, unless asked for."""
    asked = {"resamples": 0, "examples": 0} | options
    return gn.metaeval.spans(testset, metrics, **asked)  # type: ignore[arg-type]  # as tests have it


def one(finding: Finding, table: str | None = None, **where: object) -> Mapping[str, Cell]:
    rows = [r for r in finding.table(table).rows if all(r[k] == v for k, v in where.items())]
    assert len(rows) == 1
    return rows[0]


def test_a_metric_beside_people_by_hand() -> None:
    finding = found(marked_set(), Marking(ALL))
    whole = {"marks": "marking", "system": None, "unit": "characters", "average": "pooled"}
    row = one(finding, **whole)
    # people: dog 3 (major), the c of "cat" and two more 3, "sits" 4, "rains" of beta 5: 15
    # marking: dog 3 and 3, cat 3, rains 5 and 5; the last output of beta was judged twice
    assert (row["gold"], row["marked"], row["judgements"]) == (15, 19, 9)
    # dog of alpha 3, "cat" as minor 3, rains of beta 5
    assert row["precision"] == pytest.approx(11 / 19)
    assert row["recall"] == pytest.approx(11 / 15)
    spans = one(finding, **(whole | {"unit": "spans"}))
    assert (spans["precision"], spans["recall"]) == pytest.approx((3 / 5, 3 / 4))
    mean = one(finding, **(whole | {"average": "segment"}))
    # no error on either side: 1, thrice (cats, and the last segment); beside them 1, 1, 0, 0, 0, 1
    assert mean["f1"] == pytest.approx((4 + 1 + 1 + 0 + 0 + 1) / 9)
    alpha = one(finding, **(whole | {"system": "alpha"}))
    assert alpha["precision"] == pytest.approx(6 / 11)


def test_single_outputs_are_told_if_asked_for() -> None:
    finding = found(marked_set(), Marking(ALL), per_segment=True)
    row = one(finding, "segments", marks="marking", system="alpha", segment=2)
    assert (row["rater"], row["precision"], row["recall"], row["f1"]) == ("ann", 1, 1, 1)
    own = [r["f1"] for r in finding.table("segments").rows if r["marks"] == "marking"]
    where = {"marks": "marking", "system": None, "unit": "characters", "average": "segment"}
    assert np.mean(own) == pytest.approx(one(finding, **where)["f1"])  # type: ignore[arg-type]  # numbers


def test_part_of_the_credit_is_given_for_another_severity() -> None:
    marks = Marking({"dog": "minor"})
    for credit, wanted in ((0.5, 1.5), (1.0, 3), (0.0, 0)):
        row = one(
            found(marked_set(), marks, partial_credit=credit),
            marks="marking", system=None, unit="characters", average="pooled",
        )  # fmt: skip
        assert row["precision"] == pytest.approx(wanted / 6)


def test_people_beside_each_other_are_those_who_saw_the_same_text() -> None:
    ceiling = {"ceiling": True, "system": None, "unit": "characters", "average": "pooled"}
    row = one(found(marked_set()), **ceiling)
    # "it rains": ann saw alpha's and bob beta's; "same words": ann twice and bob
    assert row["judgements"] == 2 + 4
    assert (row["gold"], row["marked"], row["f1"]) == (5, 5, 0)
    assert "People beside each other" not in str(found(marked_set()).verdict)  # too few


def test_which_outputs_are_free_of_errors_by_hand() -> None:
    finding = found(marked_set(), Marking(ALL), thresholds=(85.0, 75.0))
    row = one(finding, "error_free", marks="marking", decided_by="marks", threshold=85.0)
    # people: alpha 3 and 4, beta 2 and (ann) 4; marking: cats, and the last outputs
    assert (row["people"], row["marker"], row["outputs"]) == (4 / 9, 4 / 9, 9)
    # both: alpha 4, beta 2, beta 4 (ann); the metric alone: beta 4 (bob); people alone: alpha 3
    table = np.array([[3, 1], [1, 4]])
    a, b, c, d = table.ravel()
    assert row["mcc"] == pytest.approx(
        (a * d - b * c) / np.sqrt((a + b) * (a + c) * (d + b) * (d + c))
    )
    assert row["f1"] == pytest.approx(2 * 3 / (4 + 4))
    other = one(finding, "error_free", marks="marking", decided_by="marks", threshold=75.0)
    assert other["people"] == 5 / 9


def test_scores_alone_tell_what_is_free_of_errors() -> None:
    finding = found(marked_set(), "chrf")
    assert {row["marks"] for row in finding.table("error_free").rows} == {
        "chrf", "esa: raters among themselves",
    }  # fmt: skip
    row = one(finding, "error_free", marks="chrf")
    assert row["decided_by"] == "score"
    assert row["people"] == row["marker"] == 4 / 9
    assert any("chrf marks no errors" in notice for notice in notes(finding.notices))


def test_a_metric_is_better_than_another_where_a_test_says_so() -> None:
    testset = marked_set(repeat=25)
    finding = found(testset, [Marking(ALL, spec="all"), Marking({"mats": "minor"}, spec="none")],
                    resamples=200)  # fmt: skip
    row = one(finding, "contests")
    assert row["first"] == "all"
    assert row["p"] == pytest.approx(1 / 201)
    assert row["low"] < row["difference"] < row["high"]  # type: ignore[operator]  # numbers
    said = [str(s) for s in finding.verdict]
    assert any("all marks people's errors better than none, by F1" in one for one in said)
    assert any("People beside each other reach F1" in one for one in said)


def test_intervals_hold_the_figure_and_shrink_with_the_segments() -> None:
    widths = []
    for repeat in (10, 90):
        row = one(
            found(marked_set(repeat), Marking(ALL), resamples=300),
            marks="marking", system=None, unit="characters", average="pooled",
        )  # fmt: skip
        low, value, high = (float(row[n]) for n in ("f1_low", "f1", "f1_high"))  # type: ignore[arg-type]  # numbers
        assert low <= value <= high
        widths.append(high - low)
    assert widths[1] == pytest.approx(widths[0] / 3, rel=0.35)


def test_files_and_kinds_are_marks_as_metrics_are(tmp_path: Path) -> None:
    testset = marked_set()
    metric = Marking(ALL)
    errors = tuple(replace(e, kind="auto") for e in metric.error_spans(testset.batch()))
    both = replace(testset, errors=(*testset.errors, *errors))
    write_human(tmp_path / "a.jsonl", both, "auto", format="spans")
    direct = one(
        found(testset, metric), marks="marking", system=None, unit="spans", average="pooled"
    )
    for marks in (f"file={tmp_path / 'a.jsonl'}", "auto"):
        name = marks.partition("=")[0]
        got = found(both if name == "auto" else testset, human="esa", marks=[marks])
        row = one(got, marks=name, system=None, unit="spans", average="pooled")
        assert {k: v for k, v in row.items() if k != "marks"} == {
            k: v for k, v in direct.items() if k != "marks"
        }


def test_marks_of_the_source_are_apart(tmp_path: Path) -> None:
    testset = marked_set()
    source = ErrorSpan("alpha", 0, "source", 0, 1, "", "minor", "ann", "esa")
    finding = found(replace(testset, errors=(*testset.errors, source)), side="source")
    assert [r["side"] for r in finding.table("marks").rows] == ["source"]
    assert finding.facts["side"] == "source"


def test_errors_in_the_source_are_drawn_on_the_source() -> None:
    ours = ErrorSpan("beta", 3, "source", 4, 8, "", "minor", "ann", "esa")
    given = marked_set()
    testset = replace(given, errors=(*given.errors, ours), sources=["ein Hund saß"] * 4)
    marks = people_marks(testset, side="source")
    shown = marked_exhibit(testset, [marks], 1, 3, group="g", kind="k", side="source")
    told = [(t.role, t.name, [(h.start, h.end) for h in t.highlights]) for t in shown.texts]
    assert told == [
        ("source", "esa (ann)", [(4, 8)]),
        ("source", "esa (bob)", []),
        ("reference", "A", []),
        ("candidate", "beta", []),
    ]
    assert shown.systems == ("beta",)
    beside = found(testset, side="source", examples=1)
    alone = gn.muler.errors(testset, side="source", pattern={"s": "s"}, resamples=0, examples=1)
    for finding in (beside, alone):
        (exhibit,) = finding.exhibits
        assert [t.highlights for t in exhibit.texts] == [t.highlights for t in shown.texts]


@pytest.mark.parametrize(
    ("options", "kind", "problem"),
    [
        ({"human": "mqm"}, UnknownNameError, "kind of marked errors"),
        ({"marks": ["nothing.jsonl"]}, MissingFileError, "nothing.jsonl"),
        ({"marks": ["nothing"]}, UnknownNameError, "file or metric"),
        ({"marks": ["esa"], "metrics": ()}, UsageError, "named twice"),
        ({"thresholds": ()}, UsageError, "thresholds must be one or more"),
        ({"human": ["esa", "mqm"]}, UsageError, "name one"),
    ],
)
def test_what_cannot_be_held_beside_people_is_refused(
    options: dict[str, object], kind: type[Exception], problem: str
) -> None:
    with pytest.raises(kind, match=problem):
        found(marked_set(), **options)


def test_a_set_without_marks_is_refused() -> None:
    bare = replace(marked_set(), errors=())
    with pytest.raises(DataError, match="nobody marked errors"):
        found(bare, "chrf")


def test_several_raters_stand_beside_each_other_in_what_is_shown() -> None:
    finding = found(marked_set(), Marking(ALL), examples=2)
    names = {name for exhibit in finding.exhibits for name in exhibit.systems}
    assert {"alpha, esa (ann)", "alpha, marking", "beta, esa (bob)", "beta, marking"} <= names
    [both] = marked_texts(marked_set())
    assert both == ("beta, esa (ann)", "beta, esa (bob)")
    labels = {h.label for e in finding.exhibits for text in e.texts for h in text.highlights}
    assert labels == {"major", "minor"}


def marked_texts(testset: gn.TestSet) -> list[tuple[str, ...]]:
    """Names of the outputs that stand beside each other, of the output that two people saw."""
    marks = people_marks(testset)
    shown = marked_exhibit(testset, [marks], 1, 3, group="g", kind="k")
    return [tuple(text.name for text in shown.texts if text.role == "candidate")]


def test_the_graver_of_two_errors_colours_what_both_cover() -> None:
    minor = ErrorSpan("a", 0, "candidate", 0, 6, "style", "minor")
    major = ErrorSpan("a", 0, "candidate", 4, 9, "", "critical")
    neutral = ErrorSpan("a", 0, "candidate", 0, 20, "", "neutral")
    told = [(h.start, h.end, h.label, h.weight) for h in highlights([minor, major, neutral])]
    assert told == [(0, 4, "minor style", -0.4), (4, 9, "critical", -1.0)]


def test_the_command_line_reads_marks_and_writes_a_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    testset = marked_set()
    testset.write(tmp_path / "set")
    errors = tuple(replace(e, kind="auto") for e in Marking(ALL).error_spans(testset.batch()))
    write_human(tmp_path / "a.jsonl", replace(testset, errors=errors), "auto", format="spans")
    asked = ["metaeval", "spans", "-t", str(tmp_path / "set"), "--human", "esa"]
    asked += ["--marks", f"auto={tmp_path / 'a.jsonl'}", "--resamples", "0"]
    assert main([*asked, "-f", "json", "--html", str(tmp_path / "p.html")]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["command"] == "metaeval spans"
    assert "rains" in (tmp_path / "p.html").read_text(encoding="utf-8")
    assert any(row["marks"] == "auto" for row in told["rows"])


def test_what_is_wrong_with_marks_is_told_before_any_metric_is_asked(tmp_path: Path) -> None:
    (tmp_path / "prose.txt").write_text("no marks\n", encoding="utf-8")
    asked: list[str] = []

    class Paid(Marking):
        def error_spans(self, batch: Batch) -> tuple[ErrorSpan, ...]:
            asked.append(self.spec)
            return super().error_spans(batch)

    paid = Paid(ALL, spec="paid")
    for last, kind, problem in (
        (tmp_path / "gone.jsonl", MissingFileError, "gone.jsonl"),
        (tmp_path / "prose.txt", FormatError, "no known format"),
        ("nothing", UnknownNameError, "file or metric"),
        ("x" * 300, UnknownNameError, "file or metric"),
        ("x" * 300 + "=" + "y" * 300, MissingFileError, "y"),
        ("esa", UsageError, "named twice"),
        (Paid(ALL, spec="paid"), UsageError, "named twice"),
    ):
        for method in (gn.metaeval.spans, gn.muler.errors):
            with pytest.raises(kind, match=problem):
                method(marked_set(), human="esa", marks=[paid, last])
    with pytest.raises(UsageError, match="'chrf' marks no errors"):
        gn.muler.errors(marked_set(), human="esa", marks=[paid, "chrf"])
    assert asked == []


def test_outputs_without_errors_count_as_looked_at_where_a_file_lists_them(tmp_path: Path) -> None:
    testset = marked_set()
    lines = [
        {"system": system, "segment": i + 1, "by": "metric", "errors": []}
        for system in ("alpha", "beta")
        for i in range(testset.segments)
    ]
    lines[0]["errors"] = [{"start": 4, "end": 7, "severity": "major"}]
    file = tmp_path / "m.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    finding = found(testset, human="esa", marks=[f"m={file}"])
    row = one(finding, marks="m", system=None, unit="characters", average="pooled")
    assert (row["judgements"], row["marked"]) == (9, 3)  # beta, too, in which nothing is marked
    assert not any("nothing says which" in notice for notice in notes(finding.notices))
    # a file of nothing but outputs with errors does not say so of the others
    file.write_text(json.dumps(lines[0]), encoding="utf-8")
    finding = found(testset, human="esa", marks=[f"m={file}"])
    row = one(finding, marks="m", system=None, unit="characters", average="pooled")
    assert row["judgements"] == 4
    assert any("and so not of beta" in notice for notice in notes(finding.notices))
    # a marker that finds nothing anywhere has looked, too
    file.write_text("\n".join(map(json.dumps, lines[1:])), encoding="utf-8")
    finding = found(testset, human="esa", marks=[f"m={file}"])
    row = one(finding, marks="m", system=None, unit="characters", average="pooled")
    assert (row["judgements"], row["marked"], row["precision"]) == (8, 0, 1)
