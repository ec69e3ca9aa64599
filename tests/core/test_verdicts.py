"""Phrases of verdicts, what scores say, and where a verdict is shown."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.told import cut_texts, told

from gnomon.core import reading_order, verdicts
from gnomon.core import registry as methods
from gnomon.core.findings import Column, Finding, Table
from gnomon.core.scores import Scores
from gnomon.core.signature import Signature
from gnomon.messages import Kind, Message, add, grammar, joined, message, noted
from gnomon.report import print_finding, render, to_html

SAID = told("B is better than A by 1.3 BLEU [0.4, 2.2]", rows=(0,))
WARNED = told("<b>C</b>\x1b[31m", "caution")


@pytest.fixture
def finding() -> Finding:
    table = Table("rows", "Rows", (Column("system", "System"),), ({"system": "A"},))
    return Finding("mine", "Mine", (table,), {}, verdict=(SAID, WARNED))


def scores(name: str, *values: float, higher: bool = True, segments: int = 50) -> Scores:
    systems = tuple("ABCD"[: len(values)])
    cells = np.full((len(values), segments), np.nan)
    return Scores(name, systems, np.array(values), cells, higher, Signature(name))


@pytest.mark.parametrize(
    ("value", "low", "high", "shown"),
    [
        (1.312, 0.41, 2.23, "1.3 [0.4, 2.2]"),
        (0.0341, 0.0221, 0.0461, "0.034 [0.022, 0.046]"),
        (123.4, 80, 170, "123 [80, 170]"),
        (0, 0, 0, "0.00 [0.00, 0.00]"),
        (12.345, None, None, "12.3"),
    ],
)
def test_a_figure_has_as_many_digits_as_its_interval_bears(value, low, high, shown) -> None:
    assert grammar.amount(value, low, high) == shown


def test_shares_have_no_zero_before_the_point() -> None:
    assert grammar.amount(0.31, 0.25, 0.37, share=True) == ".31 [.25, .37]"
    assert grammar.amount(-0.1, -1.2, 1.0, share=True) == "-.1 [-1.2, 1.0]"


def test_p_is_said_after_rounding_and_never_as_0() -> None:
    assert [grammar.p_value(p) for p in (1.0, 0.25, 0.05, 0.0042, 1e-9)] == [
        "p = 1", "p = .25", "p = .050", "p = .004", "p < .001",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("p", "least", "shown"),
    [
        (0.002, 0.001998, "p = .002"),
        (0.001998, 0.001998, "p <= .002"),
        (3 * 2 / 1001, 3 * 2 / 1001, "p <= .006"),
        (0.0, 1 / 10001, "p <= .0001"),
        (0.0113, 0.0113, "p <= .012"),
        (1.0, 1.5, "p = 1"),
        (0.3, 0.002, "p = .30"),
    ],
)
def test_the_smallest_p_that_draws_can_show_is_a_bound(p, least, shown) -> None:
    assert grammar.p_value(p, least) == shown


@pytest.mark.parametrize(
    ("value", "low", "high", "shown"),
    [
        (0.6, -0.046, 0.906, "0.6 [-0.05, 0.91]"),
        (5.0, 0.3, 9.7, "5 [0.3, 9.7]"),
        (0.02, -3.0, 3.1, "0.02 [-3.0, 3.1]"),
        (5.0, 0.0, 10.0, "5 [0, 10]"),
        (1.0, -1e-17, 2.0, "1.0 [0.0, 2.0]"),
        (-0.004, -4.0, -0.0004, "-0.004 [-4.0000, -0.0004]"),
    ],
)
def test_what_is_not_0_is_not_written_as_0(value, low, high, shown) -> None:
    assert grammar.amount(value, low, high) == shown


def test_further_segments_are_left_out_where_they_are_absurd_or_already_there() -> None:
    assert verdicts.further_segments(1000, 0.5, -0.5, 1.5) == 3000
    assert verdicts.further_segments(1000, 0.001, -1, 1) is None
    assert verdicts.further_segments(1000, 0.0, -1, 1) is None
    assert verdicts.further_segments(1000, 2.0, 1, 3) is None
    assert verdicts.further_segments(1000, 2.0, float("nan"), 3) is None


def test_of_many_statements_cautions_stay() -> None:
    many = [told(str(number)) for number in range(9)]
    kept = reading_order.brief([*many, WARNED])
    assert [str(one) for one in kept] == ["0.", "1.", "2.", "3.", "4.", "5.", str(WARNED)]


def test_answers_come_first_then_what_is_undecided_then_cautions() -> None:
    undecided, doubt = replace(SAID, level="undecided"), replace(WARNED, code="data.doubtful")
    assert reading_order.brief([WARNED, undecided, SAID]) == (SAID, undecided, WARNED)
    assert reading_order.brief([SAID, doubt]) == (doubt, SAID)


def test_cautions_after_the_second_one_are_folded() -> None:
    shown, after = reading_order.split_notes([SAID, WARNED, WARNED, replace(WARNED, code="other")])
    assert shown == [SAID, WARNED, WARNED]
    assert [said.code for said in after] == ["other"]


def test_scores_say_who_has_the_best_and_that_no_test_was_made() -> None:
    found = verdicts.summarise_scores([scores("bleu", 30.0, 31.5, 20.0)])
    assert [one.level for one in found] == ["undecided", "undecided"]
    assert str(found[0]) == "B has the highest BLEU, 31.5 (A 30.0; 50 segments)."
    assert found[0].rows == {"scores": (1, 0)}
    assert str(found[1]) == "Not tested. `gnomon compare` with the same arguments tests it."
    assert "gnomon compare" not in str(
        verdicts.summarise_scores([scores("bleu", 1.0, 2.0)], shell=False)[1]
    )


def test_of_error_rates_the_lowest_is_best() -> None:
    found = verdicts.summarise_scores([scores("ter", 30.0, 31.5, higher=False)])
    assert str(found[0]).startswith("A has the lowest and thus best TER, 30.0 (B 31.5; ")


def test_metrics_with_different_leaders_are_a_caution_and_one_system_has_its_score() -> None:
    found = verdicts.summarise_scores([scores("bleu", 30.0, 31.5), scores("chrf", 60.0, 55.0)])
    assert "caution" in {one.level for one in found}
    assert found[1].rows == {"scores": (2, 3)}
    (alone,) = verdicts.summarise_scores([scores("bleu", 30.0)])
    assert alone.level == "undecided"
    assert " has 30.0 BLEU (" in str(alone)
    assert verdicts.summarise_scores([scores("bleu", 30.0, float("nan"))]) == ()


def test_metrics_of_which_one_has_a_tie_on_top_agree() -> None:
    def cautions(*of: Scores) -> list[str]:
        return [str(one) for one in verdicts.summarise_scores(of) if one.level == "caution"]

    level, alone = scores("bleu", 30.0, 30.0, 20.0), scores("chrf", 60.0, 55.0, 50.0)
    assert cautions(level, alone) == []
    other = scores("ter", 60.0, 70.0, 50.0, higher=False)
    assert cautions(level, alone, other) == [
        "Caution: the metrics do not agree on which system is best."
    ]


def test_texts_that_a_model_does_not_read_to_their_end_are_a_caution() -> None:
    notices = (cut_texts(3, 90, "sbert"), told("sbert: something else", "note"))
    one = replace(scores("sbert", 0.5, 0.6), notices=notices)
    (said,) = [said for said in verdicts.summarise_scores([one]) if said.level == "caution"]
    assert str(said).startswith("Caution: sbert: 3 of 90 texts are longer than the model takes")


def test_scores_of_few_segments_are_a_caution() -> None:
    found = verdicts.summarise_scores([scores("bleu", 30.0, 31.5, segments=4)])
    assert found[0].level == "caution"


def test_scores_that_are_close_are_shown_with_digits_that_tell_them_apart() -> None:
    found = verdicts.summarise_scores([scores("bleu", 30.001, 30.002)])
    assert "BLEU, 30.002 (A 30.001; " in str(found[0])
    assert "have the same BLEU" in str(verdicts.summarise_scores([scores("bleu", 30.0, 30.0)])[0])
    rounded = verdicts.summarise_scores([scores("bleu", 0.1 + 0.2, 0.3)])[0]
    assert str(rounded) == "A and B have the same BLEU, 0.300 (50 segments)."


def test_the_verdict_is_the_first_line_on_a_terminal_and_what_users_gave_is_not_obeyed(
    finding: Finding,
) -> None:
    file = io.StringIO()
    print_finding(finding, file=file, width=80)
    lines = file.getvalue().splitlines()
    assert lines[0] == str(SAID)
    assert lines[1] == r"Caution: <b>C</b>\x1b[31m."


def test_json_and_markdown_hold_the_verdict_and_tables_of_rows_do_not(finding: Finding) -> None:
    found = json.loads(render(finding, "json"))
    assert list(found)[:4] == ["gnomon", "command", "messages", "rows"]
    assert found["messages"][0] == {
        "code": "error.failed",
        "level": "finding",
        "params": dict(SAID.params),
        "subjects": {},
        "rows": {"rows": [0]},
        "text": str(SAID),
    }
    assert render(finding, "markdown").startswith("- B is better than A by 1.3 BLEU")
    assert "&lt;b&gt;C" in render(finding, "markdown")
    assert finding.to_markdown() == render(finding, "markdown")
    for pure in ("tsv", "latex"):
        assert "better" not in render(finding, pure)


def test_text_cuts_tables_at_the_rows_that_say_most_and_counts_the_others() -> None:
    columns = (Column("feature", "Feature"), Column("x", "X", "share"))
    values = [None, 0.5, 7.0, *[0.5] * 30]
    rows = tuple({"feature": f"f{n}", "x": value} for n, value in enumerate(values))
    finding = Finding("mine", "Mine", (Table("rows", "Rows", columns, rows),), {})
    whole, cut = render(finding, "text"), render(finding, "text", most=20)
    assert all(f"f{n} " in whole for n in range(33))
    assert "more: --all" not in whole
    shown = [line.split()[0] for line in cut.splitlines() if line.startswith("f")]
    assert shown == ["f1", *(f"f{n}" for n in range(3, 22))]
    assert "and 13 more: --all" in cut
    for whole_anyway in ("json", "tsv", "markdown"):
        assert render(finding, whole_anyway, most=20) == render(finding, whole_anyway)


def test_a_page_begins_with_the_verdict_and_escapes_it(finding: Finding) -> None:
    page = to_html(finding)
    main = page[page.index("<main") :]
    assert main.index("B is better than A") < main.index("Rows")
    assert "<b>C" not in main.partition("<script")[0]
    assert "&lt;b&gt;C&lt;/b&gt;" in main


def test_a_page_has_no_sections_for_tables_without_rows(finding: Finding) -> None:
    blank = Table("blank", "Nothing here", (Column("system", "System"),), ())
    page = to_html(replace(finding, tables=(*finding.tables, blank)))
    assert "Nothing here" not in page.partition('<script type="application/json"')[0]


def test_a_method_says_what_it_found_by_the_function_that_it_declares(finding: Finding) -> None:
    add({"mine.few": Kind("{rows} row is not enough", "undecided", "the rows")})

    def told(found: Finding) -> list[Message]:
        return [message("mine.few", {"rows": [0]}, rows=len(found.rows))]

    def plain() -> Finding:
        """Nothing but a finding."""
        return replace(finding, verdict=())

    made = methods.method("mine", purpose="nothing", data=(), given="nothing", verdict=told)(plain)
    (said,) = made().verdict
    assert str(said) == "1 row is not enough."
    assert said == Message("mine.few", "undecided", {"rows": 1}, {"rows": (0,)})


def _missing(metric: str, number: int = 3) -> Message:
    cells: dict[str, Any] = {"scores": 9, "segments": 5, "unlike": False}
    fewer = [{"system": "A", "n": 2}]
    said = message("note.metrics.missing", missing=number, fewer=fewer, **cells)
    return said.about(metrics=[metric])


@pytest.mark.parametrize("names", [("БЛЕУ", "chrF", "ТЕР"), ("蓝", "字", "词")])
def test_notes_that_differ_in_a_name_alone_are_one(names: tuple[str, ...]) -> None:
    first, second, third = names
    tokens = [message("note.muler.masks_tokens", metric=one, instead="--masking") for one in names]
    lacking = [*map(_missing, names)]
    notices = (*tokens, lacking[0], _missing(first, 4), *lacking[1:], lacking[0])
    said = list(map(noted, joined(notices)))
    assert len(said) == 3
    assert said[0].startswith(f"{first}, {second} and {third} mask their own tokens and look at")
    assert said[1].startswith(f"{first}, {second} and {third}: 3 of 9 scores")
    assert said[2].startswith(f"{first}: 4 of 9 scores")
    (alone,) = joined(tokens[:1])
    assert str(alone).startswith(f"{first} masks its own tokens and looks at no mask words")
    table = Table("t", "T", (Column("a", "A"),), ({"a": 1},))
    assert (
        "<summary>3 notes</summary>"
        in Finding("m", "M", (table,), {}, notices=notices)._repr_html_()
    )
