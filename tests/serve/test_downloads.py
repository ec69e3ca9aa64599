"""Files to take along hold all rows, run nothing, and say nothing of the server."""

from __future__ import annotations

import csv
import io
import json
import time
from typing import TYPE_CHECKING, Any

import openpyxl
import pytest

from gnomon.core.errors import UnknownNameError
from gnomon.core.findings import Column
from gnomon.serve.downloads import file_name, rows_file, table_file
from gnomon.serve.store_pages import open_store, table_names

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


COLUMNS = (Column("text", "Text"), Column("n", "N", "number"), Column("yes", "Yes", "truth"))
RISKY = ["=1+1", "+cmd", "-x", "@sum", "\tx", "\rx", "＝1", " =1"]


def _bytes(parts: object) -> bytes:
    return b"".join(parts)  # type: ignore[call-overload, no-any-return]


def test_formulas_are_defused_and_numbers_stay() -> None:
    rows = [(text, -1.5, True) for text in RISKY] + [("-2.5", -1e-9, None), ("fine", None, False)]
    text = _bytes(rows_file(COLUMNS, rows, "csv")).decode("utf-8-sig")
    cells = [row[0] for row in csv.reader(io.StringIO(text, newline=""))][1:]
    for cell, given in zip(cells, RISKY, strict=False):
        assert cell.startswith("'") or not given.strip().startswith(("=", "+", "-", "@"))
    assert cells[len(RISKY) :] == ["-2.5", "fine"]
    assert ",-1.5," in text


def test_json_holds_numbers_texts_and_what_is_missing() -> None:
    rows = [("a\u2028", float("nan"), None), ("b", 2, True)]
    assert json.loads(_bytes(rows_file(COLUMNS, rows, "json"))) == [
        {"text": "a\u2028", "n": None, "yes": None},
        {"text": "b", "n": 2, "yes": True},
    ]
    assert json.loads(_bytes(rows_file(COLUMNS, [], "json"))) == []


def test_every_table_of_a_study_comes_in_every_kind_with_all_rows(finished: Path) -> None:
    opened = open_store(finished)
    source = opened.rows()
    for name in table_names(opened):
        rows = json.loads(_bytes(table_file(opened, name, "json")))
        text = _bytes(table_file(opened, name, "csv")).decode("utf-8-sig")
        records = [*csv.reader(io.StringIO(text))]
        assert len(rows) == len(records) - 1
        assert records[0] == [*rows[0]]
        if name in source.tables:
            (counted,) = source.query(f"select count(*) from {source.rows(name)}")[0]
            assert len(rows) == counted


def test_a_workbook_has_all_tables_and_the_texts(shows: Callable[..., Any], stored: Path) -> None:
    client = shows()
    assert client.get("/download/workbook").status_code == 404
    assert client.post("/made/workbook").status_code == 303
    while "It is being made" in client.get("/made/workbook").text:
        time.sleep(0.05)
    answer = client.get("/download/workbook")
    assert "shown.xlsx" in answer.headers["content-disposition"]
    book = openpyxl.load_workbook(io.BytesIO(answer.content))
    opened = open_store(stored)
    assert {"found", "texts", *opened.source.tables} <= {*book.sheetnames}
    assert book["texts"].max_row == 1 + 60
    source = opened.rows()
    (counted,) = source.query(f"select count(*) from {source.rows('segments')}")[0]
    assert book["segments"].max_row == 1 + counted
    assert "as a workbook" in client.get("").text


def test_an_unknown_table_or_kind_is_said(finished: Path) -> None:
    opened = open_store(finished)
    for name, kind in (("nope", "csv"), ("scores", "tsv"), ("../scores", "csv")):
        with pytest.raises(UnknownNameError):
            _bytes(table_file(opened, name, kind))


@pytest.mark.parametrize("name", ["../../etc", "a/b", "ü b", "", "..", 'x"\r\ny', "x" * 500])
def test_names_of_files_are_plain(name: str) -> None:
    made = file_name(name, "scores")
    assert not set(made) & set('/\\"\r\n')
    assert ".." not in made
    assert len(made) <= 120
