"""Engines that run tasks: this process, a pool of processes, or a Dask cluster."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from math import inf
from typing import TYPE_CHECKING, Protocol, TypeVar

from gnomon.core.errors import DataError, GnomonError, UnknownNameError, UsageError, not_installed
from gnomon.core.processes import exit_with_parent, parent_arguments, starting_workers
from gnomon.core.registry import find
from gnomon.messages.audiences import flag

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

__all__ = ["ENGINES", "TaskEngine", "open_engine"]


T = TypeVar("T")
_log = logging.getLogger(__name__)
#: seconds to wait for a worker of a cluster that has none: a batch system may have a queue
_PATIENCE = 3600.0
#: seconds in which a scheduler answers
_ANSWER = 10.0
#: seconds between questions after the size of a cluster
_PAUSE = 5.0

#: bytes; loky would start a worker anew that has grown by 300 MB
_NO_LEAK = "1e15"
#: kinds of engines
ENGINES = ("here", "pool", "dask://HOST:PORT")


class TaskEngine(Protocol):
    """Runs functions elsewhere.

    Attributes:
        workers: how many run at a time; of a cluster, now.
    """

    @property
    def workers(self) -> int:
        """Number of tasks that run at once."""

    def prepare(self, methods: Collection[str]) -> None:
        """Start to start: there will be tasks of these methods."""
        ...

    def submit(self, function: Callable[..., T], *given: object) -> Future[T]:
        """Start a call."""
        ...

    def call_workers(self, function: Callable[..., T], *given: object) -> dict[str, T]:
        """Call a function on every worker that is another process.

        One stands for all where they are alike.
        """
        ...

    def restart(self) -> None:
        """Begin anew after a worker died."""
        ...

    def lost(self) -> bool:
        """True if there has been no worker for so long that none will come.

        Raises:
            DataError: what hands out the tasks is gone.
        """
        ...

    def close(self) -> None:
        """Let go of the workers."""
        ...


def open_engine(name: str = "pool", *, workers: int | None = None) -> TaskEngine:
    """An engine by name."""
    if workers is not None and workers < 1:
        raise UsageError(f"an engine has at least one worker; got {workers}")
    if name == "here":
        return _ThisProcess()
    if name == "pool":
        return _ProcessPool(workers or len(os.sched_getaffinity(0)))
    if name.startswith("dask://"):
        return _DaskCluster(f"tcp://{name.removeprefix('dask://')}")
    raise UnknownNameError("engine", name, ENGINES)


@dataclass
class _ThisProcess:
    """This very process, one call after the other."""

    workers: int = 1

    def prepare(self, methods: Collection[str]) -> None:
        """All is here."""

    def submit(self, function: Callable[..., T], *given: object) -> Future[T]:
        future: Future[T] = Future()
        try:
            future.set_result(function(*given))
        except Exception as error:  # noqa: BLE001  # as an executor does: the caller looks at it
            future.set_exception(error)
        return future

    def call_workers(self, function: Callable[..., T], *given: object) -> dict[str, T]:  # noqa: ARG002  # there is no other process
        return {}

    def restart(self) -> None:
        """Nothing can be restarted here."""

    def lost(self) -> bool:
        return False

    def close(self) -> None:
        """Nothing is open."""


class _ProcessPool:
    """Processes of this machine; each takes its share of the cores."""

    def __init__(self, workers: int) -> None:
        if find_spec("loky") is None:
            raise not_installed(
                "a pool of processes", "loky", "study", " (or use ", flag("engine", "here"), ")"
            )
        self.workers = workers
        self._made: Executor | None = None  # an unchanged study needs no processes
        self._methods: tuple[str, ...] = ()

    def prepare(self, methods: Collection[str]) -> None:
        if self._made is None:
            self._methods = tuple(methods)
            self._made = self._started()

    @property
    def _executor(self) -> Executor:
        if self._made is None:
            self._made = self._started()
        return self._made

    def _started(self) -> Executor:
        from loky import ProcessPoolExecutor

        threads = str(max(1, len(os.sched_getaffinity(0)) // self.workers))
        names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
        # a worker that has loaded a model is larger than before, and none the worse for that
        environment = {**dict.fromkeys(names, threads), "LOKY_MAX_MEMORY_LEAK_SIZE": _NO_LEAK}
        given = (*parent_arguments(), self._methods)
        with starting_workers():
            made: Executor = ProcessPoolExecutor(
                self.workers, env=environment, initializer=_begin, initargs=given
            )
            made.submit(os.getpid)  # all of them start now
        return made

    def submit(self, function: Callable[..., T], *given: object) -> Future[T]:
        return self._executor.submit(function, *given)

    def call_workers(self, function: Callable[..., T], *given: object) -> dict[str, T]:
        return {"a process of the pool": self.submit(function, *given).result()}

    def restart(self) -> None:
        self.close()

    def lost(self) -> bool:
        return False  # a broken pool says so itself

    def close(self) -> None:
        if self._made is not None:
            self._made.shutdown(wait=False, kill_workers=True)  # type: ignore[call-arg]  # loky's
        self._made = None


def _begin(parent: int, lasting: bool, methods: Sequence[str]) -> None:  # noqa: FBT001  # initialisers get no names
    """Load the modules that the tasks need, while the plan is still made."""
    exit_with_parent(parent, lasting)
    import_module("gnomon.studies.task_runs")
    # tasks report what they need and cannot load
    with suppress(Exception):
        import_module("pyarrow.parquet")
        for name in methods:
            find(name)


class _DaskCluster:
    """A cluster that somebody started; it moves the tasks of a lost worker itself."""

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client
        except ImportError as error:
            raise not_installed("a Dask cluster", "distributed", "dask") from error
        _check_scheduler(address)
        # a lost connection is reported in our words, without tracebacks
        for name in ("distributed.batched", "distributed.client", "tornado.application"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self._address = address
        self._client = Client(address, timeout=_ANSWER)
        self._executor = self._client.get_executor(pure=False)
        self._asked, self._known, self._told = -inf, 1, -inf
        self._wait()
        self._seen = time.monotonic()

    @contextmanager
    def _talking(self) -> Iterator[None]:
        """Say so where the scheduler is gone; a client tries to find it again before."""
        try:
            yield
        except GnomonError:
            raise
        except Exception as error:
            if self._client.status == "running" and not isinstance(error, OSError):
                raise
            raise DataError(
                f"the Dask scheduler at {self._address} is gone: {_reason(error)}; finished tasks"
                " are kept: start a cluster, and run the study again"
            ) from error

    def _threads(self) -> int:
        with self._talking():
            return sum(self._client.nthreads().values())

    def _wait(self) -> None:
        """Workers that a batch system starts may come late."""
        if self._threads():
            return
        _log.info("waiting for the first worker of the cluster at %s", self._address)
        try:
            with self._talking():
                self._client.wait_for_workers(1, timeout=_PATIENCE)
        except DataError as error:
            if not isinstance(error.__cause__, TimeoutError):
                raise
            raise DataError(
                f"the cluster at {self._address} had no worker within {_PATIENCE:.0f} s; start some"
            ) from error

    @property
    def workers(self) -> int:
        """Current number of workers; a cluster may grow."""
        now = time.monotonic()
        if now > self._asked + _PAUSE:
            self._asked = now
            self._known = max(1, self._threads())
        return self._known

    def submit(self, function: Callable[..., T], *given: object) -> Future[T]:
        with self._talking():
            future: Future[T] = self._executor.submit(function, *given)
        return future

    def call_workers(self, function: Callable[..., T], *given: object) -> dict[str, T]:
        with self._talking():
            answers: dict[str, T] = self._client.run(function, *given)
        return answers

    def prepare(self, methods: Collection[str]) -> None:
        """Its workers are there."""

    def restart(self) -> None:
        """The cluster looks after its workers."""

    def lost(self) -> bool:
        if self._threads():
            self._seen = time.monotonic()
        elif self._seen > self._told:
            _log.warning("the cluster has no workers; waiting for some, %.0f s at most", _PATIENCE)
            self._told = time.monotonic()
        return time.monotonic() - self._seen > _PATIENCE

    def close(self) -> None:
        self._client.close()


def _check_scheduler(address: str) -> None:
    """A client would wait for ever where something else listens."""
    from distributed.core import rpc

    async def kind() -> str:
        async with rpc(address) as there:
            return str((await there.identity())["type"])

    try:
        with ThreadPoolExecutor(1) as apart:  # a notebook has a loop of its own in this thread
            role = apart.submit(asyncio.run, asyncio.wait_for(kind(), _ANSWER)).result()
    except ValueError as error:
        said = address.replace("tcp://", "dask://", 1)
        raise UsageError(f"a cluster is named dask://HOST:PORT; got {said}: {error}") from error
    except OSError as error:
        raise DataError(
            f"no Dask scheduler answers at {address}: {_reason(error)}; start one, or give the"
            " address that it printed when it started"
        ) from error
    if role != "Scheduler":
        raise DataError(
            f"at {address} is a {role.lower()} of a cluster; give the address of its scheduler"
        )


def _reason(error: Exception) -> str:
    return str(error) or f"nothing was heard for {_ANSWER:.0f} s"
