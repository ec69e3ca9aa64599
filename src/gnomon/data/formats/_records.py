"""Records of tables: rows of TSV, CSV, Parquet and data frames, objects of JSON and JSONL.

Users name the columns or keys. ``a.b`` is the key ``b`` inside ``a``, as in data sets with a column
``translation`` that holds a text per language.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gnomon.core.errors import FormatError, RowNumber, UsageError, not_installed, plain
from gnomon.data.formats._files import LOGGER, STANDARD_INPUT, largest_input, read_bytes
from gnomon.data.formats._lines import read_lines, read_text, shown
from gnomon.data.formats._registry import RecordFormat, format_of_name, formats_of
from gnomon.data.formats.rows import (
    FileRecord,
    form_of,
    read_separated,
    read_tsv,
    short_json,
)
from gnomon.data.formats.spreadsheets import read_cells

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from os import PathLike


def read_records(path: str | PathLike[str], form: str | None = None) -> list[FileRecord]:
    """Read a table of any format whose columns or keys users name.

    Args:
        path: the file, or ``-`` for standard input.
        form: "tsv", "csv", "jsonl", "json" or "parquet"; None: by the file's suffix.

    Raises:
        FormatError: a row or an object is not what it should be.
        UnknownNameError: the format is unknown.
        UsageError: standard input without a format.
        MissingDependencyError: the format needs a package that is not installed.
    """
    formats = {suffix: f.name for f in formats_of(RecordFormat) for suffix in f.suffixes}
    if form is None and str(path) == STANDARD_INPUT:
        names = ", ".join(dict.fromkeys(formats.values()))
        raise UsageError(f"standard input has no file name to tell its format: give one of {names}")
    name = form or form_of(path, formats, "table format")
    records: list[FileRecord] = format_of_name(RecordFormat, name, "table format").read(path)
    return records


# Tables with a row per line: every cell is a text.


def _read_tsv_rows(path: str | PathLike[str]) -> list[FileRecord]:
    table = read_tsv(path)
    cells = (row[column] for row in table for column in table.columns)
    quoted = sum(cell[:1] == cell[-1:] == '"' for cell in cells)
    if quoted:
        LOGGER.info(
            "%s: %d fields stand in quotation marks, which are kept as text", table.path, quoted
        )
    return list(table)


def _read_csv_rows(path: str | PathLike[str]) -> list[FileRecord]:
    table = read_separated(path)
    broken = sum("\n" in row[column] for row in table for column in table.columns)
    if broken:
        LOGGER.info("%s: %d fields hold line ends, which stay in them", table.path, broken)
    return list(table)


def _read_sheet_rows(path: str | PathLike[str]) -> list[FileRecord]:
    name, rows = shown(path), enumerate(read_cells(path), start=1)
    filled = [(number, row) for number, row in rows if any(map(str.strip, row))]
    if not filled:
        return []
    (line, heads), *below = filled
    header = [head.strip() for head in heads]
    while not header[-1]:
        header.pop()  # of spaces
    for column in header:
        if header.count(column) > 1:
            raise FormatError(f"column {column!r} occurs twice in the header", path=name, line=line)
    records = []
    for number, row in below:
        if any(map(str.strip, row[len(header) :])):
            raise FormatError(
                f"has a cell beyond the {len(header)} columns of the header: {', '.join(header)}",
                path=name,
                line=RowNumber(number),
            )
        cells = [*row, *[""] * (len(header) - len(row))]
        records.append(FileRecord(name, RowNumber(number), dict(zip(header, cells, strict=False))))
    return records


# JSON: an object per line, a list of objects, or an object with a list per column.


def _read_objects(path: str | PathLike[str]) -> list[FileRecord]:
    name = shown(path)
    lines = enumerate(read_lines(path), start=1)
    return [parse_object(name, number, line) for number, line in lines if line.strip()]


def parse_object(path: str, number: int, line: str) -> FileRecord:
    """Read one JSON object."""
    try:
        value = json.loads(line, object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise FormatError(
            f"is not a JSON object ({plain(error)}); JSONL has one object per line",
            path=path,
            line=number,
        ) from error
    if not isinstance(value, dict):
        raise FormatError(
            f"is {short_json(value)}; JSONL has one object per line", path=path, line=number
        )
    return FileRecord(path, number, value)


_SPACE = re.compile(r"[ \t\r\n]*")
_ARRAY = "a list of objects is expected, [{...}, {...}], or an object with a list for each column"


def _read_array(path: str | PathLike[str]) -> list[FileRecord]:
    name, text = shown(path), read_text(path)
    start = _skip(text, 0)
    if text[start : start + 1] == "{":
        return _parse_columns(name, parse_json(name, text))
    return [FileRecord(name, line, values) for line, values in objects_of(name, text, start)]


def objects_of(name: str, text: str, start: int) -> Iterator[tuple[int, dict[str, object]]]:
    """The objects of a JSON list that is all that follows, and the lines on which they begin.

    Of a list that stands on a single line, the numbers of the objects.
    """
    decoder = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)
    if text[start : start + 1] != "[":
        raise FormatError(f"is no list in JSON; {_ARRAY}", path=name, line=1)
    line, at, counted, closed = 1, _skip(text, start + 1), 0, False
    number, single = 0, "\n" not in text.strip()
    if text[at : at + 1] == "]":
        at, closed = at + 1, True
    while not closed:
        line, counted = line + text.count("\n", counted, at), at
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            raise FormatError(
                f"is not JSON ({plain(error)}); {_ARRAY}", path=name, line=line
            ) from error
        if not isinstance(value, dict):
            raise FormatError(f"is {short_json(value)}; {_ARRAY}", path=name, line=line)
        number += 1
        yield RowNumber(number) if single else line, value
        at = _skip(text, at)
        if text[at : at + 1] not in (",", "]"):
            line += text.count("\n", counted, at)
            raise FormatError(
                f"{text[at : at + 20]!r} follows an object of the list, and a comma or the end of"
                " the list is expected; is the file whole?",
                path=name,
                line=line,
            )
        closed = text[at] == "]"
        at = _skip(text, at + 1)
    if _skip(text, at) < len(text):
        line += text.count("\n", counted, at)
        raise FormatError(f"goes on after the end of its list; {_ARRAY}", path=name, line=line)


def parse_json(name: str, text: str) -> object:
    """A whole JSON file."""
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise FormatError(f"is not JSON ({error.msg})", path=name, line=error.lineno) from error
    except (ValueError, RecursionError) as error:
        raise FormatError(f"is not JSON ({plain(error)})", path=name) from error


def _parse_columns(name: str, value: object) -> list[FileRecord]:
    columns = value if isinstance(value, dict) else {}
    lengths = {key: len(cells) for key, cells in columns.items() if isinstance(cells, list)}
    if not columns or len(lengths) < len(columns):
        raise FormatError(f"is no table; {_ARRAY}", path=name, line=1)
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{key} {count}" for key, count in lengths.items())
        raise FormatError(f"its columns differ in length: {counts}", path=name, line=1)
    rows = zip(*columns.values(), strict=True)
    return [
        FileRecord(name, RowNumber(number), dict(zip(columns, row, strict=True)))
        for number, row in enumerate(rows, start=1)
    ]


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


# Parquet, which a package reads.


def parquet_columns(path: str | PathLike[str]) -> list[str]:
    """The names of the columns of a Parquet file."""
    with _parquet(path) as file:
        return list(file.schema_arrow.names)


def _read_parquet(path: str | PathLike[str]) -> list[FileRecord]:
    with _parquet(path) as file:
        groups = (file.metadata.row_group(i) for i in range(file.metadata.num_row_groups))
        size = sum(group.total_byte_size for group in groups)
        if size > largest_input():
            raise FormatError(f"has {size:,} bytes, more than an input may have", path=shown(path))
        rows: list[dict[str, object]] = file.read().to_pylist()
    return _number_rows(shown(path), rows)


@contextmanager
def _parquet(path: str | PathLike[str]) -> Generator[Any]:  # a class of a package
    """A Parquet file, whose damage is told."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise not_installed("a Parquet file", "pyarrow", "frames") from error
    data = read_bytes(path)
    try:
        yield parquet.ParquetFile(io.BytesIO(data), page_checksum_verification=True)
    except (pa.ArrowException, OSError, ValueError, KeyError, MemoryError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(
            "is no whole Parquet file; write or copy it anew", path=shown(path)
        ) from error


# Data frames of any library.


def records_of_frame(frame: object) -> list[FileRecord]:
    """The rows of a data frame."""
    rows = _rows_of_frame(frame)
    return _number_rows("data frame", rows)


def _number_rows(name: str, rows: Iterable[Mapping[str, object]]) -> list[FileRecord]:
    """Rows of something without lines; NaN, as libraries write what is missing, is None."""
    return [
        FileRecord(
            name, RowNumber(number), {str(key): _plain_cell(cell) for key, cell in row.items()}
        )
        for number, row in enumerate(rows, start=1)
    ]


def _rows_of_frame(frame: Any) -> Iterable[Mapping[str, object]]:  # of a library not imported here
    if isinstance(frame, Mapping):
        columns = {str(name): list(cells) for name, cells in frame.items()}
        return (record.values for record in _parse_columns("data frame", columns))
    if hasattr(frame, "to_dicts"):  # polars
        return list(frame.to_dicts())
    if hasattr(frame, "to_pylist"):  # pyarrow
        return list(frame.to_pylist())
    if hasattr(frame, "to_dict") and hasattr(frame, "columns"):  # pandas
        return list(frame.to_dict("records"))
    rows = list(frame) if isinstance(frame, Iterable) and not isinstance(frame, str) else [frame]
    maps = [row for row in rows if isinstance(row, Mapping)]
    if len(maps) == len(rows):
        return maps
    raise UsageError(
        f"{frame!r:.60} ({type(frame).__name__}) is no data frame; pandas, polars and pyarrow have"
        " them, and a mapping of columns to lists or a list of mappings is taken, too"
    )


def _plain_cell(cell: object) -> object:
    """A cell, None where a library says in its own way that there is nothing."""
    if hasattr(cell, "tolist"):  # a list or a number of numpy
        cell = cell.tolist()
    if isinstance(cell, float) and cell != cell:  # noqa: PLR0124  # NaN alone differs
        return None
    return None if type(cell).__name__ in ("NAType", "NaTType") else cell


# What keys lead to, and what JSON may hold.


class _NotJSONError(ValueError):
    """Input that Python reads as JSON, and is none."""


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _NotJSONError(f"the key {twice!r} occurs twice")
    return result


def _no_constant(text: str) -> object:
    raise _NotJSONError(f"{text} is not JSON; write null")


FORMATS = (
    RecordFormat(
        name="tsv",
        title="a table with a header and no quoting",
        suffixes=(".tsv",),
        read=_read_tsv_rows,
    ),
    RecordFormat(
        name="csv",
        title="a table with a header, the separator is recognised",
        suffixes=(".csv",),
        read=_read_csv_rows,
    ),
    RecordFormat(
        name="jsonl",
        title="one JSON object per line",
        suffixes=(".jsonl", ".ndjson"),
        read=_read_objects,
    ),
    RecordFormat(
        name="json",
        title="a list of JSON objects, or an object with a list per column",
        suffixes=(".json",),
        read=_read_array,
    ),
    RecordFormat(
        name="parquet",
        title="a table in Parquet (gnomon[frames])",
        suffixes=(".parquet",),
        read=_read_parquet,
    ),
    RecordFormat(
        name="xlsx",
        title="the first table of a workbook (gnomon[excel])",
        suffixes=(".xlsx",),
        read=_read_sheet_rows,
    ),
)
