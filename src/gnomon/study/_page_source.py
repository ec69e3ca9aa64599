"""Rows of a store for a report: read from exactly the files that hold them.

A view over a whole table opens all of its files, and a report asks for one test set at a time.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gnomon.study._query import connect, damage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gnomon.study._folder import FinishedTask
    from gnomon.study._store import Store


@dataclass(frozen=True)
class PageSource:
    """A store, and DuckDB that reads its files.

    Attributes:
        store: the results.
        connection: sees the store's files and nothing else.
        entries: finished tasks of the last plan.
    """

    store: Store
    connection: Any  # DuckDB is optional and without types
    entries: tuple[FinishedTask, ...]

    @classmethod
    def of_store(cls, store: Store) -> PageSource:
        """The rows of a store.

        Raises:
            MissingDependencyError: duckdb is not installed.
        """
        there = store.entries
        done = tuple(there[key] for key in store.planned() if key in there)
        return cls(store, connect(store, sql="tasks", all_files=True), done)

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of all tables that finished tasks gave rows."""
        return tuple(sorted({n for one in self.entries for n, rows in one.rows.items() if rows}))

    def testsets(self, table: str) -> tuple[str, ...]:
        """The test sets that a table has rows of, in the order of the plan."""
        return tuple(dict.fromkeys(one.testset for one in self.entries if one.rows.get(table)))

    def groups(self, table: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Test sets and metrics of the tasks that gave a table rows, in the order of the plan."""
        own = (one for one in self.entries if one.rows.get(table))
        return tuple(dict.fromkeys((one.testset, one.metrics) for one in own))

    def rows(
        self,
        table: str,
        *,
        testset: str | None = None,
        metric: str | None = None,
        metrics: tuple[str, ...] | None = None,
    ) -> str:
        """SQL of a table, or of what tasks of a test set and a metric gave to it.

        Args:
            table: a name of :attr:`tables`, for which such tasks gave rows.
            testset: all by default.
            metric: one that tasks had among theirs, under the name that rows have; all by default.
            metrics: those that tasks had, exactly; all by default.
        """
        files = [
            self.store.file(table, one.key)
            for one in self.entries
            if one.rows.get(table)
            and testset in (None, one.testset)
            and (metric is None or metric in one.metrics or metric in one.signatures)
            and metrics in (None, one.metrics)
        ]
        self.store.fetch(files)
        return (
            "(select * exclude (filename), parse_filename(filename, true) as task"  # noqa: S608  # quoted
            f" from read_parquet({_listed(files)}, union_by_name = true, filename = true))"
        )

    def columns(self, rows: str) -> dict[str, str]:
        """The columns of what :meth:`rows` gave, and their types in SQL."""
        found = self.ask(f"describe select * from {rows}")  # noqa: S608  # made by rows()
        return {str(column): str(kind) for column, kind, *_ in found}

    def ask(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """The rows of a query.

        Raises:
            DataError: a file of the store is damaged.
        """
        with self.told():
            found: list[tuple[Any, ...]] = self.connection.execute(sql, list(values)).fetchall()
        return found

    @contextmanager
    def told(self) -> Iterator[None]:
        """Say which file is damaged where reading fails.

        Raises:
            DataError: a file of the store is damaged.
        """
        import duckdb

        try:
            yield
        except duckdb.Error as error:
            said = damage(self.store, error)
            if said is None:
                raise
            raise said from error


def _listed(files: list[Path]) -> str:
    quoted = (str(one.resolve()).replace("'", "''") for one in files)
    return "[" + ", ".join(f"'{one}'" for one in quoted) + "]"
