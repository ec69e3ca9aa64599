"""Views of methods' rows in a store of a study: further tables, and marks in texts.

A method declares both beside itself (``views`` and ``marks`` of
:class:`gnomon.core.registry.Method`), so that a study asks and shows them without knowing the
method.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from gnomon.core.findings import Column

__all__ = [
    "Highlighter",
    "Layer",
    "Mark",
    "SegmentRange",
    "StoredRows",
    "StoredView",
    "SystemScoreColumn",
    "metric_sql",
    "words_in",
]

#: number of a layer, ends of spans one after the other, their values (or none)
Mark: TypeAlias = "tuple[int, Sequence[int], Sequence[float | None]]"


class Layer(NamedTuple):
    """A layer of marks in the texts of a test set."""

    kind: Literal["spans", "values"]  # "spans", or "values": spans with a number each
    name: str  # what cells of tables and charts call it ("pos:NOUN"); they lead to its segments
    title: str  # what it is listed as
    # value at which the colour scale starts; the scale is two-sided where it is `-high`
    low: float | None = None
    high: float | None = None  # value at which it ends
    ends: tuple[str, str] = ("", "")  # what the two ends of the scale mean, in a few words


class SystemScoreColumn(NamedTuple):
    """A column of a table that says how good systems are; shown beside their scores."""

    table: str  # of the store; its rows have a column `system`
    value: str  # the column
    by: str  # the column that says which kind of value it is


class StoredView(NamedTuple):
    """A question that many ask of the rows of a method, as a table."""

    name: str  # in queries
    title: str  # for people
    of: tuple[str, ...]  # the tables that it takes
    sql: str  # the query; it may also read `tasks`
    columns: tuple[Column, ...]  # what it gives


@dataclass(frozen=True)
class SegmentRange:
    """Some segments in a row, with their texts."""

    first: int  # the first segment, from 0
    # texts of the references, segment by segment, each by name
    references: Sequence[Mapping[str, str]]
    outputs: Sequence[Mapping[str, str]]  # outputs of the systems, segment by segment, each by name


class Highlighter(Protocol):
    """Marker of the texts of a test set in some layers."""

    @property
    def layers(self) -> Sequence[Layer]:
        """The layers that it marks."""
        ...

    def marks(self, stretch: SegmentRange) -> Iterator[tuple[int, str, Mark]]:
        """Number of the segment (from 0, within the stretch), text, mark in one of its layers."""
        ...


class StoredRows(Protocol):
    """A store's rows of a test set, for a method that marks its texts."""

    @property
    def language(self) -> str | None:
        """Of references and outputs, if known."""
        ...

    @property
    def options(self) -> Sequence[Mapping[str, Any]]:
        """Of the method, for each step of the study that takes the test set; files in full."""
        ...

    @property
    def cache(self) -> Any:  # a Cache or None
        """Where tags are kept."""
        ...

    @property
    def progress(self) -> Callable[[str, int, int], None] | None:
        """Called with a stage, what is done and the total."""
        ...

    def rows(self, table: str) -> str | None:
        """SQL of the rows that a table has of the test set; None where there are none."""
        ...

    def columns(self, rows: str) -> Mapping[str, str]:
        """The columns of what :meth:`rows` gave, and their types in SQL."""
        ...

    def query(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        ...


def metric_sql(stored: StoredRows, rows: str, *more: str) -> str:
    """SQL for what a row's layer is called: its metric, or that of the task it is from."""
    there = stored.columns(rows)
    named = [name for name in ("metric", *more) if name in there]
    if "metric" not in there:
        named.insert(0, "(select metrics from tasks where key = task)")
    return f"concat_ws(', ', {', '.join(named)})"


def words_in(text: str, words: Sequence[str]) -> list[tuple[int, int]] | None:
    """Where words stand in a text, one after the other; None where one is not there.

    >>> words_in("a cat, a dog", ["cat", "a"])
    [(2, 5), (7, 8)]
    """
    spans, at = [], 0
    for word in words:
        start = text.find(word, at)
        if start < 0:
            return None
        at = start + len(word)
        spans.append((start, at))
    return spans
