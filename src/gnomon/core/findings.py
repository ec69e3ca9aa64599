"""Results of methods: tables, views of them, and example segments.

A method describes what it found with the types of this module; reports render them without
knowing the method. A :class:`Finding` holds

* a verdict: what was found in a few plain sentences, each with the rows that it rests on,
* named tables of flat records (the machine-readable truth),
* views: which columns of which table make a heat map, bars, ... (how to look at it),
* exhibits: segments worth reading, with highlighted spans (what is behind a number).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping  # views are read from JSON by their types
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from gnomon.core import notebook
from gnomon.core.errors import UnknownNameError
from gnomon.core.manifest import imported
from gnomon.messages import joined, noted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sized
    from os import PathLike

    from gnomon.core.gates import GateCase
    from gnomon.core.records import Record
    from gnomon.core.signature import Signature
    from gnomon.messages import Message

__all__ = [
    "Bars",
    "Cell",
    "Column",
    "Excerpt",
    "Exhibit",
    "ExhibitText",
    "Finding",
    "HeatMap",
    "Highlight",
    "Histogram",
    "Lines",
    "Listing",
    "Scatter",
    "ScoreTable",
    "StackedBars",
    "Table",
    "View",
]

R = TypeVar("R", bound="Record")
Cell: TypeAlias = str | int | float | bool | None
Kind: TypeAlias = Literal["text", "truth", "count", "number", "share"]


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes:
        name: key of the records; part of the public contract.
        title: heading for people.
        kind: "text", "truth" (true or false), "count" (integers), "number", or "share" (mostly in
            [0, 1]).
        digits: digits after the point when printed for people; records are never rounded.
        better: which end is good, where one is.
        help: one sentence on what the column means.
        ends: the columns with the lower and the upper ends of its confidence interval.
    """

    name: str
    title: str
    kind: Kind = "text"
    digits: int = 2
    better: Literal["higher", "lower"] | None = None
    help: str = ""
    ends: tuple[str, str] | None = None

    @property
    def numeric(self) -> bool:
        """True if its cells are numbers."""
        return self.kind not in ("text", "truth")


#: rows of a long table that a page holds
_PAGE = 2000


@dataclass(frozen=True)
class Excerpt:
    """The rows of a long table that a page holds; all other outputs hold every row."""

    rows: tuple[int, ...]  # their positions in the table, ascending
    note: str  # which rows these are, and where the others are to be had

    @classmethod
    def first(cls, rows: Sized) -> Excerpt | None:
        """The first rows of a long table; None of one that a page holds whole."""
        if len(rows) <= _PAGE:
            return None
        note = f"This page holds {_PAGE:,} of {len(rows):,} rows; JSON (-f json) has them all."
        return cls(tuple(range(_PAGE)), note)


@dataclass(frozen=True, repr=False)
class Table:
    """Flat records under named columns. Undefined cells are ``None``, never NaN.

    Attributes:
        name: key within its finding.
        title: heading for people.
        columns: the columns, in order.
        records: its rows, of the class that declares the columns, or as mappings.
        note: a sentence printed below.
        excerpt: what a page holds of it, where that is not everything; for tables that no chart
            shows.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    records: tuple[Record | Mapping[str, Cell], ...]
    note: str = ""
    excerpt: Excerpt | None = None

    @functools.cached_property
    def rows(self) -> tuple[Mapping[str, Cell], ...]:
        """One mapping per row, with a value for every column."""
        names = {column.name for column in self.columns}
        cells = (r if isinstance(r, Mapping) else r.cells() for r in self.records)
        return tuple(
            row if row.keys() <= names else {k: v for k, v in row.items() if k in names}
            for row in cells
        )

    def column(self, name: str) -> Column:
        """The column of that name.

        Raises:
            UnknownNameError: the table has no such column.
        """
        for column in self.columns:
            if column.name == name:
                return column
        raise UnknownNameError("column", name, [c.name for c in self.columns])

    def values(self, name: str) -> tuple[Cell, ...]:
        """The cells of one column, row by row."""
        return tuple(row[self.column(name).name] for row in self.rows)

    def to_dict(self) -> dict[str, list[Cell]]:
        """Column name -> cells, ready for any data frame library."""
        return {column.name: list(self.values(column.name)) for column in self.columns}

    def to_frame(self) -> Any:  # polars is optional
        """The table as a polars data frame.

        Raises:
            MissingDependencyError: polars is not installed.
        """
        return notebook.frame(self.to_dict())

    def to_pandas(self) -> Any:  # pandas is optional
        """The table as a pandas data frame.

        Raises:
            MissingDependencyError: pandas is not installed.
        """
        return notebook.pandas_frame(self.to_dict())

    def __repr__(self) -> str:
        size = f"{notebook.counted(len(self.rows), 'row')} x {len(self.columns)} columns"
        return f"<Table {self.name}: {size}>"

    def _repr_html_(self) -> str:
        return notebook.html_box(self.title, [_first_rows(self)])


@dataclass(frozen=True)
class HeatMap:
    """A table turned on its side: one cell per row value x column value.

    Attributes:
        table: name of the table.
        title: heading.
        rows: column of the table whose values become rows ("feature").
        columns: column whose values become columns ("system").
        value: column whose value fills the cell ("muler"); its ``better`` decides the colours.
        beside: a column that is shown per row beside the row's name (its smallest and largest
            value over the columns), e.g. "segments".
        where: fixed values of other columns that select the rows to show (metric, variant, slice).
        low: value at which the colour scale starts; None: the smallest that occurs.
        high: value at which it ends; None: the largest that occurs.
        marks: a boolean column that flags a cell ("outside [0, 1]").
        faint: a boolean column that greys a cell (too few systems to mean much).
        few: a column of counts, and the number below which a cell is greyed as well: figures of so
            few segments are no finding.
        under: a column shown small below the value of each cell ("n").
        exhibits: cells lead to the exhibits of the same group (= row value) and system.
        prominent: text, LaTeX and Markdown show it too, not the report alone.
        ordered: rows stand in the order of the table, however many these are.
    """

    table: str
    title: str
    rows: str
    columns: str
    value: str
    beside: str | None = None
    where: Mapping[str, Cell] = field(default_factory=dict)
    low: float | None = None
    high: float | None = None
    marks: str | None = None
    faint: str | None = None
    few: tuple[str, int] | None = None
    under: str | None = None
    exhibits: bool = False
    prominent: bool = True
    ordered: bool = False


@dataclass(frozen=True)
class Bars:
    """Bars per category for a few series at a time, which the reader picks.

    Attributes:
        table: name of the table.
        title: heading.
        category: column whose values are the categories ("feature").
        series: column whose values are the series ("system"); the same as the category: one series.
        values: columns drawn as bars, each its own small panel (("muler", "base", "spread")).
        where: fixed values of other columns.
        shown: series picked at first; empty: all.
        most: how many series the reader may pick; None: all.
        beside: a column shown per category beside its name, e.g. "segments".
        ordered: the best series come first, or the largest where none is better; as listed
            otherwise.
        strong: a boolean column; bars of rows where it is false are faded ("significant").
        ends: what the two ends of the scale mean, in a few words ("A better", "B better").
        dots: a dot stands for each value in place of a bar, where the way from 0 says nothing.
        hollow: a column drawn as a hollow dot beside the dot of each value.
        better: which end is good, where that depends on the metric and columns cannot say.
        band: a value of ``series``; those that cannot be told apart from it (``strong`` is false)
            stand in a band with it, and are not faded.
        told: further columns whose figures hovering tells.
    """

    table: str
    title: str
    category: str
    series: str
    values: tuple[str, ...]
    where: Mapping[str, Cell] = field(default_factory=dict)
    shown: tuple[str, ...] = ()
    most: int | None = None
    beside: str | None = None
    ordered: bool = False
    strong: str | None = None
    ends: tuple[str, str] | None = None
    dots: bool = False
    hollow: str | None = None
    better: Literal["higher", "lower"] | None = None
    band: str = ""
    told: tuple[str, ...] = ()


@dataclass(frozen=True)
class StackedBars:
    """One bar per category, made of parts that add up (shares), for one series at a time.

    Attributes:
        table: name of the table.
        title: heading.
        category: column whose values are the categories ("feature").
        series: column whose values are the series ("system").
        parts: columns stacked in this order (("miss", "hit", "add")).
        where: fixed values of other columns.
    """

    table: str
    title: str
    category: str
    series: str
    parts: tuple[str, ...]
    where: Mapping[str, Cell] = field(default_factory=dict)


@dataclass(frozen=True)
class Scatter:
    """One named point per row; the reader sees r and n of every panel."""

    table: str
    title: str
    x: str  # numeric column of the horizontal axis
    y: str  # numeric column of the vertical axis
    label: str  # column that names a point ("system"); may be blank in rows
    # column that colours the points ("feature", "year"); None: one colour
    series: str | None = None
    panels: str | None = None  # column whose values get a small panel each; None: a single panel
    where: Mapping[str, Cell] = field(default_factory=dict)  # fixed values of other columns
    identity: bool = False  # draw the line y = x


@dataclass(frozen=True)
class Lines:
    """Curves of a column over another one."""

    table: str
    title: str
    x: str  # numeric column of the horizontal axis
    y: str  # numeric column of the vertical axis
    series: str  # column whose values are a curve each
    panels: str | None = None  # column whose values get a small panel each; None: a single panel
    where: Mapping[str, Cell] = field(default_factory=dict)  # fixed values of other columns
    low: str | None = None  # column with the lower ends of a band; goes with `high`
    high: str | None = None  # column with its upper ends
    identity: bool = False  # draw the line y = x
    # a value of `series` whose curve is drawn in the colour of text, the one that the others are
    # compared with
    ink: Cell = None


@dataclass(frozen=True)
class Histogram:
    """A histogram: frequencies of values in bins, each a row of the table."""

    table: str
    title: str
    name: str  # column with the name of a bin; exhibits of that kind are its segments
    start: str  # column with the least value of a bin; its title names the axis
    end: str  # column with the value where the next one begins
    count: str  # column that says how many values lie in it
    where: Mapping[str, Cell] = field(default_factory=dict)  # fixed values of other columns


@dataclass(frozen=True)
class Listing:
    """Some columns of a table as they stand: for text and papers; pages hold every table anyway."""

    table: str
    title: str
    columns: tuple[str, ...]  # names of the columns shown, in this order
    # fixed values of other columns that select the rows to show
    where: Mapping[str, Cell] = field(default_factory=dict)
    # how many of these rows are shown, the first ones; what is left out is said. None: all
    most: int | None = None
    # how many characters of a text are shown; three dots stand for the others. None: all
    longest: int | None = None


@dataclass(frozen=True)
class ScoreTable:
    """Systems x metrics as a paper has them, the best of each metric marked.

    Attributes:
        table: name of a table with the columns ``system``, ``metric`` and ``score``.
        title: its caption.
        better: which end is good, by metric; of others no system is the best.
        where: fixed values of other columns.
        significant: a boolean column; scores of rows where it is true get a dagger.
        ordered: the best systems under the first metric come first; as listed otherwise.
    """

    table: str
    title: str
    better: Mapping[str, Literal["higher", "lower"]]
    where: Mapping[str, Cell] = field(default_factory=dict)
    significant: str | None = None
    ordered: bool = False


_SHOWN_ROWS = 10
_LONGEST_CELL = 120


def _first_rows(table: Table) -> str:
    """The first rows of a table in HTML."""
    cell_text = imported("gnomon.core.tabular:cell_text")
    rows = [
        [_clipped(cell_text(row[c.name], c)) for c in table.columns]
        for row in table.rows[:_SHOWN_ROWS]
    ]
    more = len(table.rows) - len(rows)
    said = f"and {more} more: to_pandas({table.name!r}) has all rows" if more > 0 else ""
    return notebook.html_table([(c.title, c.numeric) for c in table.columns], rows, said)


def _clipped(text: str) -> str:
    return text if len(text) <= _LONGEST_CELL else text[: _LONGEST_CELL - 3] + "..."


View: TypeAlias = HeatMap | Bars | StackedBars | Scatter | Lines | Histogram | Listing


@dataclass(frozen=True)
class Highlight:
    """Characters of a text that stand out, and why.

    Attributes:
        start: first code point.
        end: code point after the last one.
        label: why, in a few words.
        weight: from -1 (it hurts most) over 0 to 1 (it helps most), shown as a colour; None: the
            characters are simply marked.
        flagged: underlined, where there is a weight (marked by people, say).
    """

    start: int
    end: int
    label: str = ""
    weight: float | None = None
    flagged: bool = False

    @property
    def step(self) -> int | None:
        """The weight as one of nine colours, 0 (hurts most) to 8; 4 is neutral."""
        return None if self.weight is None else round(4 + 4 * min(max(self.weight, -1.0), 1.0))


@dataclass(frozen=True)
class ExhibitText:
    """One text of an exhibit.

    Attributes:
        role: "source", "reference" or "candidate".
        name: name of the reference or system; empty for the source.
        text: the text, untouched.
        highlights: spans to mark, in order, not overlapping.
        values: what the metric said of this text ({"base": 31.2, "oracle": 50.1}); in words, too
            ({"reason": "..."}).
    """

    role: Literal["source", "reference", "candidate"]
    name: str
    text: str
    highlights: tuple[Highlight, ...] = ()
    values: Mapping[str, float | str | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Exhibit:
    """A segment worth reading.

    Attributes:
        group: what it is shown for ("pos:NOUN"); a heat map's row leads to it.
        kind: which list it belongs to ("costs most", "negative").
        segment: 1-based segment.
        texts: source, references, candidates; systems side by side.
        systems: systems whose cells lead to it, most interesting first.
        document: its document, if known.
        domain: its domain, if known.
        weight: what the list is ordered by, largest first.
        caption: a sentence.
    """

    group: str
    kind: str
    segment: int
    texts: tuple[ExhibitText, ...]
    systems: tuple[str, ...] = ()
    document: str | None = None
    domain: str | None = None
    weight: float = 0.0
    caption: str = ""


@dataclass(frozen=True, repr=False)
class Finding:
    """A method's finding.

    Attributes:
        method: command that makes it ("muler").
        title: heading for people.
        tables: the tables; the first is the one of the contract, its rows are ``rows``.
        signatures: how to make the numbers again, by what they belong to (a metric's name).
        views: how the tables may be looked at; the first is what a terminal shows.
        exhibits: segments behind the numbers.
        notices: what a reader should know.
        facts: what was looked at (test set, systems, segments, tagger), in order, for the head of
            a report.
        gate: what a gate says of each system; empty where none was asked for.
        verdict: what was found, in one to six sentences; the ``verdict=`` of the method makes them.
        paper: the scores as LaTeX has them in place of the views.
        language_pair: of its test set, where that is one and known.
    """

    method: str
    title: str
    tables: tuple[Table, ...]
    signatures: Mapping[str, Signature]
    views: tuple[View, ...] = ()
    exhibits: tuple[Exhibit, ...] = ()
    notices: tuple[Message, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    gate: tuple[GateCase, ...] = ()
    verdict: tuple[Message, ...] = ()
    paper: ScoreTable | None = None
    language_pair: str = ""

    @property
    def rows(self) -> tuple[Mapping[str, Cell], ...]:
        """The records of the first table."""
        return self.tables[0].rows

    @property
    def failure(self) -> str:
        """Which systems its gate fails, and why; empty where it passes all."""
        return "; ".join(case.said for case in self.gate if case.outcome == "failed")

    def __iter__(self) -> Iterator[Mapping[str, Cell]]:
        return iter(self.rows)

    def table(self, name: str | None = None) -> Table:
        """A table by name; the first one by default.

        Raises:
            UnknownNameError: the finding has no such table.
        """
        for table in self.tables:
            if name in (None, table.name):
                return table
        raise UnknownNameError("table", str(name), [t.name for t in self.tables])

    def records(self, kind: type[R], name: str | None = None) -> tuple[R, ...]:
        """The rows that are records of a class.

        Args:
            kind: the class.
            name: of their table; by default all tables.
        """
        tables = (table for table in self.tables if name in (None, table.name))
        return tuple(r for table in tables for r in table.records if isinstance(r, kind))

    def positions(self, records: Iterable[Record]) -> dict[str, list[int]]:
        """The positions of some of its records, by the name of their table."""
        chosen = list(records)
        kinds = {type(record) for record in chosen}
        places = {
            id(record): (table.name, position)
            for table in reversed(self.tables)  # of several that hold a record, the first one
            for position, record in enumerate(table.records)
            if type(record) in kinds
        }
        by_table: dict[str, list[int]] = {}
        for name, position in (places[id(record)] for record in chosen):
            by_table.setdefault(name, []).append(position)
        return by_table

    def to_dict(self, name: str | None = None) -> dict[str, list[Cell]]:
        """A table as column name -> cells, ready for any data frame library."""
        return self.table(name).to_dict()

    def to_frame(self, name: str | None = None) -> Any:  # polars is optional
        """A table as a polars data frame.

        Raises:
            MissingDependencyError: polars is not installed.
            UnknownNameError: the finding has no such table.
        """
        return self.table(name).to_frame()

    def to_pandas(self, name: str | None = None) -> Any:  # pandas is optional
        """A table as a pandas data frame.

        Raises:
            MissingDependencyError: pandas is not installed.
            UnknownNameError: the finding has no such table.
        """
        return self.table(name).to_pandas()

    def scalars(self) -> dict[str, float]:
        """Its numbers by names, for trackers such as Weights & Biases and MLflow.

        Those of the first table ("bleu/sysA", "bleu/sysA/difference", "bleu/sysA/p") and of a table
        of differences; characters that MLflow refuses in names are written as "_".
        """
        table_scalars = imported("gnomon.core.scalars:table_scalars")
        differences = [table for table in self.tables[1:] if table.name == "differences"]
        scalars: dict[str, float] = table_scalars(self.tables[0])
        for table in differences:
            scalars |= table_scalars(table, bare=False)
        return scalars

    def chart(self, view: int | str | None = None) -> Any:  # of a package above this one
        """A view as a Vega-Lite specification, a mapping that notebooks draw.

        Args:
            view: number of the view among ``views``, from 0, or words of its title; by default the
                first that is a picture.

        Returns:
            A :class:`gnomon.report.charts.Chart`.

        Raises:
            UsageError: there is no such view, or none that can be drawn.
        """
        return imported("gnomon.report.charts:chart")(self, view)

    def save_figure(
        self, path: str | PathLike[str], view: int | str | None = None, *, wide: bool | None = None
    ) -> None:
        """Write a view as PDF, SVG or PNG for a paper, by the ending of the name.

        Args:
            path: the file to write; an existing one is replaced.
            view: as for :meth:`chart`.
            wide: as wide as a page (6.9 inches) in place of a column (3.3); by default where it
                has several panels.

        Raises:
            MissingDependencyError: vl-convert-python is not installed.
            OutputError: the file cannot be written.
            UsageError: there is no such view, none that can be drawn, or no such kind of file.
        """
        self.chart(view).save(path, wide=wide)

    def __repr__(self) -> str:
        """The sentences to read first, and a table in brief."""
        text: str = imported("gnomon.report.terminal:render_brief")(self)
        return text

    def _repr_html_(self) -> str:
        """The sentences to read first, a table in brief, and notes in a fold."""
        from gnomon.core.reading_order import split_notes

        first, others = split_notes(self.verdict)
        said = [f"<p>{notebook.escape(str(statement))}</p>" for statement in first]
        rows = [self._table_in_brief()] if self.tables else []
        notes = [*map(str, others), *map(noted, joined(self.notices))]
        return notebook.html_box(self.title, [*said, *rows, notebook.html_fold("note", notes)])

    def _table_in_brief(self) -> str:
        made = imported("gnomon.core.tabular:brief_grid")(self)
        rows = [[_clipped(cell.shown) for cell in row.cells] for row in made.rows]
        heads = [(c.title, c.numeric) for c in made.columns]
        table = notebook.html_table(heads, rows, " ".join(made.notes))
        return f"<p>{notebook.escape(made.title)}</p>{table}"

    def shown(self) -> tuple[View | None, ...]:
        """The views that text shows: listings and prominent heat maps, else the first view."""
        views = tuple(
            view
            for view in self.views
            if isinstance(view, Listing) or (isinstance(view, HeatMap) and view.prominent)
        )
        return views or (self.views[0] if self.views else None,)

    def to_latex(self, *, every: bool = False) -> str:
        """Scores of systems as one LaTeX table (booktabs), or what text shows where there are none.

        Args:
            every: add the tables that text shows.
        """
        text: str = imported("gnomon.core.tabular:finding_to_latex")(self, every=every)
        return text

    def to_markdown(self) -> str:
        """The verdict, and the views that text shows as Markdown tables."""
        text: str = imported("gnomon.core.tabular:finding_to_markdown")(self)
        return text
