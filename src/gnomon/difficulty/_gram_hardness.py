"""How hard the n-grams of the references were: d(g) = 1 - share of the pool that has g."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from gnomon.difficulty._grams import GramTable, Known, known_ids, ranked
from gnomon.metrics._sequences import ranges

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.batch import Batch
    from gnomon.metrics.tokenise import TokenTable

__all__ = ["GramHardness", "measure_grams"]


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
        batch: at least the systems of the pool.
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
    ranks = known.ranks(tokens.offsets, ids)
    systems = [batch.systems.index(name) for name in pool]
    keys, missed = [], []
    has: dict[str, list[NDArray[np.bool_]]] = {name: [] for name in pool}
    for order, rank in enumerate(ranks, start=1):
        table = _table(tokens, order, rank)
        width = max(len(known.keys[order - 1]), 1)
        there = np.unique(_keys(table, text, batch.segments[segment], width))
        there = there[there >= 0]
        counts = np.zeros(len(there))
        for name, k in zip(pool, systems, strict=True):
            mine = ranked(there, _keys(table, batch.candidates[k], batch.segments, width))
            found = np.zeros(len(there), dtype=np.bool_)
            found[mine[mine >= 0]] = True
            counts += found
            has[name].append(found)
        keys.append(there)
        missed.append(1 - counts / len(pool))
    references = frozenset(
        (int(batch.segments[n]), batch.texts[t])
        for n, t in zip(segment.tolist(), text.tolist(), strict=True)
    )
    kept = {name: tuple(rows) for name, rows in has.items()} if keep else {}
    return GramHardness(known, tuple(keys), tuple(missed), len(pool), references, identity, kept)


def _references(batch: Batch) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Segment (position in the batch) and text of every distinct reference of a segment."""
    lists = [batch.references, *batch.system_references.values()]
    segment = np.concatenate([np.repeat(np.arange(len(r)), np.diff(r.offsets)) for r in lists])
    text = np.concatenate([r.indices for r in lists]).astype(np.int64)
    pairs = np.unique(np.stack([segment, text], axis=-1), axis=0).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def _table(tokens: TokenTable, order: int, rank: NDArray[np.int64]) -> GramTable:
    sizes = np.maximum(tokens.lengths - (order - 1), 0)
    return GramTable(np.concatenate([[0], np.cumsum(sizes)]), rank, rank)


def _keys(
    table: GramTable,
    texts: NDArray[np.int64] | NDArray[np.int32],
    segments: NDArray[np.int64] | NDArray[np.int32],
    width: int,
) -> NDArray[np.int64]:
    """Segment and rank of the n-grams of some texts as one number each; -1 where unknown."""
    texts = texts.astype(np.int64)
    sizes = table.sizes[texts]
    rank = table.key[ranges(table.offsets[texts], sizes)]
    return np.where(rank < 0, -1, np.repeat(segments.astype(np.int64), sizes) * width + rank)
