"""The results of a study: a Parquet file per task and table, and a manifest of those that count.

A task is finished when its line is in the manifest, which is written after its files are on disk.
Readers see finished tasks of the last plan, each once, at any time.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.core.errors import DataError, OutputError, UnknownNameError, WrongTypeError
from gnomon.studies.folder import (
    ABOUT,
    LOCK,
    MANIFEST,
    PLAN,
    SKETCHES,
    TABLES,
    FinishedTask,
    append_line,
    check_kind,
    check_layout,
    checksum,
    cut_torn_line,
    entries_of,
    entry_for,
    is_intact,
    is_store,
    make_store,
    record_in,
    replace_text,
    sealed,
    text_of,
)
from gnomon.studies.sources import PlanRecord, Sketches
from gnomon.studies.tables import bundle, bundle_of, bundled, drop_bundles

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from os import PathLike

    from gnomon.studies.definition import Step
    from gnomon.studies.query import QueryResult
    from gnomon.studies.sources import PlannedSet
    from gnomon.studies.tables import TableFile, TableSchema
    from gnomon.studies.task_runs import Task, TaskResult

__all__ = ["Store", "locked"]


@contextmanager
def locked(folder: Path) -> Iterator[Callable[[], None]]:
    """Hold the folder's lock; it goes with the process, however that ends."""
    try:
        import fcntl
    except ImportError:  # no such locks on this system: one writer is the user's word
        yield lambda: _check(folder, None)
        return
    with ExitStack() as stack:
        try:
            file = stack.enter_context((folder / LOCK).open("ab"))
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise DataError(
                f"another process is running a study into {folder}; wait for it, or name another"
                " store"
            ) from error
        except OSError as error:
            raise OutputError(
                f"the store {folder} cannot be written: {error.strerror}; allow it, or name another"
                " store = '...' in the study (a copy of this one goes on where it ended)"
            ) from error
        status = os.fstat(file.fileno())
        yield lambda: _check(folder, status)


def _check(folder: Path, status: os.stat_result | None) -> None:
    with suppress(OSError):
        same = status is None or os.path.samestat(status, (folder / LOCK).stat())
        if same and (folder / ABOUT).is_file():
            return
    raise OutputError(
        f"the store {folder} was deleted while a study ran into it, so that nothing more is"
        " written; run the study again"
    )


def _check_type(path: object) -> None:
    if not isinstance(path, str | os.PathLike):
        raise WrongTypeError(
            f"Store takes the folder of a store, a str or a Path; got {path!r}, which is of the"
            f" type {type(path).__name__}"
        )


@dataclass
class Store:
    """A folder of results; ``Store(path)`` opens it to read.

    Attributes:
        path: the folder.
        entries: finished tasks by key.
        damaged: lines of the manifest say nothing.
    """

    path: Path
    entries: dict[str, FinishedTask] = field(default_factory=dict)
    damaged: bool = False
    _plan: PlanRecord = field(default_factory=PlanRecord, repr=False)
    _adds: bool = field(default=False, repr=False)
    #: whether the folder is still the one that was locked, while it is
    _check: Callable[[], None] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        _check_type(self.path)
        self.path = Path(self.path)
        if not self.is_at(self.path):
            check_kind(self.path)
            check_kind(self.path / ABOUT)
            if self.path.is_file():
                raise DataError(f"{self.path} is a file; a store is a folder")
            raise DataError(f"there is no store in {self.path}; make one: gnomon run STUDY.toml")
        self.refresh()

    @classmethod
    def open(cls, path: str | PathLike[str], *, create: bool = False) -> Store:
        """Open a store for reading (and adding).

        Args:
            path: the folder.
            create: make it if it is not there. What is damaged counts as not there, and is made
                anew.

        Raises:
            DataError: there is no store, it is of another layout, or it is damaged.
            WrongTypeError: the path is none.
            OutputError: it cannot be made.
        """
        _check_type(path)
        folder = Path(path)
        if create and not cls.is_at(folder):
            make_store(folder)
        return cls(folder, _adds=create)

    @staticmethod
    def is_at(path: str | PathLike[str]) -> bool:
        """True if there is a store in a folder."""
        return is_store(path)

    def planned(self) -> list[str]:
        """Keys of the tasks of the last plan."""
        return list(self._plan.tasks)

    @property
    def name(self) -> str:
        """Name of the study that ran last; the folder's name where that is not known."""
        return self._plan.name or self.path.stem

    def sets(self) -> tuple[PlannedSet, ...]:
        """The test sets of the last plan, which can be read, and what they contained then."""
        return self._plan.testsets

    def steps(self) -> tuple[Step, ...]:
        """The methods of the last plan with their metrics and options."""
        return self._plan.steps

    def sketches(self) -> Sketches:
        """Sketches of files of test sets that the store keeps."""
        return Sketches.read(self.path / SKETCHES)

    def files(self) -> dict[str, list[Path]]:
        """The Parquet files of finished tasks of the last plan, by table."""
        files: dict[str, list[Path]] = {}
        for key in self.planned():  # tasks end in another order each time
            for name in self.entries[key].rows if key in self.entries else ():
                files.setdefault(name, []).append(self.file(name, key))
        return dict(sorted(files.items()))

    def methods(self) -> tuple[str, ...]:
        """The methods of finished tasks of the last plan, in the order of the study."""
        done = {self.entries[key].method for key in self.planned() if key in self.entries}
        return tuple(dict.fromkeys(step.method for step in self.steps() if step.method in done))

    def schema(self, table: str) -> TableSchema:
        """The methods' declaration of a table: title, note, columns and views.

        Tasks of other test sets, metrics or options may have other columns: all are there, and what
        is said of each is what the first task in the order of the plan says.

        Raises:
            UnknownNameError: no finished task gave the store such a table.
            DataError: a file of the store is missing or damaged.
        """
        from gnomon.studies.tables import schema_in, united

        files = self.files()
        if table not in files:
            raise UnknownNameError("table", table, files)
        firsts: dict[str, Path] = {}  # most tasks say the same
        for file in files[table]:
            firsts.setdefault(self.entries[file.stem].schemas[table], file)
        self.check_files([*firsts.values()])
        return united([*map(schema_in, firsts.values())])

    def query(self, sql: str, *, timeout: float | None = 60) -> QueryResult:
        """Ask with SQL; the tables of the store are views, and files outside cannot be reached.

        Args:
            sql: one statement that reads.
            timeout: seconds to wait for rows, the first as any further ones; None: however long.

        Raises:
            MissingDependencyError: duckdb is not installed.
            UsageError: the SQL is wrong (DuckDB's message is shown), or takes too long.
        """
        from gnomon.studies.query import ask

        return ask(self, sql, timeout)

    def tables(self) -> QueryResult:
        """List the tables, with their columns and numbers of rows.

        Raises:
            MissingDependencyError: duckdb is not installed.
        """
        from gnomon.studies.query import overview

        return overview(self)

    def describe(self) -> QueryResult:
        """List the tables and views: every column, its type and its meaning.

        Raises:
            MissingDependencyError: duckdb is not installed.
        """
        from gnomon.studies.query import described

        return described(self)

    def export(
        self, to: str | PathLike[str], *, tables: Sequence[str] | None = None
    ) -> dict[str, int]:
        """Write tables for other tools; see :func:`gnomon.studies._export.export`."""
        from gnomon.studies._export import export

        return export(self, to, tables=tables)

    def check_files(self, files: Sequence[Path]) -> None:
        """Make sure that files of finished tasks are here, and what the tasks gave.

        Raises:
            DataError: a file is missing or damaged.
        """
        for file in files:
            if not self.is_intact(file):
                raise self.damage_of(file)

    def is_intact(self, file: Path) -> bool:
        """True if a file of a finished task is here, and what the task gave."""
        return is_intact(file, self.entries[file.stem].checksums[file.parent.name])

    def damage_of(self, file: Path) -> DataError:
        """The error for a file that is not what it should be."""
        try:
            check_kind(file)
        except DataError as error:
            return error
        return DataError(f"{file} is missing or damaged; run the study again: it is computed anew")

    def lost(self, keys: Iterable[str]) -> dict[str, Path]:
        """Those of some tasks that were finished, and whose files are missing or damaged.

        Returns:
            By key of the task, the first such file.
        """
        files: dict[str, Path] = {}
        for key in keys:
            for name in self.entries[key].rows if key in self.entries else ():
                file = self.file(name, key)
                if not self.is_intact(file):
                    files.setdefault(key, file)
        return files

    def file(self, table: str, key: str) -> Path:
        """The Parquet file of a task's rows of a table."""
        return self.path / TABLES / table / f"{key}.parquet"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Be the one process that writes, and know all that others wrote before.

        What holds the lock may ask for it again.

        Raises:
            DataError: another process writes.
            OutputError: the folder cannot be written, or was deleted meanwhile.
        """
        if self._check is not None:
            yield
            return
        with locked(self.path) as check:
            self.refresh()
            self._check = check
            try:
                yield
                check()
            finally:
                self._check = None

    def refresh(self) -> None:
        """Read the manifest and the plan again: another process may have added to them.

        Raises:
            DataError: they are damaged, and this is not who makes them anew.
        """
        check_layout(self.path)
        self._plan = self._last_plan()
        entries = entries_of(self.path / MANIFEST)
        self.entries = {entry.key: entry for entry in entries if entry}
        self.damaged = None in entries
        if self.damaged and not self._adds:
            line = f"{self.path / MANIFEST}:{entries.index(None) + 1}"
            raise DataError(
                f"{line} is damaged; run the study again: the task of that line is done again"
            )

    def _last_plan(self) -> PlanRecord:
        try:
            return record_in(self.path / PLAN, PlanRecord) or PlanRecord()
        except DataError:
            if self._adds:
                return PlanRecord()
            raise

    def repair(self, lost: Collection[str] = ()) -> None:
        """Take away what an interruption left behind: a torn line, files of no finished task.

        Only the one process that writes may call it.

        Args:
            lost: finished tasks to take away, too.
        """
        cut_torn_line(self.path / MANIFEST)
        self.refresh()
        whole = {key: entry for key, entry in self.entries.items() if key not in lost}
        if len(whole) < len(entries_of(self.path / MANIFEST)):
            self._write_manifest(whole)
            drop_bundles(self.path)  # what is done again may differ
            self.entries = whole
        for file in self.path.glob(f"{TABLES}/*/*"):
            if file.name.startswith(".") or file.stem not in self.entries:
                file.unlink()

    def add(self, task: Task, done: TaskResult) -> FinishedTask:
        """Keep what a task gave; on disk when this returns.

        Raises:
            OutputError: the disk is full, or the folder cannot be written or was deleted.
        """
        from gnomon.data.formats import explain_failure

        if task.key in self.entries:
            return self.entries[task.key]
        self._check_lock()
        with explain_failure(self.path):
            checksums = {table.name: self._write(table, task.key) for table in done.tables}
            entry = entry_for(task, done, checksums)
            append_line(self.path / MANIFEST, entry)
        self.entries[entry.key] = entry
        return entry

    def has_plan(self, record: PlanRecord) -> bool:
        """True if the study consisted of the same when it last ran."""
        return sealed(record) == sealed(self._plan)

    def keep_plan(self, record: PlanRecord) -> None:
        """Say what the study consists of now; views show its tasks alone."""
        if not self.has_plan(record):
            self._replace(PLAN, record)
            self._plan = record

    def keep_sketches(self, sketches: Sketches) -> None:
        """Remember files of test sets."""
        if sketches.fresh:
            self._replace(SKETCHES, sketches.merged())

    def prune(self) -> int:
        """Take away what is not of the last plan; returns how many tasks that were."""
        with self.locked():
            kept = set(self.planned()) & set(self.entries)
            gone = len(self.entries) - len(kept)
            if gone:
                self._keep(kept)
        return gone

    def bundles_are_intact(self) -> bool:
        """True if all copies of tables are what was written, and of finished tasks."""
        return all(bundle_of(self.path, name, self.entries) for name in bundled(self.path))

    def bundle(self) -> None:
        """Copy tables of many files into one file each; only the one process that writes may."""
        if not self.bundles_are_intact():
            drop_bundles(self.path)
        if find_spec("duckdb") is not None:
            bundle(self)

    def _check_lock(self) -> None:
        if self._check is not None:
            self._check()

    def _replace(self, name: str, record: object) -> None:
        self._check_lock()
        replace_text(self.path / name, sealed(record))

    def _write_manifest(self, entries: Mapping[str, FinishedTask]) -> None:
        replace_text(self.path / MANIFEST, text_of(entries.values()))

    def _keep(self, keys: Collection[str]) -> None:
        # the manifest first: a file that nothing names is only litter
        self._write_manifest({key: entry for key, entry in self.entries.items() if key in keys})
        drop_bundles(self.path)
        self.repair()

    def _write(self, table: TableFile, key: str) -> str:
        """Write a file of a task; returns its checksum."""
        from gnomon.data.formats import atomic_write

        target = self.file(table.name, key)
        target.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(target, "wb") as file:
            file.write(table.data)
        return checksum(table.data)
