r"""Rows of TSV and CSV, sheets that people fill in, and how files begin.

Cells of a sheet can be turned back into their texts. A cell that a spreadsheet would run as a
formula, or take for the start of a quoted cell, gets an apostrophe before it; so does one that
begins with an apostrophe, so that the first apostrophe of a cell is never part of its text.
Backslashes, tabs, line ends, other controls and overrides of a
line's direction are written ``\\``, ``\t``, ``\n``, ``\x1b``, ``\u202e``.
"""

from __future__ import annotations

import csv
import difflib
import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.core.errors import DataError, FormatError, RowNumber, UnknownNameError
from gnomon.data.formats._files import LOGGER, atomic_write, read_head
from gnomon.data.formats._lines import check_writable, read_lines, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from os import PathLike

    from gnomon.messages.audiences import Words

__all__ = [
    "FileHead",
    "FileRecord",
    "OddRows",
    "TextTable",
    "check_cell",
    "column_meant",
    "escape_cell",
    "fields",
    "first_line_of",
    "form_of",
    "head_of",
    "parse_quoted_rows",
    "print_number",
    "quoted_fields",
    "read_csv_rows",
    "read_separated",
    "read_spaced",
    "read_tsv",
    "sheet_rows",
    "short_json",
    "table_text",
    "unescape_cell",
    "whole_number",
    "write_tsv",
]


# Rows of tables and objects of JSON.


@dataclass(frozen=True)
class FileRecord:
    """One row or object of a file, which knows where it stands.

    Attributes:
        path: the file.
        line: 1-based line on which it begins; where there are no lines (Parquet, data frames,
            columns), the number of the row.
        values: column or key -> what is there; in a table of texts, a text in each.
    """

    path: str
    line: int
    values: Mapping[str, object]

    @property
    def place(self) -> str:
        """Where it stands in its file."""
        return f"{'row' if isinstance(self.line, RowNumber) else 'line'} {self.line}"

    @property
    def paths(self) -> list[str]:
        """The keys, those inside others as ``a.b``."""
        return _paths(self.values)

    def error(self, *problem: Words) -> FormatError:
        """An error that names this record's file and line."""
        return FormatError(*problem, path=self.path, line=self.line)

    def __getitem__(self, column: str) -> str:
        """The cell of a column of texts."""
        cell = self.values.get(column)
        return cell if isinstance(cell, str) else self.text(column)

    def get(self, column: str) -> str:
        """The cell of a column that the table may lack; empty then."""
        cell = self.values.get(column)
        return cell if isinstance(cell, str) else ""

    def optional(self, key: str) -> str | None:
        """A value as text; None where there is none."""
        value = self.values.get(key)
        return None if value is None else str(value)

    def number(self, column: str) -> float:
        """A finite number or the text of one; NaN where it is empty, ``None``, ``nan`` or null."""
        value = self.value(column)
        if value in (None, "", "None", "nan", "NaN"):
            return float("nan")
        if isinstance(value, bool) or not isinstance(value, (int, float, str)):
            raise self.error(f"{column} is {value!r}; a number is expected, or null")
        text = str(value)
        try:
            number = float(text) if "_" not in text else float("nan")
        except ValueError:
            number = float("nan")
        if not abs(number) < float("inf"):
            missing = "a number is expected, or nothing where it is missing"
            raise self.error(f"{column} is {text!r}; {missing}")
        return number

    def integer(self, column: str, low: int, high: int | None = None) -> int:
        """The whole number of a cell or key, in a range with both ends included."""
        text = self.name(column)
        value = whole_number(text)
        if value < low or (high is not None and value > high):
            allowed = f"from {low}" + (f" to {high}" if high is not None else "")
            raise self.error(f"{column} is {text!r}; a whole number {allowed} is expected")
        return value

    def finite(self, what: str, value: object) -> float:
        """A value of a JSON object that must be a finite number."""
        if not isinstance(value, bool) and isinstance(value, (int, float)) and abs(value) < 1e300:
            return float(value)
        raise self.error(f"{what} is {str(value)[:40]!r}; a number is expected, or null")

    def value(self, key: str) -> object:
        """The value of a key; ``a.b`` is the key ``a.b``, or else the key ``b`` inside ``a``.

        Raises:
            FormatError: there is no such key; the keys that exist are listed.
        """
        if key in self.values:
            return self.values[key]
        for value in _inside(self.values, key):
            return value
        raise self.lacking(key)

    def has(self, key: str) -> bool:
        """True if there is such a key."""
        return any(True for _ in _inside(self.values, key))

    def lacking(self, key: str, remedy: Words = "") -> FormatError:
        """An error that there is no such key; the keys that exist are listed."""
        remedy = self._separator() or remedy
        unknown = UnknownNameError("column or key", key, self.paths, remedy=remedy)
        return self.error(*unknown.said)

    def _separator(self) -> str:
        """That the only column holds what separates columns elsewhere."""
        if len(self.paths) != 1 or not (
            sign := next((c for c in ",;\t|" if c in self.paths[0]), "")
        ):
            return ""
        return (
            f"the whole line was read as one column; its columns look separated by {sign!r}, which"
            " a file that is called .csv may have (.tsv has tabs)"
        )

    def text(self, key: str) -> str:
        """A value that must be a string.

        Raises:
            FormatError: there is no such key, or it holds something else.
        """
        value = self.value(key)
        if not isinstance(value, str):
            lacking = ": fill it with an empty text, or leave the row out" if value is None else ""
            raise self.error(f"{key} is {short_json(value)}; a string is expected{lacking}")
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
            raise self.error(f"{key} is {short_json(value)}; a list of strings is expected")
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


def short_json(value: object) -> str:
    """A value as a message shows it."""
    text = json.dumps(value, default=str)
    return text if len(text) <= 60 else text[:57] + "..."


# Tab-separated tables with a header row and no quoting.


@dataclass(frozen=True)
class TextTable:
    """A table that was read: its columns and its rows."""

    path: str
    columns: tuple[str, ...]
    rows: tuple[FileRecord, ...]

    def __iter__(self) -> Iterator[FileRecord]:
        return iter(self.rows)

    def require(self, *columns: str) -> None:
        """Check that columns are there."""
        for column in columns:
            if column not in self.columns:
                others = [name for name in self.columns if name not in columns]
                meant = column_meant(column, others)
                remedy = f"; rename {meant!r} to {column!r}" if meant else ""
                raise FormatError(
                    f"there is no column {column!r}; the header has: {', '.join(self.columns)}"
                    f"{remedy}",
                    path=self.path,
                    line=1,
                )


#: how people call the columns of sources, references and outputs
_KINDS_OF_TEXT = (
    ("source", "src"),
    ("reference", "ref", "references", "refs", "gold", "target", "tgt"),
    ("mt", "hypothesis", "hyp", "candidate", "prediction", "output", "translation"),
)
_NEAR = 0.75  # of 1: "zmean" and "z_mean" are nearer, "system" and "segment" farther


def column_meant(name: str, others: Iterable[str]) -> str:
    """The one column that may be what a missing one was to hold; "" where none or several may be.

    >>> column_meant("reference", ["src", "hyp", "gold"])
    'gold'
    >>> column_meant("z_mean", ["Z.mean", "raw"])
    'Z.mean'
    >>> column_meant("reference", ["ref", "gold"])
    ''
    """
    folded = name.casefold()
    kinds = next((names for names in _KINDS_OF_TEXT if folded in names), ())
    similar = [
        other
        for other in others
        if other.casefold() in kinds
        or difflib.SequenceMatcher(None, folded, other.casefold()).ratio() >= _NEAR
    ]
    return similar[0] if len(similar) == 1 else ""


class OddRows:
    """Rows of a published table that do not fit and are left out, unless they are half of it."""

    def __init__(self) -> None:
        self._problems: list[FormatError] = []

    def add(self, problem: FormatError) -> None:
        """Leave a row out."""
        self._problems.append(problem)

    def report(self, kept: int) -> int:
        """Number of rows left out, with a notice; or raise the problem of the first."""
        if len(self._problems) >= max(kept, 1):
            raise self._problems[0]
        if self._problems:
            LOGGER.warning(
                "%d odd rows are left out; the first: %s", len(self._problems), self._problems[0]
            )
        return len(self._problems)


def read_tsv(path: str | PathLike[str], odd: OddRows | None = None) -> TextTable:
    """Read a tab-separated table. Quotation marks are ordinary characters.

    Empty lines at the end are no rows of a table of several columns. Rows that do not fit are an
    error, or go to ``odd``.
    """
    name = shown(path)
    lines = read_lines(path)
    if not lines:
        raise FormatError("is empty; a header row is expected", path=name)
    columns = tuple(lines[0].split("\t"))
    _check_header(name, columns)
    rows = []
    last = len(lines)
    while len(columns) > 1 and not lines[last - 1]:
        last -= 1
    for number, line in enumerate(lines[1:last], start=2):
        cells = line.split("\t")
        if len(cells) == len(columns):
            rows.append(FileRecord(name, number, dict(zip(columns, cells, strict=True))))
            continue
        problem = (
            f"{len(cells)} tab-separated fields; the header has {len(columns)}:"
            f" {', '.join(columns)}"
            if line
            else "is an empty line within the table; remove it"
        )
        error = FormatError(problem, path=name, line=number)
        if odd is None:
            raise error
        odd.add(error)
    return TextTable(name, columns, tuple(rows))


def write_tsv(
    path: str | PathLike[str], columns: Sequence[str], rows: Iterable[Sequence[str]]
) -> None:
    """Write a tab-separated table with a header."""
    text = table_text(shown(path), columns, rows)
    with atomic_write(path) as file:
        file.write(text)


def table_text(name: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A tab-separated table with a header; messages call it by its name."""
    lines = []
    for number, cells in enumerate([columns, *rows], start=1):
        for cell in cells:
            check_cell(cell, f"{name}: a cell of row {number}")
        lines.append("\t".join(cells) + "\n")
    return "".join(lines)


def check_cell(text: str, where: str) -> None:
    """Refuse a text that a cell cannot hold."""
    if "\t" in text:
        raise DataError(
            f"{where} is {text!r}: a tab-separated file cannot hold a tab in a cell; replace it"
        )
    check_writable(text, where)


def whole_number(text: str) -> int:
    """A whole number from 0 in decimal digits; -1 if it is none, or has more than 15 digits."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 15 else -1


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


def read_csv_rows(path: str | PathLike[str]) -> list[tuple[int, list[str]]]:
    """Line number and fields of each row of a comma-separated file without a header."""
    rows, problem = parse_quoted_rows(shown(path), read_lines(path), ",", 1)
    if problem is not None:
        raise problem
    return rows


def quoted_fields(line: str, separator: str) -> list[str]:
    """The fields of a line; a ValueError where its quotation marks are not those of RFC 4180."""
    csv.field_size_limit(max(csv.field_size_limit(), len(line)))  # a cell may be any line
    try:
        [row] = csv.reader([line], delimiter=separator, strict=True)
    except csv.Error as error:
        raise ValueError(str(error)) from error
    return row


# what separates the fields of a comma-separated file in practice, the standard's own first
_SEPARATORS = (",", ";", "\t", "|")
_QUOTED = re.compile('"(?:[^"]|"")*"')
_HINT = re.compile("sep=(.)")


def read_separated(path: str | PathLike[str]) -> TextTable:
    """Read a table with a header whose fields stand between commas, semicolons, tabs or bars.

    Quotation marks are those of RFC 4180: a field in them may hold separators and line ends, and a
    doubled mark is one. The separator is the one with which every row has as many fields as the
    header; a first line ``sep=;``, as spreadsheets write it, names it. Blank lines are skipped.
    """
    name, lines = shown(path), read_lines(path)
    hint = _HINT.fullmatch(lines[0]) if lines else None
    first = 2 if hint else 1
    lines = lines[first - 1 :]
    header = _QUOTED.sub("", next((line for line in lines if line.strip()), ""))
    there = [hint[1]] if hint else [mark for mark in _SEPARATORS if mark in header] or [","]
    read = {mark: parse_quoted_rows(name, lines, mark, first) for mark in there}
    whole = [
        mark
        for mark, (rows, problem) in read.items()
        if problem is None and len({len(row) for _, row in rows}) == 1
    ]
    if len(whole) > 1:
        raise FormatError(
            f"its fields could be separated by {' or by '.join(map(repr, whole))}; put names of"
            " columns that hold such a character into quotation marks",
            path=name,
            line=first,
        )
    rows, problem = read[whole[0] if whole else max(there, key=header.count)]
    if problem is not None:
        raise problem
    if not rows:
        raise FormatError("is empty; a header row is expected", path=name)
    wide = max(len(row) for _, row in rows)
    # spreadsheets write empty columns behind the last one
    while wide > 1 and all(len(row) == wide and not row[-1].strip() for _, row in rows):
        rows = [(number, row[:-1]) for number, row in rows]
        wide -= 1
    return _table(name, tuple(rows[0][1]), rows[1:])


def parse_quoted_rows(
    name: str, lines: Sequence[str], mark: str, first: int
) -> tuple[list[tuple[int, list[str]]], FormatError | None]:
    """Line number and fields of each row that is not blank, and why there are no more of them."""
    longest = sum(map(len, lines)) + len(lines)
    csv.field_size_limit(max(csv.field_size_limit(), longest))  # a cell may be any text
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=mark, strict=True)
    rows: list[tuple[int, list[str]]] = []
    line = first
    try:
        for row in reader:
            if row:
                rows.append((line, row))
            line = first + reader.line_num
    except (csv.Error, ValueError) as error:
        return rows, FormatError(
            f"is not a row of a comma-separated file ({error}); a field with a separator, a line"
            ' end or a quotation mark stands in quotation marks, doubled inside ("")',
            path=name,
            line=line,
        )
    return rows, None


def _check_header(name: str, columns: tuple[str, ...]) -> None:
    for column in columns:
        if columns.count(column) > 1:
            raise FormatError(f"column {column!r} occurs twice in the header", path=name, line=1)


def _table(name: str, header: tuple[str, ...], rows: list[tuple[int, list[str]]]) -> TextTable:
    _check_header(name, header)
    for number, row in rows:
        if len(row) != len(header):
            raise FormatError(
                f"{len(row)} fields; {len(header)} are expected: {', '.join(header)}",
                path=name,
                line=number,
            )
    named = [FileRecord(name, number, dict(zip(header, row, strict=True))) for number, row in rows]
    return TextTable(name, header, tuple(named))


def form_of(path: str | PathLike[str], suffixes: Mapping[str, str], kind: str) -> str:
    """The format that a file's suffix stands for, ``.gz`` apart."""
    name = shown(path).removesuffix(".gz")
    for suffix, form in suffixes.items():
        if name.endswith(suffix):
            return form
    remedy = f"it was inferred from the file name {shown(path)}; name the format explicitly"
    dot = name.rfind(".")
    raise UnknownNameError(kind, name[dot:] if dot > 0 else "", suffixes, remedy=remedy)


# Texts as cells of a tab-separated file that people open in a spreadsheet; reversible.


_GUARDED = tuple("=+-@＝＋－＠\"'")
_SHORT = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_LONG = {written: character for character, written in _SHORT.items()}
#: what a line of UTF-8 cannot hold, or a spreadsheet would not show or would obey: controls, lone
#: surrogates, what reorders a line
_SPECIAL = re.compile("[\\\\\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_ESCAPE = re.compile(r"\\(?:[\\tnr]|x[0-9a-f]{2}|u[0-9a-f]{4})")


def escape_cell(text: str) -> str:
    r"""A text as a cell that does nothing.

    >>> print(escape_cell("=1+1"), escape_cell("a\tb"), escape_cell("'tis"))
    '=1+1 a\tb ''tis
    """
    escaped = _SPECIAL.sub(_escape, text)
    return "'" + escaped if escaped.startswith(_GUARDED) else escaped


def unescape_cell(cell: str) -> str:
    """The text of a cell, also of one that a spreadsheet has put into quotation marks.

    >>> unescape_cell("'=1+1"), unescape_cell('"He said ""no"" to it"')
    ('=1+1', 'He said "no" to it')
    """
    if len(cell) > 1 and cell[0] == cell[-1] == '"':
        cell = cell[1:-1].replace('""', '"')
    return _ESCAPE.sub(_unescape, cell.removeprefix("'"))


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return _SHORT.get(match[0]) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def _unescape(match: re.Match[str]) -> str:
    return _LONG.get(match[0]) or chr(int("0x" + match[0][2:], base=0))


# Rows of a tab-separated sheet that has been through a spreadsheet.


def sheet_rows(path: str, lines: Sequence[str], needed: Sequence[str]) -> list[FileRecord]:
    """The rows that are not empty; cells left out at the end of a row are empty.

    Args:
        path: the file, for messages.
        lines: its lines.
        needed: columns that must be there.

    Raises:
        FormatError: a needed column is missing, or a row has more cells than the header.
    """
    header = [unescape_cell(cell).strip() for cell in lines[0].split("\t")] if lines else []
    for column in needed:
        if header.count(column) != 1:
            columns = ", ".join(map(repr, filter(None, header))) or "nothing"
            raise FormatError(
                f"the first line must name the column {column!r} once, with tabs between columns;"
                f" it has: {columns}",
                path=path,
                line=1,
            )
    rows = []
    for number, line in enumerate(lines[1:], start=2):
        cells = [unescape_cell(cell) for cell in line.split("\t")]
        if not any(cell.strip() for cell in cells):
            continue
        if any(cell.strip() for cell in cells[len(header) :]):
            raise FormatError(
                f"{len(cells)} cells, and the header has {len(header)}: save the file with tabs"
                " between cells",
                path=path,
                line=number,
            )
        cells += [""] * (len(header) - len(cells))
        texts = (cell.strip() for cell in cells)
        rows.append(FileRecord(path, number, dict(zip(header, texts, strict=False))))
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
        mark = "," if "," in line else ";"
        if "\t" not in line and mark in line:
            return tuple(field.strip('"') for field in line.split(mark))
        parts = line.split("\t")
        spaced = len(parts) <= 2 and any(" " in cell for cell in parts)
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
    """The first bytes of a file of any kind."""
    data = read_head(path, _HEAD)
    is_pickle = data[:1] == b"\x80" and data[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05")
    return FileHead(path, data.decode(errors="replace"), is_pickle=is_pickle)


def first_line_of(path: str | PathLike[str]) -> FileHead:
    """A text file by how it begins, from its first line that is not blank; Parquet by its name.

    Raises:
        MissingFileError: the file is missing.
        FormatError: it is no text.
    """
    if shown(path).endswith(".parquet"):
        return FileHead(path, "")
    lines = iter(read_lines(path))
    first = next((line for line in lines if line.strip()), "")
    begin, size = [first], len(first)
    for line in lines:
        size += len(line) + 1
        if size > _HEAD:
            break
        begin.append(line)
    return FileHead(path, "\n".join(begin))
