"""The n-grams that only one of two systems gets right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gnomon.core.records import SYSTEM, Record, column
from gnomon.metrics.tokenise import tokeniser_needs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.dependencies import Dependency
    from gnomon.metrics.tokenise import TokenTable

# The n-grams that only one of two systems gets right.


#: tokens that are looked up at a time
_BLOCK = 1 << 16
#: length of the longest n-grams
_LONGEST = 4
#: segments whose matches are counted at a time
_SEGMENTS = 4096


BASELINE: Any = column("Baseline", help="the system that it is compared with")


class NgramRow(Record):
    """An n-gram that only one of two systems gets right."""

    system: str = SYSTEM
    baseline: str = BASELINE
    side: str = column("Right only in", help="whose matches are counted")
    n: int = column("n", help="length in tokens")
    rank: int = column("Rank", help="among the phrases of this length and side")
    ngram: str = column("Phrase", help="its tokens")
    count: int = column("This system only", help="matches that the other output lacks")
    other: int = column("The other only", help="matches that only the other output has")
    reference: int = column("In references", help="occurrences in the references")


class NgramMatches(NamedTuple):
    """Which n-grams of the references each system gets right, for one length.

    A cell is an n-gram of a segment's references.
    """

    gram: NDArray[np.int64]  # [C], number of each cell's n-gram
    held: NDArray[np.int64]  # [C], most occurrences in one reference of the segment
    matched: NDArray[np.int32]  # [K, C], how often the system matches it, ``held`` at most
    examples: NDArray[np.int32]  # [G, n], the tokens of each n-gram, by its number


class OnlyHere(NamedTuple):
    """An n-gram that one system matches where the other does not."""

    tokens: tuple[int, ...]  # their ids
    right: int  # matches that the other output of the segment lacks
    other: int  # the reverse
    held: int  # occurrences in the references


def reference_matches(batch: Batch, table: TokenTable, longest: int) -> Iterator[NgramMatches]:
    """Matches of all n-grams of the references, length by length, from 1 to ``longest``."""
    tokens, lengths = table.ids, table.lengths
    referred = np.zeros(len(table), bool)
    referred[batch.references.indices] = True
    referred = np.repeat(referred, lengths)
    remaining = np.full(len(tokens), longest, np.int16)  # tokens from here on, at most the longest
    for left in range(longest - 1, 0, -1):
        remaining[table.offsets[1:][lengths >= left] - left] = left
    stride = 1 + int(tokens.max(initial=0))
    grams = np.zeros(len(tokens), np.int32)  # of length 0: there is one
    for n in range(1, longest + 1):

        def keys(places: NDArray[np.int64], n: int = n) -> NDArray[np.int64]:
            """The n-gram before, and its last token."""
            return grams[places] * np.int64(stride) + tokens[places + n - 1]

        theirs = np.flatnonzero(referred & (remaining >= n))
        referred_keys, first = np.unique(keys(theirs), return_index=True)
        known_or_none = np.append(referred_keys, -1)
        examples = tokens[theirs[first][:, None] + np.arange(n)]
        for start in range(0, len(tokens), _BLOCK):
            block = slice(start, start + _BLOCK)
            # an n-gram is in no reference if its beginning is in none
            inside = start + np.flatnonzero((remaining[block] >= n) & (grams[block] >= 0))
            wanted = keys(inside)
            numbers = np.searchsorted(referred_keys, wanted)
            same = known_or_none[numbers] == wanted
            grams[block] = -1
            grams[inside[same]] = numbers[same]
        yield _matches(batch, table, grams, examples, max(1, len(referred_keys)))


def only_here(matches: NgramMatches, here: int, there: int, most: int) -> list[OnlyHere]:
    """The n-grams that most often only one system gets right.

    Ordered by matches only here less matches only there; of equal ones, the more matches, then the
    earlier n-gram in the references.
    """
    gain = matches.matched[here] - matches.matched[there]
    size = len(matches.examples)
    right = np.bincount(matches.gram, np.maximum(gain, 0), size).astype(np.int64)
    other = np.bincount(matches.gram, np.maximum(-gain, 0), size).astype(np.int64)
    in_references = np.bincount(matches.gram, matches.held, size).astype(np.int64)
    places = np.flatnonzero(right > other)
    order = places[np.lexsort((places, -right[places], (other - right)[places]))][:most]
    columns = (column[order].tolist() for column in (matches.examples, right, other, in_references))
    return [OnlyHere(tuple(tokens), *counts) for tokens, *counts in zip(*columns, strict=True)]


def _matches(
    batch: Batch,
    table: TokenTable,
    grams: NDArray[np.int32],
    examples: NDArray[np.int32],
    size: int,
) -> NgramMatches:
    count = len(batch.segments)
    parts = [
        _cells(batch, table, grams, size, range(at, min(at + _SEGMENTS, count)))
        for at in range(0, max(1, count), _SEGMENTS)
    ]
    gram, in_references, matched = (
        np.concatenate(columns, axis=-1) for columns in zip(*parts, strict=True)
    )
    return NgramMatches(gram, in_references, matched, examples)


def _cells(
    batch: Batch,
    table: TokenTable,
    grams: NDArray[np.int32],
    size: int,
    segments: range,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """N-gram, occurrences in references and matches of the cells of some segments."""
    places = np.arange(segments.start, segments.stop)
    bounds = batch.references.offsets[segments.start : segments.stop + 1]
    texts = batch.references.indices[bounds[0] : bounds[-1]]
    segment_of_text = np.repeat(places, np.diff(bounds))
    keys, in_references = _most_held(texts, segment_of_text, table, grams, size)
    matched = np.zeros((len(batch.systems), len(keys)), dtype=np.int32)
    for k, outputs in enumerate(batch.candidates):
        cells, counts = np.unique(
            _keys(outputs[places], places, table, grams, size), return_counts=True
        )
        _, at, of = np.intersect1d(keys, cells, assume_unique=True, return_indices=True)
        matched[k, at] = np.minimum(counts[of], in_references[at])
    return keys % size, in_references, matched


def _most_held(
    texts: NDArray[np.int32],
    segments: NDArray[np.int64],
    table: TokenTable,
    grams: NDArray[np.int32],
    size: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Cells of the references, and the count of the reference that holds each most often."""
    count = max(1, len(texts))
    by_reference = _keys(texts, np.arange(len(texts)), table, grams, size)
    cells, counts = np.unique(by_reference, return_counts=True)
    keys = segments[cells // size] * size + cells % size if len(texts) else cells
    order = np.lexsort((counts, keys))
    last = np.append(np.diff(keys[order]) > 0, True)[: len(order)] if count else order
    return keys[order][last], counts[order][last]


def _keys(
    texts: NDArray[np.int32],
    places: NDArray[np.int64],
    table: TokenTable,
    grams: NDArray[np.int32],
    size: int,
) -> NDArray[np.int64]:
    """Place * size + n-gram, for every n-gram of some texts."""
    lengths = table.lengths[texts]
    ends = np.cumsum(lengths)
    first = np.repeat(table.offsets[texts] - (ends - lengths), lengths)
    numbers = grams[first + np.arange(int(lengths.sum()))]
    keys = np.repeat(places, lengths) * size + numbers
    return np.asarray(keys[numbers >= 0])


# Rows


def ngram_rows(batch: Batch, table: TokenTable, *, most: int) -> list[NgramRow]:
    """The n-grams that each system, and the baseline (the first), alone gets right.

    ``most`` are listed per system, side and length.
    """
    pairs = [(k, here, k - here) for k in range(1, len(batch.systems)) for here in (k, 0)]
    ranked: list[list[list[OnlyHere]]] = [[] for _ in pairs]
    for matches in reference_matches(batch, table, _LONGEST):  # of one length at a time
        for by_length, (_, here, there) in zip(ranked, pairs, strict=True):
            by_length.append(only_here(matches, here, there, most))
    return [
        NgramRow(
            system=batch.systems[k],
            baseline=batch.systems[0],
            side=batch.systems[here],
            n=n,
            rank=rank,
            ngram=" ".join(table.vocabulary[token] for token in gram.tokens),
            count=gram.right,
            other=gram.other,
            reference=gram.held,
        )
        for by_length, (k, here, _) in zip(ranked, pairs, strict=True)
        for rank, n, gram in _interleave(by_length)
    ]


def _interleave(found: list[list[OnlyHere]]) -> Iterator[tuple[int, int, OnlyHere]]:
    """Rank by rank, so that the first few are of all lengths: rank, length, n-gram."""
    for rank in range(1, max(map(len, found), default=0) + 1):
        for n, ranked in enumerate(found, start=1):
            if rank <= len(ranked):
                yield rank, n, ranked[rank - 1]


def needs(most: int, language: str | None, options: Mapping[str, object]) -> tuple[Dependency, ...]:
    """Dependencies of n-grams, and of the words that are marked in segments."""
    return tokeniser_needs(None, language) if most or options["examples"] else ()
