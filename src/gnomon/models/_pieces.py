"""Texts as the pieces of a model's tokeniser, with their places in the texts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

__all__ = ["Pieces", "cut"]

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


class _Part(NamedTuple):
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

    Args:
        tokenizer: a fast tokeniser of transformers.
        texts: all texts.
        wanted: which of them to cut.
        limit: most pieces of a text, special ones included.
    """
    order = sorted(wanted)
    chunks = [order[first : first + _AT_ONCE] for first in range(0, len(order), _AT_ONCE)]
    parts = [_cut_some(tokenizer, [texts[t] for t in chunk], limit) for chunk in chunks or [[]]]
    lengths, truncated = np.zeros(len(texts), np.int64), np.zeros(len(texts), np.bool_)
    lengths[order] = [length for part in parts for length in part.lengths]
    truncated[order] = [cut for part in parts for cut in part.truncated]
    ids = np.concatenate([part.ids for part in parts])
    places = np.concatenate([part.places for part in parts])
    special = np.concatenate([part.special for part in parts])
    special |= np.isin(ids, _bounds(tokenizer))
    unknown = tokenizer.unk_token_id
    return Pieces(
        offsets=np.concatenate([[0], np.cumsum(lengths)]),
        ids=ids,
        start=np.ascontiguousarray(places[:, 0]),
        end=np.ascontiguousarray(places[:, 1]),
        word=np.concatenate([part.word for part in parts]),
        special=special,
        truncated=truncated,
        unknown=0 if unknown is None else int((ids == unknown).sum()),
    )


def _bounds(tokenizer: Any) -> list[int]:
    """Types of the pieces that begin and end a text, wherever they stand."""
    ends = (tokenizer.cls_token_id, tokenizer.sep_token_id)
    return [number for number in ends if number is not None]


def _cut_some(tokenizer: Any, texts: list[str], limit: int | None) -> _Part:
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
        own = encoding.special_tokens_mask
        ids.extend(encoding.ids)
        places.extend(_placed(text, shift, encoding.offsets, own))
        words.extend(-1 if word is None else word for word in encoding.word_ids)
        special.extend(own)
    return _Part(
        lengths=[len(encoding.ids) for encoding in encodings],
        truncated=[bool(encoding.overflowing) for encoding in encodings],
        ids=np.array(ids, dtype=np.int32),
        places=np.array(places, dtype=np.int32).reshape(-1, 2),
        word=np.array(words, dtype=np.int32),
        special=np.array(special, dtype=np.bool_),
    )


def _placed(
    text: str, shift: int, offsets: Sequence[tuple[int, int]], special: Sequence[int]
) -> list[tuple[int, int]]:
    """Where pieces stand in the text: no white space, never going back, special ones empty."""
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
