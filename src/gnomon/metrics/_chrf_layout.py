"""Texts as chrF sees them: characters and words, and which characters each word holds."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from gnomon.metrics._sequences import Layout, Sequences, offsets_of, ranges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gnomon.metrics._token_masks import TokenMasks
    from gnomon.metrics.tokenise import TokenTable

__all__ = ["character_layout", "mean_lengths", "spaced_layout", "token_lengths"]


def character_layout(words: TokenTable) -> Layout:
    """The characters of the words, white space left out."""
    sizes = np.array([len(word) for word in words.vocabulary], dtype=np.int64)
    starts = offsets_of(sizes)
    codes = _codes(words.vocabulary)
    lengths = sizes[words.ids]
    bounds = offsets_of(lengths)
    ids = codes[ranges(starts[words.ids], lengths)]
    base = Sequences(bounds[words.offsets], ids)
    return Layout(base, bounds[:-1], bounds[1:], words.text_of)


def spaced_layout(texts: Sequence[str], words: TokenTable) -> Layout:
    """All characters of the texts (lower-cased already, if so wanted), white space included."""
    codes = _codes(texts)
    visible = np.flatnonzero(~np.isin(codes, _spaces()))
    bounds = offsets_of(token_lengths(words))
    start, last = visible[bounds[:-1]], visible[bounds[1:] - 1]
    base = Sequences(offsets_of(np.array([len(text) for text in texts], dtype=np.int64)), codes)
    return Layout(base, start, last + 1, words.text_of)


def token_lengths(words: TokenTable) -> NDArray[np.int64]:
    """Characters of each token, int64 [tokens]."""
    sizes = np.array([len(word) for word in words.vocabulary], dtype=np.int64)
    lengths: NDArray[np.int64] = sizes[words.ids]
    return lengths


def mean_lengths(masks: TokenMasks, references: NDArray[np.int64]) -> tuple[int, ...]:
    """Mean number of characters that a mask stands for in the references, per group.

    Args:
        masks: the masks.
        references: text of each reference, once per occurrence.

    Returns:
        One length per group, rounded (halves up), at least 1.
    """
    occurrences = np.bincount(references, minlength=len(masks.tokens))
    lengths = token_lengths(masks.tokens)
    text_of = masks.tokens.text_of
    means = []
    for group in range(len(masks.plan.spans.features)):
        chosen = masks.group_masks(group)
        weight = occurrences[text_of[chosen.token]]
        characters = int((lengths[chosen.token] * weight).sum())
        number = int((chosen.first * weight).sum())
        means.append(max(1, (2 * characters + number) // (2 * number)) if number else 1)
    return tuple(means)


@cache
def _spaces() -> NDArray[np.int32]:
    return _codes([character for character in map(chr, range(0x110000)) if character.isspace()])


def _codes(texts: Sequence[str]) -> NDArray[np.int32]:
    # lone surrogates are characters like any others here
    joined = "".join(texts).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(joined, dtype="<u4").astype(np.int32)
