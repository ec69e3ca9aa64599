"""Folder of a store: its marker, small files that appear whole, and checksums."""

from __future__ import annotations

import datetime as dt
import json
import os
import re
import zlib
from collections.abc import Mapping  # noqa: TC003  # records are read from JSON by their types
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, TypeVar

import msgspec

from gnomon.core.errors import DataError, OutputError
from gnomon.core.signature import version
from gnomon.messages import Message  # noqa: TC001  # likewise

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

    from gnomon.studies.task_runs import Task, TaskResult

__all__ = [
    "FinishedTask",
    "append_line",
    "check_kind",
    "check_layout",
    "checksum",
    "checksum_of",
    "cut_torn_line",
    "entries_of",
    "entry_for",
    "is_intact",
    "is_store",
    "make_store",
    "record_in",
    "replace_text",
    "sealed",
    "text_of",
]


T = TypeVar("T")

MANIFEST, PLAN, TABLES, ABOUT = "manifest.jsonl", "plan.json", "tables", "store.json"
SKETCHES, BUNDLES, LOCK = "sketches.json", "bundles", "lock"

#: version of the layout
_LAYOUT = 4
#: what is left where a store was made or deleted in part, and no file of others
_REMAINS = re.compile(
    rf"({MANIFEST}|{PLAN}|{SKETCHES}|{LOCK}|{TABLES}|{BUNDLES}|(.+/)?\.[0-9a-f]{{16}}\.tmp"
    rf"|{TABLES}/[^/]+(/[0-9a-f]{{32}}\.parquet)?|{BUNDLES}/[^/]+\.(json|parquet))"
)
#: bytes that are read at a time
_PIECE = 1 << 20
_SEAL = len('{"checksum": "00000000"')
#: files that were read and found whole, with the state that they had then
_intact: dict[Path, tuple[object, ...]] = {}


def is_store(folder: str | PathLike[str]) -> bool:
    """True if there is a store in a folder."""
    return Path(folder, ABOUT).is_file()


def make_store(folder: Path) -> None:
    """Make an empty store, or one of what is left of a store."""
    from gnomon.data.formats import atomic_write

    try:
        paths = (path.relative_to(folder).as_posix() for path in folder.rglob("*"))
        taken = not all(map(_REMAINS.fullmatch, paths))
        if not taken:
            (folder / TABLES).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        said = "a file is there" if isinstance(error, NotADirectoryError) else error.strerror
        raise OutputError(
            f"the store {folder} cannot be made: {said}; name another folder: store = '...' in"
            " the study"
        ) from error
    if taken:
        raise OutputError(f"{folder} holds something else; name a new or an empty folder as store")
    with atomic_write(folder / ABOUT) as file:
        json.dump({"gnomon-store": _LAYOUT}, file)


def check_layout(folder: Path) -> None:
    """Check that a store is one that this gnomon knows."""
    about = folder / ABOUT
    for path in folder.iterdir():
        if not path.name.startswith("."):
            check_kind(path)
    try:
        layout = json.loads(about.read_text(encoding="utf-8"))["gnomon-store"]
    except OSError as error:
        raise DataError(f"{about} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(
            f"{about} is damaged: it does not say the version of the store; run the study into a"
            " new store"
        ) from error
    if layout != _LAYOUT:
        raise DataError(
            f"the store {folder} has layout {layout!r}, and this gnomon reads layout {_LAYOUT}; run"
            " the study into a new store, or use the gnomon that made this one"
        )


def check_kind(file: Path) -> None:
    """Refuse what would never end to be read."""
    if file.exists() and not (file.is_file() or file.is_dir()):
        raise DataError(
            f"{file} is a pipe, a socket or a device; a store holds files and folders alone: delete"
            " it, and run the study again"
        )


def checksum(data: bytes) -> str:
    """The CRC-32 of some bytes, 8 hexadecimal digits.

    It is there for accidents, not for enemies, who could write the manifest anew as well. Nothing
    in the standard library is faster; it never misses a flipped bit or a damaged run of up to 32
    bits, and of other damage it misses one in four thousand million.
    """
    return f"{zlib.crc32(data):08x}"


def is_intact(file: Path, expected: str) -> bool:
    """True if a file is there and has this checksum; one that had is read again if it changed."""
    try:
        stat = file.stat()
        if not S_ISREG(stat.st_mode):
            return False
        state = expected, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino
        if _intact.get(file) != state:
            if checksum_of(file) != expected:
                return False
            _intact[file] = state
    except OSError:
        return False
    return True


def checksum_of(file: Path) -> str:
    """The checksum of a file."""
    checksum = 0
    with file.open("rb", buffering=0) as opened:
        while piece := opened.read(_PIECE):
            checksum = zlib.crc32(piece, checksum)
    return f"{checksum:08x}"


def sealed(record: object) -> str:
    """A record as JSON on one line, which begins with a checksum of the rest."""
    rest = msgspec.json.encode(record)[1:]
    if rest != b"}":
        rest = b", " + rest
    return f'{{"checksum": "{checksum(rest)}"{rest.decode()}'


def unsealed(data: bytes, kind: type[T]) -> T:
    """The record that :func:`sealed` wrote."""
    rest = data[_SEAL:].rstrip(b"\n")
    if data[:_SEAL] != f'{{"checksum": "{checksum(rest)}"'.encode():
        raise ValueError("the checksum is another one")
    try:
        return msgspec.json.decode(b"{" + rest.removeprefix(b", "), type=kind)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(str(error)) from error


def record_in(file: Path, kind: type[T]) -> T | None:
    """The record that a file holds; None where there is no file."""
    check_kind(file)
    try:
        return unsealed(file.read_bytes(), kind)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise DataError(f"{file} is damaged; run the study again, which writes it anew") from error


def replace_text(file: Path, text: str) -> None:
    """Write a file that appears whole or not at all."""
    from gnomon.data.formats import atomic_write

    with atomic_write(file) as stream:
        stream.write(text)


# The manifest of a store: a line for each finished task, written when its files are on disk.


@dataclass(frozen=True)
class FinishedTask:
    """A line of the manifest: a finished task."""

    key: str
    method: str
    testset: str
    metrics: tuple[str, ...]
    systems: tuple[str, ...]
    rows: Mapping[str, int]
    checksums: Mapping[str, str]
    schemas: Mapping[str, str]
    notices: tuple[Message, ...]
    signatures: Mapping[str, str]
    seconds: float
    made_with: Mapping[str, str]
    gnomon: str
    finished: str
    options: str
    verdict: tuple[Message, ...] = ()


def entries_of(manifest: Path) -> list[FinishedTask | None]:
    """Entries of the finished lines; None where one is damaged."""
    try:
        data = manifest.read_bytes()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise DataError(f"{manifest} cannot be read: {error.strerror}") from error
    # what has no line end is not finished
    return [_entry_of(line) for line in data.split(b"\n")[:-1]]


def _entry_of(line: bytes) -> FinishedTask | None:
    try:
        return unsealed(line, FinishedTask)
    except ValueError:
        return None


def entry_for(task: Task, done: TaskResult, checksums: Mapping[str, str]) -> FinishedTask:
    """Entry of a task that is done, and whose files have these checksums."""
    return FinishedTask(
        key=task.key,
        method=task.method,
        testset=task.testset,
        metrics=task.metrics,
        systems=task.systems,
        rows={made_table.name: made_table.rows for made_table in done.tables},
        checksums=checksums,
        schemas={made_table.name: made_table.digest for made_table in done.tables},
        notices=done.notices,
        signatures=dict(done.signatures),
        seconds=done.seconds,
        made_with=dict(task.made_with),
        gnomon=version(),
        options=task.said,
        verdict=done.verdict,
        finished=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
    )


def text_of(entries: Iterable[FinishedTask]) -> str:
    """The lines of some tasks."""
    return "".join(sealed(entry) + "\n" for entry in entries)


def cut_torn_line(manifest: Path) -> None:
    """Take away what an interruption left of a line."""
    if manifest.exists():
        data = manifest.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            os.truncate(manifest, len(whole))


def append_line(path: Path, entry: FinishedTask) -> None:
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
