"""Cache on disk of costly deterministic results, addressed by a hash of their inputs."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import re
import sqlite3
import threading
import time
import weakref
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

from gnomon.core.errors import OutputError
from gnomon.core.sqlite import (
    bears,
    create,
    digest,
    salvaged,
    select,
    singles,
    size,
    transaction,
)
from gnomon.messages.audiences import Named, Words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

__all__ = ["Cache", "CacheStats", "default_path", "is_kept", "key", "keys", "nothing_kept"]

T = TypeVar("T")
_log = logging.getLogger(__name__)
_keeping: ContextVar[bool] = ContextVar("keeping", default=True)

#: the names of all that gnomon keeps in a cache begin like this one
_NAME = "gnomon-entries-1.sqlite3"  # the schema's number: other schemas live side by side
_ASIDE = "gnomon-damaged-1.sqlite3"
_FILES = re.compile(r"gnomon-(?:entries|damaged)-\d+\.sqlite3(?:-wal|-shm|-journal)?")
_TABLE = """
CREATE TABLE IF NOT EXISTS entries (
    key BLOB NOT NULL UNIQUE, value BLOB NOT NULL, digest BLOB NOT NULL, used INTEGER NOT NULL
)"""
_PARTS = 4096  # of a key, which are read at once
_SALVAGED = 1000  # entries that are kept at a time
_REMEDY = (
    (
        "make room or give it another place (GNOMON_CACHE=FOLDER), empty it (`gnomon cache clear`),"
        " or do without ("
    ),
    Named("--no-cache", "cache=None"),
    ")",
)
_TOUCH_AFTER = 3600  # seconds: use is noted once an hour, so that reading seldom writes
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_REFUSED = (
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
)


@dataclass(frozen=True)
class CacheStats:
    """The size of a cache.

    Attributes:
        path: its folder.
        entries: number of entries.
        bytes: bytes on disk that are in use.
        limit: bytes that it may use.
    """

    path: Path
    entries: int
    bytes: int
    limit: int


def default_path() -> Path:
    """The folder named by ``GNOMON_CACHE``, else the user's cache folder."""
    given = os.environ.get("GNOMON_CACHE")
    if given:
        return Path(given).expanduser()
    import platformdirs

    return platformdirs.user_cache_path("gnomon")


@contextlib.contextmanager
def nothing_kept() -> Iterator[None]:
    """Within it scores and tags are neither read from disk nor kept there."""
    token = _keeping.set(False)
    try:
        yield
    finally:
        _keeping.reset(token)


def is_kept() -> bool:
    """True if scores and tags are kept, and those of earlier runs taken."""
    return _keeping.get()


def key(*parts: str) -> bytes:
    """The address of what depends on these strings alone, 20 bytes.

    >>> key("ab", "c") == key("a", "bc")
    False
    """
    digest = hashlib.blake2b(digest_size=20)
    for first in range(0, len(parts), _PARTS):
        some = [text.encode("utf-8", "surrogatepass") for text in parts[first : first + _PARTS]]
        digest.update(
            b"".join([x for data in some for x in (len(data).to_bytes(8, "little"), data)])
        )
    return digest.digest()


def keys(parts: Sequence[str], lasts: Sequence[str]) -> list[bytes]:
    """``key(*parts, last)`` for every last part, the first ones read once.

    >>> keys(["a"], ["b", "c"]) == [key("a", "b"), key("a", "c")]
    True
    """
    begun = hashlib.blake2b(digest_size=20)
    for text in parts:
        data = text.encode("utf-8", "surrogatepass")
        begun.update(len(data).to_bytes(8, "little") + data)
    digests = []
    for last in lasts:
        digest = begun.copy()
        data = last.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
        digests.append(digest.digest())
    return digests


class Cache:
    """Bytes by key in one SQLite file, safe under parallel processes and sudden ends.

    Folders that it makes and its files are the owner's alone. Above the limit, the entries least
    recently used go (use is noted to the hour). A damaged entry counts as absent; a damaged file
    is put aside as ``gnomon-damaged-1.sqlite3``, and a new one begun with the entries of it that
    are whole. When a process ends, all is in the one file.

    Args:
        path: folder; by default ``default_path()``.
        limit_bytes: most bytes to use on disk.
        remedy: what to do where the folder cannot be used, for the error.
        clock: seconds since the epoch.
    """

    def __init__(
        self,
        path: Path | str | None = None,
        limit_bytes: int = 1 << 30,
        *,
        remedy: Words = _REMEDY,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.path = default_path() if path is None else Path(path)
        self.limit_bytes = limit_bytes
        self.remedy = remedy
        self._clock = clock
        self._open: tuple[int, int, sqlite3.Connection] | None = None  # process, inode, connection
        self._lock = threading.RLock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getstate__(self) -> tuple[Path, int, Words]:
        return self.path, self.limit_bytes, self.remedy

    def __setstate__(self, state: tuple[Path, int, Words]) -> None:
        path, limit, remedy = state  # a connection does not travel; open anew
        self.__init__(path, limit, remedy=remedy)  # type: ignore[misc]

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The values of those keys that are there and whole.

        Raises:
            OutputError: the file cannot be opened or read.
        """
        return self._do(lambda connection: self._get(connection, keys))

    def put_many(self, items: Mapping[bytes, bytes]) -> None:
        """Keep some values, all or none; safe on disk when this returns.

        Raises:
            OutputError: the disk is full, or the cache may not be written.
        """
        self._do(lambda connection: self._put(connection, items))

    def stats(self) -> CacheStats:
        """Count its entries and bytes."""

        def count(connection: sqlite3.Connection) -> int:
            return int(connection.execute("SELECT COUNT(*) FROM entries").fetchone()[0])

        return CacheStats(self.path, self._do(count), self._do(size), self.limit_bytes)

    def clear(self) -> None:
        """Forget everything: entries of other schemas, damaged files.

        What is not gnomon's in the folder stays, and so does what a link leads to.

        Raises:
            OutputError: the cache may not be written.
        """

        def empty(connection: sqlite3.Connection) -> None:
            with transaction(connection):
                connection.execute("DELETE FROM entries")
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

        self._do(empty)
        for old in self.path.iterdir():
            if _FILES.fullmatch(old.name) and not old.name.startswith(_NAME):
                old.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file; the next request opens it again."""
        with self._lock:
            if self._open:
                self._closing()
            self._open = None

    def _do(self, action: Callable[[sqlite3.Connection], T]) -> T:
        """Act once; if the file is damaged, begin a new one and act again."""
        with self._lock:
            try:
                return action(self._connection())
            except (sqlite3.Error, OSError) as error:
                if not bears(error, _DAMAGED):
                    raise self._refusal(error) from error
            try:
                self._put_aside()
                return action(self._connection())
            except (sqlite3.Error, OSError) as error:
                raise self._refusal(error) from error

    def _refusal(self, error: sqlite3.Error | OSError) -> OutputError:
        what = "the disk is full" if bears(error, (sqlite3.SQLITE_FULL,)) else str(error)
        return OutputError(f"the folder {self.path} cannot be used: {what}; ", self.remedy)

    def _connection(self) -> sqlite3.Connection:
        file = self.path / _NAME
        if self._open and self._open[0] == os.getpid():
            if _inode(file) == self._open[1]:
                return self._open[2]
            self.close()  # somebody deleted or replaced the file
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        create(file)
        if file.is_symlink() or not file.is_file():
            raise OSError(f"{file.name} in it is a link or no regular file")
        connection = sqlite3.connect(
            file, timeout=60, isolation_level=None, check_same_thread=False
        )
        self._open = (os.getpid(), _inode(file), connection)
        self._closing = weakref.finalize(self, _close, connection, os.getpid())
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(_TABLE)
        return connection

    def _put_aside(self) -> None:
        """Rename the damaged file, unless another process has done so already."""
        file = self.path / _NAME
        inode = self._open[1] if self._open else None
        if not file.exists() or inode not in {None, _inode(file)}:
            self.close()
            return
        aside = self.path / _ASIDE
        for suffix in ("-wal", "-shm", ""):
            target = aside.with_name(aside.name + suffix)
            target.unlink(missing_ok=True)
            with contextlib.suppress(FileNotFoundError):
                file.with_name(_NAME + suffix).replace(target)
        self.close()  # not before: SQLite deletes the log that lies beside the file
        kept = self._salvage(aside)
        _log.warning(
            "%s is damaged: it is put aside as %s, and a new one begun with the %s entries of it"
            " that are whole",
            file,
            aside.name,
            f"{kept:,}",
        )

    def _salvage(self, file: Path) -> int:
        """Keep the whole entries of a damaged file; how many there are."""
        rows: dict[bytes, bytes] = {}
        latest: dict[bytes, int] = {}
        connection = self._connection()
        for name, value, _, used in salvaged(file):
            if used < latest.get(name, 0):
                continue
            rows[name], latest[name] = value, used
            if len(rows) >= _SALVAGED:
                self._put(connection, rows)
                rows = {}
        self._put(connection, rows)
        return len(latest)

    def _get(self, connection: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        values: dict[bytes, bytes] = {}
        damaged: list[bytes] = []
        stale: list[bytes] = []
        now = int(self._clock())
        for name, value, proof, used in select(connection, keys):
            if digest(name, value) != proof:
                damaged.append(name)
                continue
            values[name] = value
            if used < now - _TOUCH_AFTER:
                stale.append(name)
        self._note(connection, damaged, stale, now)
        return values

    def _note(
        self, connection: sqlite3.Connection, damaged: list[bytes], stale: list[bytes], now: int
    ) -> None:
        """Drop damaged entries and note use; a cache that may only be read goes without."""
        if damaged:
            _log.warning("%d damaged entries of the cache %s are dropped", len(damaged), self.path)
        if not (damaged or stale):
            return
        try:
            with transaction(connection):
                connection.executemany("DELETE FROM entries WHERE key = ?", singles(damaged))
                connection.executemany(
                    "UPDATE entries SET used = ? WHERE key = ?", ((now, name) for name in stale)
                )
        except sqlite3.OperationalError as error:
            if not bears(error, (*_REFUSED, sqlite3.SQLITE_BUSY)):
                raise
            _log.debug("use of the cache %s is not noted: %s", self.path, error)

    def _put(self, connection: sqlite3.Connection, items: Mapping[bytes, bytes]) -> None:
        now = int(self._clock())
        with transaction(connection):
            connection.executemany(
                "INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?)",
                ((name, value, digest(name, value), now) for name, value in items.items()),
            )
        if size(connection) > self.limit_bytes:
            self._evict(connection)

    def _evict(self, connection: sqlite3.Connection) -> None:
        """Drop the entries least recently used until a tenth of the limit is free."""
        while size(connection) > 0.9 * self.limit_bytes:
            (count,) = connection.execute("SELECT COUNT(*) FROM entries").fetchone()
            if not count:
                return
            with transaction(connection):
                connection.execute(
                    "DELETE FROM entries WHERE rowid IN"
                    " (SELECT rowid FROM entries ORDER BY used, rowid LIMIT ?)",
                    (max(1, count // 20),),
                )
            connection.execute("PRAGMA incremental_vacuum").fetchall()


def _inode(file: Path) -> int:
    """Number of a file; 0 where there is none."""
    try:
        return file.stat().st_ino
    except OSError:
        return 0


def _close(connection: sqlite3.Connection, process: int) -> None:
    """Close what a cache left open, but not a connection of the process that this one came from."""
    if process == os.getpid():
        with contextlib.suppress(sqlite3.Error):
            connection.close()
