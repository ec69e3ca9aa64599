"""Stores elsewhere, which are read: a place that fsspec reaches, and what was fetched of it.

Files of finished tasks never change, so that each is fetched once, into a folder here.
"""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from dataclasses import dataclass, field
from errno import EDQUOT, ENOSPC
from importlib import import_module
from threading import RLock
from typing import TYPE_CHECKING, Any

from gnomon.core.errors import DataError, MissingDependencyError, OutputError, UsageError
from gnomon.core.signature import content_hash
from gnomon.studies._folder import ABOUT, MANIFEST, PLAN, SKETCHES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager
    from os import PathLike
    from pathlib import Path

_SMALL = (ABOUT, MANIFEST, PLAN, SKETCHES)
#: what to do about a store that is elsewhere, and is to be written
READ_ONLY = "is elsewhere, where stores are only read: run the study into a folder, and copy that"


def is_remote(path: str | PathLike[str]) -> bool:
    """Whether a path is the URL of a place elsewhere."""
    return isinstance(path, str) and "://" in path


def mirror(url: str) -> Mirror:
    """A place elsewhere, with its folder in the user's cache."""
    from gnomon.core.cache import default_path

    try:
        fsspec = import_module("fsspec")
    except ImportError as error:
        raise MissingDependencyError(
            f"the store {url} is elsewhere, and fsspec is not installed; run: pip install"
            " 'gnomon[remote]'"
        ) from error
    try:
        system, root = fsspec.core.url_to_fs(url, use_listings_cache=False)
    except ImportError as error:
        raise MissingDependencyError(f"the store {url} cannot be reached: {error}") from error
    except ValueError as error:
        raise UsageError(f"the store {url} cannot be reached: {error}") from error
    folder = default_path() / "stores" / content_hash(url)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return Mirror(url, system, root.rstrip("/"), folder)


@dataclass
class Mirror:
    """A place elsewhere and its folder here."""

    url: str
    system: Any  # fsspec is optional and without types
    root: str
    folder: Path
    # connections are of one thread at a time
    _turn: AbstractContextManager[bool] = field(default_factory=RLock, repr=False)

    def get(self) -> None:
        """Bring the small files here, as they are there now."""
        from gnomon.data.formats import atomic_write

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
        """Bring files here that are not here yet."""
        missing = [file for file in files if not file.exists()]
        if not missing:
            return
        mark = f".{secrets.token_hex(8)}"
        parts = [file.with_name(f"{mark}{file.name}") for file in missing]
        for folder in {file.parent for file in missing}:
            folder.mkdir(parents=True, exist_ok=True)
        there = [f"{self.root}/{file.relative_to(self.folder).as_posix()}" for file in missing]
        with self._trouble():
            self.system.get(there, [str(partial) for partial in parts])
        for partial, file in zip(parts, missing, strict=True):
            partial.replace(file)

    def there(self, file: Path) -> str:
        """The URL of a file that is here."""
        return f"{self.url}/{file.relative_to(self.folder).as_posix()}"

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
