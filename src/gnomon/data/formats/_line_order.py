"""Whether the lines of an output belong to the lines of the reference: shifted, shuffled, repeated.

Each output is looked for among the references by the words that few of them share (pairs of
characters, where spaces part no words). In a file that is in order an output that is found at all
is found at its own line; after a line that is missing, all are found one line on.
"""

from __future__ import annotations

import re
from collections import defaultdict
from math import log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.core.scripts import unspaced_language

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

#: a line is looked for among so many references at first, in blocks with their neighbours
_BLOCKS, _BLOCK = 16, 10
_FARTHEST = 3  # lines of a shift
#: words that stand in more of the references than these say little of the place
_RARE, _RAREST = 20, 3
#: pairs of characters are more of a line, and more lines have each
_RARE_PAIRS = 5
_LIKE = 0.2  # of the weight of both lines is shared by lines that are found
_TIMES = 2.0  # as like as its own line is another one where an output is found elsewhere
_LEAST = 5  # lines
_FEW_HOME = 0.2  # of the lines are at home in a file whose order is not looked at further
_SHARE_SHIFTED = 0.03
_SHARE_LOST = 0.3
_WORD = re.compile(r"\w+")
#: lines of which the order is told; of more, as many evenly
_MOST = 3000


class Misplaced(NamedTuple):
    """Lines that stand elsewhere than the references that they fit.

    Attributes:
        shift: by how many lines: output i fits reference i + shift; 0 where they are in no order.
        first: the first such line, from 0.
        segments: how many there are.
        found: how many outputs fit any reference.
        exchanged: neighbours stand in each other's place.
    """

    shift: int
    first: int
    segments: int
    found: int
    exchanged: bool = False


class LineOrder:
    """The references of a test set, as outputs are looked for among them.

    Args:
        references: a text per segment; None where there is none.
    """

    def __init__(self, references: Sequence[str | None]) -> None:
        self._references = references
        self._pairs = unspaced_language(references) is not None
        self._most = _RARE_PAIRS if self._pairs else _RARE
        n = len(references)
        self._some = _blocks(n)
        near = {j for i in self._some for j in range(i - _FARTHEST, i + _FARTHEST + 1)}
        self._first = _Index(
            self._terms, references, sorted(j for j in near if 0 <= j < n), self._most
        )
        self._whole: _Index | None = None

    def misplaced(self, outputs: Sequence[str]) -> Misplaced | None:
        """What is wrong with the order of an output.

        Args:
            outputs: a text per segment.

        Returns:
            None where nothing is.
        """
        some = self._some
        places = self._first.places(outputs, some)
        home = int((places == some).sum())
        elsewhere = int(((places >= 0) & (places != some)).sum())
        if elsewhere < _LEAST - 1 and _FEW_HOME * len(some) <= home:
            return None
        n = len(self._references)
        if self._whole is None:
            self._whole = _Index(self._terms, self._references, range(n), self._most)
        rows = np.arange(n) if n <= _MOST else np.linspace(0, n - 1, _MOST).astype(np.int64)
        return _verdict(self._whole.places(outputs, rows), rows)

    def _terms(self, text: str) -> set[str]:
        lowered = text.casefold()
        if not self._pairs:
            return set(_WORD.findall(lowered))
        letters = "".join(_WORD.findall(lowered))
        return {letters[at : at + 2] for at in range(len(letters) - 1)}


class _Index:
    """References by their terms."""

    def __init__(
        self,
        terms: Callable[[str], set[str]],
        references: Sequence[str | None],
        rows: Sequence[int],
        most: int,
    ) -> None:
        self._terms = terms
        self._lines: dict[str, list[int]] = defaultdict(list)
        terms_by_row = {row: terms(references[row] or "") for row in rows}
        for row, terms_of_row in terms_by_row.items():
            for term in terms_of_row:
                self._lines[term].append(row)
        most = min(max(len(terms_by_row) // _RARE, _RAREST), most)
        self._weight = {
            term: log((len(terms_by_row) + 1) / len(lines))
            for term, lines in self._lines.items()
            if len(lines) <= most
        }
        self._own = {
            row: terms_of_row & self._weight.keys() for row, terms_of_row in terms_by_row.items()
        }
        self._whole = {row: self._sum(terms_of_row) for row, terms_of_row in self._own.items()}

    def _sum(self, terms: set[str]) -> float:
        return sum(map(self._weight.__getitem__, terms))

    def places(self, outputs: Sequence[str], rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The reference that each output fits, its own if it fits that nearly as well; else -1."""
        best_rows = np.full(len(rows), -1)
        for at, row in enumerate(rows.tolist()):
            terms = self._terms(outputs[row]) & self._weight.keys()
            mine, both = self._sum(terms), self._sum(terms & self._own[row])
            if both and _TIMES * both >= mine + self._whole[row] - both:
                best_rows[at] = row  # no line can be so much more like it
                continue
            shared: dict[int, float] = {}
            words: dict[int, int] = {}
            for term in terms:
                weight = self._weight[term]
                for line in self._lines[term]:
                    shared[line] = shared.get(line, 0.0) + weight
                    words[line] = words.get(line, 0) + 1
            likeness = {
                line: both / (mine + self._whole[line] - both)
                for line, both in shared.items()
                if words[line] > 1 or line == row
            }
            if not likeness:
                continue
            best = max(likeness, key=lambda line: likeness[line])
            own_likeness = likeness.get(row, 0.0)
            if likeness[best] >= _LIKE and likeness[best] > _TIMES * own_likeness:
                best_rows[at] = best
            elif own_likeness >= _LIKE / _TIMES:
                best_rows[at] = row
        return best_rows


def _blocks(n: int) -> NDArray[np.int64]:
    """Segments in blocks, spread over the test set; all of a small one."""
    if n <= _BLOCKS * (_BLOCK + 2 * _FARTHEST):
        return np.arange(n)
    starts = np.linspace(0, n - _BLOCK, _BLOCKS).astype(np.int64)
    return np.unique(starts[:, None] + np.arange(_BLOCK))


def _verdict(places: NDArray[np.int64], rows: NDArray[np.int64]) -> Misplaced | None:
    there = np.flatnonzero(places >= 0)
    away = (places - rows)[there]
    moved = int((away != 0).sum())
    ahead = np.flatnonzero((away[:-1] == 1) & (away[1:] == -1) & (np.diff(rows[there]) == 1))
    exchanged = np.zeros(len(away), dtype=np.bool_)
    exchanged[ahead] = exchanged[ahead + 1] = True
    shifts = sorted(range(-_FARTHEST, _FARTHEST + 1), key=abs)[1:]
    candidates = [(shift, (away == shift) & ~exchanged) for shift in shifts]
    for shift, those in [(0, exchanged), *candidates]:
        run = _best_run(np.where(those, 1, np.where((away == 0) | exchanged, -1, 0)))
        count = int(those[slice(*run)].sum())
        if count >= max(_LEAST, _SHARE_SHIFTED * len(there)) and 2 * count > run[1] - run[0]:
            first = int(rows[there[run[0]]])
            return Misplaced(shift, first, count, len(there), exchanged=not shift)
    if moved >= max(_LEAST, _SHARE_LOST * len(there)):
        first = int(rows[there[np.flatnonzero(away != 0)[0]]])
        return Misplaced(0, first, moved, len(there))
    return None


def _best_run(values: NDArray[np.int64]) -> tuple[int, int]:
    """First and one after last of the run with the largest sum."""
    best, bounds, total, first = 0, (0, 0), 0, 0
    for at, value in enumerate(values.tolist()):
        if total <= 0:
            total, first = 0, at
        total += value
        if total > best:
            best, bounds = total, (first, at + 1)
    return bounds
