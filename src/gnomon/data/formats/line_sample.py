"""Sample of the lines of a test set, read once by all checks of it."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.core.scripts import unspaced_language

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gnomon.core.testset import TestSet

__all__ = ["LineCounts", "Numbered", "SomeLines", "pick_references"]

_LOOKED_AT = 160  # lines of a text, spread over the test set
#: words that stand in more of the references than these say little of the place
_RARE, _RAREST = 20, 3
#: pairs of characters are more of a line, and more lines have each
_RARE_PAIRS = 5
_LIKE = 0.3  # of the weight of both lines is shared by lines that are found
_TIMES = 3.0  # as like as its own line is another one where an output is found elsewhere


class Numbered:
    """The texts of a test set as numbers, equal ones alike, and -1 for references that lack.

    Attributes:
        references: the numbers in each.
        systems: likewise.
        sources: likewise, or none.
        distinct: how many different texts a system has.
    """

    def __init__(self, testset: TestSet) -> None:
        batch, columns = testset.batch(), list(testset.references.values())
        there = np.array([[text is not None for text in column] for column in columns], dtype=bool)
        numbers = np.full(there.shape, -1, dtype=np.int32)
        numbers.T[there.T] = batch.references.indices
        self.references = dict(zip(testset.references, numbers, strict=True))
        self.systems = dict(zip(testset.systems, batch.candidates, strict=True))
        self.sources = batch.sources
        changes = np.diff(np.sort(batch.candidates, axis=1), axis=1) != 0
        self.distinct = dict(zip(testset.systems, (changes.sum(axis=1) + 1).tolist(), strict=True))


class LineCounts(NamedTuple):
    """Counts of some lines of a text."""

    rows: NDArray[np.int64]  # which lines
    words: NDArray[np.int32]
    letters: NDArray[np.int32]  # of these words
    shared: NDArray[np.int32]  # letters of words that the references have
    unspaced: NDArray[np.int32]  # letters of scripts without spaces
    signs: NDArray[np.int32]  # in bits, which damage there may be: KINDS, then a text twice


class SomeLines:
    """Lines spread over a test set, with all references.

    Attributes:
        testset: the test set.
        rows: which lines.
        unspaced: the script of the references puts no spaces between words.
        references: what was counted in each.
        systems: likewise.
    """

    def __init__(
        self,
        testset: TestSet,
        systems: Sequence[str] | None = None,
        rows: NDArray[np.int64] | None = None,
    ) -> None:
        from gnomon.native import looks as loops  # compiled

        n = testset.segments
        self.testset = testset
        self.rows = np.linspace(0, n - 1, min(n, _LOOKED_AT)).astype(int) if rows is None else rows
        names, some = list(testset.systems if systems is None else systems), self.rows.tolist()
        several = [*testset.references.values()] if len(testset.references) > 1 else []
        first = pick_references(testset)
        there = [text for text in first if text]
        spread = there[:: max(1, len(there) // _LOOKED_AT)]
        self.unspaced = unspaced_language(spread) is not None
        texts = [*chain(*several, first)]
        of_references = len(texts)
        texts += [testset.systems[name][row] for name in names for row in some]
        offsets, ids, self._terms, counts = loops.look(texts, of_references, self.unspaced)
        begin = of_references - n
        self._offsets, self._ids = offsets[begin:] - offsets[begin], ids[offsets[begin] :]
        theirs = counts[:of_references].reshape(-1, n, counts.shape[1])[:, self.rows]
        own = counts[of_references:].reshape(len(names), len(some), counts.shape[1])
        of = [LineCounts(self.rows, *each.T) for each in (*theirs, *own)]
        self.references = dict(zip(testset.references, of, strict=False))
        self.systems = dict(zip(names, of[len(theirs) :], strict=True))

    def places(self) -> dict[str, NDArray[np.int64]]:
        """The reference that each line of a system fits, its own where that nearly does; or -1."""
        from gnomon.native import lines as loops  # compiled

        n = self.testset.segments
        most = min(max(n // _RARE, _RAREST), _RARE_PAIRS if self.unspaced else _RARE)
        own = np.tile(self.rows, len(self.systems))
        found = loops.places(self._offsets, self._ids, self._terms, n, own, most, _LIKE, _TIMES)
        return dict(zip(self.systems, found.reshape(-1, len(self.rows)), strict=True))


def pick_references(testset: TestSet) -> Sequence[str | None]:
    """A reference of each segment, where there is one; else the source."""
    columns = [*testset.references.values()]
    if len(columns) < 2:
        return columns[0] if columns else testset.sources or ()
    return [next((text for text in row if text), None) for row in zip(*columns, strict=True)]
