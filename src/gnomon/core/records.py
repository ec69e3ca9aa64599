"""Rows of tables: dataclasses whose fields declare the columns.

::

    class SystemRow(Record):
        system: str = SYSTEM
        score: float | None = column("Score", better="higher", help="corpus score", interval=True)

    table("systems", "Systems", SystemRow, rows, confidence=0.95)

The type of a field says the kind of its column (text, count, number, truth), unless ``kind`` does.
What is undefined is ``None``; NaN becomes that when a record is made. A column with an interval
brings the columns of its ends, ``NAME_low`` and ``NAME_high`` where the table has a confidence;
ends that are always there or have names of their own are declared by ``interval=EndColumns(...)``.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, dataclass_transform

from gnomon.core.findings import Column, Table
from gnomon.core.options import type_hints, union_members

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gnomon.core.findings import Cell, Excerpt, Kind

__all__ = [
    "FEATURE",
    "METRIC",
    "SEGMENT",
    "SLICE",
    "SYSTEM",
    "TEST_SET",
    "ColumnOf",
    "EndColumns",
    "Record",
    "column",
    "column_names",
    "column_of",
    "columns_of",
    "table",
]

Ends = tuple[float | None, float | None]
# of each column of a table: its name, the field, and which end of its interval, or _VALUE
_Layout = tuple[tuple[str, str, int], ...]
_VALUE = -1
_KINDS: Mapping[type, Kind] = {str: "text", bool: "truth", int: "count", float: "number"}


@dataclass(frozen=True)
class EndColumns:
    """The columns of the ends of an interval, where these stand in every table of such rows."""

    low: str = "low"
    high: str = "high"
    how: str = ""  # what the interval is over, or whose it is
    kind: Kind = "number"
    digits: int | None = None  # None: as the column has
    after: str = ""  # the column behind which they stand; by default that whose ends they are

    @property
    def names(self) -> tuple[str, str]:
        """Both columns."""
        return self.low, self.high


@dataclass(frozen=True)
class ColumnOf:
    """A field's declaration of its column; see :class:`gnomon.core.findings.Column`."""

    title: str
    kind: Kind | None = None  # None: as the type of the field says
    digits: int | None = None  # None: two, and of numbers more where metrics score within [-1, 1]
    better: Literal["higher", "lower"] | None = None
    help: str = ""
    interval: bool | EndColumns = False

    def ends(self, name: str) -> tuple[str, str]:
        """The columns of the ends of its interval, by its own name."""
        if isinstance(self.interval, EndColumns):
            return self.interval.names
        return f"{name}_low", f"{name}_high"


def column(
    title: str,
    *,
    kind: Kind | None = None,
    digits: int | None = None,
    better: Literal["higher", "lower"] | None = None,
    help: str = "",  # noqa: A002  # the name of the attribute that it sets
    interval: bool | EndColumns = False,
) -> Any:  # stands where the value of a field of any type will stand
    """Declare the column of a field; as :class:`ColumnOf`."""
    return ColumnOf(title, kind, digits, better, help, interval)


# Columns that many tables share
SYSTEM: Any = column("System", help="name of the system")
METRIC: Any = column("Metric", help="the metric, as it was given")
TEST_SET: Any = column("Test set", help="name of the test set")
SEGMENT: Any = column("Segment", help="number of the segment, from 1")
FEATURE: Any = column("Feature", help="which words: kind and name, as in pos:NOUN")
SLICE: Any = column("Slice", help="which segments; empty for all of them")


def column_of(row: type[Record], name: str, **changes: Any) -> Any:  # as column
    """The column of a field of another row, with another help or the like."""
    return dataclasses.replace(row._columns[name], **changes)  # noqa: SLF001  # of this module


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(column,))
class _Declared:
    """Makes its subclasses dataclasses."""

    _columns: ClassVar[Mapping[str, ColumnOf]]
    _layouts: ClassVar[tuple[_Layout, _Layout]]  # without and with intervals by `interval=True`

    def __init_subclass__(cls) -> None:
        """Make the subclass a dataclass."""
        columns: dict[str, ColumnOf] = dict(getattr(cls, "_columns", {}))
        annotations = inspect.get_annotations(cls)
        for name in annotations:
            declared = cls.__dict__.get(name)
            if name == "intervals" or name.startswith("_"):
                continue
            if not isinstance(declared, ColumnOf):
                raise TypeError(
                    f"{cls.__name__}.{name} needs a column: = column('Title', help=...)"
                )
            columns[name] = declared
            delattr(cls, name)
        cls._columns = columns
        cls._layouts = _layout(columns, optional=False), _layout(columns, optional=True)
        cls.__annotations__ = {**annotations, "intervals": "Mapping[str, Ends] | None"}
        cls.intervals = None  # type: ignore[attr-defined]  # of all rows
        dataclasses.dataclass(frozen=True, kw_only=True)(cls)


def _layout(columns: Mapping[str, ColumnOf], *, optional: bool) -> _Layout:
    # the columns of a table in their order
    layout: list[tuple[str, str, int]] = [(name, name, _VALUE) for name in columns]
    for name, declared in columns.items():
        ends = declared.interval if isinstance(declared.interval, EndColumns) else None
        if ends or (declared.interval and optional):
            before = ends.after if ends else ""
            k = [column for column, _, _ in layout].index(before or name) + 1
            layout[k:k] = [(end, name, side) for side, end in enumerate(declared.ends(name))]
    return tuple(layout)


class Record(_Declared):
    """Base of rows: each field is a column, declared by :func:`column` or a shared one.

    Subclasses become frozen dataclasses whose fields are given by name.
    """

    # the ends of intervals by the name of their column; of the columns that have some
    intervals: Mapping[str, Ends] | None = None

    def __post_init__(self) -> None:
        """Keep numbers as Python has them, and None in place of NaN."""
        fields = vars(self)
        for name in self._columns:
            if type(fields[name]) not in (str, int, bool):  # the others need no look
                fields[name] = _plain(fields[name])
        if self.intervals is not None:
            ends = {name: (_plain(a), _plain(b)) for name, (a, b) in self.intervals.items()}
            fields["intervals"] = ends

    @classmethod
    def derive(cls, row: Record, **more: Any) -> Self:
        """Such a row with the values of another one in the columns of both, and more or others."""
        values = {name: value for name, value in vars(row).items() if name in cls._columns}
        if row.intervals is not None:
            ends = row.intervals.items()
            values["intervals"] = {name: pair for name, pair in ends if name in cls._columns}
        return cls(**{**values, **more})

    @classmethod
    def from_row(cls, row: Mapping[str, Cell]) -> Self:
        """The record of a stored row, None where that lacks a column; without ends of intervals."""
        fields: dict[str, Any] = {name: row.get(name) for name in cls._columns}
        return cls(**fields)

    def ends(self, name: str) -> Ends:
        """The ends of the interval of a column; None where it has none."""
        return (self.intervals or {}).get(name, (None, None))

    def cells(self) -> dict[str, Cell]:
        """The row as it is printed or stored: values by column, ends of intervals beside theirs."""
        fields = vars(self)
        return {
            name: fields[field] if side == _VALUE else self.ends(field)[side]
            for name, field, side in self._layouts[self.intervals is not None]
        }


def _plain(value: Any) -> Any:  # a cell
    if value is None or type(value) in (str, bool, int):
        return value
    if type(value) is float:
        return None if math.isnan(value) else value
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and math.isnan(value) else value


@functools.cache
def _kinds(row: type[Any]) -> Mapping[str, Kind]:
    hints: dict[str, Any] = {}
    for owner in reversed(row.__mro__):
        if issubclass(owner, Record):
            hints |= type_hints(inspect.get_annotations(owner), vars(sys.modules[owner.__module__]))
    kinds: dict[str, Kind] = {}
    for name, said in row._columns.items():  # noqa: SLF001  # of this module
        parts = union_members(hints[name])
        plain = next((type_ for type_ in parts if type_ in _KINDS), str)
        kinds[name] = said.kind or _KINDS[plain]
    return kinds


def columns_of(
    row: type[Record], confidence: float | None = None, *, without: Iterable[str] = ()
) -> tuple[Column, ...]:
    """The columns of a table of such rows; the confidence is that of their intervals."""
    kinds: Mapping[str, Kind] = _kinds(row)  # type: ignore[arg-type]  # classes have hashes
    left_out = set(without)
    columns: dict[str, Column] = {}
    for name, field, side in row._layouts[confidence is not None]:  # noqa: SLF001  # of this module
        declared = row._columns[field]  # noqa: SLF001  # of this module
        if name in left_out or field in left_out:
            continue
        if side != _VALUE:
            columns[name] = _end_column(columns[field], declared, side, confidence)
            continue
        optional = declared.interval is True and confidence is not None
        has_ends = optional or isinstance(declared.interval, EndColumns)
        columns[name] = Column(
            name,
            declared.title,
            kinds[name],
            _DIGITS if declared.digits is None else declared.digits,
            declared.better,
            declared.help,
            declared.ends(name) if has_ends else None,
        )
    return tuple(columns.values())


def _end_column(column: Column, declared: ColumnOf, side: int, confidence: float | None) -> Column:
    # a number: an end outside [0, 1] is nothing to flag
    name, title = declared.ends(column.name)[side], ("low", "high")[side]
    end, ends = f"{('lower', 'upper')[side]} end of the", declared.interval
    if not isinstance(ends, EndColumns):
        help_ = f"{end} {100 * (confidence or 0):g} % interval of {column.title}"
        return Column(name, title, "number", column.digits, None, help_)
    if ends.after and name != title:  # not beside its column
        title = f"{column.title} {title}"
    digits = column.digits if ends.digits is None else ends.digits
    help_ = ", ".join(filter(None, (f"{end} interval of {column.title}", ends.how)))
    return Column(name, title, ends.kind, digits, None, help_)


def column_names(row: type[Record]) -> tuple[str, ...]:
    """The columns of a class of rows by name, for a listing of all of them."""
    return tuple(column.name for column in columns_of(row))


def table(
    name: str,
    title: str,
    row: type[Record],
    rows: Iterable[Record | Mapping[str, Cell]],
    *,
    note: str = "",
    confidence: float | None = None,
    without: Iterable[str] = (),
    excerpt: Excerpt | None = None,
) -> Table:
    """A table of records."""
    columns = columns_of(row, confidence, without=without)
    records = tuple(rows)
    return Table(name, title, _adapt_digits(row, columns, records), records, note, excerpt)


#: digits of numbers whose columns say none; of metrics within [-1, 1]; of some that are and others
_DIGITS, _SMALL, _MIXED = 2, 4, 3


def _adapt_digits(
    row: type[Record], columns: Sequence[Column], records: Sequence[Record | Mapping[str, Cell]]
) -> tuple[Column, ...]:
    """The columns, with digits by the size of what metrics say: .0041 of COMET is not 0.00."""
    declared = row._columns  # noqa: SLF001  # of this module
    silent = {
        column.name
        for column in columns
        if column.kind == "number"
        and column.name in declared
        and declared[column.name].digits is None
    }
    for column in columns:  # an interval goes with what it is of
        if column.ends:
            ends = set(column.ends)
            silent = silent | ends if column.name in silent else silent - ends
    open_ = [column for column in columns if column.name in silent]
    largest: dict[Cell, float] = {}
    for record in records if open_ else ():
        cells = record.cells() if isinstance(record, Record) else record
        values = [abs(v) for c in open_ if isinstance(v := cells[c.name], int | float)]
        metric = cells.get("metric")
        largest[metric] = max([largest.get(metric, 0.0), *filter(math.isfinite, values)])
    small = [value <= 1 for value in largest.values() if value]
    if not any(small):
        return tuple(columns)
    digits = _SMALL if all(small) else _MIXED
    return tuple(
        dataclasses.replace(column, digits=digits) if column.name in silent else column
        for column in columns
    )
