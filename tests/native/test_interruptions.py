"""Long calls on pairs end where somebody asks for that."""

from __future__ import annotations

import subprocess
import sys

import pytest

_PROGRAM = """
import signal
import numpy as np
from gnomon.native import pairs, rouge, ter

def stop(*_): raise KeyboardInterrupt
def side(words): return [0, len(words)], words
def scores(*shape): return np.random.default_rng(1).normal(size=(3, *shape))

def moved(size, blocks):
    words = list(range(size))
    for block in range(1, blocks + 1):
        words.insert(block * size // (blocks + 1) + 20, words.pop(block * size // (blocks + 1)))
    for place in range(60):
        words[(place * 331 + 17) % size] = size + place
    return np.array(words)

two = np.arange(300_000) % 2
signal.signal(signal.SIGVTALRM, stop)
signal.setitimer(signal.ITIMER_VIRTUAL, .2)
try: {}
except KeyboardInterrupt: print("stopped")
"""


@pytest.mark.parametrize(
    "call",
    [
        "ter.edit_pairs(side(moved(20_000, 9)), side(np.arange(20_000)), [[0, 0]])",
        "rouge.common_subsequences(side(two), side(two[::-1]), [[0, 0]] * 99)",
        "rouge.union_subsequences(9, side(two[:30_000]), side(two[:30_000]), [[0, 0]] * 99)",
        "rouge.shared_ngrams(2, side(two), side(two), [[0, 0]] * 9999)",
        "pairs.count_pairs(*scores(1, 300_000)[:2], .1)",
        "pairs.count_sole_successes(*scores(1, 300_000), .1, .1)",
        "pairs.count_far_pairs(*scores(1, 300_000)[:2], .1)",
        "pairs.tie_bins(*scores(1, 300_000)[:2], 9., 99)",
        "pairs.leanings(*scores(99_999, 99), False)",
    ],
)
def test_a_long_call_answers_signals(call: str) -> None:
    answer = subprocess.run(
        [sys.executable, "-c", _PROGRAM.format(call)], capture_output=True, text=True, check=True
    )
    assert answer.stdout == "stopped\n"
