"""How far a study is that runs, here or by ``gnomon run`` elsewhere: cheap to ask again and again.

An answer has a tag; who has the answer of that tag is told that nothing changed, for the price of
four looks at files.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from gnomon.core import registry as methods
from gnomon.core.signature import content_hash
from gnomon.serve._reader import StoreReader
from gnomon.studies import reading

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from gnomon.serve._reader import StoreProcess
    from gnomon.serve._store_pages import OpenStore

#: a store without locks counts as running so long after its last task, in seconds
_RECENT = 120.0
_PROC_LOCKS = "/proc/locks"


@dataclass(frozen=True)
class SetProgress:
    """How far a test set is."""

    testset: str
    done: int
    planned: int


@dataclass(frozen=True)
class MethodProgress:
    """What a method has done; how many tasks it will have is said for test sets alone."""

    method: str
    title: str
    done: int
    seconds: float


@dataclass(frozen=True)
class StudyProgress:
    """How far a study is.

    Attributes:
        state: "running", "done", "stopped" where tasks are left and nothing works on them, or
            "empty".
        done: finished tasks.
        planned: all tasks.
        partial: whether what was found so far may change.
        newest: when the last task ended, UTC.
        left_seconds: about how long the rest takes one worker, by the tasks that are done.
        sets: test set by test set.
        methods: method by method.
    """

    state: str
    done: int
    planned: int
    partial: bool
    newest: str
    left_seconds: float | None
    sets: tuple[SetProgress, ...]
    methods: tuple[MethodProgress, ...]


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
    store = opened.store
    done = {entry.key: entry for entry in opened.entries}
    planned = store.planned()
    running = is_running(store.path)
    left = len(planned) - len(done)
    if not planned:
        state = "running" if running else "empty"
    elif running and left:
        state = "running"
    else:
        state = "stopped" if left else "done"
    seconds: dict[str, float] = {}
    counts: dict[str, int] = {}
    for entry in opened.entries:
        seconds[entry.method] = seconds.get(entry.method, 0.0) + entry.seconds
        counts[entry.method] = counts.get(entry.method, 0) + 1
    total = sum(seconds.values())
    sets = tuple(
        SetProgress(record.sketch.name, sum(key in done for key in record.tasks), len(record.tasks))
        for record in store._plan.testsets  # noqa: SLF001  # its tasks have no public name
    )
    return StudyProgress(
        state,
        len(done),
        len(planned),
        left > 0 or running,
        max((entry.finished for entry in opened.entries), default=""),
        round(total / len(done) * left, 1) if done and left else None,
        sets,
        tuple(
            MethodProgress(name, methods.title_of(name), counts[name], round(seconds[name], 1))
            for name in counts
        ),
    )


# Answers that are made once for each tag.


_answers: dict[Path, tuple[str, bytes]] = {}
_lock = threading.Lock()


def polled(
    reader: StoreProcess, store: Path, asked: str | None, *more: Path
) -> tuple[str, bytes | None]:
    """The tag of the progress of a study, and the answer as JSON."""
    tag = tag_of(store, *more)
    if asked == tag:
        return tag, None
    with _lock:
        known = _answers.get(store)
    if known is not None and known[0] == tag:
        return known
    answer = msgspec.json.encode(_values(StoreReader(reader, store)(progress)))
    with _lock:
        if len(_answers) > 1000:
            _answers.clear()
        _answers[store] = (tag, answer)
    return tag, answer


def _values(made: StudyProgress) -> Mapping[str, object]:
    values: dict[str, object] = msgspec.to_builtins(made)
    return values
