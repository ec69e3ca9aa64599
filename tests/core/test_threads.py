"""Threads: the same results in the same order, and an end for all where one ends."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from gnomon.core.threads import map_in_threads, using_workers, workers


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("items", [0, 1, 2, 9])
def test_results_come_in_their_order(number: int, items: int) -> None:
    with using_workers(number):
        assert list(map_in_threads(str, range(items))) == [str(n) for n in range(items)]
    assert workers() == 1


def test_threads_start_no_threads() -> None:
    with using_workers(2):
        assert list(map_in_threads(lambda _: workers(), range(3))) == [1, 1, 1]
        assert workers() == 2


def test_an_error_in_a_thread_is_raised_and_ends_all() -> None:
    done: list[int] = []
    before = set(threading.enumerate())

    def fail(item: int) -> None:
        done.append(item)
        raise ValueError(item)

    with using_workers(2), pytest.raises(ValueError, match="0"):
        list(map_in_threads(fail, range(1000)))
    assert len(done) < 1000
    assert set(threading.enumerate()) <= before


_PROGRAM = """
import os, signal, threading
import numpy as np
from gnomon.core.threads import map_in_threads, using_workers
from gnomon.native import _signals as signals, rouge

def long(item):
    if not item: os.kill(os.getpid(), signal.SIGINT)
    rouge.shared_ngrams(2, side, side, [[0, 0]] * 9_999)
    ended.append(item)

ended = []
side = [0, 300_000], np.arange(300_000) % 2
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    with using_workers(2): list(map_in_threads(long, range(3)))
except KeyboardInterrupt: print("stopped")
for thread in threading.enumerate()[1:]: thread.join()
print(ended, signals.stopped, rouge.shared_ngrams(2, side, side, [[0, 0]]).tolist())
"""


def test_ctrl_c_ends_the_loops_of_all_threads() -> None:
    answer = subprocess.run(
        [sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=True
    )
    assert answer.stdout == "stopped\n[] set() [299999]\n"
