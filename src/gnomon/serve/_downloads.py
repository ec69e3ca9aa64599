"""Tables and whole studies as files to take along, sent while they are read."""

from __future__ import annotations

import csv
import io
import json
import re
import tempfile
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon.core.errors import UnknownNameError
from gnomon.core.tabular import tsv_lines
from gnomon.serve._notes import read_notes
from gnomon.serve._store_pages import sql_of_table, table_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gnomon.core.findings import Cell, Column
    from gnomon.serve._store_pages import OpenStore
    from gnomon.studies import Store

#: kinds of files of a table, with their media types
KINDS = {
    "tsv": "text/tab-separated-values; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "parquet": "application/vnd.apache.parquet",
}
_ROWS = 2000
#: bytes that are sent at a time
_PIECE = 1 << 18
_FORMULA = tuple("=+-@＝＋－＠\t\r")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
#: names of files that any system takes
_NO_NAME = re.compile(r"[^\w.-]+")
#: what a copy of a store does without: memories of this machine's files, and locks
_LEFT_OUT = frozenset({"lock", "sketches.json"})


def file_name(*parts: str) -> str:
    """A name for a download, of letters, digits, dots and hyphens.

    >>> file_name("wmt/../19 de", "scores.csv")
    'wmt-19-de-scores.csv'
    """
    safe = (_NO_NAME.sub("-", part).strip(".-") for part in parts)
    return "-".join(re.sub(r"-?\.\.+-?", "-", part) for part in safe if part)[:120] or "table"


def table_file(opened: OpenStore, name: str, kind: str) -> Iterator[bytes]:
    """All rows of a table as a file, piece by piece."""
    if kind not in KINDS:
        raise UnknownNameError("kind of file", kind, tuple(KINDS))
    source = opened.rows()
    table = table_rows(opened, source, name)
    sql = sql_of_table(table, source)
    if kind == "parquet":
        return _parquet(source.connection, sql, table.columns)
    parts = (list(zip(*cells, strict=True)) for cells in source.read_parts(sql, _ROWS))
    return rows_file(table.columns, (row for part in parts for row in part), kind)


def rows_file(
    columns: Sequence[Column], rows: Iterable[Sequence[Cell]], kind: str
) -> Iterator[bytes]:
    """Rows as TSV, CSV or JSON, piece by piece; texts that a spreadsheet would run are quoted."""
    if kind == "tsv":
        names = [column.name for column in columns]
        lines = tsv_lines(
            columns, (dict(zip(names, row, strict=True)) for row in rows), neutralise=True
        )
    elif kind == "csv":
        lines = _csv_lines(columns, rows)
    else:
        lines = _json_lines(columns, rows)
    return _in_pieces(line.encode("utf-8", "replace") for line in lines)


def _in_pieces(lines: Iterable[bytes]) -> Iterator[bytes]:
    held: list[bytes] = []
    size = 0
    for line in lines:
        held.append(line)
        size += len(line)
        if size >= _PIECE:
            yield b"".join(held)
            held, size = [], 0
    yield b"".join(held)


def _csv_lines(columns: Sequence[Column], rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    yield "\ufeff"  # spreadsheets read UTF-8 where a file begins so
    writer.writerow([harmless(column.name) for column in columns])
    for row in rows:
        writer.writerow([_csv_cell(cell) for cell in row])
        yield out.getvalue()
        out.seek(0)
        out.truncate()
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


def _parquet(connection: Any, sql: str, columns: Sequence[Column]) -> Iterator[bytes]:
    """A Parquet file, which is written where nobody else reads, and sent from there."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {"text": pa.string(), "count": pa.int64(), "truth": pa.bool_()}
    help_of = {c.name: {b"title": c.title.encode(), b"help": c.help.encode()} for c in columns}
    schema = pa.schema(
        [pa.field(c.name, types.get(c.kind, pa.float64()), metadata=help_of[c.name])
         for c in columns]
    )  # fmt: skip
    with tempfile.TemporaryFile() as file:
        # DuckDB makes Arrow's batches itself: pyarrow.array would import pandas
        rows = connection.cursor().sql(sql)
        read = getattr(rows, "to_arrow_reader", None) or rows.fetch_arrow_reader  # before 1.4
        batches = read(_ROWS * 10)
        with pq.ParquetWriter(file, schema, compression="zstd") as writer:
            for batch in batches:
                writer.write_table(pa.Table.from_batches([batch]).cast(schema))
        file.seek(0)
        while piece := file.read(_PIECE):
            yield piece


# A whole study.


class _Stream(io.RawIOBase):
    """Takes what a zip file is written to, and hands it on."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []

    def write(self, data: Any) -> int:
        self.pieces.append(bytes(data))
        return len(data)

    def take(self) -> bytes:
        data = b"".join(self.pieces)
        self.pieces.clear()
        return data


def study_file(opened: OpenStore, folder: Path | None, title: str) -> Iterator[bytes]:
    """A study as a zip file, piece by piece: its store, its notes, and how to read them."""
    top = file_name(title) or "study"
    stream = _Stream()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, source in _files(opened.store):
            info = zipfile.ZipInfo(f"{top}/store/{name}")
            with archive.open(info, "w") as entry, source.open("rb") as file:
                while piece := file.read(_PIECE):
                    entry.write(piece)
                    yield stream.take()
        for name, text in _texts(opened.store, folder, top):
            archive.writestr(zipfile.ZipInfo(f"{top}/{name}"), text)
            yield stream.take()
    yield stream.take()


def _files(store: Store) -> Iterator[tuple[str, Path]]:
    """The files of a store that are finished and say nothing of this machine."""
    finished = {store.file(name, entry.key) for entry in store.entries.values()
                for name in entry.rows}  # fmt: skip
    for path in sorted(store.path.rglob("*")):
        name = path.relative_to(store.path).as_posix()
        if path.is_symlink() or not path.is_file() or name.startswith("."):
            continue
        if name in _LEFT_OUT or name == "plan.json" or path.name.startswith("."):
            continue
        if name.startswith("tables/") and path not in finished:
            continue
        yield name, path


def _texts(store: Store, folder: Path | None, top: str) -> Iterator[tuple[str, str]]:
    from gnomon.studies.reading import PLAN, PlanRecord, record_in, sealed

    plan = record_in(store.path / PLAN, PlanRecord)
    if plan is not None:  # where texts were is the server's own
        sets = tuple(
            replace(
                record,
                source=replace(
                    record.source,
                    path=Path(record.source.path).name,
                    paraphrases=tuple(Path(path).name for path in record.source.paraphrases),
                ),
            )
            for record in plan.testsets
        )
        yield f"store/{PLAN}", sealed(replace(plan, testsets=sets))
    notes = read_notes(folder) if folder is not None else []
    if notes:
        yield "notes.json", _notes_json(notes)
    yield (
        "README.txt",
        (
            "A study of gnomon: results, without the texts.\n\n"
            f"gnomon report {top}/store -o report    pages to look around in\n"
            f"gnomon query {top}/store               its tables\n"
            f"gnomon serve {top}/store               the same in a browser\n"
        ),
    )


def _notes_json(notes: Sequence[Any]) -> str:
    import msgspec

    return msgspec.json.format(msgspec.json.encode(notes), indent=1).decode() + "\n"


def notes_file(folder: Path, kind: str) -> Iterator[bytes]:
    """The notes of a study as a file."""
    from gnomon.core.findings import Column

    names = ("testset", "segment", "author", "time", "edited", "text")
    columns = [Column(name, name, "count" if name == "segment" else "text") for name in names]
    rows = [[getattr(note, name) for name in names] for note in read_notes(folder)]
    if kind not in ("tsv", "csv", "json"):
        raise UnknownNameError("kind of file", kind, ("tsv", "csv", "json"))
    return rows_file(columns, rows, kind)
