"""Expected place of each segment in an output."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["Band", "expected_places", "find_ascending", "is_in_another_order"]

#: lengths of the sequences of characters by which lines are found, and in how many lines of a side
#: they stand at most
_LENGTHS, _RARE = (3, 6), 2
#: lines around where a segment is expected, and the most that are looked at for a segment
_AROUND, _WIDEST = 8, 300
#: places on both sides beside which one that is off stands out
_NEIGHBOURS = 5
#: characters of texts of which all sequences are looked at; of more, as many in all, by their hash
_MOST = 2_000_000
#: segments of which fewer say nothing of their order; the share that stands in order, if they have
#: one: of n in any order 2 / sqrt(n), of good outputs .8 to 1, of poor ones .4
_TELLING, _IN_ORDER = 20, 0.35
_MIX, _TURN = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)


class Band(NamedTuple):
    """The fewest and the most lines that may stand before each segment, and before the end."""

    low: NDArray[np.int64]
    high: NDArray[np.int64]


def expected_places(output: Sequence[str], references: Sequence[str]) -> Band:
    """Where segments are looked for: around lines that share rare characters with a reference."""
    n, m = len(references), len(output)
    rows, lines = find_ascending(*_vote_for_lines(output, references))
    rows, lines = _drop_strays(rows, lines)
    rows = np.concatenate([[0], rows, [n]])
    lines = np.concatenate([[0], lines, [m]])
    every = np.arange(n + 1)
    after = np.searchsorted(rows, every)
    before = np.maximum(np.searchsorted(rows, every, side="right") - 1, 0)
    middle = np.rint(np.interp(every, rows, lines)).astype(np.int64)
    low = np.maximum(lines[before], middle - _WIDEST // 2) - _AROUND
    high = np.minimum(lines[after], middle + _WIDEST // 2) + _AROUND
    low, high = np.clip(low, 0, m), np.clip(high, 0, m)
    low[0], high[-1] = 0, m
    low = np.minimum.accumulate(low[::-1])[::-1]
    high[:-1] = np.maximum(high[:-1], low[1:])  # so that lines can be added up to the next segment
    return Band(low, np.maximum.accumulate(high))


def is_in_another_order(output: Sequence[str], references: Sequence[str]) -> bool:
    """True if the segments that are found in a text stand there in no order."""
    text = "".join("".join(line.split()) for line in output)
    size = -(-len(text) // max(len(references), 1)) or 1
    rows, pieces = _vote_for_lines(
        [text[at : at + size] for at in range(0, len(text), size)], references
    )
    n = len(rows)
    # several may be in one piece
    ordered, _ = find_ascending(rows, pieces * (len(references) + 1) + rows)
    return n >= _TELLING and len(ordered) < n * max(_IN_ORDER, 1.2 * 2 / n**0.5)


def _vote_for_lines(
    output: Sequence[str], references: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For references the line of the output that shares most rare characters with them."""
    keys, lines = _sequences([*references, *output])
    n, m = len(references), len(output)
    order = np.argsort(keys, kind="stable")  # lines ascend already
    keys, lines = keys[order], lines[order]
    new = np.ones(len(keys), dtype=np.bool_)
    new[1:] = (keys[1:] != keys[:-1]) | (lines[1:] != lines[:-1])
    keys, lines = keys[new], lines[new]
    votes = []
    ours, theirs = lines < n, lines >= n
    once, first, counts = np.unique(keys[ours], return_index=True, return_counts=True)
    there, begin, many = np.unique(keys[theirs], return_index=True, return_counts=True)
    shared, a, b = np.intersect1d(once, there, assume_unique=True, return_indices=True)
    del shared
    few = (counts[a] <= _RARE) & (many[b] <= _RARE)
    a, b = a[few], b[few]
    for i in range(_RARE):
        for j in range(_RARE):
            both = (counts[a] > i) & (many[b] > j)
            row = lines[ours][first[a[both]] + i]
            votes.append(row * m + lines[theirs][begin[b[both]] + j] - n)
    places, number = np.unique(np.concatenate(votes), return_counts=True)
    # the best one of each row comes last
    order = np.lexsort((number, places // m)) if m else np.arange(0)
    rows = places[order] // m if m else order
    last = np.flatnonzero(np.diff(rows, append=-1))
    return rows[last], places[order][last] % max(m, 1)


def _sequences(texts: Sequence[str]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Numbers of the sequences of characters of texts, and the text of each, ascending."""
    plain = ["".join(text.lower().split()) for text in texts]
    codes = np.frombuffer("".join(plain).encode("utf-32-le", "surrogatepass"), "<u4")
    text = np.repeat(np.arange(len(texts)), [len(one) for one in plain])
    keys, numbers = [], []
    some = np.uint64(1 + len(codes) // _MOST)
    hashes = codes.astype(np.uint64) * _MIX
    for length in range(1, max(_LENGTHS) + 1):
        if length > 1:
            hashes = (hashes[:-1] * _MIX) ^ codes[length - 1 :]
            hashes ^= hashes >> _TURN
        if length in _LENGTHS:
            inside = text[: len(hashes)] == text[length - 1 :]
            inside &= hashes % some == 0
            keys.append(hashes[inside])
            numbers.append(text[: len(hashes)][inside])
    every = np.concatenate(numbers)
    order = np.argsort(every, kind="stable")
    return np.concatenate(keys)[order], every[order]


def find_ascending(
    rows: NDArray[np.int64], lines: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The longest run of places in which both sides ascend."""
    ends: list[int] = []
    last: list[int] = []
    before = [-1] * len(lines)
    for at, line in enumerate(lines.tolist()):
        length = bisect_left(ends, line)
        before[at] = last[length - 1] if length else -1
        ends[length : length + 1] = [line]
        last[length : length + 1] = [at]
    kept = []
    at = last[-1] if last else -1
    while at >= 0:
        kept.append(at)
        at = before[at]
    return rows[kept[::-1]], lines[kept[::-1]]


def _drop_strays(
    rows: NDArray[np.int64], lines: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Places without those that are far from what is before and behind them."""
    if len(rows) <= 2 * _NEIGHBOURS:
        return rows[:0], lines[:0]
    shifts = np.pad(lines - rows, _NEIGHBOURS, mode="edge")
    around = np.lib.stride_tricks.sliding_window_view(shifts, 2 * _NEIGHBOURS + 1)
    near = np.abs(lines - rows - np.median(around, axis=1)) <= _AROUND
    return rows[near], lines[near]
