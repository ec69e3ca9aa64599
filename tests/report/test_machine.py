"""Output for programs: the envelope of the contract, exact numbers, valid JSON."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from tests.told import told

from gnomon.core.errors import UnknownNameError
from gnomon.core.findings import Column, Finding, Table
from gnomon.core.scores import Scores
from gnomon.core.signature import Signature, version
from gnomon.messages import Message, message
from gnomon.messages.audiences import flag
from gnomon.report import envelope, render, render_segments
from gnomon.report.rendering import message_data

COLUMNS = (Column("system", "System"), Column("muler", "MuLER", "share"))


def scores() -> Scores:
    values = np.array([1 / 3, float("nan")])
    return Scores(
        "bleu",
        ("A", "B"),
        values,
        values[:, None],
        higher_is_better=True,
        signature=Signature("bleu"),
        native_signatures={"sacrebleu": "nrefs:1"},
    )


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_notices_of_scores_are_part_of_what_has_a_place_for_them(form: str) -> None:
    noticed = replace(scores(), notices=(told("much is cut", "note"),))
    assert "much is cut" in render([noticed], form, verbose=True)
    # segments are a finding, whose notices Markdown leaves to the command
    assert ("much is cut" in render_segments([noticed], form)) is (form == "json")
    assert ("1 note" in render_segments([noticed], form)) is (form == "text")


def test_json_of_scores_is_the_envelope_of_the_contract() -> None:
    content = json.loads(render([scores()], "json", command="score"))
    signature = f"bleu|gnomon:{version()}"
    assert [one["code"] for one in content.pop("messages")] == ["score.missing"]
    assert content == {
        "gnomon": version(),
        "command": "score",
        "rows": [
            {"system": "A", "metric": "bleu", "score": 1 / 3, "signature": signature},
            {"system": "B", "metric": "bleu", "score": None, "signature": signature},
        ],
        "signatures": {"bleu": signature, "bleu (sacrebleu)": "nrefs:1"},
    }


def test_json_holds_every_record_of_a_finding_unrounded(finding: Finding) -> None:
    content = json.loads(render(finding, "json"))
    assert list(content) == ["gnomon", "command", "messages", "rows", "signatures"]
    assert content["command"] == "muler"
    assert content["rows"] == [dict(row) for row in finding.rows]


def test_json_holds_what_was_found_as_data_and_as_text() -> None:
    found = message("score.disagree", {"rows": (0,)})
    finding = Finding(
        "m", "M", (Table("a", "a", COLUMNS, ()),), {}, notices=(told("much is cut", "note"),)
    )
    messages = json.loads(render(replace(finding, verdict=(found,)), "json"))["messages"]
    assert messages == [
        {
            "code": "score.disagree",
            "level": "caution",
            "params": {},
            "subjects": {},
            "rows": {"rows": [0]},
            "text": str(found),
        },
        {
            "code": "error.failed",
            "level": "note",
            "params": {"said": "much is cut"},
            "subjects": {},
            "rows": {},
            "text": "much is cut.",
        },
    ]


def test_json_holds_the_lists_of_a_message_and_nothing_that_is_written_for_readers() -> None:
    params = {"names": ("a", "b"), "ends": {"low": (0.1, math.nan)}}
    worded = {"remedy": flag("digits"), "several": ("add ", flag("digits"))}
    found = Message("score.disagree", "caution", {**params, **worded})
    assert message_data(found)["params"] == {"names": ["a", "b"], "ends": {"low": [0.1, None]}}


def test_json_holds_further_tables_by_name() -> None:
    first, second = (Table(name, name, COLUMNS, ({"system": "A", "muler": 0.1},)) for name in "ab")
    content = json.loads(render(Finding("m", "M", (first, second), {}), "json"))
    assert content["rows"] == [{"system": "A", "muler": 0.1}]
    assert content["tables"] == {"b": [{"system": "A", "muler": 0.1}]}


def test_what_json_lacks_becomes_null_and_numpy_scalars_plain_numbers() -> None:
    row = {"a": float("inf"), "b": np.float64(0.1), "c": np.int64(3), "d": float("nan")}
    assert json.loads(envelope("x", [row], {}))["rows"] == [
        {"a": None, "b": 0.1, "c": 3, "d": None}
    ]


def test_json_is_ascii_so_that_no_control_character_reaches_a_terminal(hostile: Finding) -> None:
    out = render(hostile, "json")
    assert out.isascii()
    assert "\x1b" not in out
    assert json.loads(out)["rows"] == [dict(row) for row in hostile.rows]


def test_tsv_prints_the_same_rows_with_a_header(finding: Finding) -> None:
    lines = render(finding, "tsv").split("\n")
    assert lines[0].split("\t") == [c.name for c in finding.table().columns]
    assert len(lines) == len(finding.rows) + 2
    first = dict(zip(lines[0].split("\t"), lines[1].split("\t"), strict=True))
    assert float(first["muler"]) == finding.rows[0]["muler"]


@pytest.mark.parametrize("format_", ["text", "json", "tsv", "latex", "markdown"])
def test_every_format_renders_findings_and_scores(finding: Finding, format_: str) -> None:
    assert "online-" in render(finding, format_, width=100)
    assert "bleu" in render([scores()], format_)


def test_a_finding_without_views_or_rows_renders() -> None:
    empty = Finding("m", "M", (Table("t", "T", COLUMNS, ()),), {})
    for format_ in ("text", "json", "tsv", "latex", "markdown"):
        assert render(empty, format_)


def test_an_unknown_format_names_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'latex'"):
        render([scores()], "latx")


def test_segment_scores_have_their_own_records() -> None:
    content = json.loads(render_segments([scores()], "json"))
    assert content["rows"][0] == {"system": "A", "segment": 1, "metric": "bleu", "score": 1 / 3}
    assert content["rows"][1]["score"] is None
    assert render_segments([scores()], "tsv").split("\n")[2] == "B\t1\tbleu\t"


def test_segment_scores_of_several_metrics_stand_side_by_side_for_people() -> None:
    lines = render_segments([scores(), scores()], "markdown").split("\n")
    assert lines[:3] == ["**Segment scores**", "", "| System | Segment | bleu | bleu |"]
    assert lines[4:6] == ["| A | 1 | 0.33 | 0.33 |", "| B | 1 | - | - |"]
