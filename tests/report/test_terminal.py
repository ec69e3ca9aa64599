"""What a terminal shows: whole names, literal text, lines that fit."""

from __future__ import annotations

import dataclasses
import io
import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from rich.cells import cell_len
from tests.told import notes, told

from gnomon.core.findings import Column, Table
from gnomon.core.scores import Scores
from gnomon.core.signature import Signature
from gnomon.core.tabular import table_grid
from gnomon.report import print_finding, print_grid, print_scores
from gnomon.report.terminal import folded

if TYPE_CHECKING:
    from gnomon.core.findings import Finding


def shown(finding: Finding, width: int = 100) -> str:
    file = io.StringIO()
    print_finding(finding, width=width, file=file)
    return file.getvalue()


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_the_systems_that_fit_are_shown_and_the_others_named(finding: Finding, width: int) -> None:
    out = shown(finding, width)
    rows = [line for line in out.split("\n") if re.match(r"(pos|ent|morph):\S+ +\d", line)]
    assert len(rows) == 60
    assert all(len(line.rstrip()) <= width for line in rows)
    assert "(--all-columns)" in out


def test_every_value_of_the_first_view_is_printed(finding: Finding) -> None:
    out = shown(finding, 10_000)
    line = next(line for line in out.split("\n") if line.startswith("pos:NOUN"))
    values = [
        row["muler"]
        for row in finding.rows
        if (row["feature"], row["metric"], row["variant"], row["slice"])
        == ("pos:NOUN", "bleu", "ratio", "")
    ]
    assert line.split()[2:] == [f"{v:.2f}" for v in values]
    assert "--all-columns" not in out


def test_the_range_of_segments_undefined_and_outside_cells_are_shown(finding: Finding) -> None:
    out = shown(finding)
    assert re.search(r"pos:X +0-\d+ .* - ", out)
    assert re.search(r"-0\.\d\d!", out)
    assert "! Outside [0, 1]: the two sides are tagged differently" in out


def test_signatures_and_the_number_of_notes_stand_below_the_table(finding: Finding) -> None:
    after = shown(finding).rpartition("morph:PronType=Rel")[2]
    assert f"\n{len(finding.notices)} note" in after
    assert "(-v lists them)" in after
    assert notes(finding.notices)[0] not in after
    assert str(finding.signatures["bleu"]) in after
    assert str(finding.signatures["chrf"]) not in after


def test_long_system_names_are_folded_and_never_cut(finding: Finding) -> None:
    out = shown(finding, 10_000)
    heads = out.replace("\n", " ")
    for part in ("uni-valley-", "ensemble.6520", "Transformer.", "6628"):
        assert part in heads


def test_folding_loses_nothing() -> None:
    for text in ("a-b_c.d" * 9, "漢字" * 20, "x" * 50, ""):
        assert folded(text, 7).replace("\n", "") == text


def test_hostile_text_is_printed_literally(hostile: Finding) -> None:
    out = shown(hostile, 300)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028]", out)
    assert "[bold]x[/bold] [link=http://x.test]y[/link] :smile:" in out
    assert r"\x1b[31mred\x1b[0m" in out
    assert "<U+202E>evil" in out


def test_no_color_is_honoured_on_a_terminal(
    hostile: Finding, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert not re.search(r"\x1b\[[0-9;]*3\d", shown(hostile))
    monkeypatch.delenv("NO_COLOR")
    assert re.search(r"\x1b\[[0-9;]*33m", shown(hostile, 1000))


def test_columns_sets_the_width_when_piped(
    finding: Finding, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    file = io.StringIO()
    print_finding(finding, file=file)
    assert "--all-columns" not in file.getvalue()


def test_an_encoding_that_lacks_characters_shows_escapes_instead_of_failing(
    hostile: Finding,
) -> None:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding="ascii")
    print_finding(hostile, width=100, file=file)
    file.flush()
    assert b"evil" in raw.getvalue()


def test_scores_are_printed_with_both_kinds_of_signatures() -> None:
    values = np.array([30.1234, float("nan")])
    scores = Scores(
        "bleu",
        ("good", "[red]bad[/red]"),
        values,
        values[:, None],
        higher_is_better=True,
        signature=Signature("bleu", (("refs", "1"),)),
        notices=(told("one reference is empty", "note"),),
        native_signatures={"sacrebleu": "nrefs:1|case:mixed"},
    )
    file = io.StringIO()
    print_scores([scores], width=80, verbose=True, file=file)
    out = file.getvalue()
    assert re.search(r"good +30\.12\n", out.replace(" \n", "\n"))
    assert re.search(r"\[red\]bad\[/red\] +-", out)
    assert "bleu: bleu|refs:1|gnomon:" in out
    assert "bleu (sacrebleu): nrefs:1|case:mixed" in out
    assert "one reference is empty" in out


def wide(systems: list[str]) -> Table:
    """Two features of each system, with more figures than fit side by side."""
    names = [f"figure {n}" for n in range(12)]
    columns = (
        Column("system", "System"),
        Column("feature", "Feature"),
        *(Column(name, name, "number") for name in names),
    )
    rows = tuple(
        {"system": system, "feature": feature, **dict.fromkeys(names, 1.0)}
        for system in systems
        for feature in ("pos:NOUN", "pos:VERB")
    )
    return Table("wide", "Wide", columns, rows)


def lines_of(table: Table, start: str) -> list[str]:
    file = io.StringIO()
    print_grid(table_grid(table), width=80, file=file)
    return [line for line in file.getvalue().split("\n") if re.match(start, line)]


def test_columns_that_do_not_fit_are_left_out_in_one_line() -> None:
    table = wide(["online-A", "online-B"])
    assert len(lines_of(table, "online-[AB] +pos:(NOUN|VERB) ")) == 4
    (line,) = lines_of(table, "Left out for room: ")
    assert line == "Left out for room: figure 6, figure 7, figure 8 and 3 more (--all-columns)"


@pytest.mark.parametrize(
    "name", ["\u6a5f\u68b0\u7ffb\u8bd1" * 2, "\u0e41\u0e1b\u0e25\u0e20\u0e32\u0e29\u0e32"]
)
def test_a_wide_character_takes_two_columns(name: str) -> None:
    rows = lines_of(wide([name]), name)
    assert len(rows) == 2
    assert all(60 < cell_len(row) <= 80 for row in rows)


def test_a_listing_that_fits_is_left_as_it_is() -> None:
    table = wide(["a" * 30])
    narrow = Table(table.name, table.title, table.columns[:3], table.rows)
    assert lines_of(narrow, "a{30}  pos:NOUN +1.00") == ["a" * 30 + "  pos:NOUN      1.00 "]


def test_a_plain_table_is_printed_row_by_row(finding: Finding) -> None:
    file = io.StringIO()
    few = dataclasses.replace(finding.table(), records=finding.rows[:32])
    print_grid(table_grid(few), width=400, file=file)
    assert file.getvalue().count("Harbour_NMT.6750") == 2
