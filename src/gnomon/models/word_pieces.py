"""Texts as the pieces of a model's tokeniser, in windows, and in batches of like length."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["Pieces", "Window", "cut", "length_batches", "padded", "text_places", "windows"]


_SURROGATES = re.compile("[\ud800-\udfff]")
#: texts that are cut at a time, which bounds the memory of what the tokeniser returns
_AT_ONCE = 1024


@dataclass(frozen=True, eq=False)
class Pieces:
    """The pieces of T texts, one after the other (compressed sparse rows).

    Attributes:
        offsets: int64 [T + 1]; the pieces of text t are rows ``offsets[t]:offsets[t + 1]``.
        ids: int32 [rows], index of each piece in the tokeniser's vocabulary: its type.
        start: int32 [rows], first code point of each piece in its text, white space left out.
        end: int32 [rows], code point after its last one; equal to ``start`` for special pieces.
        word: int32 [rows], the word of its text that the piece belongs to, as the tokeniser
            splits words; -1 for special pieces.
        special: bool [rows], pieces that stand for no text (``[CLS]``, ``[SEP]``).
        truncated: bool [T], texts that were cut at the model's limit.
        unknown: number of pieces that the vocabulary does not know.
    """

    offsets: NDArray[np.int64]
    ids: NDArray[np.int32]
    start: NDArray[np.int32]
    end: NDArray[np.int32]
    word: NDArray[np.int32]
    special: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    unknown: int

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of pieces of each text, int64 [T]."""
        lengths: NDArray[np.int64] = np.diff(self.offsets)
        return lengths

    @property
    def text_of(self) -> NDArray[np.int64]:
        """The text of each row, int64 [rows]."""
        return np.repeat(np.arange(len(self)), self.lengths)


class _PieceBatch(NamedTuple):
    """The pieces of some texts, as columns of ``Pieces``."""

    lengths: list[int]
    truncated: list[bool]
    ids: NDArray[np.int32]
    places: NDArray[np.int32]
    word: NDArray[np.int32]
    special: NDArray[np.bool_]


def cut(
    tokenizer: Any,  # a fast tokeniser of transformers
    texts: Sequence[str],
    wanted: Iterable[int],
    limit: int | None,
) -> Pieces:
    """Cut some of the texts into pieces; the others have none.

    White space at the ends of a text is left out first, as bert-score does. Lone surrogates
    become U+FFFD.
    """
    order = sorted(wanted)
    chunks = [order[first : first + _AT_ONCE] for first in range(0, len(order), _AT_ONCE)]
    parts = [_cut_some(tokenizer, [texts[t] for t in chunk], limit) for chunk in chunks or [[]]]
    lengths, truncated = np.zeros(len(texts), np.int64), np.zeros(len(texts), np.bool_)
    lengths[order] = [length for chunk_pieces in parts for length in chunk_pieces.lengths]
    truncated[order] = [cut for chunk_pieces in parts for cut in chunk_pieces.truncated]
    ids = np.concatenate([chunk_pieces.ids for chunk_pieces in parts])
    places = np.concatenate([chunk_pieces.places for chunk_pieces in parts])
    special = np.concatenate([chunk_pieces.special for chunk_pieces in parts])
    # pieces that begin and end a text, wherever they are
    ends = (tokenizer.cls_token_id, tokenizer.sep_token_id)
    special |= np.isin(ids, [number for number in ends if number is not None])
    unknown = tokenizer.unk_token_id
    return Pieces(
        offsets=np.concatenate([[0], np.cumsum(lengths)]),
        ids=ids,
        start=np.ascontiguousarray(places[:, 0]),
        end=np.ascontiguousarray(places[:, 1]),
        word=np.concatenate([chunk_pieces.word for chunk_pieces in parts]),
        special=special,
        truncated=truncated,
        unknown=0 if unknown is None else int((ids == unknown).sum()),
    )


def _cut_some(tokenizer: Any, texts: list[str], limit: int | None) -> _PieceBatch:
    stripped = [_SURROGATES.sub("\ufffd", text.strip()) for text in texts]
    encodings = (
        tokenizer(
            stripped,
            add_special_tokens=True,
            truncation=limit is not None,
            max_length=limit,
            verbose=False,
        ).encodings
        if texts
        else []
    )
    ids: list[int] = []
    places: list[tuple[int, int]] = []
    words: list[int] = []
    special: list[int] = []
    for text, encoding in zip(texts, encodings, strict=True):
        shift = len(text) - len(text.lstrip())
        special_mask = encoding.special_tokens_mask
        ids.extend(encoding.ids)
        places.extend(text_places(text, shift, encoding.offsets, special_mask))
        words.extend(-1 if word is None else word for word in encoding.word_ids)
        special.extend(special_mask)
    return _PieceBatch(
        lengths=[len(encoding.ids) for encoding in encodings],
        truncated=[bool(encoding.overflowing) for encoding in encodings],
        ids=np.array(ids, dtype=np.int32),
        places=np.array(places, dtype=np.int32).reshape(-1, 2),
        word=np.array(words, dtype=np.int32),
        special=np.array(special, dtype=np.bool_),
    )


def text_places(
    text: str, shift: int, offsets: Sequence[tuple[int, int]], special: Sequence[int]
) -> list[tuple[int, int]]:
    """Where pieces stand in a text: no white space, never going back, special ones empty.

    Args:
        text: what was cut.
        shift: added to all places.
        offsets: of the pieces, as the tokeniser tells them.
        special: which of them stand for no part of the text.
    """
    places = []
    last = shift
    for (low, high), beyond in zip(offsets, special, strict=True):
        if beyond:
            places.append((last, last))
            continue
        start, end = low + shift, high + shift
        while start < end and text[start].isspace():
            start += 1
        if start >= end:  # a bare word boundary belongs to the character that follows
            start = min(start, max(len(text) - 1, 0))
            end = start + 1
        start = max(start, places[-1][0] if places else 0)
        end = max(end, last, start)
        places.append((start, end))
        last = end
    return places


# Texts longer than a model takes as overlapping windows that it does take.


@dataclass(frozen=True, eq=False)
class Window:
    """Text that a model reads at once: a whole one, or a part of one."""

    text: int
    rows: NDArray[np.int64]
    kept: slice
    place: int

    def __len__(self) -> int:
        return len(self.rows)


def windows(pieces: Pieces, texts: NDArray[np.int64], limit: int | None) -> list[Window]:
    """Every text as one window where it fits, else as several that overlap by half or more.

    A piece is kept from the window in which it is farthest from an end that cuts the text.
    Every window begins and ends with the special pieces of its text, whose own vectors are those
    of the first and of the last window.
    """
    all_windows = []
    for position, text in enumerate(texts.tolist()):
        rows = np.arange(pieces.offsets[text], pieces.offsets[text + 1])
        if limit is None or len(rows) <= limit:
            all_windows.append(Window(position, rows, slice(0, len(rows)), 0))
        else:
            # words, since a text may itself say "[SEP]"
            all_windows.extend(_overlapping(position, rows, pieces.word[rows] >= 0, limit))
    return all_windows


def _overlapping(
    text: int, rows: NDArray[np.int64], inside: NDArray[np.bool_], limit: int
) -> Iterator[Window]:
    plain = np.flatnonzero(inside)
    first, stop = int(plain[0]), int(plain[-1]) + 1
    size = max(limit - first - (len(rows) - stop), 1)
    length = stop - first  # windows begin evenly from end to end, at most half a size apart
    count = -(-(length - size) // max(size // 2, 1)) + 1
    starts = np.linspace(0, length - size, count).astype(np.int64)
    middles = (starts[1:] + starts[:-1] + size) // 2  # of where neighbours overlap
    bounds = np.concatenate([[0], middles, [stop - first]])
    for number, start in enumerate(starts.tolist()):
        inner = rows[first + start : first + start + size]
        low, high = (first + bounds[number : number + 2] - start).tolist()
        position = first + int(bounds[number])
        if number == 0:
            low, position = 0, 0
        if number == len(starts) - 1:
            high += len(rows) - stop
        yield Window(
            text, np.concatenate([rows[:first], inner, rows[stop:]]), slice(low, high), position
        )


# Texts of similar length together, so that little is padded.


def padded(
    rows: Sequence[NDArray[np.integer]], fill: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Rows of unequal length as a matrix, int64 [B, W], and what in it is no padding, bool [B, W].

    >>> padded([np.array([1]), np.array([2, 3])], 0)[0].tolist()
    [[1, 0], [2, 3]]
    """
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    kept = np.arange(int(lengths.max(initial=0))) < lengths[:, None]
    matrix = np.full(kept.shape, fill, dtype=np.int64)
    matrix[kept] = np.concatenate(rows)
    return matrix, kept


def length_batches(lengths: NDArray[np.int64], budget: int) -> list[NDArray[np.int64]]:
    """Positions, longest first, in groups whose padded size stays within a budget.

    Args:
        lengths: size of each item.
        budget: most padded sizes (longest times number) in a group; an item beyond it stands alone.

    >>> [group.tolist() for group in length_batches(np.array([2, 9, 3, 2]), 6)]
    [[1], [2, 0], [3]]
    """
    order = np.argsort(-lengths, kind="stable")
    groups: list[NDArray[np.int64]] = []
    first = 0
    while first < len(order):
        longest = max(int(lengths[order[first]]), 1)
        count = max(budget // longest, 1)
        groups.append(order[first : first + count])
        first += count
    return groups
