r"""Rows of TSV and CSV, records of TSV and JSONL, and sheets that people fill in.

Cells of a sheet can be turned back into their texts. A cell that a spreadsheet would run as a
formula, or take for the start of a quoted cell, gets an apostrophe before it; so does one that
begins with an apostrophe, so that the first apostrophe of a cell is never part of its text.
Backslashes, tabs, line ends, other controls and overrides of a
line's direction are written ``\\``, ``\t``, ``\n``, ``\x1b``, ``\u202e``.
"""

from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.errors import DataError, FormatError, UnknownNameError, UsageError
from gnomon.formats._files import LOGGER, STANDARD_INPUT, atomic_write, read_head
from gnomon.formats._lines import check_writable, read_lines, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from os import PathLike


# Tab-separated tables with a header row and no quoting.


@dataclass(frozen=True)
class Row:
    """One row, which knows where it stands.

    Attributes:
        path: the file.
        line: 1-based line number.
        cells: column -> text.
    """

    path: str
    line: int
    cells: dict[str, str]

    def __getitem__(self, column: str) -> str:
        return self.cells[column]

    def get(self, column: str) -> str:
        """The cell of a column that the table may lack; empty then."""
        return self.cells.get(column, "")

    def error(self, problem: str) -> FormatError:
        """An error that names this row's file and line."""
        return FormatError(problem, path=self.path, line=self.line)

    def number(self, column: str) -> float:
        """A finite number; NaN where the cell is empty, ``None`` or ``nan``.

        Raises:
            FormatError: the cell is something else.
        """
        return parse_number(self[column], self.path, self.line, column)

    def integer(self, column: str, low: int, high: int | None = None) -> int:
        """A whole number in a range, both ends included.

        Raises:
            FormatError: the cell is not such a number.
        """
        text = self[column]
        value = whole_number(text)
        if value < low or (high is not None and value > high):
            allowed = f"from {low}" + (f" to {high}" if high is not None else "")
            raise self.error(f"{column} is {text!r}; a whole number {allowed} is expected")
        return value


@dataclass(frozen=True)
class TextTable:
    """A table that was read: its columns and its rows."""

    path: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def require(self, *columns: str) -> None:
        """Check that columns are there.

        Raises:
            FormatError: one is not; the columns that are there are listed.
        """
        for column in columns:
            if column not in self.columns:
                raise FormatError(
                    f"there is no column {column!r}; the header has: {', '.join(self.columns)}",
                    path=self.path,
                    line=1,
                )


def read_tsv(path: str | PathLike[str]) -> TextTable:
    """Read a tab-separated table. Quotation marks are ordinary characters.

    Raises:
        MissingFileError: the file is missing.
        FormatError: there is no header, a column is named twice, or a row has another number of
            fields than the header.
    """
    name = shown(path)
    lines = read_lines(path)
    if not lines:
        raise FormatError("is empty; a header row is expected", path=name)
    columns = tuple(lines[0].split("\t"))
    for column in columns:
        if columns.count(column) > 1:
            raise FormatError(f"column {column!r} occurs twice in the header", path=name, line=1)
    rows = []
    for number, line in enumerate(lines[1:], start=2):
        cells = line.split("\t")
        if len(cells) != len(columns):
            raise FormatError(
                f"{len(cells)} tab-separated fields; the header has {len(columns)}:"
                f" {', '.join(columns)}",
                path=name,
                line=number,
            )
        rows.append(Row(name, number, dict(zip(columns, cells, strict=True))))
    return TextTable(name, columns, tuple(rows))


def write_tsv(
    path: str | PathLike[str], columns: Sequence[str], rows: Iterable[Sequence[str]]
) -> None:
    """Write a tab-separated table with a header.

    Raises:
        DataError: a cell holds a tab, a line feed or NUL, or ends in a carriage return.
        OutputError: the file cannot be written.
    """
    lines = []
    for number, cells in enumerate([columns, *rows], start=1):
        for cell in cells:
            check_cell(cell, f"{shown(path)}: a cell of row {number}")
        lines.append("\t".join(cells) + "\n")
    with atomic_write(path) as file:
        file.writelines(lines)


def check_cell(text: str, place: str) -> None:
    """Refuse a text that a cell cannot hold.

    Raises:
        DataError: it holds a tab, a line feed or NUL, ends in a carriage return, or holds a lone
            surrogate.
    """
    if "\t" in text:
        raise DataError(
            f"{place} is {text!r}: a tab-separated file cannot hold a tab in a cell; replace it"
        )
    check_writable(text, place)


def whole_number(text: str) -> int:
    """A whole number from 0 in decimal digits; -1 if it is none, or has more than 15 digits."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 15 else -1


def parse_number(text: str, path: str, line: int, what: str = "score") -> float:
    """A finite number; NaN where the text is empty, ``None`` or ``nan``.

    Raises:
        FormatError: the text is something else.
    """
    if text in ("", "None", "nan", "NaN"):
        return float("nan")
    try:
        value = float(text) if "_" not in text else float("nan")
    except ValueError:
        value = float("nan")
    if not abs(value) < float("inf"):
        raise FormatError(
            f"{what} is {text!r}; a number is expected, or nothing where it is missing",
            path=path,
            line=line,
        )
    return value


def print_number(value: float, missing: str) -> str:
    """The shortest text that reads as the same number; ``missing`` for NaN."""
    number = float(value)
    return missing if number != number else repr(number)  # noqa: PLR0124  # NaN alone differs


# Tables of other people's tools: fields between white space, or between commas.


_FIELD = re.compile(r'"([^"]*)"|(\S+)')


def fields(line: str) -> list[str]:
    """The fields of a line between any white space; R puts some into quotation marks.

    >>> fields('NA "Online-B.5"  30 ')
    ['NA', 'Online-B.5', '30']
    """
    return [quoted or bare for quoted, bare in _FIELD.findall(line)]


def read_spaced(
    path: str | PathLike[str], *, columns: tuple[str, ...] | None = None, unnamed: int = 0
) -> TextTable:
    """Read a table with fields between white space.

    Repeated header rows and blank lines are skipped.

    Args:
        path: the file.
        columns: names of the columns, if there is no header.
        unnamed: how many names the header may lack at its left end.

    Raises:
        FormatError: a row has another number of fields than the header.
    """
    name = shown(path)
    lines = [(i, line) for i, line in enumerate(read_lines(path), start=1) if line.strip()]
    if not lines:
        raise FormatError("is empty; a header row is expected", path=name)
    header = tuple(fields(lines[0][1])) if columns is None else columns
    rows = [(number, fields(line)) for number, line in lines[columns is None :]]
    rows = [(number, row) for number, row in rows if tuple(row) != header]
    missing = len(rows[0][1]) - len(header) if rows else 0
    if 0 < missing <= unnamed:
        header = (*(f"column {i + 1}" for i in range(missing)), *header)
    return _table(name, header, rows)


def read_csv(path: str | PathLike[str], *, delimiter: str = ",") -> TextTable:
    """Read a comma-separated table with a header; quotation marks as in RFC 4180.

    Raises:
        FormatError: a row has another number of fields, or a quotation mark is not closed.
    """
    rows = read_csv_rows(path, delimiter=delimiter)
    if not rows:
        raise FormatError("is empty; a header row is expected", path=shown(path))
    return _table(shown(path), tuple(rows[0][1]), rows[1:])


def read_csv_rows(
    path: str | PathLike[str], *, delimiter: str = ","
) -> list[tuple[int, list[str]]]:
    """Line number and fields of each row of a comma-separated file; blank lines are skipped.

    Raises:
        FormatError: a quotation mark is not closed on its line.
    """
    rows = []
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            continue
        csv.field_size_limit(max(csv.field_size_limit(), len(line)))  # a cell may be any line
        try:
            [row] = csv.reader([line], delimiter=delimiter, strict=True)
        except (csv.Error, ValueError) as error:
            raise FormatError(
                f"is not a row of a comma-separated file ({error}); a field with a comma or a"
                ' quotation mark stands in quotation marks, doubled inside ("")',
                path=shown(path),
                line=number,
            ) from error
        rows.append((number, row))
    return rows


def _table(name: str, header: tuple[str, ...], rows: list[tuple[int, list[str]]]) -> TextTable:
    for column in header:
        if header.count(column) > 1:
            raise FormatError(f"column {column!r} occurs twice in the header", path=name, line=1)
    for number, row in rows:
        if len(row) != len(header):
            raise FormatError(
                f"{len(row)} fields; {len(header)} are expected: {', '.join(header)}",
                path=name,
                line=number,
            )
    named = [Row(name, number, dict(zip(header, row, strict=True))) for number, row in rows]
    return TextTable(name, header, tuple(named))


# Rows of a TSV file and objects of a JSONL file, looked into by name.


_SUFFIXES = {".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl"}


@dataclass(frozen=True)
class FileRecord:
    """One row or object, which knows where it stands."""

    path: str
    line: int
    values: Mapping[str, object]

    def error(self, problem: str) -> FormatError:
        """An error that names this record's file and line."""
        return FormatError(problem, path=self.path, line=self.line)

    def value(self, key: str) -> object:
        """The value of a key; ``a.b`` is the key ``a.b``, or else the key ``b`` inside ``a``.

        Raises:
            FormatError: there is no such key; the keys that exist are listed.
        """
        found = list(_inside(self.values, key))
        if not found:
            raise self.error(str(UnknownNameError("column or key", key, _paths(self.values))))
        return found[0]

    def text(self, key: str) -> str:
        """A value that must be a string.

        Raises:
            FormatError: there is no such key, or it holds something else.
        """
        value = self.value(key)
        if not isinstance(value, str):
            raise self.error(f"{key} is {_short(value)}; a string is expected")
        return self._unicode(key, value)

    def name(self, key: str) -> str:
        """A value that names or numbers something: a string or a whole number.

        Raises:
            FormatError: there is no such key, or it holds something else.
        """
        value = self.value(key)
        return str(value) if type(value) is int else self.text(key)

    def texts(self, key: str) -> str | list[str] | None:
        """A string, a list of strings, or nothing (null).

        Raises:
            FormatError: there is no such key, or it holds something else.
        """
        value = self.value(key)
        if value is None:
            return None
        if not isinstance(value, list):
            return self.text(key)
        if not all(isinstance(item, str) for item in value):
            raise self.error(f"{key} is {_short(value)}; a list of strings is expected")
        return [self._unicode(key, item) for item in value]

    def _unicode(self, key: str, text: str) -> str:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise self.error(
                f"{key} holds a lone surrogate at character {error.start}, which is not Unicode;"
                " escape such characters as pairs"
            ) from error
        return text


def finite(record: FileRecord, what: str, value: object) -> float:
    """A finite number of a JSON object.

    Raises:
        FormatError: it is something else.
    """
    if not isinstance(value, bool) and isinstance(value, (int, float)) and abs(value) < 1e300:
        return float(value)
    raise record.error(f"{what} is {str(value)[:40]!r}; a number is expected, or null")


def read_records(path: str | PathLike[str], form: str | None) -> list[FileRecord]:
    """Read a TSV or JSONL file.

    Args:
        path: the file, or ``-`` for standard input.
        form: "tsv" or "jsonl"; None: by the file's suffix.

    Raises:
        FormatError: a row or an object is not what it should be.
        UnknownNameError: the format is unknown.
        UsageError: standard input without a format.
    """
    if form is None and str(path) == STANDARD_INPUT:
        raise UsageError("standard input has no file name to tell its format: give tsv or jsonl")
    form = form or form_of(path, _SUFFIXES, "table format")
    if form not in _SUFFIXES.values():
        raise UnknownNameError("table format", form, ("tsv", "jsonl"))
    return _read_rows(path) if form == "tsv" else _read_objects(path)


def form_of(path: str | PathLike[str], suffixes: Mapping[str, str], kind: str) -> str:
    """The format that a file's suffix stands for, ``.gz`` apart.

    Raises:
        UnknownNameError: the suffix is unknown.
    """
    name = shown(path).removesuffix(".gz")
    for suffix, form in suffixes.items():
        if name.endswith(suffix):
            return form
    remedy = f"it was told from the file name {shown(path)}; name the format explicitly"
    dot = name.rfind(".")
    raise UnknownNameError(kind, name[dot:] if dot > 0 else "", suffixes, remedy=remedy)


def _read_rows(path: str | PathLike[str]) -> list[FileRecord]:
    table = read_tsv(path)
    quoted = sum(c[:1] == c[-1:] == '"' for row in table for c in row.cells.values())
    if quoted:
        LOGGER.info(
            "%s: %d fields stand in quotation marks, which are kept as text", table.path, quoted
        )
    return [FileRecord(row.path, row.line, dict(row.cells)) for row in table]


def _read_objects(path: str | PathLike[str]) -> list[FileRecord]:
    name = shown(path)
    lines = enumerate(read_lines(path), start=1)
    return [parse_object(name, number, line) for number, line in lines if line.strip()]


def parse_object(path: str, number: int, line: str) -> FileRecord:
    """Read one JSON object.

    Raises:
        FormatError: it is none, a key occurs twice, or it holds NaN.
    """
    try:
        value = json.loads(line, object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise FormatError(
            f"is not a JSON object ({error}); JSONL has one object per line",
            path=path,
            line=number,
        ) from error
    if not isinstance(value, dict):
        raise FormatError(
            f"is {_short(value)}; JSONL has one object per line", path=path, line=number
        )
    return FileRecord(path, number, value)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} occurs twice")
    return result


def _no_constant(text: str) -> object:
    raise ValueError(f"{text} is not JSON; write null")


def _inside(values: Mapping[str, object], key: str) -> Iterator[object]:
    if key in values:
        yield values[key]
    for name, value in values.items():
        if isinstance(value, dict) and key.startswith(f"{name}."):
            yield from _inside(value, key.removeprefix(f"{name}."))


def _paths(values: Mapping[str, object], prefix: str = "") -> list[str]:
    paths: list[str] = []
    for name, value in values.items():
        inner = _paths(value, f"{prefix}{name}.") if isinstance(value, dict) else []
        paths += inner or [f"{prefix}{name}"]
    return paths


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


# Texts as cells of a tab-separated file that people open in a spreadsheet; reversible.


_GUARDED = tuple("=+-@＝＋－＠\"'")
_SHORT = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_LONG = {written: character for character, written in _SHORT.items()}
#: what a line of UTF-8 cannot hold, or a spreadsheet would not show or would obey: controls, lone
#: surrogates, what reorders a line
_SPECIAL = re.compile("[\\\\\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_ESCAPE = re.compile(r"\\(?:[\\tnr]|x[0-9a-f]{2}|u[0-9a-f]{4})")


def to_cell(text: str) -> str:
    r"""A text as a cell that does nothing.

    >>> print(to_cell("=1+1"), to_cell("a\tb"), to_cell("'tis"))
    '=1+1 a\tb ''tis
    """
    escaped = _SPECIAL.sub(_escaped, text)
    return "'" + escaped if escaped.startswith(_GUARDED) else escaped


def from_cell(cell: str) -> str:
    """The text of a cell, also of one that a spreadsheet has put into quotation marks.

    >>> from_cell("'=1+1"), from_cell('"He said ""no"" to it"')
    ('=1+1', 'He said "no" to it')
    """
    if len(cell) > 1 and cell[0] == cell[-1] == '"':
        cell = cell[1:-1].replace('""', '"')
    return _ESCAPE.sub(_meant, cell.removeprefix("'"))


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return _SHORT.get(match[0]) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def _meant(match: re.Match[str]) -> str:
    return _LONG.get(match[0]) or chr(int("0x" + match[0][2:], base=0))


# Rows of a tab-separated sheet that has been through a spreadsheet.


@dataclass(frozen=True)
class SheetRow:
    """A row, and where it stands.

    Attributes:
        path: the file.
        line: 1-based line.
        cells: column -> text.
    """

    path: str
    line: int
    cells: Mapping[str, str]

    def get(self, column: str) -> str:
        """A cell without the white space around it; empty where the row or file lacks it."""
        return self.cells.get(column, "").strip()

    def error(self, problem: str) -> FormatError:
        """An error that names file and line."""
        return FormatError(problem, path=self.path, line=self.line)


def sheet_rows(path: str, lines: Sequence[str], needed: Sequence[str]) -> list[SheetRow]:
    """The rows that are not empty; cells left out at the end of a row are empty.

    Args:
        path: the file, for messages.
        lines: its lines.
        needed: columns that must be there.

    Raises:
        FormatError: a needed column is missing, or a row has more cells than the header.
    """
    header = [from_cell(cell).strip() for cell in lines[0].split("\t")] if lines else []
    for column in needed:
        if header.count(column) != 1:
            found = ", ".join(map(repr, filter(None, header))) or "nothing"
            raise FormatError(
                f"the first line must name the column {column!r} once, with tabs between columns;"
                f" it has: {found}",
                path=path,
                line=1,
            )
    rows = []
    for number, line in enumerate(lines[1:], start=2):
        cells = [from_cell(cell) for cell in line.split("\t")]
        if not any(cell.strip() for cell in cells):
            continue
        if any(cell.strip() for cell in cells[len(header) :]):
            raise FormatError(
                f"{len(cells)} cells, and the header has {len(header)}: save the file with tabs"
                " between cells",
                path=path,
                line=number,
            )
        rows.append(SheetRow(path, number, dict(zip(header, cells, strict=False))))
    return rows


# How a file begins, by which its format is recognised.


_HEAD = 1 << 17  # bytes; the longest first lines are SummEval's, of some 20,000


class FileHead:
    """The beginning of a file, by which a format is recognised.

    Attributes:
        path: the file, as it was named.
        name: its path as text, without ``.gz``.
        text: how it begins; damaged characters are replaced.
        first_line: its first line.
        is_pickle: whether it begins like a Python pickle.
    """

    def __init__(self, path: str | PathLike[str], text: str, *, is_pickle: bool = False) -> None:
        self.path = Path(path)
        self.name = str(path).removesuffix(".gz")
        self.text = text
        self.is_pickle = is_pickle
        self.first_line = text.removeprefix("\ufeff").partition("\n")[0].rstrip("\r")

    @cached_property
    def columns(self) -> frozenset[str]:
        """The fields of the first line between tabs."""
        return frozenset(self.first_line.split("\t"))

    @cached_property
    def loose_columns(self) -> tuple[str, ...]:
        """Fields between tabs or commas, or between white space if the former hold several."""
        line = self.first_line
        if "\t" not in line and "," in line:
            return tuple(line.split(","))
        parts = line.split("\t")
        spaced = len(parts) <= 2 and any(" " in part for part in parts)
        return tuple(fields(line) if spaced else parts)

    @cached_property
    def column_names(self) -> frozenset[str]:
        """The same in lower case, without order."""
        return frozenset(column.strip().lower() for column in self.loose_columns)

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys of the JSON object in the first line; none if it is no such object."""
        if not self.first_line.startswith("{"):
            return frozenset()
        try:
            return frozenset(json.loads(self.first_line))
        except (ValueError, RecursionError):
            return frozenset()


def head_of(path: Path) -> FileHead:
    """How a file begins, whatever it is."""
    data = read_head(path, _HEAD)
    is_pickle = data[:1] == b"\x80" and data[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05")
    return FileHead(path, data.decode(errors="replace"), is_pickle=is_pickle)


def first_line_of(path: str | PathLike[str]) -> FileHead:
    """A text file by its first line that is not blank.

    Raises:
        MissingFileError: the file is missing.
        FormatError: it is no text.
    """
    return FileHead(path, next((line for line in read_lines(path) if line.strip()), ""))
