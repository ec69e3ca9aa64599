"""The manifest of a store: a line for each finished task, written when its files are on disk."""

from __future__ import annotations

import datetime as dt
import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from gnomon.errors import DataError
from gnomon.signature import version

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from gnomon.study._tasks import Done, Task

__all__ = [
    "Entry",
    "Line",
    "append_line",
    "cut_torn_line",
    "entry_for",
    "entry_of",
    "lines_of",
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


class Line(NamedTuple):
    """A finished line of the manifest.

    Attributes:
        number: from 1.
        said: what it says; nothing where it is damaged.
    """

    number: int
    said: dict[str, Any]  # what JSON holds


def lines_of(manifest: Path) -> list[Line]:
    """The finished lines.

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
    return [Line(number, _object(line)) for number, line in enumerate(data.split(b"\n")[:-1], 1)]


def _object(line: bytes) -> dict[str, Any]:  # what JSON holds
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def entry_for(task: Task, done: Done) -> Entry:
    """What is to be said of a task that is done."""
    return Entry(
        key=task.key,
        method=task.method,
        testset=task.testset,
        metrics=task.metrics,
        systems=task.systems,
        rows={one.name: len(next(iter(one.cells.values()), ())) for one in done.tables},
        notices=done.notices,
        signatures=dict(done.signatures),
        seconds=done.seconds,
        made_with=dict(task.made_with),
        gnomon=version(),
        options=task.said,
        finished=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
    )


def entry_of(given: Mapping[str, Any]) -> Entry | None:  # what JSON holds
    """A finished task from its line; None where the line is damaged."""
    try:
        lists = {name: tuple(given[name]) for name in ("metrics", "systems", "notices")}
        return Entry(**{**given, **lists, "rows": dict(given["rows"])})
    except (KeyError, TypeError, ValueError):
        return None


def text_of(entries: Iterable[Entry]) -> str:
    """The lines of some tasks."""
    return "".join(json.dumps(vars(one), ensure_ascii=False) + "\n" for one in entries)


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
