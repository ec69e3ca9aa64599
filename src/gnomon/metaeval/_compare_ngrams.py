"""The n-grams that only one of two systems gets right."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.batch import Batch
    from gnomon.metrics.tokenise import TokenTable

__all__ = ["Matches", "OnlyHere", "only_here", "reference_matches"]


class Matches(NamedTuple):
    """Which n-grams of the references each system gets right, for one length.

    A cell is an n-gram of a segment's references.

    Attributes:
        gram: int64 [C], number of each cell's n-gram.
        held: int64 [C], how often a reference of the segment holds it (the one that does most).
        matched: int64 [K, C], how often the system matches it, ``held`` at most.
        examples: int64 [G, n], the tokens of each n-gram, by its number.
    """

    gram: NDArray[np.int64]
    held: NDArray[np.int64]
    matched: NDArray[np.int64]
    examples: NDArray[np.int64]


class OnlyHere(NamedTuple):
    """An n-gram that one system matches where the other does not.

    Attributes:
        tokens: ids of its tokens.
        right: matches that the other output of the segment lacks.
        other: the reverse.
        held: occurrences in the references.
    """

    tokens: tuple[int, ...]
    right: int
    other: int
    held: int


def reference_matches(batch: Batch, table: TokenTable, longest: int) -> list[Matches]:
    """Matches of all n-grams of the shared references, for n from 1 to ``longest``.

    Args:
        batch: outputs and references.
        table: the tokens of its texts.
        longest: of the n-grams.
    """
    grams = table.ids.astype(np.int64)
    tokens = grams
    starts = np.arange(len(grams))
    room = table.offsets[1:][table.text_of] - starts
    found = []
    for n in range(1, longest + 1):
        if n > 1:  # the n-gram before, and its last token
            inside = np.flatnonzero(room >= n)
            pairs = np.full(len(grams), -1, dtype=np.int64)
            stride = 1 + int(tokens.max(initial=0))
            pairs[inside] = grams[inside] * stride + tokens[inside + n - 1]
            grams = pairs
        known, first, numbers = np.unique(grams, return_index=True, return_inverse=True)
        grams = np.where(room >= n, numbers, -1)
        examples = tokens[np.minimum(first[:, None] + np.arange(n), max(0, len(tokens) - 1))]
        found.append(_matches(batch, table, grams, examples, max(1, len(known))))
    return found


def only_here(matches: Matches, here: int, there: int, most: int) -> list[OnlyHere]:
    """The n-grams that most often only one system gets right.

    Args:
        matches: of n-grams of one length.
        here: position of the system.
        there: position of the other one.
        most: how many are returned.

    Returns:
        Ordered by matches only here less matches only there; of equal ones, the more matches, then
        the earlier n-gram in the references.
    """
    gain = matches.matched[here] - matches.matched[there]
    size = len(matches.examples)
    right = np.bincount(matches.gram, np.maximum(gain, 0), size).astype(np.int64)
    other = np.bincount(matches.gram, np.maximum(-gain, 0), size).astype(np.int64)
    held = np.bincount(matches.gram, matches.held, size).astype(np.int64)
    places = np.flatnonzero(right > other)
    order = places[np.lexsort((places, -right[places], (other - right)[places]))][:most]
    columns = (column[order].tolist() for column in (matches.examples, right, other, held))
    return [OnlyHere(tuple(tokens), *counts) for tokens, *counts in zip(*columns, strict=True)]


def _matches(
    batch: Batch,
    table: TokenTable,
    grams: NDArray[np.int64],
    examples: NDArray[np.int64],
    size: int,
) -> Matches:
    segments = len(batch.segments)
    rows = batch.references
    place = np.repeat(np.arange(segments), np.diff(rows.offsets))
    keys, held = _most_held(rows.indices, place, table, grams, size)
    matched = np.zeros((len(batch.systems), len(keys)), dtype=np.int64)
    for k, texts in enumerate(batch.candidates):
        cells, counts = np.unique(
            _keys(texts, np.arange(segments), table, grams, size), return_counts=True
        )
        _, at, of = np.intersect1d(keys, cells, assume_unique=True, return_indices=True)
        matched[k, at] = np.minimum(counts[of], held[at])
    return Matches(keys % size, held, matched, examples)


def _most_held(
    texts: NDArray[np.int32],
    segments: NDArray[np.int64],
    table: TokenTable,
    grams: NDArray[np.int64],
    size: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Cells of the references, and the count of the reference that holds each most often."""
    count = max(1, len(texts))
    own = _keys(texts, np.arange(len(texts)), table, grams, size)  # one key per reference
    cells, counts = np.unique(own, return_counts=True)
    keys = segments[cells // size] * size + cells % size if len(texts) else cells
    order = np.lexsort((counts, keys))
    last = np.append(np.diff(keys[order]) > 0, True)[: len(order)] if count else order
    return keys[order][last], counts[order][last]


def _keys(
    texts: NDArray[np.int32],
    places: NDArray[np.int64],
    table: TokenTable,
    grams: NDArray[np.int64],
    size: int,
) -> NDArray[np.int64]:
    """Place * size + n-gram, for every n-gram of some texts."""
    lengths = table.lengths[texts]
    ends = np.cumsum(lengths)
    first = np.repeat(table.offsets[texts] - (ends - lengths), lengths)
    found = grams[first + np.arange(int(lengths.sum()))]
    keys = np.repeat(places, lengths) * size + found
    return np.asarray(keys[found >= 0])
