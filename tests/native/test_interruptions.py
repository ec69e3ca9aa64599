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
        "ter.edit_pairs(side(moved(20_000, 9)), side(np.arange(20_000)), [[0, 0]] * 9)",
        "rouge.common_subsequences(side(two), side(two[::-1]), [[0, 0]] * 99)",
        pytest.param(
            "rouge.union_subsequences(9, side(two[:30_000]), side(two[:30_000]), [[0, 0]] * 99)",
            marks=pytest.mark.verify,
        ),
        pytest.param(
            "rouge.shared_ngrams(2, side(two), side(two), [[0, 0]] * 9999)",
            marks=pytest.mark.verify,
        ),
        "pairs.count_pairs(*scores(1, 300_000)[:2], .1)",
        pytest.param(
            "pairs.count_sole_successes(*scores(1, 300_000), .1, .1)", marks=pytest.mark.verify
        ),
        pytest.param(
            "pairs.count_far_pairs(*scores(1, 300_000)[:2], .1)", marks=pytest.mark.verify
        ),
        pytest.param("pairs.tie_bins(*scores(1, 300_000)[:2], 9., 99)", marks=pytest.mark.verify),
        pytest.param("pairs.leanings(*scores(99_999, 99), False)", marks=pytest.mark.verify),
    ],
)
def test_a_long_call_answers_signals(call: str) -> None:
    answer = subprocess.run(
        [sys.executable, "-c", _PROGRAM.format(call)], capture_output=True, text=True, check=True
    )
    assert answer.stdout == "stopped\n"


_BEATS = """
import signal, time
import numpy as np
from gnomon.native.ngrams import MaskedRows, Rows

n = 1_000_000
one, begins = [0], np.arange(0, 2 * n, 5)
rows = Rows([0, n, 2 * n], np.random.default_rng(1).integers(0, 50_000, 2 * n), 50_000)
words = MaskedRows(rows, [0, n, 2 * n])
parts = MaskedRows(rows, [0, n // 5, 2 * n // 5], begins, begins + 5)
masks = np.arange(0, 2 * n // 5, 7)
fates, runs = np.ones(len(masks), dtype=int), np.full(len(masks), 5)
times = []
def beat(*_): times.append(time.process_time())

signal.signal(signal.SIGPROF, beat)
signal.setitimer(signal.ITIMER_PROF, .005, .005)
beat()
{}
beat()
signal.setitimer(signal.ITIMER_PROF, 0)
print(max(np.diff(times)) / (times[-1] - times[0]))
"""


@pytest.mark.parametrize(
    "call",
    [
        pytest.param("rows.matches(one, one, [1], one, 4)", marks=pytest.mark.verify),
        pytest.param(
            "words.matches(masks, fates, None, one, one, [1], one, 4)", marks=pytest.mark.verify
        ),
        "parts.matches(masks, fates, runs, one, one, [1], one, 4)",
    ],
)
def test_ngrams_of_a_long_text_answer_signals_all_along(call: str) -> None:
    def longest_gap() -> float:
        """Of the processor's time that the call takes."""
        command = [sys.executable, "-c", _BEATS.format(call)]
        return float(subprocess.check_output(command, text=True))

    # other processes may lengthen a gap, but not in each of several calls
    assert any(longest_gap() < 0.125 for _ in range(4))
