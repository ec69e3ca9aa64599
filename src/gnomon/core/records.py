"""A row is declared once: its class says the columns, and everything else reads them there.

::

    class SystemRow(Record):
        system: str = SYSTEM
        score: float | None = column("Score", better="higher", help="corpus score", interval=True)

    table("systems", "Systems", SystemRow, rows, confidence=0.95)

The type of a field says the kind of its column (text, count, number, truth), unless ``kind`` does.
What is undefined is ``None``; NaN becomes that when a record is made. A column with an interval
brings the columns of its ends, ``NAME_low`` and ``NAME_high``.
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
from gnomon.core.options import parts_of, type_hints

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
    "Record",
    "column",
    "columns_of",
    "table",
    "with_ends",
]

Ends = tuple[float | None, float | None]
_KINDS: Mapping[type, Kind] = {str: "text", bool: "truth", int: "count", float: "number"}


@dataclass(frozen=True)
class ColumnOf:
    """What a field says of its column; further attributes as :class:`gnomon.core.findings.Column`.

    Attributes:
        kind: as there; None: as the type of the field says.
        digits: as there; None: two, and of numbers more where metrics score within [-1, 1].
        interval: the ends of a confidence interval stand beside it, where there is one.
        ends: the fields that hold the ends of its interval, where these are columns of their own.
    """

    title: str
    kind: Kind | None = None
    digits: int | None = None
    better: Literal["higher", "lower"] | None = None
    help: str = ""
    interval: bool = False
    ends: tuple[str, str] | None = None


def column(
    title: str,
    *,
    kind: Kind | None = None,
    digits: int | None = None,
    better: Literal["higher", "lower"] | None = None,
    help: str = "",  # noqa: A002  # the name of the attribute that it sets
    interval: bool = False,
    ends: tuple[str, str] | None = None,
) -> Any:  # stands where the value of a field of any type will stand
    """Declare the column of a field; as :class:`ColumnOf`."""
    return ColumnOf(title, kind, digits, better, help, interval, ends)


# Columns that many tables share
SYSTEM: Any = column("System", help="name of the system")
METRIC: Any = column("Metric", help="the metric, as it was given")
TEST_SET: Any = column("Test set", help="name of the test set")
SEGMENT: Any = column("Segment", help="number of the segment, from 1")
FEATURE: Any = column("Feature", help="which words: kind and name, as in pos:NOUN")
SLICE: Any = column("Slice", help="which segments; empty for all of them")


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(column,))
class _Declared:
    """Makes its subclasses dataclasses."""

    _columns: ClassVar[Mapping[str, ColumnOf]]

    def __init_subclass__(cls) -> None:
        """Make the subclass a dataclass.

        Raises:
            TypeError: a field has no column.
        """
        found: dict[str, ColumnOf] = dict(getattr(cls, "_columns", {}))
        own = inspect.get_annotations(cls)
        for name in own:
            said = cls.__dict__.get(name)
            if name == "intervals" or name.startswith("_"):
                continue
            if not isinstance(said, ColumnOf):
                raise TypeError(
                    f"{cls.__name__}.{name} needs a column: = column('Title', help=...)"
                )
            found[name] = said
            delattr(cls, name)
        cls._columns = found
        cls.__annotations__ = {**own, "intervals": "Mapping[str, Ends] | None"}
        cls.intervals = None  # type: ignore[attr-defined]  # of all rows
        dataclasses.dataclass(frozen=True, kw_only=True)(cls)


class Record(_Declared):
    """Base of rows: each field is a column, declared by :func:`column` or a shared one.

    Subclasses become frozen dataclasses whose fields are given by name.

    Attributes:
        intervals: the ends of intervals by the name of their column; of the columns that have some.
    """

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
    def of(cls, row: Record, **more: Any) -> Self:
        """Such a row with the values of another one whose columns it has, and more or others."""
        return cls(**{**vars(row), **more})

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
        if self.intervals is None:
            return {name: fields[name] for name in self._columns}
        cells: dict[str, Cell] = {}
        for name, said in self._columns.items():
            cells[name] = fields[name]
            if said.interval:
                cells[f"{name}_low"], cells[f"{name}_high"] = self.ends(name)
        return cells


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
    for one in reversed(row.__mro__):
        if issubclass(one, Record):
            hints |= type_hints(inspect.get_annotations(one), vars(sys.modules[one.__module__]))
    found: dict[str, Kind] = {}
    for name, said in row._columns.items():  # noqa: SLF001  # of this module
        parts = parts_of(hints[name])
        plain = next((one for one in parts if one in _KINDS), str)
        found[name] = said.kind or _KINDS[plain]
    return found


def columns_of(
    row: type[Record], confidence: float | None = None, *, without: Iterable[str] = ()
) -> tuple[Column, ...]:
    """The columns of a table of such rows.

    Args:
        row: the class of the rows.
        confidence: of the intervals, where there are some.
        without: columns that are left out, by name.
    """
    kinds: Mapping[str, Kind] = _kinds(row)  # type: ignore[arg-type]  # classes have hashes
    found: list[Column] = []
    left_out = set(without)
    for name, said in row._columns.items():  # noqa: SLF001  # of this module
        if name in left_out:
            continue
        digits = _DIGITS if said.digits is None else said.digits
        one = Column(name, said.title, kinds[name], digits, said.better, said.help, said.ends)
        if said.interval and confidence is not None:
            found += with_ends(one, confidence)
        else:
            found.append(one)
    return tuple(found)


def with_ends(one: Column, confidence: float) -> tuple[Column, Column, Column]:
    """A column, and those of the ends of its interval."""
    ends = (f"{one.name}_low", f"{one.name}_high")
    low, high = (
        # a number: an end outside [0, 1] is nothing to flag
        dataclasses.replace(
            one,
            name=name,
            title=title,
            kind="number",
            better=None,
            help=f"{end} end of the {100 * confidence:g} % interval of {one.title}",
        )
        for name, title, end in zip(ends, ("low", "high"), ("lower", "upper"), strict=True)
    )
    return dataclasses.replace(one, ends=ends), low, high


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
    """A table of records.

    Args:
        name: key within its finding.
        title: heading for people.
        row: the class of the rows.
        rows: the rows, as records or as the mappings that these were made.
        note: a sentence printed below.
        confidence: of the intervals, where there are some.
        without: columns that are left out, by name.
        excerpt: what a page holds of it.
    """
    columns = columns_of(row, confidence, without=without)
    records = tuple(rows)
    return Table(name, title, _by_size(row, columns, records), records, note, excerpt)


#: digits of numbers whose columns say none; of metrics within [-1, 1]; of some that are and others
_DIGITS, _SMALL, _MIXED = 2, 4, 3


def _by_size(
    row: type[Record], columns: Sequence[Column], records: Sequence[Record | Mapping[str, Cell]]
) -> tuple[Column, ...]:
    """The columns, with digits by the size of what metrics say: .0041 of COMET is not 0.00."""
    declared = row._columns  # noqa: SLF001  # of this module
    silent = {
        one.name
        for one in columns
        if one.kind == "number" and one.name in declared and declared[one.name].digits is None
    }
    for one in columns:  # an interval goes with what it is of
        if one.ends:
            silent = silent.union(one.ends) if one.name in silent else silent.difference(one.ends)
    open_ = [one for one in columns if one.name in silent]
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
        dataclasses.replace(one, digits=digits) if one.name in silent else one for one in columns
    )
