"""Processes of the command line, under limits: jobs of the queue, and what is made beside pages."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from gnomon.serve.comparison import LOG

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from concurrent.futures import Future

    from gnomon.serve.settings import ServerLimits

__all__ = ["Background", "Worker", "memory_of"]

#: seconds between two looks at the memory and the time of what runs
_LOOK = 0.1
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
Task: TypeAlias = Literal["index", "report", "workbook"]


class Worker:
    """A process of the command line, under limits.

    Args:
        task: "inspect", "run", "index", "report" or "workbook".
        folder: where it works, and writes its log.
        limits: what it may take.
        wall: seconds that it may take.
        given: what else the task needs.
    """

    def __init__(
        self,
        task: str,
        folder: Path,
        limits: ServerLimits,
        wall: float,
        *given: object,
    ) -> None:
        self.killed = ""
        self._limits, self._end = limits, time.monotonic() + wall
        command = [sys.executable, "-P", "-m", "gnomon.cli.serve_job", task, str(folder)]
        command += map(str, (os.getpid(), limits.cpu, *given))
        threads = str(max(1, (os.cpu_count() or 1) // 2))  # models share the cores
        environment = {"OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads}
        log = os.open(folder / LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            self._process = subprocess.Popen(  # noqa: S603  # nothing in it is from users
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                umask=0o077,
                env=os.environ | environment,
                start_new_session=True,
            )
        finally:
            os.close(log)
        self.pid = self._process.pid

    def kill(self, why: str) -> None:
        """End it: "memory", "wall", "cancelled" or "stopped"."""
        self.killed = self.killed or why
        if self._process.poll() is None:
            # what it started, too, which would keep its output open
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)

    def wait(self, heard: Callable[[Mapping[str, Any]], object] = id) -> int:
        """Its exit code, once it has ended; ``heard`` is given what it said, line by line."""
        assert self._process.stdout is not None  # noqa: S101  # it is a pipe
        out, received = self._process.stdout.fileno(), b""
        with self._process:
            while True:
                if select.select([out], [], [], _LOOK)[0]:
                    data = os.read(out, 1 << 16)
                    if not data:
                        break
                    *lines, received = (received + data).split(b"\n")
                    for line in lines:
                        with suppress(ValueError):  # libraries may print, too
                            if isinstance(said := json.loads(line), dict):
                                heard(said)
                if time.monotonic() > self._end:
                    self.kill("wall")
                elif memory_of(self.pid) > self._limits.memory:
                    self.kill("memory")
        return self._process.wait()


class Background:
    """Tasks beside pages, two at a time, each for a folder.

    Args:
        limits: what one of them may take.
    """

    def __init__(self, limits: ServerLimits) -> None:
        self._limits = limits
        # these threads last, so that Linux ends with the server what they start
        self._pool = ThreadPoolExecutor(2, "background")
        self._lock = threading.Lock()
        self._made: dict[tuple[Task, Path], Future[int]] = {}
        self._workers: dict[tuple[Task, Path], Worker] = {}

    def state(self, task: Task, folder: Path) -> Literal["none", "running", "ended"]:
        """State of the task since the server runs."""
        future = self._made.get((task, folder))
        return "none" if future is None else "ended" if future.done() else "running"

    def start(self, task: Task, folder: Path, store: Path) -> None:
        """Make it of a store, unless it is being made."""
        with self._lock:
            if self.state(task, folder) != "running":
                self._made[task, folder] = self._pool.submit(self._run, task, folder, store)

    def _run(self, task: Task, folder: Path, store: Path) -> int:
        with self._lock:
            if (task, folder) not in self._made:
                return -1  # it was stopped before it began
            worker = Worker(task, folder, self._limits, self._limits.wall, store.resolve())
            self._workers[task, folder] = worker
        return worker.wait()

    def stop(self, *folders: Path) -> None:
        """End all that is made in some folders, which are to be deleted; of none, all."""
        for key in [key for key in self._made if not folders or key[1] in folders]:
            with self._lock:
                future = self._made.pop(key)
                if not future.cancel() and key in self._workers:
                    self._workers.pop(key).kill("stopped")
            if not future.cancelled():
                future.exception()


def memory_of(pid: int) -> int:
    """The bytes of memory that a process takes; 0 where that is not known."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * _PAGE
    except (OSError, ValueError, IndexError):
        return 0
