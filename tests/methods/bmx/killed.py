"""Explains, is killed at a point, explains again: run by ``test_resume`` as a process.

``python -m tests.methods.bmx.killed FOLDER`` prints, for each of twenty points, the calls before
the end, the calls after it, and whether the results are those of an uninterrupted run.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import numpy as np
from tests.methods.bmx.counting import Counting, overlap

import gnomon as gn
from gnomon.bmx import engine as _engine
from gnomon.bmx import explanations
from gnomon.core.cache import Cache

_WORDS = [
    "the",
    "a",
    "cat",
    "dog",
    "sat",
    "ran",
    "on",
    "in",
    "mat",
    "house",
    "red",
    "old",
    ".",
    ",",
]


def _testset() -> gn.TestSet:
    draw = np.random.default_rng(7)

    def text() -> str:
        return " ".join(draw.choice(_WORDS, draw.integers(0, 8)))

    return gn.TestSet.from_lists(
        {name: [text() for _ in range(12)] for name in "abc"}, [text() for _ in range(12)]
    )


def _metric(end: int | None) -> Counting:
    """A metric that kills its process when it is asked for the end-th time."""
    metric = Counting()

    def function(candidate: str, reference: str) -> float:
        if len(metric.scored) == end:
            os.kill(os.getpid(), signal.SIGKILL)
        return overlap(candidate, reference)

    metric.function = function
    return metric


def _numbers(testset: gn.TestSet, metric: Counting, folder: Path | None) -> list[bytes]:
    cache = None if folder is None else Cache(folder)
    found = explanations(testset, metric, "lime(samples=12)", cache=cache)
    if cache is not None:
        cache.close()
    return [found.scores.tobytes(), *(side.importance.tobytes() for side in found.sides)]


def _cut_off(testset: gn.TestSet, end: int, folder: Path) -> int:
    """Run in a process of its own until it is killed; by which signal it ended."""
    child = os.fork()
    if not child:
        _numbers(testset, _metric(end), folder)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main(folder: Path) -> None:
    """Twenty points, from the first call to the last."""
    testset = _testset()
    whole = _metric(None)
    expected = _numbers(testset, whole, None)
    total = len(whole.scored)
    points = np.random.default_rng(20).integers(1, total + 1, 18).tolist()
    for number, end in enumerate([1, total, *points]):
        own = folder / str(number)
        ended = _cut_off(testset, end, own)
        again = _metric(None)
        same = _numbers(testset, again, own) == expected
        told = {"ended": ended, "end": end, "total": total, "again": len(again.scored)}
        sys.stdout.write(json.dumps({**told, "same": same}) + "\n")


if __name__ == "__main__":
    _engine._PAIRS = 40  # several groups, so that there is something between
    main(Path(sys.argv[1]))
