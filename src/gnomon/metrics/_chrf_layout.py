"""Texts as chrF sees them: characters and words, and which characters each word holds."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from gnomon.metrics import _compiled
from gnomon.metrics._sequences import Layout, Parts, Sequences, offsets_of, ranges
from gnomon.metrics.tokenise import code_points

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gnomon.metrics._token_masks import TokenMasks
    from gnomon.metrics.tokenise import TokenTable

__all__ = ["character_layout", "mean_lengths", "spaced_layout", "token_lengths"]


def character_layout(words: TokenTable) -> Layout:
    """The characters of the words, white space left out."""
    starts, codes = words.vocabulary.bounds, _numbered(words.vocabulary.codes)
    loops = _compiled.kernels(len(words))
    if loops is None:
        lengths = token_lengths(words)
        bounds = offsets_of(lengths)
        ids = codes[ranges(starts[words.ids], lengths)]
    else:
        ids, bounds = loops.spelled(words.ids, starts, codes)
    base = Sequences(bounds[words.offsets], ids)
    return Layout(base, lambda: Parts(bounds[:-1], bounds[1:], words.text_of))


def spaced_layout(texts: Sequence[str], words: TokenTable) -> Layout:
    """All characters of the texts (lower-cased already, if so wanted), white space included."""
    codes = code_points(texts).astype(np.int32)
    visible = np.flatnonzero(~np.isin(codes, _spaces()))
    bounds = offsets_of(token_lengths(words))
    start, last = visible[bounds[:-1]], visible[bounds[1:] - 1]
    base = Sequences(offsets_of(np.array([len(text) for text in texts], dtype=np.int64)), codes)
    return Layout(base, lambda: Parts(start, last + 1, words.text_of), gapless=False)


def token_lengths(words: TokenTable) -> NDArray[np.int64]:
    """Characters of each token, int64 [tokens]."""
    lengths: NDArray[np.int64] = np.diff(words.vocabulary.bounds)[words.ids]
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


def _numbered(codes: NDArray[np.uint32]) -> NDArray[np.int32]:
    """Small numbers in place of code points."""
    occurs = np.zeros(1 + int(codes.max(initial=0)), dtype=np.bool_)
    occurs[codes] = True
    numbers = np.cumsum(occurs, dtype=np.int32) - 1
    found: NDArray[np.int32] = numbers[codes].astype(np.int32)
    return found


@cache
def _spaces() -> NDArray[np.int32]:
    spaces = code_points(
        [character for character in map(chr, range(0x110000)) if character.isspace()]
    )
    return spaces.astype(np.int32)
