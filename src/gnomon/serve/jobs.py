"""The queue of a server: whose comparison runs next, and what becomes of processes that end."""

from __future__ import annotations

import json
import logging
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.core.errors import DataError, UsageError
from gnomon.serve._worker import BUSY, FINISHED
from gnomon.serve.comparison import JOB, UPLOADS, Job, Remedy, new_job, now, write_record
from gnomon.serve.problems import NotFound
from gnomon.serve.settings import ServerLimits

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gnomon.serve._inspection import Inspection
    from gnomon.serve.comparison import ComparisonChoices, FileChoice, StepChoice
    from gnomon.serve.workspace import Comparison, Workspace

__all__ = ["Queue", "memory_of"]


_log = logging.getLogger(__name__)
#: how many times a process may end in the midst of a step
_CHANCES = 3
#: seconds between two looks at the memory and the time of what runs
_LOOK = 0.1
#: seconds until a comparison is tried again that another process still works on
_LATER = 0.5
#: seconds that an inspection may take
_INSPECTION = 120
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096

_FORK_SERVER = "from gnomon.serve._worker import fork_server; fork_server({})"


@dataclass
class _Waiting:
    id: str
    owner: str
    queued: str
    #: it has no answer yet
    first: bool
    after: float = 0.0

    @classmethod
    def of(cls, id: str, job: Job, after: float = 0.0) -> _Waiting:  # noqa: A002
        return cls(id, job.owner, job.queued, _has_no_answer(job), after)


@dataclass
class _Running:
    key: str
    id: str
    owner: str
    task: str
    #: it runs the first method of a comparison alone
    first: bool = False
    started: float = field(default_factory=time.monotonic)
    pid: int | None = None
    #: why it is being killed: "memory", "wall", "cancelled", "stopped"
    killed: str = ""
    ended: threading.Event = field(default_factory=threading.Event)
    code: int | None = None


class Queue:
    """Comparisons that wait and run; one process each, ``workers`` at once.

    The first method of a comparison, which answers it, goes before further methods of others: these
    take all processes but one, and where there is one alone, an answer runs beside it.

    Everything that it knows is on disk: a new queue on the same workspace goes on where this one
    ended, however it ended. Its methods may be called from any thread.

    Args:
        workspace: where the comparisons are.
        workers: how many run at once.
        limits: what one of them may take.
    """

    def __init__(
        self, workspace: Workspace, workers: int = 1, limits: ServerLimits | None = None
    ) -> None:
        self.workspace, self.workers = workspace, workers
        self.limits = limits or ServerLimits()
        self._mutex = threading.RLock()
        self._waiting: list[_Waiting] = []
        self._running: dict[str, _Running] = {}
        self._last_owners: list[str] = []
        self._keys = count()
        self._fork_server: _ForkServer | None = None
        self._wake: tuple[socket.socket, ...] = ()
        self._thread: threading.Thread | None = None
        self._stopping = False

    def start(self) -> None:
        """Take the workspace, put back what was interrupted, and begin."""
        if not hasattr(os, "fork"):
            raise UsageError(
                "comparisons in a browser need Linux or macOS (in Windows, WSL); gnomon serve STORE"
                " shows studies everywhere"
            )
        self.workspace.hold()
        self._wake = socket.socketpair()
        self._fork_server = _ForkServer(self.workers)
        for comparison in self.workspace.studies():
            self._put_back(comparison)
        self._thread = threading.Thread(target=self._dispatch, name="queue", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End what runs, which goes on at the next start, and let go of the workspace."""
        self._stopping = True
        self._poke()
        if self._thread is not None:
            self._thread.join()
        if self._fork_server is not None:
            self._fork_server.close()
        self.workspace.release()
        with self._mutex:
            for end in self._wake:
                end.close()
            self._wake = ()

    # What pages ask for.

    def inspect(self, draft: str, encodings: Mapping[int, str] | None = None) -> Inspection:
        """Look at the files of a draft, in a process of its own."""
        self.workspace.confirm_encodings(draft, encodings or {})
        job = _Running(f"inspect-{next(self._keys)}", draft, "", "inspect")
        with self._mutex:
            self._begin(job, self.workspace.draft_folder(draft))
        job.ended.wait()
        inspection = self.workspace.inspection(draft)
        if inspection is None:
            raise DataError(
                "these files take too much memory or time to be read; send smaller ones"
            )
        return inspection

    def create(self, draft: str, choices: ComparisonChoices) -> Comparison:
        """Make a comparison of a draft, and queue it."""
        return self._queued(self.workspace.create(draft, choices))

    def add_system(self, id: str, draft: str, choice: FileChoice) -> Comparison:  # noqa: A002
        """Give a comparison one more system, and queue it."""
        return self._queued(self.workspace.add_system(id, draft, choice))

    def ask(self, id: str, step: StepChoice) -> Comparison:  # noqa: A002
        """Have a method run on a comparison, in place of what it gave before, and queue it."""
        with self._mutex:
            comparison = self.workspace.study(id)
            choices = comparison.about.choices
            states = {state.method: state.state for state in comparison.job.steps}
            state = states.get(step.method)
            if step in choices.steps and state in ("queued", "running", "done"):
                return comparison
            return self._queued(self.workspace.add_method(id, step))

    def again(self, id: str, first: int | None = None) -> Comparison:  # noqa: A002
        """Queue a comparison again: for what is not done, or for its first segments alone."""
        return self._queued(self.workspace.again(id, first))

    def cancel(self, id: str) -> None:  # noqa: A002
        """End a comparison; what is done of it stays."""
        self.workspace.study(id)
        running = self._kill(id, "cancelled")
        if running is not None:
            running.ended.wait()
            return
        comparison = self.workspace.study(id)  # nothing starts it any more
        if comparison.job.active:
            comparison.job.stop("cancelled")
            write_record(comparison.folder / JOB, comparison.job)

    def delete(self, id: str) -> None:  # noqa: A002
        """Delete all of a comparison; if it runs, its process is ended first."""
        self.workspace.study(id)
        running = self._kill(id, "stopped")
        if running is not None:
            running.ended.wait()
        self._leave(id)
        self.workspace.delete(id)

    def ahead(self, id: str) -> int | None:  # noqa: A002
        """How many run or start before a comparison; None where it does not wait."""
        with self._mutex:
            order = [waiting.id for waiting in self._order()]
            if id not in order:
                return None
            running = self._busy()
            busy = len(running) if len(running) >= self.workers else 0
            return order.index(id) + busy

    # The order in which comparisons run.

    def _queued(self, comparison: Comparison) -> Comparison:
        with self._mutex:
            known = {waiting.id for waiting in self._waiting} | self._busy()
            if comparison.job.active and comparison.id not in known:
                self._waiting.append(_Waiting.of(comparison.id, comparison.job))
        self._poke()
        return comparison

    def _put_back(self, comparison: Comparison) -> None:
        """Queue what a server that ended had not finished."""
        job = comparison.job
        if comparison.damaged:
            return
        if job.active:
            if job.state == "running":
                _count_death(job)
            _reopen(job)
            write_record(comparison.folder / JOB, job)
        elif (comparison.folder / UPLOADS).is_dir():  # a system that was to be added
            job = new_job(comparison.about)
            write_record(comparison.folder / JOB, job)
        if job.active:
            self._waiting.append(_Waiting.of(comparison.id, job))

    def _order(self) -> Iterable[_Waiting]:
        """Who waits, in the order in which they will run: those without an answer first."""
        for first in (True, False):
            yield from self._turns([each for each in self._waiting if each.first is first])

    def _turns(self, waiting_jobs: Iterable[_Waiting]) -> Iterable[_Waiting]:
        """Each owner in turn, the oldest first."""
        by_owner: dict[str, deque[_Waiting]] = {}
        for waiting in sorted(waiting_jobs, key=lambda each: each.queued):
            by_owner.setdefault(waiting.owner, deque()).append(waiting)
        last = {owner: turn for turn, owner in enumerate(self._last_owners)}
        turns = deque(sorted(by_owner, key=lambda owner: last.get(owner, -1)))
        while turns:
            owner = turns.popleft()
            yield by_owner[owner].popleft()
            if by_owner[owner]:
                turns.append(owner)

    def _busy(self) -> set[str]:
        return {job.id for job in self._running.values() if job.task != "inspect"}

    def _leave(self, id: str) -> None:  # noqa: A002
        with self._mutex:
            self._waiting = [waiting for waiting in self._waiting if waiting.id != id]

    def _kill(self, id: str, why: str) -> _Running | None:  # noqa: A002
        """End the process of a comparison, and let it wait no longer; None where none runs."""
        with self._mutex:
            self._leave(id)
            for job in self._running.values():
                if job.id == id and job.task != "inspect":
                    self._end(job, why)
                    return job
        return None

    # The thread that starts processes, looks after them, and hears that they ended.

    def _dispatch(self) -> None:
        while not self._stopping:
            try:
                self._turn()
            except Exception:  # noqa: BLE001  # a full disk, say: others wait
                _log.exception("the queue goes on after an error")
                time.sleep(_LATER)
        with self._mutex:
            for job in list(self._running.values()):
                self._end(job, "stopped")
            server = self._fork_server
        while server is not None and self._running:
            with self._mutex:
                self._hear(server)

    def _turn(self) -> None:
        """Start what can be started, and wait until there is something to do."""
        with self._mutex:
            self._start_waiting()
            server = self._fork_server
            timeout = self._patience()
        if server is None:
            return
        ready, _, _ = select.select([self._wake[0], server.connection], [], [], timeout)
        if self._wake[0] in ready:
            self._wake[0].recv(4096)
        with self._mutex:
            if server.connection in ready:
                self._hear(server)
            self._watch()

    def _patience(self) -> float | None:
        if self._running:
            return _LOOK
        times = [waiting.after for waiting in self._waiting]
        return max(0.0, min(times) - time.monotonic()) if times else None

    def _start_waiting(self) -> None:
        for waiting in list(self._order()):
            if waiting.after > time.monotonic() or not self._has_place(first=waiting.first):
                continue
            self._leave(waiting.id)
            with suppress(NotFound):
                comparison = self.workspace.study(waiting.id)
                if comparison.job.active:
                    owner = comparison.job.owner
                    self._last_owners = [o for o in self._last_owners if o != owner] + [owner]
                    key = f"{waiting.id}-{next(self._keys)}"
                    first = _has_no_answer(comparison.job)
                    job = _Running(key, waiting.id, owner, "first" if first else "study", first)
                    self._begin(job, comparison.folder)

    def _has_place(self, *, first: bool) -> bool:
        """Whether one more process may start."""
        firsts = [job.first for job in self._running.values() if job.task != "inspect"]
        if len(firsts) >= max(2, self.workers):
            return False
        most = self.workers if first else max(1, self.workers - 1)
        return firsts.count(first) < most

    def _begin(self, job: _Running, folder: Path) -> None:
        if self._fork_server is None or self._stopping:
            raise DataError("the server is being ended; try again when it runs")
        self._running[job.key] = job
        self._fork_server.send(
            {"start": job.key, "task": job.task, "folder": str(folder), "cpu": self.limits.cpu}
        )
        self._poke()

    def _end(self, job: _Running, why: str) -> None:
        if not job.killed:
            job.killed = why
            if self._fork_server is not None:
                self._fork_server.send({"kill": job.key})

    def _watch(self) -> None:
        """End what takes too much memory or time."""
        for job in self._running.values():
            wall = _INSPECTION if job.task == "inspect" else self.limits.wall
            if time.monotonic() - job.started > wall:
                self._end(job, "wall")
            elif job.pid is not None and memory_of(job.pid) > self.limits.memory:
                self._end(job, "memory")

    def _hear(self, server: _ForkServer) -> None:
        messages = server.receive()
        if messages is None:  # the fork server itself was ended, and all forks with it
            server.close()
            if not server.ready:
                time.sleep(_LATER)  # it cannot even start, and would not at once
            self._fork_server = None if self._stopping else _ForkServer(self.workers)
            for job in list(self._running.values()):
                self._ended(job, signal.SIGKILL)
            return
        for message in messages:
            server.ready |= message.get("ready") is not None
            key = str(message.get("started") or message.get("ended"))
            if key not in self._running:
                continue
            if message.get("started") is not None:
                self._running[key].pid = int(str(message["pid"]))
            else:
                self._ended(self._running[key], int(str(message["status"])))

    def _ended(self, job: _Running, status: int) -> None:
        """Write down what became of a comparison whose process is gone."""
        del self._running[job.key]
        try:
            if job.task != "inspect":
                with suppress(NotFound):
                    self._settle(job, os.waitstatus_to_exitcode(status))
        finally:
            job.ended.set()

    def _settle(self, job: _Running, code: int) -> None:
        comparison = self.workspace.study(job.id)
        record = comparison.job
        if code == BUSY and not job.killed:  # a process of another server, which is ending
            self._waiting.append(_Waiting.of(job.id, record, time.monotonic() + _LATER))
            return
        if code == FINISHED and not record.active:
            return
        again = False
        if job.killed == "stopped":
            record.state = "interrupted"
        elif job.killed == "cancelled":
            record.stop("cancelled")
        else:
            reason = "cpu" if code == -signal.SIGXCPU else job.killed
            if reason:
                self._over_limit(record, reason, comparison.about.segments)
            elif code != FINISHED:
                _count_death(record)
            again = True
        if again:
            _reopen(record)
            if record.active:
                self._waiting.append(_Waiting.of(job.id, record))
        write_record(comparison.folder / JOB, record)

    def _over_limit(self, job: Job, reason: str, segments: int) -> None:
        """Fail the step that took too much."""
        said = {
            "memory": f"This needs more than {self.limits.memory / 1e9:.1f} GB of memory.",
            "cpu": f"This needs more than {_in_words(self.limits.cpu)} of computing.",
            "wall": f"This takes longer than {_in_words(self.limits.wall)}.",
        }[reason]
        step = job.current
        if step is not None:
            step.state, step.finished, step.said = "failed", now(), said
            step.remedy = _fewer(segments)

    def _poke(self) -> None:
        with self._mutex:
            if self._wake:
                self._wake[1].send(b"!")


class _ForkServer:
    """The other end of :func:`gnomon.serve._worker.fork_server`."""

    def __init__(self, workers: int) -> None:
        self.connection, theirs = socket.socketpair()
        threads = str(max(1, len(os.sched_getaffinity(0)) // workers))
        # what is forked has one thread; models that a fork loads take their share of the cores
        environment = {
            "OMP_NUM_THREADS": threads,
            "MKL_NUM_THREADS": threads,
            "OPENBLAS_NUM_THREADS": "1",
            "ARROW_DEFAULT_MEMORY_POOL": "system",
        }
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603  # nothing in it is from users
                [sys.executable, "-P", "-c", _FORK_SERVER.format(theirs.fileno())],
                env=os.environ | environment,
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        self._received = b""
        self.ready = False

    def send(self, message: Mapping[str, object]) -> None:
        with suppress(OSError):  # its end is seen in reading
            self.connection.sendall(json.dumps(message).encode() + b"\n")

    def receive(self) -> list[dict[str, object]] | None:
        """What it said; None: it is gone."""
        try:
            data = self.connection.recv(1 << 16)
        except OSError:
            data = b""
        if not data:
            return None
        *lines, self._received = (self._received + data).split(b"\n")
        return [json.loads(line) for line in lines]

    def close(self) -> None:
        """End it, and its forks with it."""
        self.connection.close()
        self._process.wait()


def memory_of(pid: int) -> int:
    """The bytes of memory that a process takes; 0 where that is not known."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * _PAGE
    except (OSError, ValueError, IndexError):
        return 0


def _count_death(job: Job) -> None:
    """Note that a process ended in the midst of a step; the third time, the step has failed."""
    job.deaths += 1
    step = job.current
    if step is not None:
        step.deaths += 1
        if step.deaths >= _CHANCES:
            step.state, step.finished = "failed", now()
            step.said = (
                f"Its process ended {_CHANCES} times before it was done; perhaps the memory of this"
                " machine is not enough."
            )
            step.remedy = Remedy("again", "Run it again.")


def _has_no_answer(job: Job) -> bool:
    """Whether the first of its methods is still to run."""
    return bool(job.steps) and job.current is job.steps[0]


def _reopen(job: Job) -> None:
    """Let a job wait again, or say how it ended where nothing of it is left."""
    for step in job.steps:
        if step.state in ("running", "interrupted"):
            step.state = "queued"
    if job.current is None:
        job.settle()
    else:
        job.state = "queued"


def _fewer(segments: int) -> Remedy | None:
    """About half of the segments, as a round number."""
    half = segments // 2
    if half < 10:
        return None
    scale = 10 ** (len(str(half)) - 1)
    first = half // scale * scale
    return Remedy("first", f"Compare only the first {first:,} segments?", {"segments": first})


def _in_words(seconds: int) -> str:
    whole = f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.0f} hours"
    return whole if seconds >= 120 else f"{seconds} s"
