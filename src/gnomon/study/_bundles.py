"""Copies of many small files in one, so that a query need not open a file for each task.

What counts is the manifest and the files of tasks. A bundle is a copy that may be taken away at any
time: it is looked at only while all tasks that it holds are finished ones, and each of its rows
says of which task it is.
"""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, NamedTuple

from gnomon.signature import content_hash
from gnomon.study._folder import replace_text
from gnomon.study._parquet import is_whole

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

__all__ = ["Bundle", "Source", "bundle", "bundle_of", "drop_bundles", "source_of"]

_log = logging.getLogger(__name__)

BUNDLES = "bundles"
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
    """The bundle of a table; None where there is none, or it holds what is no longer there."""
    try:
        said = json.loads(_list_of(store, table).read_text(encoding="utf-8"))
        found = Bundle(store / BUNDLES / said["file"], frozenset(said["tasks"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if is_whole(found.file) and found.tasks.issubset(finished) else None


def bundle(store: Path, files: Mapping[str, Sequence[Path]], finished: Collection[str]) -> None:
    """Copy the files of tables that have many outside of their bundle; only the writer may.

    Args:
        store: the folder.
        files: those of finished tasks, by table.
        finished: keys of all finished tasks.
    """
    for table, parts in files.items():
        known = bundle_of(store, table, finished)
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


def _try(store: Path, table: str, parts: Sequence[Path], known: Bundle | None) -> None:
    import duckdb

    try:
        _write(store, table, parts, known)
    except (OSError, duckdb.Error) as error:  # a full disk, a damaged file: nothing is lost
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
        scratch.replace(target)
    finally:
        scratch.unlink(missing_ok=True)
    replace_text(_list_of(store, table), json.dumps({"file": target.name, "tasks": keys}))
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
