"""Operations on the SQLite file of a cache."""

from __future__ import annotations

import contextlib
import hashlib
import mmap
import os
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

__all__ = ["bears", "create", "digest", "salvaged", "select", "singles", "size", "transaction"]

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
        some = keys[first : first + _PER_QUERY]
        marks = ",".join("?" * len(some))
        yield from connection.execute(
            f"SELECT key, CAST(value AS BLOB), digest, used FROM entries WHERE key IN ({marks})",  # noqa: S608  # question marks only
            some,
        )


def singles(names: Sequence[bytes]) -> Iterator[tuple[bytes]]:
    """Rows of one column."""
    return ((name,) for name in names)


def digest(name: bytes, value: bytes) -> bytes:
    """Digest that proves that a value is whole and stands under its own key."""
    return hashlib.blake2b(value, key=name[:64], digest_size=8).digest()


def size(connection: sqlite3.Connection) -> int:
    """Bytes in use."""
    pages, free, page = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * page


def bears(error: Exception, codes: Sequence[int]) -> bool:
    """True if an error bears one of SQLite's codes, extended ones included."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in codes


# Rows of a damaged file: those whose page can be read, and whose digest says that they are whole.


_LEAF = 13  # the first byte of a page that holds rows
_PAGE = 4096  # bytes, as SQLite makes files
_WAL_HEAD, _FRAME_HEAD = 32, 24


def salvaged(file: Path) -> Iterator[tuple[bytes, bytes, bytes, int]]:
    """Key, value, digest and last use of whole entries of a file that SQLite cannot read.

    Pages with rows are found by their first byte, wherever they stand, so that no damage of the
    pages above them (or of the first page) matters. Older values of a key may be among them, and
    rows of the log that lies beside the file.
    """
    data, log = _mapped(file), _mapped(file.with_name(file.name + "-wal"))
    pages = {n // _PAGE + 1: data[n : n + _PAGE] for n in range(0, len(data) - _PAGE + 1, _PAGE)}
    every = list(pages.values())
    for at in range(_WAL_HEAD, len(log) - _FRAME_HEAD - _PAGE + 1, _FRAME_HEAD + _PAGE):
        if log[at + 8 : at + 16] == log[16:24]:  # else it is of an older log
            page = log[at + _FRAME_HEAD : at + _FRAME_HEAD + _PAGE]
            pages[int.from_bytes(log[at : at + 4], "big")] = page
            every.append(page)
    for page in every:
        for row in _rows(page, pages):
            if digest(row[0], row[1]) == row[2]:
                yield row


def _mapped(file: Path) -> memoryview:
    """The bytes of a file, read when they are looked at; none where there is none."""
    if not file.is_file() or not file.stat().st_size:
        return memoryview(b"")
    with file.open("rb") as stream:
        return memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))


def _rows(
    page: memoryview, pages: Mapping[int, memoryview]
) -> Iterator[tuple[bytes, bytes, bytes, int]]:
    """The rows of a page, as far as they can be read (www.sqlite.org/fileformat.html)."""
    if page[0] != _LEAF:
        return
    count = int.from_bytes(page[3:5], "big")
    for number in range(min(count, _PAGE // 4)):
        with contextlib.suppress(IndexError, KeyError, ValueError, struct.error):
            (at,) = struct.unpack_from(">H", page, 8 + 2 * number)
            yield _row(_payload(page, at, pages))


def _payload(page: memoryview, at: int, pages: Mapping[int, memoryview]) -> bytes:
    """The bytes of a row, which go on in other pages where it is long."""
    size, at = _varint(page, at)
    _, at = _varint(page, at)  # the number of the row
    most = _PAGE - 35
    least = (_PAGE - 12) * 32 // 255 - 23
    local = size
    if size > most:
        local = least + (size - least) % (_PAGE - 4)
        local = local if local <= most else least
    payload = bytearray(page[at : at + local])
    (more,) = struct.unpack_from(">I", page, at + local) if size > local else (0,)
    while len(payload) < size:
        other = pages[more]
        (more,) = struct.unpack_from(">I", other, 0)
        payload += other[4 : 4 + size - len(payload)]
    return bytes(payload)


def _row(data: bytes) -> tuple[bytes, bytes, bytes, int]:
    """Key, value, digest and last use."""
    head, at = _varint(data, 0)
    kinds = []
    while at < head:
        kind, at = _varint(data, at)
        kinds.append(kind)
    values: list[bytes] = []
    for kind in kinds:
        # 1 to 6 are numbers of so many bytes, 8 and 9 are 0 and 1, even ones from 12 on are bytes
        width = (kind - 12) // 2 if kind >= 12 else (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)[kind]
        values.append(b"\1" if kind == 9 else data[at : at + width])
        at += width
    key, value, proof, used = values
    return key, value, proof, int.from_bytes(used, "big")


def _varint(data: bytes | memoryview, at: int) -> tuple[int, int]:
    value = 0
    for position in range(at, at + 8):
        value = value << 7 | data[position] & 127
        if data[position] < 128:
            return value, position + 1
    return value << 8 | data[at + 8], at + 9
