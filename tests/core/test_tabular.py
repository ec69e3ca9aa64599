"""Text tables: what is printed, what is escaped, what stays exact."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.errors import DataError, UnknownNameError
from gnomon.core.escaping import INVISIBLE
from gnomon.core.findings import Bars, Cell, Column, Finding, HeatMap, Listing, ScoreTable, Table
from gnomon.core.scores import Scores
from gnomon.core.signature import Signature
from gnomon.core.tabular import (
    grid,
    kind_of,
    scores_grid,
    table_grid,
    to_latex,
    to_markdown,
    to_tsv,
    visible,
)
from gnomon.report import render

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def records(
    columns: Sequence[Column], rows: Sequence[Sequence[Cell]]
) -> tuple[dict[str, Cell], ...]:
    return tuple(dict(zip((c.name for c in columns), row, strict=True)) for row in rows)


COLUMNS = (
    Column("system", "System"),
    Column("metric", "Metric"),
    Column("feature", "Feature"),
    Column("segments", "|I|", "count"),
    Column("muler", "MuLER", "share", 2, "lower"),
)
ROWS: tuple[tuple[Cell, ...], ...] = (
    ("A", "bleu", "pos:NOUN", 812, 0.25),
    ("B", "bleu", "pos:NOUN", 845, 0.125),
    ("A", "bleu", "ent:ORG", 7, None),
    ("B", "bleu", "ent:ORG", 7, -0.3),
    ("A", "bleu", "pos:VERB", 90, 1.004),
    ("A", "chrf", "pos:NOUN", 812, 0.5),
)


def finding(rows: tuple[tuple[Cell, ...], ...] = ROWS, **where: Cell) -> Finding:
    view = HeatMap(
        "t", "Title", "feature", "system", "muler", "segments", where or {"metric": "bleu"}
    )
    signatures = {"bleu": "bleu|refs:1", "chrf": "chrf|refs:1", "tagger": "x"}
    table = Table("t", "T", COLUMNS, records(COLUMNS, rows))
    return Finding("m", "M", (table,), signatures, (view,))


def texts(made_from: Finding) -> list[list[str]]:
    return [[cell.text for cell in row.cells] for row in grid(made_from).rows]


def test_a_heat_map_becomes_rows_by_systems_with_features_of_one_kind_together() -> None:
    assert [c.title for c in grid(finding()).columns] == ["Feature", "|I|", "A", "B"]
    assert texts(finding()) == [
        ["pos:NOUN", "812-845", "0.25", "0.12"],
        ["pos:VERB", "90", "1.00", "-"],
        ["ent:ORG", "7", "-", "-0.30"],
    ]


def test_shares_outside_zero_to_one_are_marked_and_never_the_best() -> None:
    made = grid(finding())
    marked = [[c.marked for c in row.cells] for row in made.rows]
    assert marked == [[False] * 4, [False, False, True, False], [False, False, False, True]]
    assert [c.best for c in made.rows[0].cells] == [False, False, False, True]
    assert not any(c.best for row in made.rows[1:] for c in row.cells)
    assert made.notes == ("! outside [0, 1]",)


def test_only_the_signatures_of_what_is_shown_are_printed() -> None:
    assert set(grid(finding()).signatures) == {"bleu", "tagger"}


def test_signatures_of_what_only_other_tables_show_are_left_out() -> None:
    scorers = Table("s", "S", COLUMNS[:1], ({"system": "mood"},))
    chosen = Listing("s", "Mood", ("system",), {"system": "mood"})
    both = finding()
    both = replace(
        both,
        tables=(*both.tables, scorers),
        views=(*both.views, chosen),
        signatures={**both.signatures, "mood": "mood|x"},
    )
    assert set(grid(both, both.views[0]).signatures) == {"bleu", "tagger"}
    assert set(grid(both, chosen).signatures) == {"mood", "tagger", "chrf"}


def test_an_ambiguous_view_is_refused() -> None:
    with pytest.raises(DataError, match="narrow the view"):
        grid(finding(segments=812))


def test_a_view_of_an_unknown_column_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="metric"):
        grid(finding(metrik="bleu"))


def test_other_views_and_no_view_become_plain_tables() -> None:
    one = finding()
    bars = Bars("t", "Bars", "feature", "system", ("muler",), {"metric": "chrf"})
    assert [[c.text for c in r.cells] for r in grid(one, bars).rows] == [["pos:NOUN", "A", "0.50"]]
    assert len(table_grid(one.table()).rows) == len(ROWS)


def test_digits_can_be_asked_for() -> None:
    assert grid(finding(), digits=3).rows[0].cells[3].text == "0.125"


def test_a_negative_number_that_rounds_to_zero_has_no_sign() -> None:
    assert grid(finding((("A", "bleu", "f", 1, -0.001),))).rows[0].cells[2].text == "0.00"


def test_scores_stand_side_by_side_with_signatures_of_both_kinds() -> None:
    def scores(name: str, values: list[float], *, higher: bool, systems: str = "AB") -> Scores:
        array = np.array(values)
        native = {"sacrebleu": "nrefs:1"} if name == "bleu" else None
        return Scores(
            name,
            tuple(systems),
            array,
            array[:, None],
            higher,
            Signature(name),
            native_signatures=native,
        )

    made = scores_grid(
        [
            scores("bleu", [30.123, 31.0], higher=True),
            scores("ter", [50.0, float("nan")], higher=False),
            scores("rouge1", [0.51234, 0.4], higher=True, systems="BC"),
        ]
    )
    assert [[c.text for c in row.cells] for row in made.rows] == [
        ["A", "30.12", "50.00", "-"],
        ["B", "31.00", "-", "0.5123"],
        ["C", "-", "-", "0.4000"],
    ]
    assert [row.cells[1].best for row in made.rows] == [False, True, False]
    assert made.signatures["bleu (sacrebleu)"] == "nrefs:1"
    assert kind_of("plain") == ""


def test_tsv_keeps_numbers_exact_and_undefined_cells_empty() -> None:
    third = 1 / 3
    lines = to_tsv(finding((("A", "m", "f", 3, third), ("B", "m", "f", 3, None))).table())
    assert lines.split("\n")[1:3] == [f"A\tm\tf\t3\t{third}", "B\tm\tf\t3\t"]


@given(st.lists(st.text(), min_size=1, max_size=4))
def test_no_text_breaks_the_rows_or_columns_of_a_tsv_table(names: list[str]) -> None:
    rows = records(COLUMNS[:2], [(name, name) for name in names])
    out = to_tsv(Table("t", "T", COLUMNS[:2], rows))
    lines = out.split("\n")
    assert len(lines) == len(names) + 2
    assert all(line.count("\t") == 1 for line in lines[:-1])
    assert not INVISIBLE.search(out.replace("\t", "").replace("\n", ""))
    plain = to_tsv(Table("t", "T", COLUMNS[:2], rows)).split("\n")[1:-1]
    written = [line.split("\t")[1].encode("latin-1", "backslashreplace") for line in plain]
    assert [cell.decode("unicode_escape") for cell in written] == names


def test_tsv_shows_what_would_reorder_a_line_so_that_it_can_be_had_back() -> None:
    name = "a\u202eb\u2066c\\u202e\U000e0041"
    table = Table("t", "T", COLUMNS[:1], records(COLUMNS[:1], [(name,)]))
    assert to_tsv(table).split("\n")[1] == r"a\u202eb\u2066c\\u202e\U000e0041"


def test_a_cell_of_megabytes_is_cut_for_people_and_whole_for_programs() -> None:
    name = "word " * 2_000_000
    made = finding(((name, "bleu", "pos:NOUN", 3, 0.5), ("B", "bleu", "pos:NOUN", 3, 0.5)))
    for form in ("text", "markdown", "latex"):
        text = render(made, form)
        assert form == "text" or "(10,000,000 characters)" in text.replace("{}", "")
        assert 9_000 < len(text) < 50_000
    assert name in render(made, "tsv")
    assert json.loads(render(made, "json"))["rows"][0]["system"] == name
    assert visible("x" * 10_000) == "x" * 10_000
    assert visible("x" * 10_001) == "x" * 10_000 + "... (10,001 characters)"


def test_control_and_bidi_characters_become_visible() -> None:
    assert visible("a\x1b[31m\x9b\u202e\u2066\u2028\n\ud800") == (
        r"a\x1b[31m\x9b<U+202E><U+2066><U+2028>\n<U+D800>"
    )
    assert visible("नमस्ते‍ و‌ x") == "नमस्ते‍ و‌ x"


@given(st.text())
def test_visible_text_holds_nothing_that_acts_on_a_terminal(text: str) -> None:
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", visible(text))


@given(st.text(min_size=1))
def test_no_text_adds_a_column_or_tag_to_a_markdown_table(text: str) -> None:
    lines = to_markdown(grid(finding((("A", "bleu", text, 1, 0.5),)))).split("\n")
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", lines[2])) == 4
    assert not re.search(r"<|(?<!\\)(?:\\\\)*[`*_\[]", lines[2])


def test_markdown_escapes_what_would_act() -> None:
    name = "a|b\\c<script>&amp; *x* :smile: `q`"
    shown = to_markdown(grid(finding(((name, "bleu", "pos:X", 1, 0.5),)))).split("\n")[2]
    assert shown == (
        r"| Feature | \|I\| | a\|b\\c&lt;script&gt;&amp;amp; \*x\* &#58;smile: \`q\` |"
    )


LATEX = r"""*\ { } $ & # % _ ^ ~ < > | " ' ` - -- ,, !` ?` [x] \input{/etc/passwd} ^^5c \\ é"""


def test_latex_escapes_every_character_that_acts() -> None:
    body = to_latex(grid(finding(((LATEX, "bleu", "pos:X", 1, 0.5),))))
    head = next(line for line in body.split("\n") if line.startswith("Feature"))
    cell = head.split(" & ", 2)[2].removesuffix(r" \\")
    known = (
        r"\\(textbackslash|textasciicircum|textasciitilde|textless|textgreater"
        r"|textasciigrave|char34|textbar\{\}\\allowbreak)\{\}|\\[{}$&#%_]|\{[*\[\]]\}|[-,]\{\}"
    )
    rest = re.sub(known, "", cell)
    assert not re.search(r"[\\{}$&#%_^~<>|\"`*\[\]]|--|,,|''", rest)
    assert r"\textbackslash{}input\{/etc/passwd\}" in cell


def test_latex_sets_minus_ranges_and_undefined_cells_right() -> None:
    body = to_latex(grid(finding()))
    assert r"pos:NOUN & 812--845 & 0.25 & \textbf{0.12} \\" in body
    assert r"ent:ORG & 7 & -- & $-$0.30\rlap{\textsuperscript{!}} \\" in body
    assert r"\addlinespace" in body


def test_wide_latex_tables_turn_their_heads() -> None:
    rows = tuple((f"S{i}", "bleu", "pos:X", 1, 0.5) for i in range(9))
    assert to_latex(grid(finding(rows))).count(r"\rotatebox{90}") == 9


def scored(*names: str) -> Finding:
    rows = [
        {"system": name, "metric": metric, "score": score + number, "decided": number == 1}
        for number, name in enumerate(names)
        for metric, score in (("bleu", 30.0), ("ter", 50.0))
    ]
    rows.append({"system": "none", "metric": "bleu", "score": None, "decided": None})
    columns = (*COLUMNS[:2], Column("score", "Score", "number"), Column("decided", "decided"))
    return Finding(
        "human compare",
        "Scores",
        (Table("scores", "Scores", columns, tuple(rows)),),
        {"bleu": Signature("bleu"), "ter": Signature("ter")},
        (Listing("scores", "All of it", ("system", "score")),),
        paper=ScoreTable(
            "scores",
            "Caption, \u2020: worse.",
            {"bleu": "higher", "ter": "lower"},
            significant="decided",
            ordered=True,
        ),
    )


def test_scores_for_a_paper_are_systems_by_metrics_with_bold_daggers_label_and_one_footnote() -> (
    None
):
    lines = scored("a_b", "c").to_latex().split("\n")
    assert lines[3:5] == [r"\caption{Caption, $\dagger$: worse.}", r"\label{tab:human-compare}"]
    assert lines[7:13] == [
        r"System & BLEU & TER $\downarrow$ \\",
        r"\midrule",
        r"c & \textbf{31.00}\rlap{$^\dagger$} & 51.00\rlap{$^\dagger$} \\",
        r"a\_b & 30.00 & \textbf{50.00} \\",
        r"none & -- & -- \\",
        r"\bottomrule",
    ]
    (below,) = (line for line in lines if "footnotesize" in line)
    assert below.count(r"\texttt{") == 2


def test_all_tables_of_a_paper_have_labels_of_their_own() -> None:
    text = scored("a", "b").to_latex(every=True)
    assert re.findall(r"\\label\{(.*?)\}", text) == ["tab:human-compare", "tab:human-compare-2"]
    assert "All of it" in text
    assert "All of it" not in scored("a", "b").to_latex()
    assert "All of it" in replace(scored("a", "b"), paper=None).to_latex()


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("pdflatex"), reason="pdflatex is not installed")
def test_hostile_latex_compiles(tmp_path: Path) -> None:
    body = to_latex(grid(finding(((LATEX, "bleu", LATEX, 1, 0.5),))))
    body += scored(LATEX, "b").to_latex(every=True)
    source = r"\documentclass{article}\usepackage{booktabs,graphicx}\begin{document}"
    (tmp_path / "t.tex").write_text(source + body + r"\end{document}", encoding="utf-8")
    command = ["pdflatex", "-halt-on-error", "-no-shell-escape", "t.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]


def correlations(*rows: tuple[str, str, float | None, int]) -> Finding:
    columns = (
        Column("feature", "Feature"),
        Column("with", "With"),
        Column("r", "r", "number", 2, "higher"),
        Column("n", "n", "count", help="systems"),
        Column("few", "few systems", help="under 8"),
    )
    table = Table("t", "T", columns, records(columns, [(*row, row[3] < 8) for row in rows]))
    view = HeatMap("t", "Title", "feature", "with", "r", faint="few", under="n")
    return Finding("m", "M", (table,), {}, (view,))


FEW = correlations(
    ("pos:X", "BLEU", 0.5, 16), ("pos:X", "chrF", 0.99, 5), ("pos:X", "TER", 0.25, 9),
    ("pos:Y", "BLEU", None, 0), ("pos:Y", "chrF", None, 12),
)  # fmt: skip


def test_cells_of_little_weight_stand_in_parentheses_and_are_never_the_best() -> None:
    made = grid(FEW)
    assert [c.shown for c in made.rows[0].cells] == ["pos:X", "0.50 [16]", "(0.99) [5]", "0.25 [9]"]
    assert [c.best for c in made.rows[0].cells] == [False, True, False, False]
    assert made.notes == ("( ) few systems: under 8", "[ ] n: systems")


def test_an_undefined_cell_is_not_faint_and_a_missing_one_holds_nothing() -> None:
    assert [c.shown for c in grid(FEW).rows[1].cells] == ["pos:Y", "- [0]", "- [12]", "-"]


def test_small_figures_reach_every_format() -> None:
    assert r"(0.99)\,{\scriptsize {[}5{]}}" in to_latex(grid(FEW))
    assert r"| (0.99) \[5\] |" in to_markdown(grid(FEW))
    assert "n" not in "".join(grid(finding()).notes)


def test_a_listing_shows_its_first_rows_and_says_how_many_there_are() -> None:
    columns = (Column("system", "System"), Column("p", "p", "number"))
    rows = tuple({"system": name, "p": 0.01} for name in "abc")
    table = Table("tests", "Tests", columns, rows, note="A note.")
    cut, whole = (Listing("tests", "The first", ("system",), most=most) for most in (2, 3))
    finding = Finding("x", "X", (table,), {}, views=(cut, whole))
    short, full = (grid(finding, view) for view in finding.views)
    assert [row.cells[0].text for row in short.rows] == ["a", "b"]
    assert short.notes == ("The first 2 of 3 rows. A note.",)
    assert len(full.rows) == 3
    assert full.notes == ("A note.",)
