"""Rows of a store for its pages: read from exactly the files that hold them, part by part.

A view over a whole table opens all of its files, and pages ask for one test set at a time.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from gnomon.core.page_data import PageTable
from gnomon.studies.needs import options_of_task
from gnomon.studies.query import OWN_TABLES, TASK, connect, damage
from gnomon.studies.tables import sql_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from gnomon.core.cache import Cache
    from gnomon.core.findings import Cell, Column
    from gnomon.core.registry import Method
    from gnomon.core.store_views import StoredView
    from gnomon.studies.folder import FinishedTask
    from gnomon.studies.result_store import Store
    from gnomon.studies.sources import PlannedSet

__all__ = [
    "PageSource",
    "SetRows",
    "computed_table",
    "internal_table",
    "stored_table",
    "view_table",
]


@dataclass(frozen=True)
class PageSource:
    """A store, and DuckDB that reads its files."""

    store: Store
    connection: Any  # DuckDB is optional and without types
    entries: tuple[FinishedTask, ...]

    @classmethod
    def read_store(cls, store: Store) -> PageSource:
        """The rows of a store."""
        there = store.entries
        done = tuple(there[key] for key in store.planned() if key in there)
        return cls(store, connect(store, sql="from tasks", all_files=True), done)

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of all tables that finished tasks gave rows."""
        return tuple(
            sorted({n for entry in self.entries for n, rows in entry.rows.items() if rows})
        )

    def testsets(self, table: str) -> tuple[str, ...]:
        """The test sets that a table has rows of, in the order of the plan."""
        return tuple(
            dict.fromkeys(entry.testset for entry in self.entries if entry.rows.get(table))
        )

    def groups(self, table: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Test sets and metrics of the tasks that gave a table rows, in the order of the plan."""
        entries = (entry for entry in self.entries if entry.rows.get(table))
        return tuple(dict.fromkeys((entry.testset, entry.metrics) for entry in entries))

    def rows(
        self,
        table: str,
        *,
        testset: str | None = None,
        metric: str | None = None,
        metrics: tuple[str, ...] | None = None,
    ) -> str:
        """SQL of a table, or of what tasks of a test set and a metric gave to it."""
        files = [
            self.store.file(table, entry.key)
            for entry in self.entries
            if entry.rows.get(table)
            and testset in (None, entry.testset)
            and metric in (None, *entry.metrics, *entry.signatures)
            and metrics in (None, entry.metrics)
        ]
        self.store.check_files(files)
        return (
            "(select * exclude (filename), parse_filename(filename, true) as task"  # noqa: S608  # quoted
            f" from read_parquet({sql_files(files)}, union_by_name = true, filename = true))"
        )

    def columns(self, rows: str) -> dict[str, str]:
        """The columns of what :meth:`rows` gave, and their types in SQL."""
        described = self.query(f"describe select * from {rows}")  # noqa: S608  # made by rows()
        return {str(column): str(kind) for column, kind, *_ in described}

    def query(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        with self.explain_damage():
            rows: list[tuple[Any, ...]] = self.connection.execute(sql, list(values)).fetchall()
        return rows

    def read_parts(self, sql: str, rows: int) -> Iterator[list[list[Cell]]]:
        """Yield the results of a query, column by column, at most that many rows at a time."""
        with self.explain_damage():
            result = self.connection.cursor().execute(sql)
            while taken := result.fetchmany(rows):
                yield [[_cell(value) for value in cells] for cells in zip(*taken, strict=True)]

    @contextmanager
    def explain_damage(self) -> Iterator[None]:
        """Say which file is damaged where reading fails."""
        import duckdb

        try:
            yield
        except duckdb.Error as error:
            said = damage(self.store)
            if said is None:
                raise
            raise said from error


@dataclass(frozen=True)
class SetRows:
    """A store's rows of a test set, for a method; see :class:`.StoredRows`."""

    source: PageSource
    planned: PlannedSet
    method: Method
    cache: Cache | None = None
    progress: Callable[[str, int, int], None] | None = None

    @property
    def language(self) -> str | None:
        """Of references and outputs, if known."""
        return self.planned.sketch.outline.target_language

    @property
    def options(self) -> Sequence[Mapping[str, Any]]:
        """Of the method, for each step that takes the test set; files are those of the set."""
        name, systems = self.planned.name, list(self.planned.sketch.systems)
        steps = (step for step in self.source.store.steps() if step.method == self.method.name)
        written = [step.options for step in steps if step.takes(name)]
        return [options_of_task(self.method, options, name, systems) for options in written]

    def rows(self, table: str) -> str | None:
        """SQL of the rows that a table has of the test set; None where there are none."""
        if self.planned.name not in self.source.testsets(table):
            return None
        return self.source.rows(table, testset=self.planned.name)

    def columns(self, rows: str) -> Mapping[str, str]:
        """The columns of what :meth:`rows` gave, and their types in SQL."""
        return self.source.columns(rows)

    def query(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        return self.source.query(sql, *values)


def stored_table(source: PageSource, name: str, section: str) -> PageTable:
    """A table of a store, as its method declared it, for a page.

    Each part is of one test set and, where tasks have one metric, of one metric.
    """
    schema = source.store.schema(name)
    columns = (*schema.columns, TASK)

    def read_parts(rows: int) -> Iterator[Sequence[Sequence[Cell]]]:
        for testset, metrics in source.groups(name):
            stored_rows = source.rows(name, testset=testset, metrics=metrics)
            there = source.columns(stored_rows)
            chosen = ", ".join(
                f'"{column.name}"' if column.name in there else f'null as "{column.name}"'
                for column in columns
            )
            yield from source.read_parts(f"select {chosen} from {stored_rows}", rows)  # noqa: S608  # the store's own names

    table = schema.table
    return PageTable(name, table.title, section, columns, read_parts, table.note, schema.views)


def view_table(source: PageSource, view: StoredView, section: str) -> PageTable:
    """A table that a method makes of its stored rows, for a page; each part of one test set."""

    def read_parts(rows: int) -> Iterator[Sequence[Sequence[Cell]]]:
        sets = [source.testsets(table) for table in view.of]
        for testset in (name for name in sets[0] if all(name in others for others in sets)):
            stored_rows = (f"{table} as {source.rows(table, testset=testset)}" for table in view.of)
            asked = f"with {', '.join(stored_rows)} select * from ({view.sql})"  # noqa: S608  # a method's own
            yield from source.read_parts(asked, rows)

    return PageTable(view.name, view.title, section, view.columns, read_parts)


def internal_table(source: PageSource, name: str, title: str) -> PageTable:
    """A table of the store itself, for the page on where results are from."""
    parts = partial(source.read_parts, f'select * from "{name}"')  # noqa: S608  # a name of ours
    return PageTable(name, title, "provenance", OWN_TABLES[name], parts)


def computed_table(
    name: str,
    title: str,
    columns: Sequence[Column],
    rows: Callable[[], Iterable[Mapping[str, Cell]]],
) -> PageTable:
    """A small table on where results are from, whose rows are made when they are wanted."""

    def read_parts(size: int) -> Iterator[Sequence[Sequence[Cell]]]:
        made = list(rows())
        for start in range(0, len(made), size):
            some = made[start : start + size]
            yield [[row[column.name] for row in some] for column in columns]

    return PageTable(name, title, "provenance", columns, read_parts)


def _cell(value: object) -> Cell:
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return str(value)
