"""How far a study is that runs, here or by ``gnomon run`` elsewhere: cheap to ask again and again.

An answer has a tag; who has the answer of that tag is told that nothing changed, for the price of
four looks at files.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from gnomon.core.signature import content_hash
from gnomon.serve.store_pages import open_store
from gnomon.studies import reading

if TYPE_CHECKING:
    from pathlib import Path

    from gnomon.serve.store_pages import OpenStore

__all__ = ["StudyProgress", "is_running", "polled", "progress", "tag_of"]


#: a store without locks counts as running so long after its last task, in seconds
_RECENT = 120.0
_PROC_LOCKS = "/proc/locks"


@dataclass(frozen=True)
class StudyProgress:
    """How far a study is.

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
    """Whether a process is running a study into a store; its lock is looked at, never taken."""
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


def tag_of(store: Path, *more: Path) -> str:
    """What changes whenever progress does: the tag of an answer."""
    parts = [str(is_running(store))]
    for file in (store / reading.MANIFEST, store / reading.PLAN, *more):
        try:
            stat = file.stat()
        except OSError:
            parts.append("-")
        else:
            parts.append(f"{stat.st_size} {stat.st_mtime_ns} {stat.st_ino}")
    return content_hash(*parts)


def progress(opened: OpenStore) -> StudyProgress:
    """How far a study is, from the manifest of its store."""
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


def polled(store: Path, asked: str | None, *more: Path) -> tuple[str, bytes | None]:
    """The tag of the progress of a study, and the answer as JSON."""
    tag = tag_of(store, *more)
    if asked == tag:
        return tag, None
    return tag, msgspec.json.encode(progress(open_store(store)))
