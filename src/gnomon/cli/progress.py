"""Progress on stderr, and how long each stage took."""

from __future__ import annotations

import json
import logging
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rich.progress import Progress, TaskID

    from gnomon.messages import Message
    from gnomon.studies import Store

__all__ = ["ProgressLines", "Stages", "print_line", "stages"]

#: seconds of silence after which it is said that something goes on
_PATIENCE = 2.0
#: what the parts of a stage are
_UNITS = {
    "comparing": "markers",
    "encoding": "sentences",
    "fetch": "bytes",
    "marking": "metrics",
    "other metrics": "metrics",
    "parsing": "sentences",
    "scoring": "metrics",
    "tagging": "sentences",
    "testing": "tests",
    "training": "epochs",
    "unpack": "bytes",
}
_log = logging.getLogger("gnomon.time")


@dataclass
class Stages:
    """Called with a stage, what is done and the total; draws a bar where a person looks on."""

    bars: Progress | None
    doing: str = "working"
    _tasks: dict[str, TaskID] = field(default_factory=dict)
    _seconds: dict[str, float] = field(default_factory=dict)
    _last: float = field(default_factory=time.perf_counter)

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Note that ``done`` of ``total`` parts of a stage are finished."""
        self.tick(stage)
        if self.bars is None:
            return
        share = f"{done:,} of {total:,} {_UNITS.get(stage, '')}".rstrip()
        said = f"{stage}: {share}"
        if stage not in self._tasks:
            self._tasks[stage] = self.bars.add_task(said, total=total)
        self.bars.update(self._tasks[stage], description=said, completed=done, total=total)
        if done >= total:
            self._say(f"{self.doing}, after {stage}")

    def begin(self, doing: str) -> None:
        """Say what goes on from here, until a stage counts its parts."""
        self.doing = doing
        self._say(doing)

    def _say(self, text: str) -> None:
        if self.bars is not None:
            self.bars.update(self.bars.task_ids[0], description=text)

    def tick(self, stage: str) -> None:
        """Count the time since the last call to a stage."""
        now = time.perf_counter()
        self._seconds[stage] = self._seconds.get(stage, 0.0) + now - self._last
        self._last = now

    def describe(self) -> str:
        """Seconds per stage, in words."""
        return ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in self._seconds.items())


@contextmanager
def stages(doing: str, *, quiet: bool, timed: bool = True) -> Iterator[Stages]:
    """Bars while the block runs, unless stderr is no terminal; seconds per stage at its end.

    After two seconds without a bar that moves, one without an end says what goes on, and for how
    long; so long, too, a stage of which nothing is done yet waits for its bar.
    """
    if quiet or not sys.stderr.isatty():
        progress = Stages(None, doing)
        yield progress
    else:
        with _bars(doing) as bars:
            progress = Stages(bars, doing)
            yield progress
    if timed and progress.describe():
        _log.debug("time: %s", progress.describe())


def _bars(doing: str) -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    class _PatientBars(Progress):
        def get_renderables(self) -> Iterator[object]:  # type: ignore[override]  # what rich draws
            counted = [
                task
                for task in self.tasks
                if task.total is not None and (task.completed or (task.elapsed or 0) > _PATIENCE)
            ]
            busy = any(not task.finished for task in counted)
            idle = [
                task
                for task in self.tasks
                if task.total is None and not busy and (task.elapsed or 0) > _PATIENCE
            ]
            if counted or idle:
                yield self.make_tasks_table([*counted, *idle])

    bars = _PatientBars(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    bars.add_task(doing, total=None)
    return bars


#: seconds between two lines on how far a task is
_PAUSE = 0.2


class ProgressLines:
    """Called as :class:`Stages` is; prints a line of JSON for each task, and what it found.

    Args:
        store: where the results are kept.
    """

    def __init__(self, store: Store) -> None:
        self._store, self._known = store, set(store.entries)
        self._last = 0.0

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Note that ``done`` of ``total`` parts of a stage are finished."""
        if stage != "tasks" and time.monotonic() < self._last + _PAUSE:
            return
        self._last = time.monotonic()
        new = [one for key, one in self._store.entries.items() if key not in self._known]
        self._known.update(one.key for one in new)
        found = [said for one in new for said in one.verdict]
        print_line({"stage": stage, "done": done, "total": total}, found=found)


def print_line(line: Mapping[str, object], **messages: Iterable[Message]) -> None:
    """Print a line of JSON, with messages by what they are."""
    from gnomon.report.rendering import message_data

    told = {name: [message_data(one, "page") for one in some] for name, some in messages.items()}
    some = {name: data for name, data in told.items() if data}
    sys.stdout.write(f"{json.dumps({**line, **some})}\n")
    sys.stdout.flush()
