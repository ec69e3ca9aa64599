"""The process that reads stores for a server, which itself loads nothing that computes.

It lives as long as the server: what it has loaded and opened serves all requests, several at a
time. Calls and what they give are pickled between these two processes alone.
"""

from __future__ import annotations

import functools
import itertools
import os
import pickle
import subprocess
import sys
import threading
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from gnomon.core.errors import GnomonError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from gnomon.serve._store_pages import OpenStore

P = ParamSpec("P")
T = TypeVar("T")

#: calls that it works on at a time
_THREADS = 4
#: downloads that it keeps open; those of browsers that went away are forgotten
_STREAMS = 32


class ReaderEndedError(GnomonError):
    """The process that reads stores ended in the midst of a call."""


class StoreProcess:
    """Calls functions of modules, in a process of its own that is started for the first call.

    A process that ended is started again with the next one.

    Args:
        apart: False: functions are called here, without another process.
    """

    def __init__(self, *, apart: bool = False) -> None:
        self.apart = apart
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._hearing: threading.Thread | None = None
        self._waiting: dict[int, Future[Any]] = {}
        self._numbers = itertools.count()

    def start(self) -> None:
        """Start the process, which loads what calls need; nothing waits for that."""
        with self._lock:
            self._started()

    def stop(self) -> None:
        """End the process."""
        if self._process is not None and self._hearing is not None:
            self._process.kill()
            self._hearing.join()

    @property
    def running(self) -> bool:
        """Whether there is such a process."""
        return self._process is not None and self._process.poll() is None

    def __call__(self, function: Callable[P, T], /, *args: P.args, **options: P.kwargs) -> T:
        """What a function gives, or raises."""
        if not self.apart:
            return function(*args, **options)
        future: Future[T] = Future()
        number = next(self._numbers)
        call = pickle.dumps(functools.partial(function, *args, **options))
        with self._lock:
            process = self._started()
            self._waiting[number] = future
            with suppress(OSError):  # who hears that it ended says so
                _send(process.stdin, (number, call))
        return future.result()

    def stream(
        self, function: Callable[P, Iterator[bytes]], /, *args: P.args, **options: P.kwargs
    ) -> Iterator[bytes]:
        """What a function gives piece by piece; what is wrong with the call is raised at once."""
        if not self.apart:
            return function(*args, **options)
        return self._pieces(self(_begin, functools.partial(function, *args, **options)))

    def _pieces(self, stream: int) -> Iterator[bytes]:
        while (piece := self(_next, stream)) is not None:
            yield piece

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", "from gnomon.serve._reader import main; main()"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
            self._waiting = {}
            given = (self._process, self._waiting)
            self._hearing = threading.Thread(target=self._hear, args=given, daemon=True)
            self._hearing.start()
        return self._process

    def _hear(self, process: subprocess.Popen[bytes], waiting: dict[int, Future[Any]]) -> None:
        """Hand on answers of a process until it ends."""
        assert process.stdin is not None  # noqa: S101  # both were asked for
        assert process.stdout is not None  # noqa: S101
        while True:
            try:
                number, answer = pickle.load(process.stdout)  # noqa: S301  # of our own process
            except (EOFError, OSError, pickle.UnpicklingError):
                break
            _settle(waiting.pop(number), answer)
        process.kill()
        process.wait()
        with self._lock:
            for stream in (process.stdin, process.stdout):
                with suppress(OSError):
                    stream.close()
            for future in waiting.values():
                future.set_exception(ReaderEndedError("the process that reads results was ended"))


def _settle(future: Future[Any], answer: bytes) -> None:
    try:
        value, error = pickle.loads(answer)  # noqa: S301  # of our own process
    except Exception as unreadable:  # noqa: BLE001  # whoever waits is told
        value, error = None, unreadable
    if error is None:
        future.set_result(value)
    else:
        future.set_exception(error)


class StoreReader:
    """What reads one store: ``read(function, ...)`` calls ``function(opened, ...)``."""

    def __init__(self, reader: StoreProcess, store: Path) -> None:
        self._reader, self._store = reader, store
        self._call: Any = _of_store

    def __call__(
        self,
        function: Callable[Concatenate[OpenStore, P], T],
        /,
        *args: P.args,
        **options: P.kwargs,
    ) -> T:
        """What a function says of the store as it is now."""
        value: T = self._reader(self._call, function, self._store, *args, **options)
        return value

    def stream(
        self,
        function: Callable[Concatenate[OpenStore, P], Iterator[bytes]],
        /,
        *args: P.args,
        **options: P.kwargs,
    ) -> Iterator[bytes]:
        """The same of a function that gives a file piece by piece."""
        return self._reader.stream(self._call, function, self._store, *args, **options)


# What the process does.


_streams: OrderedDict[int, Iterator[bytes]] = OrderedDict()
_stream_numbers = itertools.count()


def _of_store(function: Callable[..., T], store: Path, *args: Any, **options: Any) -> T:
    from gnomon.serve._store_pages import open_store

    return function(open_store(store), *args, **options)


def _begin(call: Callable[[], Iterator[bytes]]) -> int:
    number = next(_stream_numbers)
    _streams[number] = call()
    while len(_streams) > _STREAMS:
        _streams.popitem(last=False)
    return number


def _next(number: int) -> bytes | None:
    """The next piece; None after the last."""
    piece = next(_streams[number], None)
    if piece is None:
        del _streams[number]
    return piece


def main() -> None:
    """Answer calls from standard input until that ends; what the process runs."""
    os.umask(0o077)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what is printed is no answer
    lock = threading.Lock()
    threads = ThreadPoolExecutor(_THREADS)
    threads.submit(_load)
    while True:
        try:
            number, call = pickle.load(sys.stdin.buffer)  # noqa: S301  # of the server
        except EOFError:
            os._exit(0)  # the server ended; threads of DuckDB are not waited for
        threads.submit(_answer, number, call, answers, lock)


def _load() -> None:
    """Load what most calls need."""
    import duckdb  # noqa: F401  # as below

    from gnomon.core.registry import installed
    from gnomon.serve._comparison import default_steps
    from gnomon.studies import pages  # noqa: F401

    for step in default_steps(2):
        installed(step.method)


def _answer(number: int, call: bytes, answers: IO[bytes], lock: threading.Lock) -> None:
    try:
        answer = pickle.dumps((pickle.loads(call)(), None))  # noqa: S301  # of the server
    except Exception as error:  # noqa: BLE001  # it is raised where the call came from
        answer = pickle.dumps((None, error))
    with lock:
        _send(answers, (number, answer))


def _send(stream: IO[bytes] | None, message: tuple[int, bytes]) -> None:
    assert stream is not None  # noqa: S101  # both ends are asked for
    pickle.dump(message, stream)
    stream.flush()
