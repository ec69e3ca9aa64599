"""What a study computed: a Parquet file per task and table, and a manifest that says what counts.

A task is finished when its line is in the manifest, which is written after its files are on disk.
Readers see finished tasks of the last plan, each once, at any time.
"""

from __future__ import annotations

import datetime as dt
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon.errors import DataError, OutputError, UsageError
from gnomon.signature import version as gnomon_version
from gnomon.study._migrate import SCHEMA, check_layout, migrated

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from os import PathLike

    from gnomon.study._config import Step
    from gnomon.study._export import Kind
    from gnomon.study._query import Answer
    from gnomon.study._sketches import Sketches
    from gnomon.study._sources import PlannedSet
    from gnomon.study._tasks import Done, Task, TaskTable

__all__ = ["Entry", "Store"]

_MANIFEST, _PLAN, _TABLES, _ABOUT = "manifest.jsonl", "plan.json", "tables", "store.json"
_SKETCHES = "sketches.json"


@dataclass(frozen=True)
class Entry:
    """A line of the manifest: a finished task.

    Attributes:
        key: of the task.
        method: its method.
        testset: its test set.
        metrics: its metrics.
        systems: its systems.
        rows: how many rows it gave, by table.
        notices: what a reader should know.
        signatures: how to make its numbers again.
        seconds: how long it took.
        made_with: versions and hashes of what its numbers depend on beside texts, options and
            gnomon: models, taggers, packages, files.
        gnomon: the version of gnomon; "" in entries of older stores.
        finished: when, UTC (ISO 8601); "" in entries of older stores.
        options: of the method, as JSON; "" in entries of older stores.
    """

    key: str
    method: str
    testset: str
    metrics: tuple[str, ...]
    systems: tuple[str, ...]
    rows: Mapping[str, int]
    notices: tuple[str, ...]
    signatures: Mapping[str, str]
    seconds: float
    made_with: Mapping[str, str] = field(default_factory=dict)
    gnomon: str = ""
    finished: str = ""
    options: str = ""


@dataclass
class Store:
    """A folder of results.

    Attributes:
        path: the folder.
        entries: finished tasks by key.
    """

    path: Path
    entries: dict[str, Entry] = field(default_factory=dict)
    _plan: dict[str, Any] = field(default_factory=dict, repr=False)  # what JSON holds

    @classmethod
    def open(cls, path: str | PathLike[str], *, create: bool = False) -> Store:
        """Open a store for reading (and adding).

        Args:
            path: the folder.
            create: make it if it is not there.

        Raises:
            DataError: there is no store, or it is of a later version of gnomon.
            OutputError: it cannot be made.
        """
        folder = Path(path)
        about = folder / _ABOUT
        if not about.is_file():
            if not create:
                raise DataError(f"there is no store in {folder}; make one: gnomon run STUDY.toml")
            _make(folder)
        check_layout(_number(about), folder)
        found = cls(folder)
        found.refresh()
        return found

    def refresh(self) -> None:
        """Read the manifest and the plan again: another process may have added to them."""
        version = check_layout(_number(self.path / _ABOUT), self.path)
        lines = list(_lines(self.path / _MANIFEST))
        self._plan = _json(self.path / _PLAN)
        migrated(version, lines, self._plan)
        self.entries = {entry.key: entry for entry in map(_entry, lines)}

    def repair(self) -> None:
        """Take away what an interruption left behind: a torn line, files of no finished task.

        A store of an older layout is brought up to date. Only the one process that writes may call
        it.
        """
        self._update()
        manifest = self.path / _MANIFEST
        if manifest.exists():
            data = manifest.read_bytes()
            whole = data[: data.rfind(b"\n") + 1]
            if len(whole) < len(data):
                os.truncate(manifest, len(whole))
        self.refresh()
        for file in self.path.glob(f"{_TABLES}/*/*"):
            if file.name.startswith(".") or file.stem not in self.entries:
                file.unlink()

    def add(self, task: Task, done: Done) -> Entry:
        """Keep what a task gave; on disk when this returns.

        Raises:
            OutputError: the disk is full, or the folder cannot be written.
        """
        if task.key in self.entries:
            return self.entries[task.key]
        entry = Entry(
            key=task.key,
            method=task.method,
            testset=task.testset,
            metrics=task.metrics,
            systems=task.systems,
            rows={table.name: _length(table) for table in done.tables},
            notices=done.notices,
            signatures=dict(done.signatures),
            seconds=done.seconds,
            made_with=dict(task.made_with),
            gnomon=gnomon_version(),
            options=task.said,
            finished=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        )
        try:
            for table in done.tables:
                self._write(table, task.key)
            _append(self.path / _MANIFEST, _line(entry))
        except OSError as error:
            raise OutputError(
                f"the store {self.path} cannot be written: {error.strerror}"
            ) from error
        self.entries[entry.key] = entry
        return entry

    def keep_plan(self, record: Mapping[str, object]) -> None:
        """Say what the study consists of now; views show its tasks alone.

        Args:
            record: ``name``, ``tasks`` (keys), ``testsets`` (sources and sketches).
        """
        plan = json.loads(json.dumps(record))
        if plan != self._plan:
            self._replace(_PLAN, record)
            self._plan = plan

    def planned(self) -> list[str]:
        """Keys of the tasks of the last plan."""
        return list(self._plan.get("tasks", []))

    @property
    def name(self) -> str:
        """What the study was called that ran last; the folder's name where that is not known."""
        return str(self._plan.get("name") or self.path.stem)

    def sets(self) -> tuple[PlannedSet, ...]:
        """The test sets of the last plan: where they are and what they held; they can be read."""
        from gnomon.study._config import SetSource
        from gnomon.study._sources import PlannedSet, Sketch

        return tuple(
            PlannedSet(SetSource.of_record(one["source"]), Sketch.of_record(one["sketch"]))
            for one in self._plan.get("testsets", [])
        )

    def steps(self) -> tuple[Step, ...]:
        """The methods of the last plan with their metrics and options; none in older stores."""
        from gnomon.study._config import Step

        return tuple(
            Step(one["method"], tuple(one["metrics"]), one["options"])
            for one in self._plan.get("steps", [])
        )

    def sketches(self) -> Sketches:
        """What the store remembers of files of test sets."""
        from gnomon.study._sketches import Sketches

        return Sketches.read(self.path / _SKETCHES)

    def keep_sketches(self, sketches: Sketches) -> None:
        """Remember files of test sets."""
        if sketches.fresh:
            self._replace(_SKETCHES, sketches.merged())

    def forget(self, testset: str) -> int:
        """Take away all that came from a test set; returns how many tasks that were.

        Raises:
            DataError: nothing came from a test set of that name.
        """
        gone = {key for key, entry in self.entries.items() if entry.testset == testset}
        if not gone:
            names = sorted({entry.testset for entry in self.entries.values()})
            raise DataError(
                f"nothing came from {testset!r}; there are {', '.join(names) or 'none'}"
            )
        self._keep(set(self.entries) - gone)
        return len(gone)

    def prune(self) -> int:
        """Take away what is not of the last plan; returns how many tasks that were."""
        kept = set(self.planned()) & set(self.entries)
        gone = len(self.entries) - len(kept)
        if gone:
            self._keep(kept)
        return gone

    def files(self) -> dict[str, list[Path]]:
        """The Parquet files of finished tasks of the last plan, by table."""
        planned = set(self.planned())
        found: dict[str, list[Path]] = {}
        for key, entry in self.entries.items():
            if key in planned:
                for name in entry.rows:
                    found.setdefault(name, []).append(self.file(name, key))
        return dict(sorted(found.items()))

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

    def _update(self) -> None:
        """Write an older layout anew; the number comes last, so that this may be cut off."""
        from gnomon.formats import atomic_write

        if _number(self.path / _ABOUT) == SCHEMA:
            return
        self.refresh()
        with atomic_write(self.path / _MANIFEST) as file:
            file.writelines(_line(entry) + "\n" for entry in self.entries.values())
        self._replace(_PLAN, self._plan)
        self._replace(_ABOUT, {"gnomon-store": SCHEMA})

    def _replace(self, name: str, record: object) -> None:
        from gnomon.formats import atomic_write

        with atomic_write(self.path / name) as file:
            json.dump(record, file, ensure_ascii=False)

    def _keep(self, keys: Collection[str]) -> None:
        from gnomon.formats import atomic_write

        # the manifest first: a file that nothing names is only litter
        kept = [entry for key, entry in self.entries.items() if key in keys]
        with atomic_write(self.path / _MANIFEST) as file:
            file.writelines(_line(one) + "\n" for one in kept)
        self.repair()

    def file(self, table: str, key: str) -> Path:
        """The Parquet file of a task's rows of a table."""
        return self.path / _TABLES / table / f"{key}.parquet"

    def _write(self, table: TaskTable, key: str) -> None:
        from gnomon.formats import atomic_write
        from gnomon.study._parquet import to_parquet

        target = self.file(table.name, key)
        target.parent.mkdir(exist_ok=True)
        with atomic_write(target, "wb") as file:
            file.write(to_parquet(table))


def _make(folder: Path) -> None:
    from gnomon.formats import atomic_write

    if folder.exists() and any(folder.iterdir()):
        raise OutputError(f"{folder} holds something else; name a new or an empty folder as store")
    try:
        (folder / _TABLES).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"the store {folder} cannot be made: {error.strerror}") from error
    with atomic_write(folder / _ABOUT) as file:
        json.dump({"gnomon-store": SCHEMA}, file)


def _number(about: Path) -> object:
    try:
        return json.loads(about.read_text(encoding="utf-8"))["gnomon-store"]
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{about} is damaged: it does not say the version of the store") from error


def _lines(manifest: Path) -> list[dict[str, Any]]:  # what JSON holds
    if not manifest.exists():
        return []
    # what has no line end is not finished
    return [json.loads(line) for line in manifest.read_bytes().split(b"\n")[:-1]]


def _json(file: Path) -> dict[str, Any]:  # what JSON holds
    return dict(json.loads(file.read_text(encoding="utf-8"))) if file.exists() else {}


def _entry(given: dict[str, Any]) -> Entry:  # what JSON holds
    for name in ("metrics", "systems", "notices"):
        given[name] = tuple(given[name])
    return Entry(**given)


def _line(entry: Entry) -> str:
    return json.dumps(vars(entry), ensure_ascii=False)


def _append(path: Path, line: str) -> None:
    new = not path.exists()
    with path.open("ab") as file:
        file.write(line.encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
    if new:
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _length(table: TaskTable) -> int:
    return len(next(iter(table.cells.values()), ()))
