"""Tables of other people's tools: fields between white space, or between commas."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING

from gnomon.errors import FormatError
from gnomon.formats._lines import read_lines, shown
from gnomon.formats._tsv import Row, Rows

if TYPE_CHECKING:
    from os import PathLike

_FIELD = re.compile(r'"([^"]*)"|(\S+)')


def fields(line: str) -> list[str]:
    """The fields of a line between any white space; R puts some into quotation marks.

    >>> fields('NA "Online-B.5"  30 ')
    ['NA', 'Online-B.5', '30']
    """
    return [quoted or bare for quoted, bare in _FIELD.findall(line)]


def read_spaced(
    path: str | PathLike[str], *, columns: tuple[str, ...] | None = None, unnamed: int = 0
) -> Rows:
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


def read_csv(path: str | PathLike[str], *, delimiter: str = ",") -> Rows:
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


def _table(name: str, header: tuple[str, ...], rows: list[tuple[int, list[str]]]) -> Rows:
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
    return Rows(name, header, tuple(named))
