"""Files to take along hold all rows, run nothing, and say nothing of the server."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from typing import TYPE_CHECKING

import pytest

from gnomon.core.errors import UnknownNameError
from gnomon.core.findings import Column
from gnomon.serve._downloads import KINDS, file_name, rows_file, study_file, table_file
from gnomon.serve._notes import add_note
from gnomon.serve._store_pages import open_store, table_names
from gnomon.studies import Store, verdicts

if TYPE_CHECKING:
    from pathlib import Path


COLUMNS = (Column("text", "Text"), Column("n", "N", "number"), Column("yes", "Yes", "truth"))
RISKY = ["=1+1", "+cmd", "-x", "@sum", "\tx", "\rx", "＝1", " =1"]


def _bytes(parts: object) -> bytes:
    return b"".join(parts)  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize("kind", ["tsv", "csv"])
def test_formulas_are_defused_and_numbers_stay(kind: str) -> None:
    rows = [(text, -1.5, True) for text in RISKY] + [("-2.5", -1e-9, None), ("fine", None, False)]
    text = _bytes(rows_file(COLUMNS, rows, kind)).decode("utf-8-sig")
    cells = [line.split("\t")[0] for line in text.splitlines()[1:]] if kind == "tsv" else [
        row[0] for row in csv.reader(io.StringIO(text, newline=""))
    ][1:]  # fmt: skip
    for cell, given in zip(cells, RISKY, strict=False):
        assert (
            cell.startswith("'")
            or not given.strip().startswith(("=", "+", "-", "@"))
            or (kind == "tsv" and given.startswith(" "))
        )
    assert cells[len(RISKY) :] == ["-2.5", "fine"]
    assert ",-1.5," in text or "\t-1.5\t" in text


def test_json_holds_numbers_texts_and_what_is_missing() -> None:
    rows = [("a\u2028", float("nan"), None), ("b", 2, True)]
    assert json.loads(_bytes(rows_file(COLUMNS, rows, "json"))) == [
        {"text": "a\u2028", "n": None, "yes": None},
        {"text": "b", "n": 2, "yes": True},
    ]
    assert json.loads(_bytes(rows_file(COLUMNS, [], "json"))) == []


def test_every_table_of_a_study_comes_in_every_kind_with_all_rows(finished: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    opened = open_store(finished)
    source = opened.rows()
    for name in table_names(opened):
        rows = json.loads(_bytes(table_file(opened, name, "json")))
        lines = _bytes(table_file(opened, name, "tsv")).decode().splitlines()
        records = [*csv.reader(io.StringIO(_bytes(table_file(opened, name, "csv")).decode()))]
        table = pq.read_table(io.BytesIO(_bytes(table_file(opened, name, "parquet"))))
        assert len(rows) == len(lines) - 1 == len(records) - 1 == table.num_rows
        assert lines[0].split("\t") == table.column_names == [*rows[0]]
        if name in source.tables:
            (counted,) = source.ask(f"select count(*) from {source.rows(name)}")[0]
            assert len(rows) == counted


def test_an_unknown_table_or_kind_is_said(finished: Path) -> None:
    opened = open_store(finished)
    for name, kind in (("nope", "csv"), ("scores", "exe"), ("../scores", "csv")):
        with pytest.raises(UnknownNameError):
            _bytes(table_file(opened, name, kind))


def test_a_study_as_a_zip_file_is_a_store_that_opens_elsewhere(
    stored: Path, tmp_path: Path
) -> None:
    add_note(tmp_path / "folder", "set", 1, "a note", by="1", author="Ana")
    (stored / "tables" / "scores" / ".torn.tmp").write_text("x")
    (stored / "elsewhere").symlink_to("/etc")
    data = _bytes(study_file(open_store(stored), tmp_path / "folder", "../a b"))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        archive.extractall(tmp_path / "out")
    assert all(name.startswith("a-b/") and ".." not in name for name in names)
    assert not any("torn" in name or "elsewhere" in name or "lock" in name for name in names)
    store = Store(tmp_path / "out" / "a-b" / "store")
    assert verdicts(store) == verdicts(Store(stored))
    assert str(stored.parent) not in (store.path / "plan.json").read_text()
    assert "a note" in (tmp_path / "out" / "a-b" / "notes.json").read_text()


@pytest.mark.parametrize("name", ["../../etc", "a/b", "ü b", "", "..", 'x"\r\ny', "x" * 500])
def test_names_of_files_are_plain(name: str) -> None:
    made = file_name(name, "scores")
    assert not set(made) & set('/\\"\r\n')
    assert ".." not in made
    assert len(made) <= 120


def test_kinds_have_media_types() -> None:
    assert set(KINDS) == {"tsv", "csv", "json", "parquet"}
