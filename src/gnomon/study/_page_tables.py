"""Tables of a store as a report shows them: their pages, and rows part by part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gnomon.study._query import TASK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from gnomon.findings import Cell, Column
    from gnomon.study._page_source import PageSource


#: which page shows a table, by how its name begins; the longest that fits counts
_PAGES: Mapping[str, str] = {
    "scores": "systems",
    "segments": "systems",
    "comparisons": "systems",
    "muler": "features",
    "difficulty": "words",
    "importance": "words",
    "bmx": "words",
    "references": "references",
    "paraphrase": "references",
    "diversity": "references",
    "agreement": "agreement",
    "tasks": "provenance",
    "notices": "provenance",
    "signatures": "provenance",
    "steps": "provenance",
    "testsets": "provenance",
}


@dataclass(frozen=True)
class StoredTable:
    """A table of a store, read when it is written.

    Attributes:
        name: in queries.
        title: for people.
        page: which page shows it.
        columns: its columns.
        source: the store.
    """

    name: str
    title: str
    page: str
    columns: tuple[Column, ...]
    source: PageSource

    def parts(self, rows: int) -> Iterator[Sequence[Sequence[Cell]]]:
        """The cells column by column, at most that many rows at a time.

        Each part is of one test set and, where tasks have one metric, of one metric.
        """
        for testset, metrics in self.source.groups(self.name):
            held = self.source.rows(self.name, testset=testset, metrics=metrics)
            there = self.source.columns(held)
            chosen = ", ".join(
                f'"{one.name}"' if one.name in there else f'null as "{one.name}"'
                for one in self.columns
            )
            asked = f"select {chosen} from {held}"  # noqa: S608  # names of the store's own columns
            with self.source.told():
                found = self.source.connection.cursor().execute(asked)
                while taken := found.fetchmany(rows):
                    yield [[_cell(value) for value in cells] for cells in zip(*taken, strict=True)]


@dataclass(frozen=True)
class MadeTable:
    """A small table that is made for the report.

    Attributes:
        name: what it is called.
        title: for people.
        page: which page shows it.
        columns: its columns.
        rows: gives its rows, when they are wanted.
    """

    name: str
    title: str
    page: str
    columns: tuple[Column, ...]
    rows: Callable[[], Iterable[Mapping[str, Cell]]]

    def parts(self, rows: int) -> Iterator[Sequence[Sequence[Cell]]]:
        """The cells column by column, that many rows at a time."""
        held = list(self.rows())
        for start in range(0, len(held), rows):
            some = held[start : start + rows]
            yield [[row[column.name] for row in some] for column in self.columns]


def stored_table(source: PageSource, name: str) -> StoredTable:
    """A table of a store, as its methods declared it."""
    schema = source.store.schema(name)
    columns = (*schema.columns, TASK)
    return StoredTable(name, schema.table.title, page_of(name), columns, source)


def page_of(table: str) -> str:
    """The page that shows a table."""
    fitting = [start for start in _PAGES if table.startswith(start)]
    return _PAGES[max(fitting, key=len)] if fitting else "tables"


def _cell(value: object) -> Cell:
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return str(value)
