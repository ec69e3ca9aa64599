"""What a store holds, for whoever reads it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gnomon.errors import DataError, UnknownNameError, UsageError
from gnomon.study._folder import SKETCHES, TABLES, is_intact

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike
    from pathlib import Path

    from gnomon.study._answer import Answer
    from gnomon.study._export import Kind
    from gnomon.study._manifest import Entry
    from gnomon.study._remote import Mirror
    from gnomon.study._schema import TableSchema
    from gnomon.study._sketches import Sketches
    from gnomon.study._sources import PlannedSet
    from gnomon.study._study import Step

__all__ = ["Held"]


@dataclass
class Held:
    """Finished tasks with their files, and the plan that they are of.

    Attributes:
        path: the folder; of a remote store, the one here that holds what was fetched of it.
        entries: finished tasks by key.
        remote: the place elsewhere, if it is elsewhere.
    """

    path: Path
    entries: dict[str, Entry] = field(default_factory=dict)
    remote: Mirror | None = None
    _plan: dict[str, Any] = field(default_factory=dict, repr=False)  # what JSON holds

    def planned(self) -> list[str]:
        """Keys of the tasks of the last plan."""
        return list(self._plan.get("tasks", []))

    @property
    def name(self) -> str:
        """What the study was called that ran last; the folder's name where that is not known."""
        return str(self._plan.get("name") or self.path.stem)

    def sets(self) -> tuple[PlannedSet, ...]:
        """The test sets of the last plan: where they are and what they held; they can be read."""
        from gnomon.study._sources import PlannedSet, Sketch
        from gnomon.study._study import SetSource

        return tuple(
            PlannedSet(SetSource.of_record(one["source"]), Sketch.of_record(one["sketch"]))
            for one in self._plan.get("testsets", [])
        )

    def steps(self) -> tuple[Step, ...]:
        """The methods of the last plan with their metrics and options."""
        from gnomon.study._study import Step

        return tuple(
            Step(
                one["method"],
                tuple(one["metrics"]),
                one["options"],
                together=bool(one.get("together")),
                testsets=tuple(one.get("testsets", ())),
            )
            for one in self._plan.get("steps", [])
        )

    def sketches(self) -> Sketches:
        """What the store remembers of files of test sets."""
        from gnomon.study._sketches import Sketches

        return Sketches.read(self.path / SKETCHES)

    def files(self) -> dict[str, list[Path]]:
        """The Parquet files of finished tasks of the last plan, by table."""
        found: dict[str, list[Path]] = {}
        for key in self.planned():  # tasks end in another order each time
            for name in self.entries[key].rows if key in self.entries else ():
                found.setdefault(name, []).append(self.file(name, key))
        return dict(sorted(found.items()))

    def schema(self, table: str) -> TableSchema:
        """What the methods declared of a table: title, note, columns and views.

        Tasks of other test sets, metrics or options may have other columns: all are there, and what
        is said of each is what the first task in the order of the plan says.

        Raises:
            UnknownNameError: no finished task gave the store such a table.
            DataError: a file of the store is missing or damaged.
        """
        from gnomon.study._parquet import schema_in
        from gnomon.study._schema import united

        files = self.files()
        if table not in files:
            raise UnknownNameError("table", table, files)
        firsts: dict[str, Path] = {}  # most tasks say the same
        for file in files[table]:
            firsts.setdefault(self.entries[file.stem].schemas[table], file)
        self.fetch([*firsts.values()])
        return united([*map(schema_in, firsts.values())])

    def query(self, sql: str) -> Answer:
        """Ask with SQL; the tables of the store are views, and files outside cannot be reached.

        Raises:
            MissingDependencyError: duckdb is not installed.
            UsageError: the SQL is wrong; DuckDB's message is shown.
        """
        from gnomon.study._query import ask

        return ask(self, sql)

    def tables(self) -> Answer:
        """What tables there are, with their columns and numbers of rows.

        Raises:
            MissingDependencyError: duckdb is not installed.
        """
        from gnomon.study._query import overview

        return overview(self)

    def describe(self) -> Answer:
        """What tables and views there are: every column, its type and what it means.

        Raises:
            MissingDependencyError: duckdb is not installed.
        """
        from gnomon.study._query import described

        return described(self)

    def export(
        self,
        to: str | PathLike[str],
        *,
        kind: Kind = "duckdb",
        tables: Sequence[str] | None = None,
        keep_formulas: bool = False,
    ) -> dict[str, int]:
        """Write tables for other tools; see :func:`gnomon.study._export.export`."""
        from gnomon.study._export import export

        return export(self, to, kind=kind, tables=tables, keep_formulas=keep_formulas)

    def frame(self, table: str) -> Any:  # polars is optional
        """A table as a polars data frame.

        Raises:
            MissingDependencyError: duckdb or polars is not installed.
            UsageError: there is no such table.
        """
        from gnomon.study._query import names

        known = names(self)
        if table not in known:
            raise UsageError(f"there is no table {table!r}; there are {', '.join(known)}")
        return self.query(f'select * from "{table}"').to_frame()  # noqa: S608  # a known name

    def fetch(self, files: Sequence[Path]) -> None:
        """Make sure that files of finished tasks are here, and what the tasks gave.

        Raises:
            DataError: a file is missing or damaged.
        """
        if self.remote is not None:
            for file in files:
                if not self.is_intact(file):  # what was brought here can be brought again
                    file.unlink(missing_ok=True)
            self.remote.fetch(files)
        for file in files:
            if not self.is_intact(file):
                raise self.damage_of(file)

    def is_intact(self, file: Path) -> bool:
        """Whether a file of a finished task is here, and what the task gave."""
        return is_intact(file, self.entries[file.stem].checksums[file.parent.name])

    def damage_of(self, file: Path) -> DataError:
        """What to say of a file that is not what it should be."""
        return DataError(
            f"{self.place(file)} is missing or damaged; {self.remedy}: it is computed anew"
        )

    @property
    def remedy(self) -> str:
        """What to do about damage."""
        again = "run the study again"
        return f"{again} where it was run, and copy its store anew" if self.remote else again

    def lost(self, keys: Iterable[str]) -> dict[str, Path]:
        """Those of some tasks that were finished, and whose files are missing or damaged.

        Returns:
            By key of the task, the first such file.
        """
        found: dict[str, Path] = {}
        for key in keys:
            for name in self.entries[key].rows if key in self.entries else ():
                file = self.file(name, key)
                if not self.is_intact(file):
                    found.setdefault(key, file)
        return found

    def place(self, file: Path) -> str:
        """Where a file of the store is, for messages: of a remote store, elsewhere."""
        return self.remote.there(file) if self.remote else str(file)

    def file(self, table: str, key: str) -> Path:
        """The Parquet file of a task's rows of a table."""
        return self.path / TABLES / table / f"{key}.parquet"
