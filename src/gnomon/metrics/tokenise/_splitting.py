"""The compiled way from texts to tokens: split and intern code points, block by block."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from gnomon.metrics.tokenise._table import Places, TokenTable, Vocabulary, code_points
from gnomon.metrics.tokenise._tokenisers import PUNCTUATION, Aligned

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import ModuleType

    from numpy.typing import NDArray

    from gnomon.metrics.tokenise._characters import Characters

__all__ = ["split_compiled"]

#: texts that are split at a time; bounds memory
_BLOCK = 2048
#: what 13a replaces before it splits
_REPLACED = ("&quot;", "&amp;", "&lt;", "&gt;", "<skipped>", "\n")
#: the ideographic space; Unicode has no white space beyond it
_LAST_SPACE = 0x3000
_SYMBOLS = '{|}~[\\]^_`!"#$%&()*+:;<=>?@/'


def split_compiled(texts: Sequence[str], tokeniser: Aligned, loops: ModuleType) -> TokenTable:
    """What :func:`split_plain` computes, for tokenisers that have a rule."""
    read, changed = _read(texts, tokeniser)
    rule = {"words": loops.WORDS, "13a": loops.T13A, "chrf": loops.CHRF}[tokeniser.rule or ""]
    slots = np.full(1 << 12, -1, dtype=np.int32)
    keys, bounds = np.zeros(16, dtype=np.uint64), np.zeros(16, dtype=np.int64)
    store = np.zeros(16, dtype=np.uint32)
    known, parts = 0, []
    for block in _blocks(read):
        *found, known, slots, keys, bounds, store = loops.split(
            code_points(block),
            _bounds(block),
            _classes(),
            rule,
            known,
            slots,
            keys,
            bounds,
            store,
        )
        parts.append(found)
    counts, ids, start, end = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    offsets = np.concatenate([[0], np.cumsum(counts)])
    for text, characters in changed.items():
        _put_back(characters, slice(offsets[text], offsets[text + 1]), start, end)
    return TokenTable(
        tokeniser=tokeniser.name,
        offsets=offsets,
        ids=ids,
        vocabulary=Vocabulary(store[: bounds[known]].copy(), bounds[: known + 1].copy()),
        tokenised=len(texts),
        places=lambda: Places(start, end),
    )


def _read(
    texts: Sequence[str], tokeniser: Aligned
) -> tuple[Sequence[str], Mapping[int, Characters]]:
    """The texts as the tokeniser reads them, and those whose characters move by that."""
    lowered = [text.lower() for text in texts] if tokeniser.lowercase else texts
    odd: set[int] = set()
    if tokeniser.lowercase:
        pairs = enumerate(zip(texts, lowered, strict=True))
        odd.update(number for number, (text, lower) in pairs if len(text) != len(lower))
    if tokeniser.rule == "13a":
        # one character each first: few texts have any
        some = [i for i, t in enumerate(lowered) if "&" in t or "<" in t or "\n" in t]
        odd.update(i for i in some if any(old in lowered[i] for old in _REPLACED))
    if not odd:
        return lowered, {}
    changed = {number: tokeniser.read(texts[number]) for number in sorted(odd)}
    read = list(lowered)
    for number, characters in changed.items():
        read[number] = characters.text
    return read, changed


def _put_back(
    characters: Characters, rows: slice, start: NDArray[np.int32], end: NDArray[np.int32]
) -> None:
    starts, ends = np.array(characters.starts), np.array(characters.ends)
    if len(starts):
        start[rows] = starts[start[rows]]
        end[rows] = ends[end[rows] - 1]


def _blocks(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    for first in range(0, max(1, len(texts)), _BLOCK):
        yield texts[first : first + _BLOCK]


def _bounds(texts: Sequence[str]) -> NDArray[np.int64]:
    sizes = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    return np.concatenate([[0], np.cumsum(sizes)])


@cache
def _classes() -> NDArray[np.uint8]:
    """Bits of what the rules ask of a character, up to the last white space there is."""
    from gnomon.metrics import _kernels as loops

    spaces = [code for code in range(_LAST_SPACE + 1) if chr(code).isspace()]
    classes = np.zeros(_LAST_SPACE + 1, dtype=np.uint8)
    for characters, kind in (
        (map(chr, spaces), loops.SPACE),
        (_SYMBOLS, loops.SYMBOL),
        (".,", loops.DOT),
        ("0123456789", loops.DIGIT),
        ("-", loops.HYPHEN),
        (PUNCTUATION, loops.PUNCTUATION),
    ):
        classes[[ord(character) for character in characters]] |= kind
    return classes
