"""The manifest of a store: a line for each finished task, written when its files are on disk."""

from __future__ import annotations

import datetime as dt
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gnomon.errors import DataError
from gnomon.signature import version
from gnomon.study._folder import sealed, unsealed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from gnomon.study._tasks import Done, Task

__all__ = [
    "Entry",
    "append_line",
    "cut_torn_line",
    "entries_of",
    "entry_for",
    "text_of",
]


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
        checksums: of its files, by table.
        schemas: digests of what its method declared of the tables: files of one need not be read.
        notices: what a reader should know.
        signatures: how to make its numbers again.
        seconds: how long it took.
        made_with: versions and hashes of what its numbers depend on beside texts, options and
            gnomon: models, taggers, packages, files.
        gnomon: the version of gnomon.
        finished: when, UTC (ISO 8601).
        options: of the method, as JSON.
    """

    key: str
    method: str
    testset: str
    metrics: tuple[str, ...]
    systems: tuple[str, ...]
    rows: Mapping[str, int]
    checksums: Mapping[str, str]
    schemas: Mapping[str, str]
    notices: tuple[str, ...]
    signatures: Mapping[str, str]
    seconds: float
    made_with: Mapping[str, str]
    gnomon: str
    finished: str
    options: str


def entries_of(manifest: Path) -> list[Entry | None]:
    """What each finished line says; None where it is damaged.

    Raises:
        DataError: the manifest cannot be read.
    """
    try:
        data = manifest.read_bytes()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise DataError(f"{manifest} cannot be read: {error.strerror}") from error
    # what has no line end is not finished
    return [_entry_of(line) for line in data.split(b"\n")[:-1]]


def _entry_of(line: bytes) -> Entry | None:
    try:
        said = unsealed(line)
        lists = {name: tuple(said[name]) for name in ("metrics", "systems", "notices")}
        return Entry(**{**said, **lists})
    except (KeyError, TypeError, ValueError):
        return None


def entry_for(task: Task, done: Done, checksums: Mapping[str, str]) -> Entry:
    """What is to be said of a task that is done, and whose files have these checksums."""
    return Entry(
        key=task.key,
        method=task.method,
        testset=task.testset,
        metrics=task.metrics,
        systems=task.systems,
        rows={one.name: len(next(iter(one.cells.values()), ())) for one in done.tables},
        checksums=checksums,
        schemas={one.name: one.schema.digest for one in done.tables},
        notices=done.notices,
        signatures=dict(done.signatures),
        seconds=done.seconds,
        made_with=dict(task.made_with),
        gnomon=version(),
        options=task.said,
        finished=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
    )


def text_of(entries: Iterable[Entry]) -> str:
    """The lines of some tasks."""
    return "".join(sealed(vars(one)) + "\n" for one in entries)


def cut_torn_line(manifest: Path) -> None:
    """Take away what an interruption left of a line."""
    if manifest.exists():
        data = manifest.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            os.truncate(manifest, len(whole))


def append_line(path: Path, entry: Entry) -> None:
    """Add a finished task; on disk when this returns."""
    new = not path.exists()
    with path.open("ab") as file:
        file.write(text_of([entry]).encode())
        file.flush()
        os.fsync(file.fileno())
    if new:
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
