"""The tokens of many texts under ROUGE, at once: what :class:`RougeTokeniser` finds in each."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from gnomon.metrics.tokenise import Places, TokenTable, Vocabulary, code_points, lowered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gnomon.metrics._rouge_tokens import RougeTokeniser

__all__ = ["RougeTokens", "rouge_table"]

_APART = "\0"  # between two texts: part of no token
_BREAK = ord("\n")


class RougeTokens:
    """Tables of tokens for the texts seen last: batches of one test set share theirs.

    Attributes:
        runs: how often texts were split.
    """

    def __init__(self, tokeniser: RougeTokeniser) -> None:
        self.runs = 0
        self._tokeniser = tokeniser
        self._last: tuple[tuple[str, ...], TokenTable] | None = None

    def of(self, texts: tuple[str, ...]) -> TokenTable:
        """The table of these texts; computed again only for another tuple."""
        if self._last is None or self._last[0] is not texts:
            self._last = texts, rouge_table(texts, self._tokeniser)
            self.runs += 1
        return self._last[1]


def rouge_table(texts: Sequence[str], tokeniser: RougeTokeniser) -> TokenTable:
    """Split texts; every distinct word is stemmed once."""
    found = [tokeniser.pattern.findall(text.lower()) for text in texts]
    words = list(dict.fromkeys(chain.from_iterable(found)))
    number = {word: n for n, word in enumerate(words)}
    counts = np.fromiter(map(len, found), dtype=np.int64, count=len(found))
    used = map(number.__getitem__, chain.from_iterable(found))
    ids = np.fromiter(used, dtype=np.int32, count=int(counts.sum()))
    stems = [tokeniser.stem(word) for word in words]
    stem_number = {stem: n for n, stem in enumerate(dict.fromkeys(stems))}
    renamed = np.fromiter(map(stem_number.__getitem__, stems), dtype=np.int32, count=len(stems))
    return TokenTable(
        tokeniser=tokeniser.name,
        offsets=np.concatenate([[0], np.cumsum(counts)]),
        ids=renamed[ids] if len(ids) else ids,
        vocabulary=Vocabulary.of(list(stem_number)),
        tokenised=len(texts),
        places=lambda: _places(texts, tokeniser, counts),
    )


def _places(texts: Sequence[str], tokeniser: RougeTokeniser, counts: NDArray[np.int64]) -> Places:
    """Tokens are runs of a-z and 0-9; a line break, where it is a token, has no width."""
    lower = [text.lower() for text in texts]
    codes = code_points([part for text in lower for part in (text, _APART)])
    inside = ((codes >= ord("a")) & (codes <= ord("z"))) | (
        (codes >= ord("0")) & (codes <= ord("9"))
    )
    first = inside & ~np.concatenate([[False], inside[:-1]])
    start, end = np.flatnonzero(first), np.flatnonzero(inside & ~np.append(inside[1:], [False])) + 1
    if tokeniser.lines:
        breaks = np.flatnonzero(codes == _BREAK)
        order = np.argsort(np.concatenate([start, breaks]), kind="stable")
        start, end = (np.concatenate([side, breaks])[order] for side in (start, end))
    sizes = np.fromiter(map(len, lower), dtype=np.int64, count=len(lower)) + len(_APART)
    shift = np.repeat(np.cumsum(sizes) - sizes, counts)
    places = Places((start - shift).astype(np.int32), (end - shift).astype(np.int32))
    _correct(places, texts, lower, counts)
    return places


def _correct(
    places: Places, texts: Sequence[str], lower: Sequence[str], counts: NDArray[np.int64]
) -> None:
    """Turn places in the lower-cased text into those in the text, where its length differs (İ)."""
    start, end = places
    bounds = np.concatenate([[0], np.cumsum(counts)])
    for n, (text, low) in enumerate(zip(texts, lower, strict=True)):
        if len(text) == len(low) or not counts[n]:
            continue
        characters = lowered(text)
        rows = slice(bounds[n], bounds[n + 1])
        solid = end[rows] > start[rows]
        last = np.maximum(end[rows] - 1, start[rows])
        start[rows] = np.asarray(characters.starts)[start[rows]]
        end[rows] = np.where(solid, np.asarray(characters.ends)[last], start[rows])
