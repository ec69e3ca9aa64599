"""Tab-separated tables with a header row and no quoting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gnomon.errors import DataError, FormatError
from gnomon.formats._files import atomic_write
from gnomon.formats._lines import check_writable, read_lines, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from os import PathLike


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
class Rows:
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


def read_tsv(path: str | PathLike[str]) -> Rows:
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
    return Rows(name, columns, tuple(rows))


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
