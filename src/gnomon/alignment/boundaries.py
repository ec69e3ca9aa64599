"""Free boundaries: an output whose lines, or single line, are no segments.

Its words are aligned with those of a guide for the fewest edits (Matusov et al., 2005), characters
in scripts without spaces, and the segments of the guide cut it. What stands on both sides of a cut
counts, too: the sign that ends a segment, how the next one begins, and how often the guide cuts
there.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.alignment.joining import join_pieces
from gnomon.alignment.places import find_ascending
from gnomon.alignment.signs import CLAUSE, CLOSING, FINAL, FULL_WIDTH, OPENING
from gnomon.core.alignments import Alignment
from gnomon.core.scripts import unspaced_letters, word_pattern
from gnomon.native import boundaries as loops

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.core.alignments import Operation

__all__ = ["Habits", "align_boundaries", "habits_of", "list_operations", "words_of"]

#: what an edit costs, and a word whose first letters are the same
_EDIT, _ALIKE, _LETTERS = 12, 6, 4
#: what a cut costs, in edits: another sign before it, another beginning behind it, no space there;
#: how much it counts how often the guide cuts so
_SIGN, _BEGINNING, _INSIDE, _HABIT = 1.5, 1.0, 3.0, 0.5
_FEW = 3  # times that a word must have been seen to count as much as none
#: cells of a table that is computed as a whole; of a larger one a band of so many places on both
#: sides of where a path is expected, twice as many where it comes near the edge
_WHOLE, _AROUND = 1_000_000, 100
#: words in a row that are looked for on both sides
_RUNS = (1, 2, 4)


class _Words(NamedTuple):
    """The words and signs of a text."""

    words: list[str]
    spans: list[tuple[int, int]]


class Habits(NamedTuple):
    """Habits of texts at boundaries: log rates of ends behind a word, and of beginnings with it."""

    before: dict[str, float]
    behind: dict[str, float]


def align_boundaries(
    output: Sequence[str], guide: Sequence[str], habits: Habits | None = None
) -> Alignment:
    """Cut an output where its parts are most like the segments of a guide.

    Args:
        output: its lines, whose ends count for nothing.
        guide: one text per segment: a reference, or better a system whose lines fit.
        habits: of more texts than the guide, where it is one document of them.
    """
    filled = [number for number, line in enumerate(output) if line.strip()]
    text, starts = _joined([output[number] for number in filled])
    ours = _words(text)
    segments = [words_of(one) for one in guide]
    cuts, margins = _cut(ours, segments, habits or habits_of(guide))
    at = [0, *(ours.spans[k][0] if k < len(ours.spans) else len(text) for k in cuts), len(text)]
    texts = tuple(text[a:b].strip() for a, b in pairwise(at))
    lines = []
    for one, (a, b) in zip(texts, pairwise(at), strict=True):
        first = int(np.searchsorted(starts, a, "right")) - 1
        last = int(np.searchsorted(starts, b - 1, "right"))
        lines.append(tuple(filled[first:last]) if one else ())
    return Alignment(
        texts=texts,
        lines=tuple(lines),
        operations=tuple(list_operations(lines)),
        margins=tuple(margins),
        added={},
        by="boundaries",
    )


def _joined(lines: Sequence[str]) -> tuple[str, NDArray[np.int64]]:
    """Lines as one text, and where each begins."""
    text, starts = "", []
    for before, line in pairwise(["", *(line.strip() for line in lines)]):
        between = join_pieces([before[-1:], line[:1]])[1:-1] if before else ""
        starts.append(len(text) + len(between))
        text += between + line
    return text, np.array(starts, dtype=np.int64)


def _words(text: str) -> _Words:
    spans = [found.span() for found in word_pattern().finditer(text)]
    return _Words([text[start:stop] for start, stop in spans], spans)


@lru_cache(maxsize=5_000)
def words_of(segment: str) -> _Words:
    """The words of a segment, which several outputs are aligned with."""
    return _words(segment)


def list_operations(lines: Sequence[tuple[int, ...]]) -> Iterator[Operation]:
    """Yield the operation for each segment, by the lines that hold it."""
    shared = Counter(number for some in lines for number in some)
    for some in lines:
        if not some:
            yield "drop"
        elif any(shared[number] > 1 for number in some):
            yield "merge"
        else:
            yield "match" if len(some) == 1 else "split"


def _cut(ours: _Words, segments: Sequence[_Words], habits: Habits) -> tuple[list[int], list[float]]:
    """The words before each segment but the first, and the margins, in edits."""
    guide = [word for one in segments for word in one.words]
    ends = np.cumsum([len(one.words) for one in segments], dtype=np.int64)[:-1]
    known: dict[str, int] = {}
    numbered = []
    for words in (ours.words, guide):
        plain = [word.lower() for word in words]
        ids = [known.setdefault(word, len(known)) for word in plain]
        # a sign or a letter alone is like no other one
        alike = [known.setdefault(f"{word[:_LETTERS]} ", len(known)) for word in plain]
        numbered.append((np.array(ids, dtype=np.int32), np.array(alike, dtype=np.int32)))
    places, sorts, likeness = _tolls(ours, segments, habits)
    band = _Band(numbered[0][0], numbered[1][0])
    while True:
        low, high = band.bounds()
        costs = (_EDIT, _ALIKE)
        _, cuts, margins = loops.cut_text(
            numbered[0], numbered[1], ends, costs, places, sorts, likeness, (low, high)
        )
        if not band.widened(ends, cuts, low[ends], high[ends]):
            return cuts.tolist(), (margins / _EDIT).tolist()


class _Band:
    """The places that are looked at before each word of a guide."""

    def __init__(self, output: NDArray[np.int32], guide: NDArray[np.int32]) -> None:
        self.n, self.m = len(output), len(guide)
        whole = self.n * self.m <= _WHOLE
        rows, places = (np.arange(0), np.arange(0)) if whole else _anchors(output, guide)
        rows = np.concatenate([[0], rows, [self.m]])
        places = np.concatenate([[0], places, [self.n]])
        every = np.arange(self.m + 1)
        middle = np.interp(every, rows, places)
        # far from what both sides share, the path is less certain
        far = np.minimum(
            every - rows[np.maximum(np.searchsorted(rows, every, "right") - 1, 0)],
            rows[np.minimum(np.searchsorted(rows, every), len(rows) - 1)] - every,
        )
        self.middle = middle
        self.around = _AROUND + far / 2 if not whole else np.full(self.m + 1, float(self.n + 1))

    def bounds(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The first and the last place of each row."""
        low = np.clip(np.floor(self.middle - self.around), 0, self.n).astype(np.int64)
        high = np.clip(np.ceil(self.middle + self.around), 0, self.n).astype(np.int64)
        low[0], high[-1] = 0, self.n
        low = np.minimum.accumulate(low[::-1])[::-1]
        high[:-1] = np.maximum(high[:-1], low[1:])  # so that words can be added up to the next row
        return low, np.maximum.accumulate(high)

    def widened(
        self,
        ends: NDArray[np.int64],
        cuts: NDArray[np.int64],
        low: NDArray[np.int64],
        high: NDArray[np.int64],
    ) -> bool:
        """True if cuts come near an edge, where the band becomes twice as wide."""
        edge = np.maximum((high - low) // 8, 1)
        near = ((cuts - low < edge) & (low > 0)) | ((high - cuts < edge) & (high < self.n))
        for row in ends[near].tolist():
            width = int(self.around[row])
            some = slice(max(row - 2 * width, 0), row + 2 * width)
            self.around[some] = np.maximum(self.around[some], 2 * width)
        return bool(near.any())


def _anchors(
    output: NDArray[np.int32], guide: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where words, or several in a row, that both sides have once stand in the guide and output."""
    pairs = []
    for length in _RUNS:
        keys = [_hashes(side, length) for side in (output, guide)]
        found = [np.unique(side, return_index=True, return_counts=True) for side in keys]
        once = [(keys[count == 1], index[count == 1]) for keys, index, count in found]
        _, a, b = np.intersect1d(once[0][0], once[1][0], assume_unique=True, return_indices=True)
        pairs.append(np.stack([once[1][1][b], once[0][1][a]]))
    rows, places = np.unique(np.concatenate(pairs, axis=1), axis=1).astype(np.int64)
    return find_ascending(rows, places)


def _hashes(words: NDArray[np.int32], length: int) -> NDArray[np.uint64]:
    """A number for each run of so many words."""
    mixed = words.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    found = mixed
    for k in range(1, length):
        found = (found[:-1] ^ (found[:-1] >> np.uint64(29))) * np.uint64(31) + mixed[k:]
    return found


def _tolls(
    ours: _Words, segments: Sequence[_Words], habits: Habits
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Kinds of places and of ends, and what a cut costs, by kind of end and kind of place."""
    ends = [
        (left.words[-1] if left.words else "", right.words[0] if right.words else "")
        for left, right in pairwise(segments)
    ]
    words = ["", *ours.words, ""]
    close = {word: word not in FULL_WIDTH and not unspaced_letters(word) for word in set(words)}
    before = {
        word: (_sign(word), habits.before.get(_reduce_word(word), 0.0), close[word])
        for word in close
    }
    behind = {
        word: (_beginning(word), habits.behind.get(_reduce_word(word), 0.0), close[word])
        for word in close
    }
    stops = [-1, *(stop for _, stop in ours.spans)]
    starts = [*(start for start, _ in ours.spans), -2]
    kinds: dict[tuple[tuple[str, float, bool], tuple[str, float, bool], bool], int] = {}
    places = [
        kinds.setdefault((before[left], behind[right], stop == start), len(kinds))
        for left, right, stop, start in zip(words, words[1:], stops, starts, strict=False)
    ]
    wanted: dict[tuple[str, str], int] = {}
    sorts = [
        wanted.setdefault((_sign(before), _beginning(behind)), len(wanted))
        for before, behind in ends
    ]
    table = np.zeros((max(len(wanted), 1), len(kinds)), dtype=np.int32)
    for (sign, beginning), row in wanted.items():
        for ((other, ends_so, a), (start, begins_so, b), touching), column in kinds.items():
            cost = _SIGN * _unlike(sign, other) + _BEGINNING * (beginning != start)
            cost += _INSIDE * (touching and a and b) - _HABIT * (ends_so + begins_so)
            table[row, column] = round(_EDIT * cost)
    table -= table.min(initial=0)
    return np.array(places, dtype=np.int32), np.array(sorts, dtype=np.int32), table


def habits_of(texts: Sequence[str]) -> Habits:
    """Where texts end and begin, beside all their words."""
    words = [found for found in (words_of(text).words for text in texts) if found]
    every = Counter(_reduce_word(word) for some in words for word in some)
    rate = (len(words) + 1) / max(every.total(), 1)
    counts = (
        Counter(_reduce_word(some[-1]) for some in words),
        Counter(_reduce_word(some[0]) for some in words),
    )
    return Habits(
        *(
            {
                word: float(np.log((ends[word] + _FEW * rate) / (count + _FEW) / rate))
                for word, count in every.items()
            }
            for ends in counts
        )
    )


@lru_cache(maxsize=20_000)
def _reduce_word(word: str) -> str:
    """A sign, or a letter alone, by itself; a word by its case."""
    return word if len(word) == 1 else "A" if word[:1].isupper() else "a"


@lru_cache(maxsize=20_000)
def _sign(word: str) -> str:
    """Last sign of a segment: a mark, or a word."""
    return word if len(word) == 1 and not word.isalnum() else "word" if word else ""


@lru_cache(maxsize=20_000)
def _unlike(sign: str, other: str) -> float:
    """Difference of the signs before two cuts."""
    if sign == other:
        return 0.0
    groups = [
        next((k for k, some in enumerate((FINAL, CLOSING, CLAUSE)) if one in some), one)
        for one in (sign, other)
    ]
    if groups[0] == groups[1]:
        return 0.3
    return 1.0 if "word" in groups or "" in groups else 0.6


@lru_cache(maxsize=20_000)
def _beginning(word: str) -> str:
    """Beginning of a segment."""
    first = word[:1]
    if first in OPENING:
        return "opening"
    if not first.isalnum():
        return "sign"
    return "digit" if first.isdigit() else "upper" if first.isupper() else "letter"
