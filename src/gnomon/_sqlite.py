"""Single acts on the SQLite file of a cache."""

from __future__ import annotations

import contextlib
import hashlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence
    from pathlib import Path

__all__ = ["bears", "create", "digest", "select", "singles", "size", "transaction"]

_PER_QUERY = 900  # older SQLite allows 999 variables


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing, with the right to write asked for at once: no reader turns writer."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def create(file: Path) -> None:
    """Make the file its owner's alone; SQLite gives -wal and -shm the same mode.

    A file that exists is not opened: closing it would drop the locks that other connections of
    this process hold on it.
    """
    with contextlib.suppress(FileExistsError):
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def select(
    connection: sqlite3.Connection, keys: Sequence[bytes]
) -> Iterator[tuple[bytes, bytes, bytes, int]]:
    """Key, value, digest and last use of the entries that are there."""
    for first in range(0, len(keys), _PER_QUERY):
        part = keys[first : first + _PER_QUERY]
        marks = ",".join("?" * len(part))
        yield from connection.execute(
            f"SELECT key, CAST(value AS BLOB), digest, used FROM entries WHERE key IN ({marks})",  # noqa: S608  # question marks only
            part,
        )


def singles(names: Sequence[bytes]) -> Iterator[tuple[bytes]]:
    """Rows of one column."""
    return ((name,) for name in names)


def digest(name: bytes, value: bytes) -> bytes:
    """What proves that a value is whole and stands under its own key."""
    return hashlib.blake2b(value, key=name[:64], digest_size=8).digest()


def size(connection: sqlite3.Connection) -> int:
    """Bytes in use."""
    pages, free, page = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * page


def bears(error: Exception, codes: Sequence[int]) -> bool:
    """Whether an error bears one of SQLite's codes, extended ones included."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in codes
