"""Tables, views and scores as grids: pivoted, formatted, marked; not yet escaped."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from gnomon.core.errors import DataError
from gnomon.core.findings import (
    Bars,
    Column,
    HeatMap,
    Histogram,
    Listing,
    Scatter,
    StackedBars,
    Table,
)
from gnomon.core.signature import Signature
from gnomon.core.verdicts import titles_of
from gnomon.messages import joined, noted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gnomon.core.findings import Cell, Finding, Lines, ScoreTable, View
    from gnomon.core.scores import Scores

    _Plain: TypeAlias = Bars | StackedBars | Scatter | Lines | Histogram | Listing


# The parts of a grid, and how cells become text.


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
        significant: papers set a dagger behind it.
    """

    value: Cell
    text: str
    marked: bool = False
    best: bool = False
    faint: bool = False
    under: str = ""
    significant: bool = False

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
        columns: the columns.
        rows: the rows, those of one kind together.
        stub: how many of the first columns name a row.
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
    """The part of a feature's name before its first colon.

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
    least = 10.0**-wanted
    if 0 < number < least / 2 and column.name.split("_")[0] == "p":
        return f"<{least:.{wanted}f}"
    return f"{number:z.{wanted}f}"


def plain_cell(value: Cell, column: Column, digits: int | None) -> GridCell:
    return GridCell(value, cell_text(value, column, digits), is_outside(value, column))


def number_of(value: Cell) -> float | None:
    """The number in a cell; None of words, truth values and what is undefined."""
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


# Tables and views as grids: pivoted, formatted, marked.


def selected(table: Table, where: Mapping[str, Cell]) -> list[Mapping[str, Cell]]:
    """The rows of a table whose cells equal the given ones."""
    keys = [table.column(name).name for name in where]
    return [row for row in table.rows if all(row[key] == where[key] for key in keys)]


def grid(finding: Finding, view: View | None = None, *, digits: int | None = None) -> Grid:
    """A view as a grid: heat maps on their side, other views as plain columns.

    Args:
        finding: what a method found.
        view: one of its views; the first by default; the first table if it has none.
        digits: digits after the point of every number; by default each column's own.

    Raises:
        DataError: two rows of the table fill one cell of the heat map.
        UnknownNameError: the view names a table or column that does not exist.
    """
    view = view or next(iter(finding.views), None)
    if view is None:
        made = table_grid(finding.table(), digits=digits)
    elif isinstance(view, HeatMap):
        made = _pivot(finding.table(view.table), view, digits)
    else:
        made = _columns(finding.table(view.table), view, digits)
    where = view.where if view else {}
    signatures = _signatures(finding, where, view.table if view else None)
    return Grid(made.title, made.columns, made.rows, made.stub, made.notes, signatures)


def score_table_grid(finding: Finding, view: ScoreTable, *, digits: int | None = None) -> Grid:
    """Scores of systems as a paper has them: systems x metrics."""
    rows = selected(finding.table(view.table), view.where)
    by_cell = {(str(row["system"]), str(row["metric"])): row for row in rows}
    systems, metrics = (list(dict.fromkeys(names)) for names in zip(*by_cell, strict=True))
    titles = titles_of(finding)
    columns = [_paper_column(view, rows, metric, digits) for metric in metrics]
    if view.ordered:
        first = columns[0]
        sign = -1 if first.better == "higher" else 1
        score = {name: number_of(by_cell[name, first.name]["score"]) for name in systems}
        systems.sort(key=lambda name: (score[name] is None, sign * (score[name] or 0.0)))
    best = {
        column.name: best_of(
            [number_of(row["score"]) for row in rows if row["metric"] == column.name],
            column.better,
        )
        for column in columns
    }
    made = []
    for name in systems:
        cells = [GridCell(name, name)]
        for column in columns:
            row = by_cell.get((name, column.name), {})
            cell = _score_cell(number_of(row.get("score")), column, best[column.name])
            significant = view.significant is not None and row.get(view.significant) is True
            cells.append(replace(cell, significant=significant))
        made.append(GridRow(tuple(cells)))
    heads = [
        GridColumn(titles[column.name] + " \u2193" * (column.better == "lower"), numeric=True)
        for column in columns
    ]
    signatures = _signatures(finding, view.where, view.table)
    named = {titles.get(name, name): text for name, text in signatures.items()}
    return Grid(view.title, (GridColumn("System"), *heads), tuple(made), signatures=named)


def _paper_column(
    view: ScoreTable, rows: Iterable[Mapping[str, Cell]], metric: str, digits: int | None
) -> Column:
    scores = [number_of(row["score"]) for row in rows if row["metric"] == metric]
    wanted = _digits_of(scores) if digits is None else digits
    return Column(metric, metric, "number", wanted, view.better.get(metric))


#: columns and rows of a table that stands for a finding in Python
_BRIEF = 4, 10


def brief_grid(finding: Finding) -> Grid:
    """The first columns and rows of what text shows first, and a note that says where all are."""
    view = finding.shown()[0]
    made = grid(finding, replace(view, most=None) if isinstance(view, Listing) else view)
    columns, rows = _BRIEF
    few = tuple(replace(row, cells=row.cells[:columns]) for row in made.rows[:rows])
    notes: tuple[str, ...] = ()
    if len(few) < len(made.rows) or columns < len(made.columns):
        more = f"and {len(made.rows) - rows} more: " if len(few) < len(made.rows) else ""
        name = view.table if view else finding.tables[0].name
        notes = (f"{more}to_pandas({name!r}) has all rows and columns",)
    return Grid(made.title, made.columns[:columns], few, min(made.stub, columns), notes)


def table_grid(table: Table, *, digits: int | None = None) -> Grid:
    """A table as it is, row by row."""
    rows = tuple(
        GridRow(tuple(plain_cell(row[c.name], c, digits) for c in table.columns))
        for row in table.rows
    )
    columns = tuple(GridColumn(c.title, c.numeric) for c in table.columns)
    return Grid(table.title, columns, rows, notes=_notes(table, rows, None))


def _pivot(table: Table, view: HeatMap, digits: int | None) -> Grid:
    rows = selected(table, view.where)
    value = table.column(view.value)
    names = _grouped(_distinct(rows, table.column(view.rows)))
    heads = _distinct(rows, table.column(view.columns))
    cells = _cells(rows, view)
    made = tuple(
        _pivot_row(table, view, name, [cells.get((name, head)) for head in heads], digits)
        for name in names
    )
    stub = [GridColumn(table.column(view.rows).title)]
    if view.beside:
        stub.append(GridColumn(table.column(view.beside).title, numeric=True))
    columns = (*stub, *(GridColumn(h, numeric=value.numeric) for h in heads))
    return Grid(view.title, columns, made, len(stub), _notes(table, made, view))


def _cells(
    rows: Iterable[Mapping[str, Cell]], view: HeatMap
) -> dict[tuple[str, str], Mapping[str, Cell]]:
    cells: dict[tuple[str, str], Mapping[str, Cell]] = {}
    for row in rows:
        key = (str(row[view.rows]), str(row[view.columns]))
        if key in cells:
            raise DataError(
                f"two rows of table {view.table!r} fill the cell {key[0]!r} x {key[1]!r} of the"
                f" view {view.title!r}; narrow the view by where= (now {dict(view.where)})"
            )
        cells[key] = row
    return cells


def _pivot_row(
    table: Table,
    view: HeatMap,
    name: str,
    rows: Sequence[Mapping[str, Cell] | None],
    digits: int | None,
) -> GridRow:
    value = table.column(view.value)
    made = [_pivot_cell(table, view, row, digits) for row in rows]
    fair = [number_of(cell.value) for cell in made if not (cell.marked or cell.faint)]
    best = best_of(fair, value.better)
    cells = [GridCell(name, name)]
    if view.beside:
        present = [row[view.beside] for row in rows if row]
        cells.append(_range(present, table.column(view.beside), digits))
    for cell in made:
        fit = best is not None and not (cell.marked or cell.faint)
        cells.append(replace(cell, best=fit and number_of(cell.value) == best))
    return GridRow(tuple(cells), kind_of(name))


def _pivot_cell(
    table: Table, view: HeatMap, row: Mapping[str, Cell] | None, digits: int | None
) -> GridCell:
    value = table.column(view.value)
    if row is None:
        return GridCell(None, UNDEFINED)
    return GridCell(
        row[value.name],
        cell_text(row[value.name], value, digits),
        marked=_marked(row, view, value),
        faint=_faint(row, view),
        under=_text_below(table, row, view),
    )


def _faint(row: Mapping[str, Cell], view: HeatMap) -> bool:
    faint = view.faint is not None and row[view.faint] is True
    return (faint or _few(row, view)) and row[view.value] is not None


def _few(row: Mapping[str, Cell], view: HeatMap) -> bool:
    if view.few is None:
        return False
    count = number_of(row[view.few[0]])
    return count is not None and count < view.few[1]


def _text_below(table: Table, row: Mapping[str, Cell], view: HeatMap) -> str:
    return "" if view.under is None else cell_text(row[view.under], table.column(view.under))


def _marked(row: Mapping[str, Cell], view: HeatMap, value: Column) -> bool:
    return bool(row[view.marks]) if view.marks else is_outside(row[view.value], value)


def _columns(table: Table, view: _Plain, digits: int | None) -> Grid:
    names = tuple(dict.fromkeys(_names(view)))
    rows = selected(table, view.where)
    most, longest = (view.most, view.longest) if isinstance(view, Listing) else (None, None)
    chosen = Table(
        table.name,
        view.title,
        tuple(table.column(name) for name in names),
        tuple(_shorten_texts(row, longest) for row in rows[:most]),
        " ".join(filter(None, (_cut(len(rows), most), table.note))),
    )
    return table_grid(chosen, digits=digits)


def _shorten_texts(row: Mapping[str, Cell], longest: int | None) -> Mapping[str, Cell]:
    if longest is None:
        return row
    return {
        name: f"{cell[:longest]}..." if isinstance(cell, str) and len(cell) > longest else cell
        for name, cell in row.items()
    }


def _cut(rows: int, most: int | None) -> str:
    return f"The first {most} of {rows} rows." if most is not None and rows > most else ""


def _names(view: _Plain) -> Iterable[str]:
    if isinstance(view, Listing):
        return view.columns
    if isinstance(view, Bars):
        return (view.category, view.series, *view.values)
    if isinstance(view, Histogram):
        return (view.name, view.start, view.end, view.count)
    if isinstance(view, StackedBars):
        return (view.category, view.series, *view.parts)
    if isinstance(view, Scatter):
        return filter(None, (view.panels, view.series, view.label, view.x, view.y))
    return filter(None, (view.panels, view.series, view.x, view.y, view.low, view.high))


def _range(values: Sequence[Cell], column: Column, digits: int | None) -> GridCell:
    numbers = [number for v in values if (number := number_of(v)) is not None]
    if not numbers:
        return GridCell(None, UNDEFINED)
    low, high = (cell_text(end, column, digits) for end in (min(numbers), max(numbers)))
    if low == high:
        return GridCell(numbers[0], low)
    return GridCell(None, f"{low}-{high}")


def _distinct(rows: Iterable[Mapping[str, Cell]], column: Column) -> list[str]:
    return list(dict.fromkeys(str(row[column.name]) for row in rows))


def _grouped(names: Sequence[str]) -> list[str]:
    kinds = list(dict.fromkeys(map(kind_of, names)))
    return sorted(names, key=lambda name: kinds.index(kind_of(name)))


def _notes(table: Table, rows: Iterable[GridRow], view: HeatMap | None) -> tuple[str, ...]:
    notes = [table.note] if table.note else []
    if any(cell.marked for row in rows for cell in row.cells):
        column = table.column(view.marks) if view and view.marks else None
        meaning = (
            ": ".join(filter(None, (column.title, column.help))) if column else "outside [0, 1]"
        )
        notes.append(f"! {meaning}")
    if view is not None:
        notes += _second(table, rows, view)
    return tuple(notes)


def _second(table: Table, rows: Iterable[GridRow], view: HeatMap) -> Iterator[str]:
    """Explain parentheses and brackets, where they occur."""
    cells = [cell for row in rows for cell in row.cells]
    if view.few is not None and any(cell.faint for cell in cells):
        yield f"( ) fewer than {view.few[1]} ({table.column(view.few[0]).title}): no finding"
    for sign, name, occurs in (
        ("( )", view.faint, any(cell.faint for cell in cells)),
        ("[ ]", view.under, any(cell.under for cell in cells)),
    ):
        if name is not None and occurs:
            column = table.column(name)
            yield f"{sign} " + ": ".join(filter(None, (column.title, column.help)))


def _signatures(
    finding: Finding, where: Mapping[str, Cell], table: str | None
) -> Mapping[str, str]:
    """Those that belong to the rows shown.

    Left out is a signature named like a cell not chosen, and one named like a cell that only views
    of other tables choose.
    """
    rows = finding.table(table).rows
    others = {row[name] for row in rows for name in where} - set(where.values())
    shown, foreign = (
        {
            cell
            for view in finding.views
            if (view.table == table) is here
            for cell in view.where.values()
        }
        for here in (True, False)
    )
    left_out = others | (foreign - shown if table is not None else set())
    return {name: str(one) for name, one in finding.signatures.items() if name not in left_out}


# Scores of several metrics as one grid: systems x metrics.


def scores_grid(scores: Sequence[Scores], *, digits: int | None = None) -> Grid:
    """Systems x metrics with signatures; 4 digits for scores within [-1, 1], else 2."""
    systems = list(dict.fromkeys(name for s in scores for name in s.systems))
    columns = [_score_column(s, digits) for s in scores]
    table = [[_score_of(s, name) for s in scores] for name in systems]
    best = [
        best_of(values, column.better)
        for values, column in zip(zip(*table, strict=True), columns, strict=True)
    ]
    rows = tuple(
        GridRow((GridCell(name, name), *map(_score_cell, values, columns, best)))
        for name, values in zip(systems, table, strict=True)
    )
    heads = (GridColumn("System"), *(GridColumn(c.title, numeric=True) for c in columns))
    notes = tuple(map(noted, joined(notice for s in scores for notice in s.notices)))
    signatures = {name: str(one) for name, one in score_signatures(scores).items()}
    return Grid("Scores", heads, rows, notes=notes, signatures=signatures)


def score_signatures(scores: Iterable[Scores]) -> dict[str, Signature]:
    """Signatures by metric; those of the defining tools as ``METRIC (TOOL)``."""
    signatures: dict[str, Signature] = {}
    for of_metric in scores:
        signatures[of_metric.metric] = of_metric.signature
        for tool, native in (of_metric.native_signatures or {}).items():
            signatures[f"{of_metric.metric} ({tool})"] = Signature(native, gnomon="")
    return signatures


def _digits_of(scores: Iterable[float | None]) -> int:
    sizes = [abs(score) for score in scores if score is not None]
    return 4 if max(sizes, default=2.0) <= 1 else 2


def _score_column(scores: Scores, digits: int | None) -> Column:
    known = map(number_of, map(float, scores.system))
    wanted = _digits_of(known) if digits is None else digits
    better: Better = "higher" if scores.higher_is_better else "lower"
    return Column("score", scores.metric, "number", wanted, better)


def _score_of(scores: Scores, system: str) -> float | None:
    if system not in scores.systems:
        return None
    return number_of(float(scores.system[scores.systems.index(system)]))


def _score_cell(value: float | None, column: Column, best: float | None) -> GridCell:
    return GridCell(value, cell_text(value, column), best=best is not None and value == best)
