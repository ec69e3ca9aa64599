"""How hard the n-grams of the references were: d(g) = 1 - share of the pool that has g."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from gnomon.difficulty._grams import Known, known_ids, ranked
from gnomon.metrics.sequences import offsets_of, ranges

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.batch import Batch
    from gnomon.metrics.tokenise import TokenTable

__all__ = ["GramHardness", "measure_grams"]

#: segments whose n-grams are numbered at a time, which bounds memory
_SEGMENTS = 4096


@dataclass(frozen=True, eq=False)
class GramHardness:
    """Difficulties of the n-grams of the references of every segment, order by order.

    Attributes:
        known: the n-grams.
        keys: per order, int64, ascending: segment times number of n-grams, plus the n-gram.
        missed: per order, float64, d of each.
        systems: systems in the pool.
        references: (segment, text) of every reference, segments from 0.
        pool: what chose the pool, for signatures.
        own: per system of the pool and order, bool: whether it has each n-gram; kept where a
            system is not to judge itself.
        human: of difficulties from a file, the kinds of human scores that chose its pool.
    """

    known: Known
    keys: tuple[NDArray[np.int64], ...]
    missed: tuple[NDArray[np.float64], ...]
    systems: int
    references: frozenset[tuple[int, str]]
    pool: str
    own: Mapping[str, tuple[NDArray[np.bool_], ...]] = field(default_factory=dict)
    human: tuple[str, ...] = ()

    def without(self, system: str) -> tuple[NDArray[np.float64], ...]:
        """Difficulties by the other systems of the pool."""
        if system not in self.own:
            return self.missed
        left = self.systems - 1
        return tuple(
            (missed * self.systems - ~own) / left
            for missed, own in zip(self.missed, self.own[system], strict=True)
        )

    def find(
        self, order: int, segment: NDArray[np.int64], rank: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Position of n-grams among those of their segment's references; -1 where they lack it."""
        width = max(len(self.known.keys[order - 1]), 1)
        return ranked(self.keys[order - 1], np.where(rank < 0, -1, segment * width + rank))


def measure_grams(
    batch: Batch,
    tokens: TokenTable,
    pool: Sequence[str],
    identity: str,
    *,
    most: int,
    keep: bool,
) -> GramHardness:
    """How hard the n-grams were for the systems of a pool.

    Args:
        batch: all segments of a test set in order, and at least the systems of the pool.
        tokens: of its texts.
        pool: their names.
        identity: what to call the pool.
        most: the longest order.
        keep: whether each system's own part is kept, so that it can be left out.
    """
    segment, text = _references(batch)
    own = tokens.ids[ranges(tokens.offsets[text], tokens.lengths[text])].astype(np.int64)
    bounds = np.concatenate([[0], np.cumsum(tokens.lengths[text])])
    known = Known.of(bounds, own, tokens.vocabulary, most)
    ids = known_ids(known, tokens.vocabulary, tokens.ids)
    systems = [batch.systems.index(name) for name in pool]
    parts = []
    for low in range(0, max(len(batch.segments), 1), _SEGMENTS):
        some = np.arange(low, min(low + _SEGMENTS, len(batch.segments)))
        mine = slice(*np.searchsorted(segment, [low, low + _SEGMENTS]).tolist())
        texts = [text[mine], *(batch.candidates[k, some] for k in systems)]
        places = np.concatenate([segment[mine], *(some for _ in systems)])
        numbers = batch.segments[places].astype(np.int64)
        parts.append(list(_had(tokens, ids, known, texts, numbers)))
    orders = [
        [np.concatenate(part) for part in zip(*each, strict=True)]
        for each in zip(*parts, strict=True)
    ]
    keys = [there for there, *_ in orders]
    missed = [1 - np.sum(had, axis=0) / len(pool) for _, *had in orders]
    has = {name: tuple(had[k] for _, *had in orders) for k, name in enumerate(pool)}
    references = frozenset(
        (int(batch.segments[n]), batch.texts[t])
        for n, t in zip(segment.tolist(), text.tolist(), strict=True)
    )
    kept = has if keep else {}
    return GramHardness(known, tuple(keys), tuple(missed), len(pool), references, identity, kept)


def _had(
    tokens: TokenTable,
    ids: NDArray[np.int32],
    known: Known,
    texts: Sequence[NDArray[np.int64] | NDArray[np.int32]],
    segments: NDArray[np.int64],
) -> Iterator[tuple[NDArray[np.int64] | NDArray[np.bool_], ...]]:
    """Per order, the n-grams of some references as keys, and which of them each system has.

    Args:
        tokens: of all texts.
        ids: of all tokens, among the known ones.
        known: the n-grams.
        texts: of the references, and of each system.
        segments: of all these texts.
    """
    every = np.concatenate(texts)
    lengths = tokens.lengths[every]
    own = ids[ranges(tokens.offsets[every], lengths)]
    ends = np.cumsum([len(each) for each in texts])
    for order, rank in enumerate(known.ranks(offsets_of(lengths), own), start=1):
        sizes = np.maximum(lengths - (order - 1), 0)
        width = max(len(known.keys[order - 1]), 1)
        keys = np.where(rank < 0, -1, np.repeat(segments, sizes) * width + rank)
        theirs, *systems = np.split(keys, offsets_of(sizes)[ends[:-1]])
        there = np.unique(theirs)
        there = there[there >= 0]
        yield there, *(np.isin(there, one) for one in systems)


def _references(batch: Batch) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Segment (position in the batch) and text of every distinct reference of a segment."""
    lists = [batch.references, *batch.system_references.values()]
    segment = np.concatenate([np.repeat(np.arange(len(r)), np.diff(r.offsets)) for r in lists])
    text = np.concatenate([r.indices for r in lists]).astype(np.int64)
    pairs = np.unique(np.stack([segment, text], axis=-1), axis=0).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]
