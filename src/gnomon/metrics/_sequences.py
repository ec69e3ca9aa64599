"""Sequences of integers in compressed rows, and their masked editions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from gnomon.metrics._token_masks import Masks, Side
    from gnomon.metrics.tokenise import TokenTable

__all__ = ["Layout", "Parts", "Sequences", "offsets_of", "ranges", "rows_of"]


class Sequences(NamedTuple):
    """T rows of ids: row t is ``ids[offsets[t]:offsets[t + 1]]``; negative ids are masks."""

    offsets: NDArray[np.int64]
    ids: NDArray[np.int32]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Length of each row, int64 [T]."""
        lengths: NDArray[np.int64] = np.diff(self.offsets)
        return lengths

    def take(self, rows: NDArray[np.int64]) -> Sequences:
        """Some of the rows, in the order given."""
        starts = self.offsets[rows]
        lengths = self.offsets[rows + 1] - starts
        return Sequences(offsets_of(lengths), self.ids[ranges(starts, lengths)])


class Parts(NamedTuple):
    """Which part of a layout each token holds, int64 [tokens] each, as in :class:`Layout`."""

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    text_of: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Layout:
    """What a metric counts n-grams on (words, characters), and which part each token holds.

    Attributes:
        base: the ids of all texts, unmasked.
        parts: finds the parts of the tokens; called once, when something is masked.
        gapless: the tokens of a text follow each other and hold all of it.
        words: every token is one id, its own row.
    """

    base: Sequences
    parts: Callable[[], Parts]
    gapless: bool = True
    words: bool = False

    @classmethod
    def of_words(cls, tokens: TokenTable) -> Layout:
        """The tokens themselves, one id each."""
        return cls(Sequences(tokens.offsets, tokens.ids), lambda: _whole(tokens), words=True)

    @property
    def start(self) -> NDArray[np.int64]:
        """First position of each token in ``base.ids``, int64 [tokens]."""
        return self._parts.start

    @property
    def end(self) -> NDArray[np.int64]:
        """Position after the last one of each token, int64 [tokens]."""
        return self._parts.end

    @property
    def text_of(self) -> NDArray[np.int64]:
        """The text of each token, int64 [tokens]."""
        return self._parts.text_of

    @cached_property
    def _parts(self) -> Parts:
        return self.parts()

    @cached_property
    def width(self) -> int:
        """One more than the largest id."""
        return 1 + int(self.base.ids.max(initial=-1))

    def of(
        self,
        texts: NDArray[np.int64],
        masks: Masks | None,
        side: Side,
        lengths: Sequence[int] | None = None,
    ) -> Sequences:
        """Some texts (repetitions allowed), masked or plain; arguments as in :meth:`edition`."""
        if masks is None:
            return self.base.take(texts)
        distinct, back = np.unique(texts, return_inverse=True)
        return self.edition(distinct, masks, side, lengths).take(back)

    def edition(
        self,
        texts: NDArray[np.int64],
        masks: Masks,
        side: Side,
        lengths: Sequence[int] | None = None,
    ) -> Sequences:
        """Some texts as one side of a variant.

        Args:
            texts: the texts wanted, each once.
            masks: what the variant masks.
            side: "reference" or "candidate".
            lengths: how many mask ids a mask is of each group; one by default.
        """
        first = np.full(len(self.base.offsets) - 1, -1, dtype=np.int64)
        plain = self.base.take(texts)
        first[texts] = plain.offsets[:-1]
        chosen = np.flatnonzero(first[self.text_of[masks.token]] >= 0)
        token, begins = masks.token[chosen], masks.first[chosen]
        text = self.text_of[token]
        start = first[text] + self.start[token] - self.base.offsets[text]
        size = self.end[token] - self.start[token]
        # a token that continues a mask takes what stands between it and the token before along
        gap = np.where(begins, 0, self.start[token] - self.end[np.maximum(token - 1, 0)])
        counts = np.ones(len(plain.ids), dtype=np.int64)
        counts[ranges(start - gap, size + gap)] = 0
        places = start[begins]
        groups = masks.group[chosen][begins]
        counts[places] = 1 if lengths is None else np.asarray(lengths, dtype=np.int64)[groups]
        ids = plain.ids
        ids[places] = masks.ids(side)[chosen][begins]
        ends = np.concatenate([[0], np.cumsum(counts)])
        return Sequences(ends[plain.offsets], np.repeat(ids, counts))


def _whole(tokens: TokenTable) -> Parts:
    rows = np.arange(len(tokens.ids))
    return Parts(rows, rows + 1, tokens.text_of)


def ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Some ranges of integers, one after the other.

    >>> ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    shift = starts - offsets_of(lengths)[:-1]
    total = int(lengths.sum())
    return np.repeat(shift, lengths) + np.arange(total)


def rows_of(sequences: Sequences) -> NDArray[np.int64]:
    """The row of each id, int64."""
    return np.repeat(np.arange(len(sequences.offsets) - 1), sequences.lengths)


def offsets_of(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Offsets of rows of these lengths, int64 [rows + 1].

    >>> offsets_of(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
