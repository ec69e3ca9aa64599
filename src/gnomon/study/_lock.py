"""One writer at a time: a lock that dies with its process."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from gnomon.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["locked"]


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock; it goes with the process, however that ends.

    Raises:
        DataError: another process holds it.
    """
    try:
        import fcntl
    except ImportError:  # no such locks on this system: one writer is the user's word
        yield
        return
    with (folder / "lock").open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise DataError(
                f"another process is running a study into {folder}; wait for it, or name another"
                " store"
            ) from error
        yield
