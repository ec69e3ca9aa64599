"""What a study computed: a Parquet file per task and table, and a manifest that says what counts.

A task is finished when its line is in the manifest, which is written after its files are on disk.
Readers see finished tasks of the last plan, each once, at any time.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon.errors import DataError, UsageError
from gnomon.study._bundles import bundle, bundle_of, bundled, drop_bundles
from gnomon.study._folder import (
    ABOUT,
    MANIFEST,
    PLAN,
    SKETCHES,
    TABLES,
    check_layout,
    checksum,
    json_of,
    make_store,
    replace_text,
    sealed,
)
from gnomon.study._held import Held
from gnomon.study._lock import locked
from gnomon.study._manifest import (
    Entry,
    append_line,
    cut_torn_line,
    entries_of,
    entry_for,
    text_of,
)
from gnomon.study._remote import READ_ONLY, is_remote, mirror

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from os import PathLike

    from gnomon.study._schema import TaskTable
    from gnomon.study._sketches import Sketches
    from gnomon.study._tasks import Done, Task

__all__ = ["Entry", "Store"]


@dataclass
class Store(Held):
    """A folder of results.

    Attributes:
        path: the folder; of a remote store, the one here that holds what was fetched of it.
        entries: finished tasks by key.
        remote: the place elsewhere, if it is elsewhere.
        damaged: lines of the manifest say nothing.
    """

    damaged: bool = False
    _adds: bool = field(default=False, repr=False)
    #: whether the folder is still the one that was locked, while it is
    _check: Callable[[], None] | None = field(default=None, repr=False)

    @classmethod
    def open(cls, path: str | PathLike[str], *, create: bool = False) -> Store:
        """Open a store for reading (and adding).

        Args:
            path: the folder, or a place that fsspec can reach (``s3://bucket/wmt.store``).
            create: make it if it is not there. What is damaged counts as not there, and is made
                anew. Places elsewhere are only read.

        Raises:
            DataError: there is no store, it is of another layout, or it is damaged.
            MissingDependencyError: the place is remote, and what it takes is not installed.
            OutputError: it cannot be made.
            UsageError: it is elsewhere, and is to be made.
        """
        remote = mirror(str(path)) if is_remote(path) else None
        folder = remote.folder if remote else Path(path)
        if remote:
            if create:
                raise UsageError(f"the store {path} {READ_ONLY} there")
            remote.get()
        if not (folder / ABOUT).is_file():
            if not create:
                raise DataError(f"there is no store in {path}; make one: gnomon run STUDY.toml")
            make_store(folder)
        found = cls(folder, remote=remote, _adds=create)
        found.refresh()
        return found

    @staticmethod
    def is_at(path: str | PathLike[str]) -> bool:
        """Whether there is a store in a folder."""
        return (Path(path) / ABOUT).is_file()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Be the one process that writes, and know all that others wrote before.

        What holds the lock may ask for it again.

        Raises:
            DataError: another process writes.
            OutputError: the folder cannot be written, or was deleted meanwhile.
            UsageError: the store is elsewhere.
        """
        if self.remote is not None:
            raise UsageError(f"the store {self.remote.url} {READ_ONLY} there")
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
        if self.remote is not None:
            self.remote.get()
        check_layout(self.path)
        self._plan = self._last_plan()
        found = entries_of(self.path / MANIFEST)
        self.entries = {entry.key: entry for entry in found if entry}
        self.damaged = None in found
        if self.damaged and not self._adds:
            place = f"{self.place(self.path / MANIFEST)}:{found.index(None) + 1}"
            raise DataError(
                f"{place} is damaged; {self.remedy}: what the line told of is done again"
            )

    def _last_plan(self) -> dict[str, Any]:  # what JSON holds
        try:
            return json_of(self.path / PLAN)
        except DataError:
            if self._adds:
                return {}
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

    def add(self, task: Task, done: Done) -> Entry:
        """Keep what a task gave; on disk when this returns.

        Raises:
            OutputError: the disk is full, or the folder cannot be written or was deleted.
        """
        from gnomon.formats import explain_failure

        if task.key in self.entries:
            return self.entries[task.key]
        self._still_there()
        with explain_failure(self.path):
            checksums = {table.name: self._write(table, task.key) for table in done.tables}
            entry = entry_for(task, done, checksums)
            append_line(self.path / MANIFEST, entry)
        self.entries[entry.key] = entry
        return entry

    def has_plan(self, record: Mapping[str, object]) -> bool:
        """Whether the study consisted of the same when it last ran."""
        return bool(json.loads(json.dumps(record)) == self._plan)

    def keep_plan(self, record: Mapping[str, object]) -> None:
        """Say what the study consists of now; views show its tasks alone.

        Args:
            record: ``name``, ``tasks`` (keys), ``testsets`` (sources and sketches).
        """
        if not self.has_plan(record):
            self._replace(PLAN, record)
            self._plan = json.loads(json.dumps(record))

    def keep_sketches(self, sketches: Sketches) -> None:
        """Remember files of test sets."""
        if sketches.fresh:
            self._replace(SKETCHES, sketches.merged())

    def forget(self, testset: str) -> int:
        """Take away all that came from a test set; returns how many tasks that were.

        The plan has it no more, until the study runs again.

        Raises:
            DataError: nothing came from a test set of that name.
        """
        with self.locked():
            gone = {key for key, entry in self.entries.items() if entry.testset == testset}
            planned = {one["sketch"]["name"]: one for one in self._plan.get("testsets", [])}
            if not gone and testset not in planned:
                names = sorted({entry.testset for entry in self.entries.values()} | set(planned))
                raise DataError(
                    f"nothing came from {testset!r}; there are {', '.join(names) or 'none'}"
                )
            self._keep(set(self.entries) - gone)
            self._unplan(gone | set(planned.pop(testset, {}).get("tasks", ())), planned.values())
            self._replace(SKETCHES, self.sketches().without(testset))
        return len(gone)

    def _unplan(self, tasks: Collection[str], testsets: Iterable[Mapping[str, object]]) -> None:
        """Take tasks out of the plan, and leave it so many test sets."""
        if self._plan:
            left = [key for key in self.planned() if key not in tasks]
            self.keep_plan({**self._plan, "tasks": left, "testsets": list(testsets)})

    def prune(self) -> int:
        """Take away what is not of the last plan; returns how many tasks that were."""
        with self.locked():
            kept = set(self.planned()) & set(self.entries)
            gone = len(self.entries) - len(kept)
            if gone:
                self._keep(kept)
        return gone

    def bundles_are_intact(self) -> bool:
        """Whether all copies of tables are what was written, and of finished tasks."""
        return all(bundle_of(self.path, name, self.entries) for name in bundled(self.path))

    def bundle(self) -> None:
        """Copy tables of many files into one file each; only the one process that writes may."""
        if not self.bundles_are_intact():
            drop_bundles(self.path)
        if find_spec("duckdb") is not None:
            bundle(self)

    def _still_there(self) -> None:
        if self._check is not None:
            self._check()

    def _replace(self, name: str, record: Mapping[str, object]) -> None:
        self._still_there()
        replace_text(self.path / name, sealed(record))

    def _write_manifest(self, entries: Mapping[str, Entry]) -> None:
        replace_text(self.path / MANIFEST, text_of(entries.values()))

    def _keep(self, keys: Collection[str]) -> None:
        # the manifest first: a file that nothing names is only litter
        self._write_manifest({key: one for key, one in self.entries.items() if key in keys})
        drop_bundles(self.path)
        self.repair()

    def _write(self, table: TaskTable, key: str) -> str:
        """Write a file of a task; returns its checksum."""
        from gnomon.formats import atomic_write
        from gnomon.study._parquet import to_parquet

        target = self.file(table.name, key)
        target.parent.mkdir(parents=True, exist_ok=True)
        data = to_parquet(table)
        with atomic_write(target, "wb") as file:
            file.write(data)
        return checksum(data)
