"""One writer at a time: a lock that dies with its process."""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

from gnomon.errors import DataError, OutputError
from gnomon.study._folder import ABOUT, LOCK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ["locked"]


@contextmanager
def locked(folder: Path) -> Iterator[Callable[[], None]]:
    """Hold the folder's lock; it goes with the process, however that ends.

    Yields:
        A check, which raises an OutputError where the folder was deleted meanwhile, or another one
        is in its place: what is written there would be of no store, or of another process's.

    Raises:
        DataError: another process holds it.
        OutputError: the folder cannot be written, or its file system knows no locks.
    """
    try:
        import fcntl
    except ImportError:  # no such locks on this system: one writer is the user's word
        yield lambda: _check(folder, None)
        return
    with ExitStack() as stack:
        try:
            file = stack.enter_context((folder / LOCK).open("ab"))
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
        own = os.fstat(file.fileno())
        yield lambda: _check(folder, own)


def _check(folder: Path, own: os.stat_result | None) -> None:
    with suppress(OSError):
        same = own is None or os.path.samestat(own, (folder / LOCK).stat())
        if same and (folder / ABOUT).is_file():
            return
    raise OutputError(
        f"the store {folder} was deleted while a study ran into it, so that nothing more is"
        " written; run the study again"
    )
