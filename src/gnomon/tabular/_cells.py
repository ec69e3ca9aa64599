"""The parts of a grid, and how cells become text."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gnomon.findings import Cell, Column

UNDEFINED = "-"
Better: TypeAlias = Literal["higher", "lower"]


@dataclass(frozen=True)
class GridColumn:
    """A column of a grid: its heading, and whether it holds numbers (set flush right)."""

    title: str
    numeric: bool = False


@dataclass(frozen=True)
class GridCell:
    """A cell: its value as recorded, the text for people, and what is special about it.

    Attributes:
        value: the record's value; ``None`` where undefined, or where the cell is a range.
        text: formatted, ``-`` where undefined.
        marked: outside the range that is expected.
        best: the best of its row (heat maps) or column (scores).
        faint: of little weight; shown in parentheses.
        under: a second figure, shown small beside or below the text; empty for none.
    """

    value: Cell
    text: str
    marked: bool = False
    best: bool = False
    faint: bool = False
    under: str = ""

    @property
    def shown(self) -> str:
        """The text and the second figure, on one line, without the mark.

        >>> GridCell(0.5, "0.50", faint=True, under="5").shown
        '(0.50) [5]'
        """
        text = f"({self.text})" if self.faint else self.text
        return f"{text} [{self.under}]" if self.under else text


@dataclass(frozen=True)
class GridRow:
    """One row, and the kind that its name belongs to ("pos" of "pos:NOUN"; empty if none)."""

    cells: tuple[GridCell, ...]
    group: str = ""


@dataclass(frozen=True)
class Grid:
    """A rectangular table ready for people.

    Attributes:
        title: heading.
        columns: the columns; the first ``stub`` of them name the row.
        rows: the rows, those of one kind together.
        stub: leading columns to repeat when a wide grid is broken into blocks.
        notes: sentences below the table; says what a mark means where one occurs.
        signatures: how to make the numbers again, by what they belong to.
    """

    title: str
    columns: tuple[GridColumn, ...]
    rows: tuple[GridRow, ...]
    stub: int = 1
    notes: tuple[str, ...] = ()
    signatures: Mapping[str, str] = field(default_factory=dict)


def kind_of(name: str) -> str:
    """What comes before the first colon of a feature's name.

    >>> kind_of("morph:Gender=Fem"), kind_of("plain")
    ('morph', '')
    """
    kind, colon, _ = name.partition(":")
    return kind if colon else ""


def cell_text(value: Cell, column: Column, digits: int | None = None) -> str:
    """A cell as people read it, unescaped; ``-`` where undefined."""
    number = number_of(value)
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if number is None:
        return UNDEFINED
    if isinstance(value, int) or (column.kind == "count" and number == int(number)):
        return str(int(number))
    wanted = column.digits if digits is None else digits
    return f"{number:z.{wanted}f}"


def plain_cell(value: Cell, column: Column, digits: int | None) -> GridCell:
    return GridCell(value, cell_text(value, column, digits), is_outside(value, column))


def number_of(value: Cell) -> float | None:
    if value is None or isinstance(value, str | bool) or not math.isfinite(value):
        return None
    return value


def is_outside(value: Cell, column: Column) -> bool:
    number = number_of(value)
    return column.kind == "share" and number is not None and not 0 <= number <= 1


def best_of(values: Iterable[float | None], better: str | None) -> float | None:
    numbers = [v for v in values if v is not None]
    if better is None or len(numbers) < 2 or min(numbers) == max(numbers):  # a best needs a rival
        return None
    return max(numbers) if better == "higher" else min(numbers)
