"""Downloads of tables, streamed from the store."""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
from typing import TYPE_CHECKING

from gnomon.core.errors import UnknownNameError
from gnomon.serve.store_pages import table_sql

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gnomon.core.findings import Cell, Column
    from gnomon.serve.store_pages import OpenStore

__all__ = ["file_name", "rows_file", "table_file"]


#: kinds of files of a table, with their media types
KINDS = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
}
_ROWS = 2000
_FORMULA = tuple("=+-@＝＋－＠\t\r")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
#: names of files that any system takes
_NO_NAME = re.compile(r"[^\w.-]+")


def file_name(*parts: str) -> str:
    """A name for a download, of letters, digits, dots and hyphens.

    >>> file_name("wmt/../19 de", "scores.csv")
    'wmt-19-de-scores.csv'
    """
    safe = (_NO_NAME.sub("-", part).strip(".-") for part in parts)
    return "-".join(re.sub(r"-?\.\.+-?", "-", part) for part in safe if part)[:120] or "table"


def table_file(opened: OpenStore, name: str, kind: str) -> Iterator[bytes]:
    """All rows of a table as a file, piece by piece."""
    source = opened.rows()
    columns, sql = table_sql(opened, source, name)
    parts = (list(zip(*cells, strict=True)) for cells in source.read_parts(sql, _ROWS))
    return rows_file(columns, (row for part in parts for row in part), kind)


def rows_file(
    columns: Sequence[Column], rows: Iterable[Sequence[Cell]], kind: str
) -> Iterator[bytes]:
    """Rows as CSV or JSON, piece by piece; texts that a spreadsheet would run are quoted."""
    if kind not in KINDS:
        raise UnknownNameError("kind of file", kind, tuple(KINDS))
    lines = (_csv_lines if kind == "csv" else _json_lines)(columns, rows)
    while some := list(itertools.islice(lines, _ROWS)):
        yield "".join(some).encode("utf-8", "replace")


def _csv_lines(columns: Sequence[Column], rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    yield "\ufeff"  # spreadsheets read UTF-8 where a file begins so
    for row in itertools.chain([[column.name for column in columns]], rows):
        out.seek(0)
        out.truncate()
        writer.writerow([_csv_cell(cell) for cell in row])
        yield out.getvalue()


def _csv_cell(cell: Cell) -> Cell:
    if isinstance(cell, str):
        return harmless(cell)
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return None if isinstance(cell, float) and cell - cell != 0 else cell


def harmless(text: str) -> str:
    """A text that no spreadsheet runs: an apostrophe before what begins a formula.

    >>> harmless("=1+1"), harmless("-3.5"), harmless("fine")
    ("'=1+1", '-3.5', 'fine')
    """
    risky = text.lstrip(" ").startswith(_FORMULA) and not _NUMBER.fullmatch(text)
    return f"'{text}" if risky else text


def _json_lines(columns: Sequence[Column], rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    names = [column.name for column in columns]
    separator = "[\n"
    for row in rows:
        cells = (None if isinstance(c, float) and c - c != 0 else c for c in row)
        record = json.dumps(dict(zip(names, cells, strict=True)), ensure_ascii=False)
        yield separator + record
        separator = ",\n"
    yield "[]\n" if separator == "[\n" else "\n]\n"
