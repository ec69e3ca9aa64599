"""Words with weights: colours where they can be seen, signs elsewhere."""

from __future__ import annotations

import io

import pytest

from gnomon.core.findings import Column, Exhibit, ExhibitText, Finding, Highlight, Table
from gnomon.report import print_finding, to_html
from gnomon.report.html import payload
from gnomon.report.terminal import shaded

TEXT = "bad fine good [red]"
MARKS = (
    Highlight(0, 3, "-2", weight=-1.0, flagged=True),
    Highlight(4, 8, "0", weight=0.0),
    Highlight(9, 13, "+1", weight=0.5),
)


def _finding(*marks: Highlight) -> Finding:
    table = Table("t", "T", (Column("a", "A"),), ({"a": "x"},))
    text = ExhibitText("candidate", "sys", TEXT, marks, {"score": 12.345678})
    exhibit = Exhibit("chrf by erasure", "lowest", 7, (text,), caption="a caption")
    return Finding("m", "title", (table,), {}, exhibits=(exhibit,))


def _printed(finding: Finding) -> str:
    file = io.StringIO()
    print_finding(finding, file=file, width=100)
    return file.getvalue()


def test_without_colours_what_weighs_most_stands_between_signs() -> None:
    shown = _printed(_finding(*MARKS))
    assert "candidate sys (score 12.35): [-bad*-] fine {+good+} [red]" in shown
    assert "Segment 7: chrf by erasure" in shown
    assert "a caption" in shown


def test_with_colours_words_keep_their_letters() -> None:
    lines = list(shaded(_finding(*MARKS), colours=True))
    assert lines[1].plain.endswith("bad* fine good [red]")
    styles = {lines[1].plain[s.start : s.end]: str(s.style) for s in lines[1].spans}
    assert "on #833203" in styles["bad*"]
    assert "on #68a8d5" in styles["good"]


def test_control_characters_are_shown_and_not_obeyed() -> None:
    text = ExhibitText("candidate", "\x1b[31m", "a\x1b[0m", (Highlight(0, 1, weight=1.0),))
    finding = _finding()
    exhibit = Exhibit("g\x1b", "k", 1, (text,))
    hostile = Finding("m", "t", finding.tables, {}, exhibits=(exhibit,))
    assert "\x1b" not in _printed(hostile)


def test_exhibits_without_weights_stay_on_the_page() -> None:
    assert "Segment 7" not in _printed(_finding(Highlight(0, 3, "NOUN")))


@pytest.mark.parametrize(("weight", "step"), [(-1.0, 0), (-9.0, 0), (0.0, 4), (0.5, 6), (1.0, 8)])
def test_weights_are_nine_colours(weight: float, step: int) -> None:
    assert Highlight(0, 1, weight=weight).step == step


def test_a_page_holds_colour_and_flag_of_each_word() -> None:
    data = payload([_finding(*MARKS, Highlight(14, 19, "plain"))])
    ((bad, fine, good, plain),) = data["marks"]
    assert [mark[3:] for mark in (bad, fine, good, plain)] == [(0, 1), (4,), (6,), ()]
    assert "mark.wrong" in to_html(_finding(*MARKS))
