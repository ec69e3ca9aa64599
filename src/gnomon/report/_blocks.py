"""How a wide grid is broken into blocks, and long names into lines."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from gnomon.tabular import GridCell, GridColumn, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.tabular import Grid

_GAP = 2
_HEAD = 14
_NAME = 36
_BREAKS = re.compile(r"(?<=[-._/: ])")


def folded(text: str, width: int) -> str:
    r"""The text made visible, in lines of at most ``width`` cells, broken after ``- . _ / :``.

    The lines joined are what :func:`visible` gives.

    >>> folded("Facebook_FAIR.6750", 10)
    'Facebook_\nFAIR.6750'
    """
    from rich.cells import cell_len

    if len(text) <= width and text.isascii() and text.isprintable():
        return text
    lines = [""]
    for part in _BREAKS.split(visible(text)):
        for piece in _chopped(part, width):
            if cell_len(lines[-1] + piece) > width and lines[-1]:
                lines.append("")
            lines[-1] += piece
    return "\n".join(lines)


def widths(made: Grid) -> list[int]:
    """Cells that each column of a grid needs."""
    return [_width(made, i) for i in range(len(made.columns))]


def keyed(made: Grid, width: int) -> Grid:
    """The grid with a stub that tells its rows apart in every block that it is broken into.

    The stub takes in further columns until no two rows agree on it; where that needs more than
    half of the width, rows are numbered instead.
    """
    sizes = widths(made)
    if len(blocks(made, sizes, width)) == 1:
        return made
    for stub in range(made.stub, len(made.columns)):
        if stub > made.stub and 2 * sum(size + _GAP for size in sizes[:stub]) > width:
            break
        names = {tuple(cell.shown for cell in row.cells[:stub]) for row in made.rows}
        if len(names) == len(made.rows):
            return replace(made, stub=stub)
    return _numbered(made)


def _numbered(made: Grid) -> Grid:
    rows = tuple(
        replace(row, cells=(GridCell(number, str(number)), *row.cells))
        for number, row in enumerate(made.rows, start=1)
    )
    columns = (GridColumn("#", numeric=True), *made.columns)
    return replace(made, columns=columns, rows=rows, stub=1)


def blocks(made: Grid, sizes: Sequence[int], width: int) -> list[list[int]]:
    """The columns after the stub, in blocks that fit the width beside the stub; one at least."""
    room = width - sum(size + _GAP for size in sizes[: made.stub])
    parts: list[list[int]] = [[]]
    for column in range(made.stub, len(made.columns)):
        taken = sum(sizes[i] + _GAP for i in parts[-1])
        if parts[-1] and taken + sizes[column] + _GAP > room:
            parts.append([])
        parts[-1].append(column)
    return [part for part in parts if part] or [[]]


def _width(made: Grid, column: int) -> int:
    limit = _HEAD if column >= made.stub and made.columns[column].numeric else _NAME
    head = _widest(folded(made.columns[column].title, limit))
    marked = any(row.cells[column].marked for row in made.rows)
    cells = (_widest(folded(row.cells[column].shown, _NAME)) for row in made.rows)
    return max(head, max(cells, default=0) + marked, 1)


def _widest(text: str) -> int:
    from rich.cells import cell_len

    return max(map(cell_len, text.split("\n")))


def _chopped(text: str, width: int) -> list[str]:
    from rich.cells import chop_cells

    return chop_cells(text, width) if text else []
