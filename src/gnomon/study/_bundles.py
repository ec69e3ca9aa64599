"""Copies of many small files in one, so that a query need not open a file for each task.

What counts is the manifest and the files of tasks. A bundle is a copy that may be taken away at any
time: it is looked at only while all tasks that it holds are finished ones, and each of its rows
says of which task it is.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

from gnomon.errors import DataError
from gnomon.signature import content_hash
from gnomon.study._folder import BUNDLES, checksum_of, is_intact, json_of, replace_text, sealed

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from gnomon.study._held import Held

__all__ = ["Bundle", "Source", "bundle", "bundle_of", "bundled", "drop_bundles", "source_of"]

_log = logging.getLogger(__name__)

#: fewer files than this are opened one by one
_MANY = 200


class Bundle(NamedTuple):
    """A file of the rows of many tasks.

    Attributes:
        file: Parquet; its column ``task`` has the key of each row's task.
        tasks: keys of those that it holds.
    """

    file: Path
    tasks: frozenset[str]


def bundle_of(store: Path, table: str, finished: Collection[str]) -> Bundle | None:
    """The bundle of a table; None where it is missing or damaged, or holds what is not there."""
    try:
        said = json_of(_list_of(store, table))
        found = Bundle(store / BUNDLES / said["file"], frozenset(said["tasks"]))
        whole = is_intact(found.file, said["made"])
    except (DataError, KeyError):
        return None
    if not whole:
        _log.warning(
            "%s is damaged and not read: what it copies is read from the files of tasks; the next"
            " run of the study makes it anew",
            found.file,
        )
    return found if whole and found.tasks.issubset(finished) else None


def bundled(store: Path) -> list[str]:
    """The tables that have a bundle, whether it is right or not."""
    return [file.stem for file in (store / BUNDLES).glob("*.json")]


def bundle(store: Held) -> None:
    """Copy the files of tables that have many outside of their bundle; only the writer may."""
    for table, parts in store.files().items():
        known = bundle_of(store.path, table, store.entries)
        loose = [one for one in parts if known is None or one.stem not in known.tasks]
        if len(loose) >= max(_MANY, len(known.tasks) // 4 if known else 0):
            _try(store, table, parts, known)


def drop_bundles(store: Path) -> None:
    """Take all of them away; the lists first."""
    for file in sorted((store / BUNDLES).glob("*"), key=lambda file: file.suffix != ".json"):
        file.unlink(missing_ok=True)


class Source(NamedTuple):
    """Where the rows of a table are.

    Attributes:
        sql: that gives them, with their ``task``.
        files: that it reads.
    """

    sql: str
    files: Sequence[Path]


def source_of(files: Sequence[Path], known: Bundle | None, planned: Collection[str]) -> Source:
    """Where the rows of a table are.

    Args:
        files: of tasks of the last plan.
        known: a bundle of them, and maybe of others.
        planned: keys of the tasks of the last plan.
    """
    if known is None or known.tasks.isdisjoint(planned):
        return Source(_of_files(files), files)
    loose = [one for one in files if one.stem not in known.tasks]
    others = sorted(known.tasks.difference(planned))
    where = f" where task not in ({', '.join(map(_text, others))})" if others else ""
    bundled = f"select * from read_parquet({_quoted(known.file)}){where}"  # noqa: S608  # quoted
    if not loose:
        return Source(bundled, [known.file])
    return Source(f"{bundled} union all by name {_of_files(loose)}", [known.file, *loose])


def _try(store: Held, table: str, parts: Sequence[Path], known: Bundle | None) -> None:
    import duckdb

    try:
        store.fetch(parts)  # what is damaged must not get a checksum that fits it
        _write(store.path, table, parts, known)
    except (DataError, OSError, duckdb.Error) as error:  # a full disk: nothing is lost
        _log.warning("%s is not copied into one file, so queries take longer: %s", table, error)


def _write(store: Path, table: str, parts: Sequence[Path], known: Bundle | None) -> None:
    import duckdb

    keys = [one.stem for one in parts]
    folder = store / BUNDLES
    folder.mkdir(exist_ok=True)
    target = folder / f"{table}-{content_hash(*keys)}.parquet"
    scratch = target.with_name(f".{target.name}")
    try:
        with duckdb.connect(":memory:") as connection:
            connection.execute("set preserve_insertion_order = true")
            connection.execute("set enable_progress_bar = false")  # it goes to standard output
            how = "(format parquet, compression zstd)"
            connection.execute(f"copy ({_of_files(parts)}) to {_quoted(scratch)} {how}")
        made = checksum_of(scratch)
        scratch.replace(target)
    finally:
        scratch.unlink(missing_ok=True)
    replace_text(_list_of(store, table), sealed({"file": target.name, "made": made, "tasks": keys}))
    for old in folder.glob(f"{table}-*.parquet"):
        if old != target and (known is None or old != known.file):  # somebody may read the last one
            old.unlink()


def _list_of(store: Path, table: str) -> Path:
    return store / BUNDLES / f"{table}.json"


def _of_files(files: Sequence[Path]) -> str:
    listed = ", ".join(map(_quoted, files))
    read = f"read_parquet([{listed}], union_by_name = true, filename = true)"
    return f"select * exclude (filename), parse_filename(filename, true) as task from {read}"  # noqa: S608  # quoted


def _quoted(file: Path) -> str:
    return _text(str(file.resolve()))


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
