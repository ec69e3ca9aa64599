"""Texts longer than a model takes as overlapping windows that it does take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from gnomon.models._pieces import Pieces

__all__ = ["Window", "windows"]


@dataclass(frozen=True, eq=False)
class Window:
    """What a model reads at once: a text, or a part of one.

    Attributes:
        text: position among the texts that are encoded.
        rows: int64, the rows of ``Pieces`` that are read, special ones at both ends.
        kept: those of them (positions in ``rows``) whose vectors are taken from here.
        place: position in its text of the first piece that is kept.
    """

    text: int
    rows: NDArray[np.int64]
    kept: slice
    place: int

    def __len__(self) -> int:
        return len(self.rows)


def windows(pieces: Pieces, texts: NDArray[np.int64], limit: int | None) -> list[Window]:
    """Every text as one window where it fits, else as several that overlap by half or more.

    A piece is kept from the window in which it stands farthest from an end that cuts the text.
    Every window begins and ends with the special pieces of its text, whose own vectors are those
    of the first and of the last window.

    Args:
        pieces: pieces of all texts.
        texts: int64 [E], numbers of the texts.
        limit: most pieces of a window; None for any number.
    """
    found = []
    for position, text in enumerate(texts.tolist()):
        rows = np.arange(pieces.offsets[text], pieces.offsets[text + 1])
        if limit is None or len(rows) <= limit:
            found.append(Window(position, rows, slice(0, len(rows)), 0))
        else:
            # words, since a text may itself say "[SEP]"
            found.extend(_parts(position, rows, pieces.word[rows] >= 0, limit))
    return found


def _parts(
    text: int, rows: NDArray[np.int64], inside: NDArray[np.bool_], limit: int
) -> Iterator[Window]:
    plain = np.flatnonzero(inside)
    first, stop = int(plain[0]), int(plain[-1]) + 1
    size = max(limit - first - (len(rows) - stop), 1)
    starts = _starts(stop - first, size)
    middles = (starts[1:] + starts[:-1] + size) // 2  # of where neighbours overlap
    bounds = np.concatenate([[0], middles, [stop - first]])
    for number, start in enumerate(starts.tolist()):
        inner = rows[first + start : first + start + size]
        low, high = (first + bounds[number : number + 2] - start).tolist()
        place = first + int(bounds[number])
        if number == 0:
            low, place = 0, 0
        if number == len(starts) - 1:
            high += len(rows) - stop
        yield Window(
            text, np.concatenate([rows[:first], inner, rows[stop:]]), slice(low, high), place
        )


def _starts(length: int, size: int) -> NDArray[np.int64]:
    """Where windows of a size begin, evenly spaced from end to end, at most half a size apart."""
    count = -(-(length - size) // max(size // 2, 1)) + 1
    return np.linspace(0, length - size, count).astype(np.int64)
