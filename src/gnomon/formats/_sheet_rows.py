"""Rows of a tab-separated sheet that has been through a spreadsheet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gnomon.errors import FormatError
from gnomon.formats._sheet_cells import from_cell

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["SheetRow", "sheet_rows"]


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
