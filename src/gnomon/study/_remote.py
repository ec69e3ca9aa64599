"""Stores elsewhere: a place that fsspec reaches, and a folder here with what was fetched of it.

Files of finished tasks never change, so that each is fetched once. What is written here is put
there: first the files of a task, then the manifest that names them.
"""

from __future__ import annotations

import secrets
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from errno import EDQUOT, ENOSPC
from functools import cached_property
from importlib import import_module
from math import inf
from threading import RLock
from typing import TYPE_CHECKING, Any

from gnomon.errors import DataError, MissingDependencyError, OutputError, UsageError
from gnomon.signature import content_hash
from gnomon.study._folder import ABOUT, MANIFEST, PLAN, SKETCHES, TABLES
from gnomon.study._manifest import text_of
from gnomon.study._remote_lock import LOCK, RemoteLock

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from os import PathLike
    from pathlib import Path

    from gnomon.study._manifest import Entry

__all__ = ["Mirror", "is_remote", "mirror"]

_SMALL = (ABOUT, MANIFEST, PLAN, SKETCHES)
#: seconds between two writings of the manifest there; a kill loses what was finished in between
_PAUSE = 5.0
#: where a file can be seen half written, it gets its name when it is whole
_RENAMES = frozenset({"file", "local", "ftp", "hdfs", "sftp", "smb", "ssh", "webhdfs"})


def is_remote(path: str | PathLike[str]) -> bool:
    """Whether a path is the URL of a place elsewhere."""
    return isinstance(path, str) and "://" in path


def mirror(url: str | PathLike[str], *, writes: bool) -> Mirror:
    """A place elsewhere, with its folder in the user's cache.

    Args:
        url: such as ``s3://bucket/wmt.store``.
        writes: whether this process will write; readers have a folder of their own, so that they
            do not disturb it.

    Raises:
        MissingDependencyError: fsspec, or its part for this kind of place, is not installed.
        UsageError: there is no such kind of place.
    """
    from gnomon.cache import default_path

    try:
        fsspec = import_module("fsspec")
    except ImportError as error:
        raise MissingDependencyError(
            f"the store {url} is elsewhere, and fsspec is not installed; run: pip install"
            " 'gnomon[remote]'"
        ) from error
    try:
        system, root = fsspec.core.url_to_fs(str(url), use_listings_cache=False)
    except ImportError as error:
        raise MissingDependencyError(f"the store {url} cannot be reached: {error}") from error
    except ValueError as error:
        raise UsageError(f"the store {url} cannot be reached: {error}") from error
    name = f"{content_hash(str(url))}{'.writer' if writes else ''}"
    folder = default_path() / "stores" / name
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return Mirror(str(url), system, root.rstrip("/"), folder)


@dataclass
class Mirror:
    """A place elsewhere and its folder here.

    Attributes:
        url: of the place.
        system: fsspec's file system.
        root: the path within it.
        folder: the folder here.
    """

    url: str
    system: Any  # fsspec is optional and without types
    root: str
    folder: Path
    _last: float = field(default=-inf, repr=False)
    # connections are of one thread at a time
    _turn: AbstractContextManager[bool] = field(default_factory=RLock, repr=False)

    def has(self, name: str) -> bool:
        """Whether there is a file of that name."""
        with self._trouble():
            return bool(self.system.exists(f"{self.root}/{name}"))

    def get(self) -> None:
        """Bring the small files here, as they are there now.

        Raises:
            DataError: the place cannot be read.
        """
        from gnomon.formats import atomic_write

        for name in _SMALL:
            target = self.folder / name
            with self._trouble():
                try:
                    data = self.system.cat_file(f"{self.root}/{name}")
                except FileNotFoundError:
                    target.unlink(missing_ok=True)
                    continue
            with atomic_write(target, "wb") as file:
                file.write(data)

    def fetch(self, files: Sequence[Path]) -> None:
        """Bring files here that are not here yet.

        Raises:
            DataError: the place cannot be read.
        """
        missing = [file for file in files if not file.exists()]
        if not missing:
            return
        mark = f".{secrets.token_hex(8)}"
        parts = [file.with_name(f"{mark}{file.name}") for file in missing]
        for folder in {file.parent for file in missing}:
            folder.mkdir(parents=True, exist_ok=True)
        with self._trouble():
            self.system.get([self._there(file) for file in missing], [str(p) for p in parts])
        for part, file in zip(parts, missing, strict=True):
            part.replace(file)

    def put(self, files: Sequence[Path]) -> None:
        """Write files there.

        Raises:
            OutputError: the place cannot be written, or the lock was lost.
        """
        self._lock.check()
        for file in files:
            self._write(self._there(file), file.read_bytes())

    def put_manifest(self, entries: Iterable[Entry], *, now: bool = False) -> None:
        """Write the manifest there, but not all the time.

        Args:
            entries: the finished tasks.
            now: do not wait.

        Raises:
            OutputError: the place cannot be written, or the lock was lost.
        """
        if not now and time.monotonic() - self._last < _PAUSE:
            return
        self._lock.check()
        self._write(f"{self.root}/{MANIFEST}", text_of(entries).encode())
        self._last = time.monotonic()

    def there(self, file: Path) -> str:
        """The URL of a file that is here."""
        return f"{self.url}/{file.relative_to(self.folder).as_posix()}"

    def files(self) -> frozenset[Path]:
        """The files of tables there, as they are called here.

        Raises:
            DataError: the place cannot be read.
        """
        with self._trouble():
            try:
                found = self.system.find(f"{self.root}/{TABLES}")
            except FileNotFoundError:
                return frozenset()
        return frozenset(self.folder.joinpath(TABLES, *one.split("/")[-2:]) for one in found)

    def sweep(self, keys: Collection[str]) -> None:
        """Take away files there that are of no finished task.

        Raises:
            DataError: the place cannot be read.
            OutputError: the lock was lost.
        """
        self._lock.check()
        with self._trouble():
            if not self.system.exists(f"{self.root}/{TABLES}"):
                return
            for file in self.system.find(f"{self.root}/{TABLES}"):
                if file.rsplit("/", 1)[-1].removesuffix(".parquet") not in keys:
                    self.system.rm_file(file)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Say that this process writes; it finds out when another one does in spite of that.

        Raises:
            DataError: another process said so not long ago.
        """
        with self._lock.held():
            yield

    @cached_property
    def _lock(self) -> RemoteLock:
        file = f"{self.root}/{LOCK}"

        def read() -> bytes:
            with self._trouble():
                try:
                    return bytes(self.system.cat_file(file))
                except FileNotFoundError:
                    return b""

        def remove() -> None:
            with self._turn:
                self.system.rm_file(file)

        return RemoteLock(self.url, read, lambda data: self._write(file, data), remove)

    def _there(self, file: Path) -> str:
        return f"{self.root}/{file.relative_to(self.folder).as_posix()}"

    def _write(self, target: str, data: bytes) -> None:
        kinds = self.system.protocol
        renames = _RENAMES & set([kinds] if isinstance(kinds, str) else kinds)
        try:
            with self._turn:
                self.system.makedirs(target.rsplit("/", 1)[0], exist_ok=True)
                scratch = f"{target}.{secrets.token_hex(8)}" if renames else target
                self.system.pipe_file(scratch, data)
                if renames:
                    self.system.mv(scratch, target)
        except OSError as error:
            raise OutputError(f"the store {self.url} cannot be written: {error}") from error

    @contextmanager
    def _trouble(self) -> Iterator[None]:
        try:
            with self._turn:
                yield
        except FileNotFoundError as error:
            raise DataError(f"the store {self.url} lacks a file: {error}") from error
        except OSError as error:
            if error.errno in (ENOSPC, EDQUOT):  # of this machine, where files are brought
                raise OutputError(
                    f"cannot write {self.folder}: the disk is full: free some space, or give the"
                    " cache another place (GNOMON_CACHE=FOLDER)"
                ) from error
            raise DataError(f"the store {self.url} cannot be read: {error}") from error
