"""Words of references, made of the pieces that a model sees."""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass
from functools import cached_property
from sys import intern
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from gnomon.difficulty._places import Places

__all__ = ["Words", "split", "words_of"]

# scripts that are written without spaces: each character may begin a word
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(
    rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])\w)+(?:['’](?:(?![{_UNSPACED}])\w)+)*|[^\w\s]"
)


@dataclass(frozen=True, eq=False)
class Words:
    """W words of the references, one reference after the other.

    Attributes:
        group: int64 [W], the reference of each, as in ``Places``.
        start: int64 [W], first code point.
        end: int64 [W], code point after the last one.
        text: object [W], the words as they stand.
        of: int64 [places], the word of each piece; -1 for special pieces and mere space.
    """

    group: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    text: NDArray[np.object_]
    of: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.group)

    @cached_property
    def pieces(self) -> NDArray[np.int64]:
        """Number of pieces of each word, int64 [W]; at least 1."""
        return np.bincount(self.of[self.of >= 0], minlength=len(self))

    def mean(self, values: NDArray[np.floating]) -> NDArray[np.float64]:
        """Mean of the values of a word's pieces, float64 [W]; NaN where one is NaN.

        Args:
            values: [places].
        """
        known = self.of >= 0
        total = np.bincount(self.of[known], values[known], minlength=len(self))
        means: NDArray[np.float64] = total / np.maximum(self.pieces, 1)
        return means


def words_of(places: Places) -> Words:
    """The words of references: runs of letters and digits, and single signs, as far as seen."""
    numbers, texts = array("q"), list[str]()  # tuples of all words would take ten times as much
    of = np.full(len(places.type), -1, dtype=np.int64)
    for group, text in enumerate(places.text):
        rows = range(int(places.offsets[group]), int(places.offsets[group + 1]))
        for *found, word in _joined(places, group, text, rows, of, len(texts)):
            numbers.extend(found)
            texts.append(intern(word))
    groups, start, end = np.array(numbers, dtype=np.int64).reshape(-1, 3).T.copy()
    return Words(groups, start, end, np.array(texts, dtype=object), of)


def split(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of the words of a text, in code points.

    >>> ["It's on 3 mats."[a:b] for a, b in split("It's on 3 mats.")]
    ["It's", 'on', '3', 'mats', '.']
    """
    return (match.span() for match in _WORD.finditer(text))


def _joined(
    places: Places, group: int, text: str, rows: range, of: NDArray[np.int64], first: int
) -> list[tuple[int, int, int, str]]:
    """The words of one reference; writes the word of each of its pieces into ``of``."""
    spans = list(split(text))
    at = np.full(len(text) + 1, -1, dtype=np.int64)
    for number, (start, end) in enumerate(spans):
        at[start:end] = number
    last, found = -1, list[tuple[int, int, int, str]]()
    for row in rows:
        start, end = int(places.start[row]), int(places.end[row])
        touched = at[start:end]
        touched = touched[touched >= 0]
        if places.special[row] or not len(touched):
            continue
        word = int(touched[0])
        if word > last:
            found.append((group, *spans[word], ""))
            last = word
        # a piece may reach beyond a word: into a full stop, or the next character
        found[-1] = (group, found[-1][1], max(found[-1][2], end), "")
        last = max(last, int(touched[-1]))
        of[row] = first + len(found) - 1
    return [(g, start, end, text[start:end].rstrip()) for g, start, end, _ in found]
