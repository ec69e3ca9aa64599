"""Progress of a study that ``gnomon run`` runs elsewhere."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gnomon.studies import reading

if TYPE_CHECKING:
    from pathlib import Path

    from gnomon.serve.store_pages import OpenStore

__all__ = ["StudyProgress", "is_running", "progress"]


#: a store without locks counts as running so long after its last task, in seconds
_RECENT = 120.0
_PROC_LOCKS = "/proc/locks"


@dataclass(frozen=True)
class StudyProgress:
    """The progress of a study.

    Attributes:
        state: "running", "done", "stopped" where tasks are left and nothing works on them, or
            "empty".
        done: finished tasks.
        planned: all tasks.
        partial: whether what was found so far may change.
    """

    state: str
    done: int
    planned: int
    partial: bool


def is_running(store: Path) -> bool:
    """True if a process is running a study into a store; its lock is looked at, never taken."""
    try:
        stat = (store / reading.LOCK).stat()
    except OSError:
        return False
    if sys.platform == "linux":
        name = f"{os.major(stat.st_dev):02x}:{os.minor(stat.st_dev):02x}:{stat.st_ino}"
        try:
            with open(_PROC_LOCKS, encoding="ascii") as locks:  # noqa: PTH123  # no file of ours
                held = [line.split() for line in locks]
        except OSError:
            pass
        else:
            inode = f":{stat.st_ino}"
            return any(
                "FLOCK" in words and any(w == name or w.endswith(inode) for w in words)
                for words in held
            )
    try:
        age = time.time() - (store / reading.MANIFEST).stat().st_mtime
    except OSError:
        return False
    return age < _RECENT


def progress(opened: OpenStore) -> StudyProgress:
    """Progress of a study, from the manifest of its store."""
    done, planned = len(opened.entries), len(opened.store.planned())
    running = is_running(opened.store.path)
    left = planned - done
    if not planned:
        state = "running" if running else "empty"
    elif running and left:
        state = "running"
    else:
        state = "stopped" if left else "done"
    return StudyProgress(state, done, planned, left > 0 or running)
