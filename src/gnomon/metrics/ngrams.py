"""Matches of n-grams: counted for many candidates at once, and the power of metrics made of them.

An n-gram is the rank of its first n-1 ids and the rank of its last id, ranks being taken among the
n-grams of the references of one group: exact for any vocabulary and order, and a candidate's
n-gram whose beginning no reference holds is dropped at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

import numpy as np

from gnomon.metrics import _compiled
from gnomon.metrics.masking import Action
from gnomon.metrics.sequences import Sequences, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import ModuleType

    from numpy.typing import NDArray

    from gnomon.metrics.sequences import Masks, NgramLayout, TokenMasks
    from gnomon.metrics.tokenise import TokenTable

__all__ = ["NgramCounts", "Ngrams"]


@dataclass(frozen=True, eq=False)
class NgramCounts:
    """Counts of n-grams of the orders of a metric; matches need not be whole numbers.

    Attributes:
        lengths: float64 [..., 2], tokens of the candidate and of the reference that counts.
        matches: float64 [..., n], matched n-grams of the candidate.
        candidate: float64 [..., n], its n-grams.
        recalled: float64 [..., n], matched n-grams of the reference.
        reference: float64 [..., n], its n-grams.
    """

    lengths: NDArray[np.float64]
    matches: NDArray[np.float64]
    candidate: NDArray[np.float64]
    recalled: NDArray[np.float64]
    reference: NDArray[np.float64]


@runtime_checkable
class Ngrams(Protocol):
    """Power: scores from counts of n-grams."""

    @property
    def ngram_orders(self) -> tuple[int, ...]:
        """Lengths of the n-grams that count."""
        ...

    @property
    def ngram_union(self) -> bool:
        """Whether n-grams of all references count together (BLEU), or the best reference."""
        ...

    @property
    def ngram_sums(self) -> bool:
        """Whether the corpus score comes from summed counts (BLEU), or is a mean over segments."""
        ...

    def ngram_tokens(self, texts: tuple[str, ...]) -> TokenTable:
        """The tokens of texts."""
        ...

    def ngram_scores(self, counts: NgramCounts, *, corpus: bool) -> NDArray[np.float64]:
        """Scores [...] of counts: of segments, or of their sums over a corpus."""
        ...


# Clipped n-gram matches of many candidates with their references, on arrays of integers.


#: positions counted in one go: bounds memory, and keeps the arrays in the processor's cache
_CHUNK = 1 << 17
#: ranks are looked up in a plain array while it has at most this many cells per key
_SPARSEST = 32


class Sides(NamedTuple):
    """P candidates and R references; a candidate is compared with the references of its group.

    Attributes:
        candidates: the candidates.
        candidate_group: int64 [P], ascending.
        references: the references.
        reference_group: int64 [R], ascending.
    """

    candidates: Sequences
    candidate_group: NDArray[np.int64]
    references: Sequences
    reference_group: NDArray[np.int64]


def totals(lengths: NDArray[np.int64], orders: int) -> NDArray[np.int64]:
    """Number of n-grams of length 1, 2, ... in sequences of these lengths, int64 [..., orders].

    >>> totals(np.array([3, 0]), 4).tolist()
    [[3, 2, 1, 0], [0, 0, 0, 0]]
    """
    counts: NDArray[np.int64] = np.maximum(lengths[..., None] - np.arange(orders), 0)
    return counts


def clipped_matches(sides: Sides, orders: int) -> NDArray[np.int64]:
    """How many n-grams of length 1, 2, ... of each candidate its references hold.

    An n-gram counts as often as it occurs in the candidate, but at most as often as in the
    reference that holds it most often (Papineni et al. 2002, modified precision).

    Returns:
        int64 [P, orders].
    """
    matches = np.zeros((len(sides.candidate_group), orders), dtype=np.int64)
    for rows, part in _chunks(sides):
        for order, found in enumerate(_orders(part, orders)):
            matches[rows, order] = found
    return matches


def _chunks(sides: Sides) -> Iterator[tuple[slice, Sides]]:
    groups = 1 + max(int(g.max(initial=-1)) for g in (sides.candidate_group, sides.reference_group))
    sizes = np.bincount(sides.candidate_group, sides.candidates.lengths, groups)
    sizes = sizes + np.bincount(sides.reference_group, sides.references.lengths, groups)
    chunk = np.cumsum(sizes) // _CHUNK
    for number in np.unique(chunk[sides.candidate_group]):
        low, high = np.searchsorted(chunk, [number, number + 0.5])
        rows, against = (
            slice(*np.searchsorted(group, [low, high]).tolist())
            for group in (sides.candidate_group, sides.reference_group)
        )
        yield (
            rows,
            Sides(
                _part(sides.candidates, rows),
                sides.candidate_group[rows] - low,
                _part(sides.references, against),
                sides.reference_group[against] - low,
            ),
        )


def _part(sequences: Sequences, rows: slice) -> Sequences:
    offsets = sequences.offsets[rows.start : rows.stop + 1]
    return Sequences(offsets - offsets[0], sequences.ids[offsets[0] : offsets[-1]])


class _GroupSide:
    """The n-grams of one side that may still match, order by order.

    Attributes:
        row: the sequence of each position.
        last: what a position adds to an n-gram that it ends; -1 where nothing can match it.
        position: first position of each n-gram.
        rank: rank of each n-gram.
    """

    def __init__(self, sequences: Sequences, group: NDArray[np.int64]) -> None:
        self.row = rows_of(sequences)
        self.group = group[self.row]
        self.position = np.arange(len(self.row))
        self.rank = self.position
        self.last = self.position

    def keys(self, order: int, width: int) -> NDArray[np.int64]:
        """Extend the n-grams by one position, leave out those that cannot be, and name them."""
        end = self.position + (order - 1)
        inside = np.flatnonzero(end < len(self.row))
        end, start = end[inside], self.position[inside]
        keep = (self.row[end] == self.row[start]) & (self.last[end] >= 0)
        self.position = start[keep]
        keys: NDArray[np.int64] = self.rank[inside[keep]] * width + self.last[end[keep]]
        return keys

    def settle(self, rank: NDArray[np.int64]) -> None:
        """Keep the n-grams that have a rank."""
        found = np.flatnonzero(rank >= 0)
        self.position, self.rank = self.position[found], rank[found]


def _orders(sides: Sides, orders: int) -> Iterator[NDArray[np.int64]]:
    """The matches of each order in turn, int64 [P]."""
    candidate = _GroupSide(sides.candidates, sides.candidate_group)
    reference = _GroupSide(sides.references, sides.reference_group)
    width = _start(candidate, reference, sides)
    for order in range(1, orders + 1):
        if order > 1:
            ranks = _ranks(reference.keys(order, width), candidate.keys(order, width))
            reference.settle(ranks[0])
            candidate.settle(ranks[1])
        yield _clipped(candidate, reference, len(sides.candidate_group))


def _start(candidate: _GroupSide, reference: _GroupSide, sides: Sides) -> int:
    """Rank the single ids; return how many different ones a group of references has at most."""
    ids = sides.candidates.ids.astype(np.int64), sides.references.ids.astype(np.int64)
    low = min(int(part.min(initial=0)) for part in ids)
    width = 1 + max(int(part.max(initial=0)) for part in ids) - low
    of_references, of_candidates = _ranks(
        reference.group * width + (ids[1] - low), candidate.group * width + (ids[0] - low)
    )
    groups = 1 + int(reference.group.max(initial=-1))
    first = np.full(max(groups, 1 + int(candidate.group.max(initial=-1))), len(of_references))
    np.minimum.at(first, reference.group, of_references)
    reference.last = of_references - first[reference.group]
    candidate.last = np.where(of_candidates >= 0, of_candidates - first[candidate.group], -1)
    reference.settle(of_references)
    candidate.settle(of_candidates)
    return 1 + int(reference.last.max(initial=0))


def _ranks(
    references: NDArray[np.int64], candidates: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rank of each key among the distinct keys of the references; -1 where they lack it."""
    cells = 1 + max(int(references.max(initial=0)), int(candidates.max(initial=0)))
    if cells <= _SPARSEST * (len(references) + len(candidates)):
        ranks = np.full(cells, -1, dtype=np.int64)
        ranks[references] = 0
        known = np.flatnonzero(ranks == 0)
        ranks[known] = np.arange(len(known))
        return ranks[references], ranks[candidates]
    known, own = np.unique(references, return_inverse=True)
    place = np.searchsorted(known, candidates)
    place[place == len(known)] = 0
    found = known[place] == candidates if len(known) else np.zeros(len(place), dtype=np.bool_)
    return own.reshape(-1), np.where(found, place, -1)


def _clipped(candidate: _GroupSide, reference: _GroupSide, rows: int) -> NDArray[np.int64]:
    """Per candidate, the sum over its n-grams of min(own count, count in the references)."""
    width = 1 + int(reference.rank.max(initial=0))
    most = _most(reference, width)
    keys, counts = _counted(candidate.row[candidate.position] * width + candidate.rank)
    row, rank = np.divmod(keys, width)
    matched = np.bincount(row, np.minimum(counts, most[rank]), rows)
    return matched.astype(np.int64)


def _most(reference: _GroupSide, width: int) -> NDArray[np.int64]:
    """How often the reference that has an n-gram most often has it, by rank."""
    keys, counts = _counted(reference.row[reference.position] * width + reference.rank)
    most = np.zeros(width, dtype=np.int64)
    np.maximum.at(most, keys % width, counts)
    return most


def _counted(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct keys and how often each occurs."""
    keys = np.sort(keys)
    new = np.ones(len(keys), dtype=np.bool_)
    new[1:] = keys[1:] != keys[:-1]
    firsts = np.flatnonzero(new)
    return keys[firsts], np.diff(np.append(firsts, len(keys)))


# Matches of n-grams between texts, masked or plain, by the compiled loops or the plain ones.


#: masked comparisons that the plain loops make while one text is split and compared
_MASKED = 16


class Pairing(NamedTuple):
    """Candidates, each against the references of its group.

    Attributes:
        candidates: int64 [P], texts.
        groups: int64 [P], ascending from 0.
        references: int64 [R], texts.
        reference_groups: int64 [R], ascending from 0.
    """

    candidates: NDArray[np.int64]
    groups: NDArray[np.int64]
    references: NDArray[np.int64]
    reference_groups: NDArray[np.int64]


class Counted(NamedTuple):
    """What n-gram metrics need of a pairing.

    Attributes:
        matches: integers [P, orders], clipped matches.
        candidates: int64 [P], lengths.
        references: int64 [R], lengths.
    """

    matches: NDArray[np.int64] | NDArray[np.int32]
    candidates: NDArray[np.int64]
    references: NDArray[np.int64]


def counted(layout: NgramLayout, pairing: Pairing, orders: int) -> Counted:
    """Count the n-grams of unmasked texts."""
    loops = _compiled.kernels(len(pairing.candidates))
    if loops is None:
        return _plain(layout, pairing, orders, None, None)
    offsets = layout.base.offsets
    low, high = offsets[:-1], offsets[1:]
    own, theirs = pairing.candidates, pairing.references
    bounds = low[own], high[own], low[theirs], high[theirs]
    matches = loops.clipped_matches(
        layout.base.ids,
        layout.width,
        *bounds[:2],
        pairing.groups,
        *bounds[2:],
        pairing.reference_groups,
        orders,
    )
    return Counted(matches, bounds[1] - bounds[0], bounds[3] - bounds[2])


class Recount:
    """Counts the n-grams of the variants of a plan.

    Attributes:
        loops: the compiled loops, if they are in use.

    Args:
        layout: what n-grams are made of.
        masks: the plan's masks of the layout's tokens.
        lengths: how many mask ids a mask is of each group; one by default.
        work: comparisons that there are to make, each variant apart, about.
    """

    def __init__(
        self, layout: NgramLayout, masks: TokenMasks, lengths: Sequence[int] | None, work: int
    ) -> None:
        self._layout = layout
        self._lengths = lengths
        self.loops = _compiled.kernels(work // _MASKED) if layout.gapless else None
        self._offsets = masks.tokens.offsets
        self._fates = np.zeros(len(masks.tokens.ids) * (self.loops is not None), dtype=np.int8)
        self._runs = np.ones(len(self._fates), dtype=np.int32)

    def __call__(
        self, pairing: Pairing, orders: int, masks: Masks, *, both: bool
    ) -> tuple[Counted, ...]:
        """The counts of a variant; with ``both`` also those if its shared masks were private."""
        if self.loops is not None:
            return self._compiled(self.loops, pairing, orders, masks)[: 1 + both]
        editions = (masks, masks.private()) if both else (masks,)
        return tuple(
            _plain(self._layout, pairing, orders, edition, self._lengths) for edition in editions
        )

    def _compiled(
        self, loops: ModuleType, pairing: Pairing, orders: int, masks: Masks
    ) -> tuple[Counted, Counted]:
        self._fates[masks.token] = np.where(masks.first, masks.action, loops.LEFT_OUT)
        if self._lengths is not None:
            self._runs[masks.token] = np.asarray(self._lengths, dtype=np.int32)[masks.group]
        layout = self._layout
        matches, unmasked, *lengths = loops.masked_matches(
            layout.base.ids,
            layout.width,
            self._offsets,
            layout.start,
            layout.end,
            layout.words and self._lengths is None,
            self._fates,
            self._runs,
            *pairing,
            orders,
        )
        self._fates[masks.token] = Action.KEEP
        shared, private = Counted(matches, *lengths), Counted(unmasked, *lengths)
        return shared, private


def _plain(
    layout: NgramLayout,
    pairing: Pairing,
    orders: int,
    masks: Masks | None,
    lengths: Sequence[int] | None,
) -> Counted:
    sides = Sides(
        layout.of(pairing.candidates, masks, "candidate", lengths),
        pairing.groups,
        layout.of(pairing.references, masks, "reference", lengths),
        pairing.reference_groups,
    )
    matches = clipped_matches(sides, orders)
    return Counted(matches, sides.candidates.lengths, sides.references.lengths)
