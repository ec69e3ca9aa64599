"""One writer at a time: a lock that dies with its process."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from gnomon.errors import DataError, OutputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["locked"]


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock; it goes with the process, however that ends.

    Raises:
        DataError: another process holds it.
        OutputError: the folder cannot be written, or its file system knows no locks.
    """
    try:
        import fcntl
    except ImportError:  # no such locks on this system: one writer is the user's word
        yield
        return
    with ExitStack() as stack:
        try:
            file = stack.enter_context((folder / "lock").open("ab"))
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise DataError(
                f"another process is running a study into {folder}; wait for it, or name another"
                " store"
            ) from error
        except OSError as error:
            raise OutputError(
                f"the store {folder} cannot be written: {error.strerror}; allow it, or name another"
                " store = '...' in the study (a copy of this one goes on where it ended)"
            ) from error
        yield
