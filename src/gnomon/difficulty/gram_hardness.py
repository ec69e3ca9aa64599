"""Hardness of the n-grams of references for a pool of systems, and the counts for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from gnomon.metrics.comparisons import pair_rows
from gnomon.metrics.sequences import offsets_of, ranges

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.metrics.tokenise import TokenTable

__all__ = [
    "GramHardness",
    "GramRows",
    "GramTable",
    "GramVocabulary",
    "Weigh",
    "count",
    "gram_rows",
    "grams",
    "measure_grams",
    "ranked",
    "runs",
    "translate_ids",
]


# N-grams of many texts as integers: exact keys for any vocabulary and order.


@dataclass(frozen=True, eq=False)
class GramTable:
    """The n-grams of one order that begin at each position of T texts."""

    #: [T + 1]; the n-grams of text t are rows ``offsets[t]:offsets[t + 1]``
    offsets: NDArray[np.int64]
    key: NDArray[np.int64]  # [rows], equal for equal n-grams

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Number of n-grams of each text, int64 [T]."""
        sizes: NDArray[np.int64] = np.diff(self.offsets)
        return sizes


def grams(
    offsets: NDArray[np.int64], ids: NDArray[np.int64] | NDArray[np.int32], most: int
) -> list[GramTable]:
    """The n-grams of order 1 to ``most`` of texts; ids may be negative (masks)."""
    single = np.unique(ids, return_inverse=True)[1].reshape(-1).astype(np.int64)
    width = 1 + int(single.max(initial=0))
    ends = np.repeat(offsets[1:], np.diff(offsets))
    rank, position = single, np.arange(len(ids))
    tables = []
    for order in range(1, most + 1):
        if order > 1:
            kept = position + order <= ends[position]
            position, rank = position[kept], rank[kept]
            pairs = rank * width + single[position + order - 1]
            rank = np.unique(pairs, return_inverse=True)[1].reshape(-1)
        sizes = np.maximum(np.diff(offsets) - (order - 1), 0)
        tables.append(GramTable(np.concatenate([[0], np.cumsum(sizes)]), rank))
    return tables


@dataclass(frozen=True, eq=False)
class GramVocabulary:
    """N-grams with keys that do not depend on the texts at hand."""

    vocabulary: tuple[str, ...]  # their distinct tokens
    #: per order, ascending: rank of the n-gram without its last token (for order 1 always 0)
    #: times the size of the vocabulary, plus the last token
    keys: tuple[NDArray[np.int64], ...]

    @classmethod
    def from_ids(
        cls, offsets: NDArray[np.int64], ids: NDArray[np.int64], words: Sequence[str], most: int
    ) -> GramVocabulary:
        """The n-grams of some texts, given as ids of words."""
        used, ids = np.unique(ids, return_inverse=True)
        vocabulary = tuple(words[number] for number in used.tolist())
        keys: list[NDArray[np.int64]] = []
        ends = np.repeat(offsets[1:], np.diff(offsets))
        rank, position = np.zeros(len(ids), dtype=np.int64), np.arange(len(ids))
        ids = ids.reshape(-1).astype(np.int64)
        for order in range(1, most + 1):
            kept = position + order <= ends[position]
            position, rank = position[kept], rank[kept]
            distinct, back = np.unique(
                rank * len(vocabulary) + ids[position + order - 1], return_inverse=True
            )
            rank = back.reshape(-1).astype(np.int64)
            keys.append(distinct)
        return cls(vocabulary, tuple(keys))

    def ranks(
        self, offsets: NDArray[np.int64], ids: NDArray[np.int32]
    ) -> Iterator[NDArray[np.int64]]:
        """Per order, the rank of the n-gram at each position where one begins; -1 where unknown.

        Ids are indices into the vocabulary, -1 for other tokens.
        """
        ends = np.repeat(offsets[1:], np.diff(offsets))
        rank, position = np.zeros(len(ids), dtype=np.int64), np.arange(len(ids))
        for order, keys in enumerate(self.keys, start=1):
            kept = position + order <= ends[position]
            position, rank = position[kept], rank[kept]
            last = ids[position + order - 1]
            wanted = np.where((rank < 0) | (last < 0), -1, rank * len(self.vocabulary) + last)
            rank = ranked(keys, wanted)
            yield rank


def ranked(keys: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Position of each wanted key among ascending keys, int64; -1 where it is not there."""
    if not len(keys):
        return np.full(len(wanted), -1, dtype=np.int64)
    positions = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[positions] == wanted, positions, -1)


def translate_ids(
    vocabulary: GramVocabulary, words: Sequence[str], ids: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Ids of a vocabulary as indices into another; -1 for words that it lacks."""
    number = {word: n for n, word in enumerate(vocabulary.vocabulary)}
    renamed = np.fromiter((number.get(word, -1) for word in words), np.int32, len(words))
    return renamed[ids] if len(words) else np.zeros(0, dtype=np.int32)


# Weighted n-gram counts of comparisons, on arrays.


#: comparisons counted at a time, which bounds memory
_BLOCK = 8192


class Weigh(Protocol):
    """Segments and rows of n-grams in the tables -> the weights of these n-grams."""

    def __call__(
        self, segments: NDArray[np.int64], rows: NDArray[np.int64], /
    ) -> NDArray[np.float64]:
        """Float64, a weight for each row."""
        ...


class _Side(NamedTuple):
    """Distinct (comparison, n-gram) pairs, ascending: how often, and the weight of all of them."""

    keys: NDArray[np.int64]
    counts: NDArray[np.int64]
    weights: NDArray[np.float64]


def count(
    rows: GramRows,
    candidates: GramTable,
    references: GramTable,
    weigh: Weigh,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Counts of one order: of the candidates, and of the first reference of each comparison.

    An n-gram of a candidate is matched as often as it occurs, but at most as often as in the
    reference that has it most often. Where masks make different n-grams equal, each match weighs
    their mean. Equal n-grams have equal keys in both tables. Of each side float64 [P, 4]: matches,
    total, weighted matches, weight.
    """
    sides = np.zeros((len(rows), 4)), np.zeros((len(rows), 4))
    for low in range(0, len(rows), _BLOCK):
        block = slice(low, min(low + _BLOCK, len(rows)))
        for side, counts in zip(
            sides, _count(rows.part(block), candidates, references, weigh), strict=True
        ):
            side[block] = counts
    return sides


def _count(
    rows: GramRows,
    candidates: GramTable,
    references: GramTable,
    weigh: Weigh,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    width = 1 + max(int(candidates.key.max(initial=0)), int(references.key.max(initial=0)))
    every = np.arange(len(rows))
    side = _side(every, rows.segment, rows.candidate, candidates, width, weigh)
    number = np.diff(rows.offsets)
    owner = np.repeat(every, number)
    most = _most(owner, rows, references, width)
    first = _side(every, rows.segment, rows.references[rows.offsets[:-1]], references, width, weigh)
    return (
        _totals(side, *most, width, len(rows)),
        _totals(first, side.keys, side.counts, width, len(rows)),
    )


def _side(
    row: NDArray[np.int64],
    segment: NDArray[np.int64],
    text: NDArray[np.int64],
    table: GramTable,
    width: int,
    weigh: Weigh,
) -> _Side:
    sizes = table.sizes[text]
    at = ranges(table.offsets[text], sizes)
    keys = np.repeat(row, sizes) * width + table.key[at]
    distinct, back, counts = np.unique(keys, return_inverse=True, return_counts=True)
    weights = weigh(np.repeat(segment, sizes), at)
    total = np.bincount(back.reshape(-1), weights, len(distinct)).astype(np.float64)
    return _Side(distinct, counts, total)


def _most(
    owner: NDArray[np.int64], rows: GramRows, table: GramTable, width: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Distinct (comparison, n-gram) pairs, and the most often that one reference has each."""
    sizes = table.sizes[rows.references]
    gram = table.key[ranges(table.offsets[rows.references], sizes)]
    reference = np.repeat(np.arange(len(rows.references)), sizes)
    pairs, counts = np.unique(reference * width + gram, return_counts=True)
    keys, back = np.unique(owner[pairs // width] * width + pairs % width, return_inverse=True)
    most = np.zeros(len(keys), dtype=np.int64)
    np.maximum.at(most, back.reshape(-1), counts)
    return keys, most


def _totals(
    side: _Side,
    keys: NDArray[np.int64],
    most: NDArray[np.int64],
    width: int,
    rows: int,
) -> NDArray[np.float64]:
    """Matches, total, weighted matches and weight of every comparison, float64 [rows, 4]."""
    positions = ranked(keys, side.keys)
    most_of_keys = np.zeros(len(side.keys), dtype=np.int64)
    most_of_keys[positions >= 0] = most[positions[positions >= 0]]
    matched = np.minimum(side.counts, most_of_keys)
    row = side.keys // width
    columns = (matched, side.counts, matched * side.weights / side.counts, side.weights)
    return np.stack([np.bincount(row, column, rows) for column in columns], axis=-1)


# Candidates beside the references that judge them.


@dataclass(frozen=True, eq=False)
class GramRows:
    """P comparisons of a candidate with one reference, or with several that count together."""

    cell: NDArray[np.int64]  # [P], system * N + segment; never decreases
    segment: NDArray[np.int64]  # [P], number of the segment in its test set, from 0
    candidate: NDArray[np.int64]  # [P], text of the candidate
    #: [P + 1]; the references of comparison p are ``references[offsets[p]:offsets[p + 1]]``
    offsets: NDArray[np.int64]
    references: NDArray[np.int64]  # texts

    def __len__(self) -> int:
        return len(self.cell)

    def part(self, rows: slice) -> GramRows:
        """Some of the comparisons."""
        low, high = int(self.offsets[rows.start]), int(self.offsets[rows.stop])
        return GramRows(
            self.cell[rows],
            self.segment[rows],
            self.candidate[rows],
            self.offsets[rows.start : rows.stop + 1] - low,
            self.references[low:high],
        )


def gram_rows(batch: Batch, *, union: bool) -> GramRows:
    """The comparisons of a batch: one for each cell, or one for each cell and reference."""
    rows = pair_rows(batch)
    cell, first = (
        np.unique(rows.cell, return_index=True) if union else (rows.cell, np.arange(len(rows.cell)))
    )
    return GramRows(
        cell=cell,
        segment=batch.segments[cell % max(batch.shape[1], 1)].astype(np.int64),
        candidate=rows.candidate[first],
        offsets=np.append(first, len(rows.cell)),
        references=rows.reference,
    )


#: length of the outputs that are looked at together, which bounds memory
_CHARACTERS = 1 << 23


def runs(batch: Batch) -> Iterator[Batch]:
    """Runs of segments that are looked at one after the other, of all systems at once."""
    return batch.blocks(_CHARACTERS)


# Hardness of the n-grams of the references: d(g) = 1 - share of the pool that has g.


@dataclass(frozen=True, eq=False)
class GramHardness:
    """Difficulties of the n-grams of the references of every segment, order by order."""

    known: GramVocabulary
    #: per order, ascending: segment times number of n-grams, plus the n-gram
    keys: tuple[NDArray[np.int64], ...]
    missed: tuple[NDArray[np.float64], ...]  # per order, d of each
    systems: int  # systems in the pool
    references: frozenset[tuple[int, str]]  # (segment, text) of every reference, segments from 0
    pool: str  # what chose the pool, for signatures
    #: per system of the pool and order, whether it has each n-gram; kept where a system is not to
    #: judge itself
    own: Mapping[str, tuple[NDArray[np.bool_], ...]] = field(default_factory=dict)
    #: of difficulties from a file, the kinds of human scores that chose its pool
    human: tuple[str, ...] = ()

    def leave_out(self, system: str) -> tuple[NDArray[np.float64], ...]:
        """Difficulties by the other systems of the pool."""
        if system not in self.own:
            return self.missed
        left = self.systems - 1
        return tuple(
            (missed * self.systems - ~has) / left
            for missed, has in zip(self.missed, self.own[system], strict=True)
        )

    def find(
        self, order: int, segment: NDArray[np.int64], rank: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Position of n-grams among those of their segment's references; -1 where they lack it."""
        width = max(len(self.known.keys[order - 1]), 1)
        return ranked(self.keys[order - 1], np.where(rank < 0, -1, segment * width + rank))


def measure_grams(
    batch: Batch,
    tokenise: Callable[[tuple[str, ...]], TokenTable],
    pool: Sequence[str],
    identity: str,
    *,
    most: int,
    keep: bool,
) -> GramHardness:
    """Measure the hardness of n-grams for a pool; the batch has all segments in order."""
    segment, text = segment_references(batch)
    parts = list(runs(batch))
    texts = batch.texts
    if len(parts) > 1:  # the tokens of all outputs would not fit
        theirs, text = np.unique(text, return_inverse=True)
        texts = tuple(batch.texts[position] for position in theirs.tolist())
    table = tokenise(texts)
    words = table.ids[ranges(table.offsets[text], table.lengths[text])].astype(np.int64)
    vocabulary = GramVocabulary.from_ids(
        offsets_of(table.lengths[text]), words, table.vocabulary, most
    )
    systems = [batch.systems.index(name) for name in pool]
    counted = []
    for run in parts:
        tokens = tokenise(run.texts)
        ids = translate_ids(vocabulary, tokens.vocabulary, tokens.ids)
        position, theirs = segment_references(run)
        every = np.arange(len(run.segments))
        places = np.concatenate([position, *(every for _ in systems)])
        numbers = run.segments[places].astype(np.int64)
        by_order = _had(tokens, ids, vocabulary, [theirs, *run.candidates[systems]], numbers)
        counted.append([_counted_block(there, had, keep=keep) for there, had in by_order])
    blocks = list(zip(*counted, strict=True))  # per order
    keys = [np.concatenate([block.keys for block in order]) for order in blocks]
    missed = [
        1 - np.concatenate([block.systems for block in order]) / len(pool) for order in blocks
    ]
    hits = {
        name: tuple(np.concatenate([block.own[k] for block in order]) for order in blocks)
        for k, name in enumerate(pool if keep else ())
    }
    references = frozenset(
        (int(batch.segments[n]), batch.texts[t])
        for n, t in zip(segment.tolist(), text.tolist(), strict=True)
    )
    return GramHardness(
        vocabulary, tuple(keys), tuple(missed), len(pool), references, identity, hits
    )


class _Block(NamedTuple):
    """N-grams of one order of the references of some segments."""

    keys: NDArray[np.int64]
    systems: NDArray[np.int64]  # that have each
    own: Sequence[NDArray[np.bool_]]  # per system, whether it has each; where that is kept


def _counted_block(
    keys: NDArray[np.int64], had: Iterable[NDArray[np.bool_]], *, keep: bool
) -> _Block:
    number = np.zeros(len(keys), dtype=np.int64)
    kept = []
    for has in had:
        number += has
        if keep:
            kept.append(has)
    return _Block(keys, number, kept)


def _had(
    tokens: TokenTable,
    ids: NDArray[np.int32],
    vocabulary: GramVocabulary,
    texts: Sequence[NDArray[np.int64] | NDArray[np.int32]],
    segments: NDArray[np.int64],
) -> Iterator[tuple[NDArray[np.int64], Iterator[NDArray[np.bool_]]]]:
    """Per order, the n-grams of some references as keys, and which of them each system has."""
    every = np.concatenate(texts)
    lengths = tokens.lengths[every]
    text_ids = ids[ranges(tokens.offsets[every], lengths)]
    ends = np.cumsum([len(each) for each in texts])
    for order, rank in enumerate(vocabulary.ranks(offsets_of(lengths), text_ids), start=1):
        sizes = np.maximum(lengths - (order - 1), 0)
        width = max(len(vocabulary.keys[order - 1]), 1)
        keys = np.where(rank < 0, -1, np.repeat(segments, sizes) * width + rank)
        theirs, *systems = np.split(keys, offsets_of(sizes)[ends[:-1]])
        reference_keys = np.unique(theirs)
        reference_keys = reference_keys[reference_keys >= 0]
        yield reference_keys, (np.isin(reference_keys, system_keys) for system_keys in systems)


def segment_references(batch: Batch) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Segment (position in the batch) and text of every distinct reference of a segment."""
    lists = [batch.references, *batch.system_references.values()]
    segment = np.concatenate([np.repeat(np.arange(len(r)), np.diff(r.offsets)) for r in lists])
    text = np.concatenate([r.indices for r in lists]).astype(np.int64)
    pairs = np.unique(np.stack([segment, text], axis=-1), axis=0).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]
