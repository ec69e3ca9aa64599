"""Threads for loops that run without the interpreter's lock; results do not depend on them."""

from __future__ import annotations

from collections import deque
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from threading import Event, get_ident
from typing import TYPE_CHECKING, TypeVar

from gnomon.native import _signals as signals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["map_in_threads", "using_workers", "workers"]

T = TypeVar("T")
R = TypeVar("R")

_workers: ContextVar[int] = ContextVar("workers", default=1)


@contextmanager
def using_workers(number: int) -> Iterator[None]:
    """Let :func:`map_in_threads` use as many threads."""
    before = _workers.set(number)
    try:
        yield
    finally:
        _workers.reset(before)


def workers() -> int:
    """Number of threads that may be used; 1 within a thread."""
    return _workers.get()


def map_in_threads(function: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
    """Yield results of a function for each item, in their order, as they come."""
    number = min(workers(), len(items))
    if number < 2:  # what a thread frees, others do not get: without need there is none
        yield from map(function, items)
        return
    active, ended = set[int](), Event()

    def run(item: T) -> R:
        thread = get_ident()
        active.add(thread)
        try:
            if ended.is_set():
                raise CancelledError
            return function(item)
        finally:
            active.discard(thread)
            signals.stopped.discard(thread)

    pool = ThreadPoolExecutor(number)
    try:
        with using_workers(1):
            futures = deque(pool.submit(copy_context().run, run, item) for item in items)
        while futures:
            yield futures.popleft().result()
    except BaseException:  # a signal, which Python hands to the main thread alone
        ended.set()
        signals.stopped.update(active)
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    finally:
        pool.shutdown()
