"""Processes that end when the one that started them does."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["exit_with_parent", "parent_arguments", "starting_workers"]

_PR_SET_PDEATHSIG = 1
_PAUSE = 1.0  # seconds
#: what a tracker says of semaphores that it removes after a process that was ended
_LEAKED = "ignore:resource_tracker:UserWarning"


@contextmanager
def starting_workers() -> Iterator[None]:
    """Start processes that a Ctrl-C, which reaches all of a terminal, leaves to their parent.

    Python's tracker of semaphores, which starts with the first of them, removes in silence what a
    parent leaves that is ended.
    """
    sys.warnoptions.append(_LEAKED)
    resource_tracker.ensure_running()  # which itself lets signals through again
    if "loky" in sys.modules:
        from loky.backend import resource_tracker as of_loky

        of_loky.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        sys.warnoptions.remove(_LEAKED)


def parent_arguments() -> tuple[int, bool]:
    """Arguments of :func:`exit_with_parent` for a process that this thread starts."""
    return os.getpid(), threading.current_thread() is threading.main_thread()


def exit_with_parent(parent: int, lasting: bool) -> None:  # noqa: FBT001  # initialisers get no names
    """End this process when its parent has gone; what a pool calls first in each worker.

    A thread looks, which works everywhere, but not while a compiled loop keeps the interpreter to
    itself. So Linux is asked, too: it ends a process in the midst of anything, but at the end of
    the thread that started it, which is that of the parent only for the main thread.
    """
    if lasting and sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:  # who is left behind gets another parent
        time.sleep(_PAUSE)
    os.kill(os.getpid(), signal.SIGKILL)
