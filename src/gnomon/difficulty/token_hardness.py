"""Hardness of the tokens of references for a pool, and the share of it that each system gets."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.metrics.sequences import offsets_of, ranges

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.metrics.matching import Matches

__all__ = [
    "BestMatches",
    "Hardness",
    "Places",
    "Types",
    "best_matches",
    "joined",
    "measure",
    "similarity",
]


# The places of all references: one for each token of each reference of each segment.


@dataclass(frozen=True, eq=False)
class Places:
    """The tokens of G references, a reference of two segments being two."""

    segment: NDArray[np.int64]  # [G], number of the segment in its test set, from 0
    text: tuple[str, ...]  # the text of each reference
    #: [G + 1]; the tokens of reference g are places ``offsets[g]:offsets[g + 1]``
    offsets: NDArray[np.int64]
    type: NDArray[np.int32]  # [places], the token's number in the model's vocabulary
    start: NDArray[np.int32]  # [places], first code point in the text
    end: NDArray[np.int32]  # [places], code point after the last one
    special: NDArray[np.bool_]  # [places], tokens without a text

    @cached_property
    def number(self) -> dict[tuple[int, str], int]:
        """(segment, text) -> number of the reference."""
        return {key: g for g, key in enumerate(zip(self.segment.tolist(), self.text, strict=True))}

    @cached_property
    def group(self) -> NDArray[np.int64]:
        """The reference of each place, int64 [places]."""
        return np.repeat(np.arange(len(self.segment)), np.diff(self.offsets))

    @cached_property
    def plain(self) -> NDArray[np.int64]:
        """The places that are not special, int64, ascending."""
        return np.flatnonzero(~self.special)

    @cached_property
    def types(self) -> Types:
        """The distinct types of every reference."""
        keys = self.group[self.plain] << _BITS | self.type[self.plain]
        pairs, positions = np.unique(keys, return_inverse=True)
        return Types(pairs, positions.reshape(-1))


@dataclass(frozen=True, eq=False)
class Types:
    """Distinct (reference, type) pairs."""

    keys: NDArray[np.int64]  # ascending
    of: NDArray[np.int64]  # [plain places], position of each plain place's pair in ``keys``

    def find(self, group: NDArray[np.int64], type_: NDArray[np.int32]) -> NDArray[np.int64]:
        """Position in ``keys`` of some pairs, int64; -1 where the reference lacks the type."""
        wanted = group << _BITS | type_
        positions = np.minimum(np.searchsorted(self.keys, wanted), max(len(self.keys) - 1, 0))
        if not len(self.keys):
            return np.full(len(wanted), -1, dtype=np.int64)
        return np.where(self.keys[positions] == wanted, positions, -1)

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """Counts of each pair."""
        return np.bincount(self.of, minlength=len(self.keys))

    def means(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Mean of the values [plain places] of each pair."""
        totals = np.bincount(self.of, values, minlength=len(self.keys))
        means: NDArray[np.float64] = totals / np.maximum(self.counts, 1)
        return means


_BITS = 32


# Hardness of every word of the references for a pool of systems (Zhan et al. 2021, eq. 4).


@dataclass(frozen=True, eq=False)
class Hardness:
    """Difficulties of the tokens of all references."""

    places: Places
    #: [places], d = 1 - mean similarity of the pool's best matches; 1 where no system of the
    #: pool was compared with that reference, 0 for special tokens
    value: NDArray[np.float64]
    count: NDArray[np.int64]  # [places], how many systems of the pool were compared
    pool: str  # what chose it, for signatures
    #: the best similarities of each system of the pool, [places], kept where a system is not
    #: to judge itself; NaN where it was not compared
    own: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    #: of difficulties from a file, the kinds of human scores that chose its pool
    human: tuple[str, ...] = ()

    def leave_out(self, system: str) -> NDArray[np.float64]:
        """Difficulties by the other systems of the pool, float64 [places]."""
        if system not in self.own:
            return self.value
        similarities = self.own[system]
        seen = ~np.isnan(similarities)
        total = (1 - self.value) * self.count - np.where(seen, similarities, 0.0)
        return _hardness(total, self.count - seen, self.places.special)


def measure(
    matches: Matches, batch: Batch, pool: Sequence[str], identity: str, *, keep: bool
) -> Hardness:
    """Measure the hardness of the words for the systems of a pool."""
    places, group = _places(matches, batch)
    systems = [batch.systems.index(name) for name in pool]
    total = np.zeros(len(places.type))
    count = np.zeros(len(places.type), dtype=np.int64)
    similarities: dict[str, NDArray[np.float64]] = {}
    for name, k in zip(pool, systems, strict=True):
        rows = rows_of_system(matches, k)
        pair = matches.pair[rows]
        sizes = np.diff(matches.reference.offsets)[pair]
        best = similarity(
            matches, matches.reference.best[ranges(matches.reference.offsets[pair], sizes)]
        )
        at = ranges(places.offsets[group[rows]], sizes)
        total[at] += best  # a system is compared with a reference of a segment once
        count[at] += 1
        if keep:
            similarities[name] = np.full(len(total), np.nan)
            similarities[name][at] = best
    return Hardness(places, _hardness(total, count, places.special), count, identity, similarities)


def joined(parts: Sequence[Hardness]) -> Hardness:
    """The difficulties of runs of segments, in their order, as one."""
    first, *others = parts
    if not others:
        return first

    def concatenate(values: Iterable[NDArray[Any]]) -> NDArray[Any]:
        return np.concatenate(list(values))

    every = [run.places for run in parts]
    places = Places(
        segment=concatenate(each.segment for each in every),
        text=tuple(text for each in every for text in each.text),
        offsets=offsets_of(concatenate(np.diff(each.offsets) for each in every)),
        type=concatenate(each.type for each in every),
        start=concatenate(each.start for each in every),
        end=concatenate(each.end for each in every),
        special=concatenate(each.special for each in every),
    )
    return replace(
        first,
        places=places,
        value=concatenate(run.value for run in parts),
        count=concatenate(run.count for run in parts),
        own={name: concatenate(run.own[name] for run in parts) for name in first.own},
    )


def rows_of_system(matches: Matches, system: int) -> slice:
    """The comparisons of one system."""
    segments = matches.shape[1]
    low, high = np.searchsorted(matches.cell, [system * segments, (system + 1) * segments])
    return slice(int(low), int(high))


def similarity(matches: Matches, best: NDArray[np.floating]) -> NDArray[np.float64]:
    """Similarities as the metric scores them: rescaled if it rescales."""
    scaled: NDArray[np.float64] = (best.astype(np.float64) - matches.floor) / (1 - matches.floor)
    return scaled


def _hardness(
    total: NDArray[np.float64], count: NDArray[np.int64], special: NDArray[np.bool_]
) -> NDArray[np.float64]:
    mean = np.divide(total, count, out=np.zeros(len(total)), where=count > 0)
    return np.where(special, 0.0, 1 - mean)


def _places(matches: Matches, batch: Batch) -> tuple[Places, NDArray[np.int64]]:
    """The tokens of every reference of every segment, and the reference of each comparison."""
    segment = matches.cell % max(matches.shape[1], 1)
    text = matches.texts[matches.pair, 1]
    keys, group = np.unique(segment << _BITS | text, return_inverse=True)
    texts = keys & _LOW
    tokens = matches.tokens
    sizes = np.diff(tokens.offsets)[texts]
    rows = ranges(tokens.offsets[texts], sizes)
    places = Places(
        segment=batch.segments[keys >> _BITS].astype(np.int64),
        text=tuple(batch.texts[number] for number in texts.tolist()),
        offsets=offsets_of(sizes),
        type=tokens.type[rows],
        start=tokens.start[rows],
        end=tokens.end[rows],
        special=tokens.special[rows],
    )
    return places, group.reshape(-1)


_LOW = (1 << _BITS) - 1


# Matches of every system of a batch with every token of the references.


@dataclass(frozen=True, eq=False)
class BestMatches:
    """The best match of every token of the references in every system's output."""

    #: [K, places], its similarity; NaN where a system was not compared with that reference
    best: NDArray[np.float64]
    #: [K, places], whether it is the same token; False where nothing was compared
    exact: NDArray[np.bool_]

    def difficulty(self, systems: list[int]) -> NDArray[np.float64]:
        """Difficulty of tokens for some systems, float64 [places]; 1 where none was compared."""
        return mean_difficulty(self.best[systems])


def mean_difficulty(best: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 less the mean similarity over systems, [K, n] -> [n]; 1 where none was compared (NaN)."""
    compared = ~np.isnan(best)
    total, count = np.where(compared, best, 0.0).sum(axis=0), compared.sum(axis=0)
    return np.asarray(1 - np.divide(total, count, out=np.zeros(len(total)), where=count > 0))


def best_matches(matches: Matches, batch: Batch, places: Places) -> BestMatches:
    """Best matches by place."""
    shape = (len(batch.systems), len(places.type))
    best, exact = np.full(shape, np.nan), np.zeros(shape, dtype=np.bool_)
    group = _groups(matches, batch, places)
    side, types = matches.reference, matches.tokens.type
    for system in range(shape[0]):
        rows = rows_of_system(matches, system)
        pair = matches.pair[rows]
        sizes = np.diff(side.offsets)[pair]
        slots = ranges(side.offsets[pair], sizes)
        at = ranges(places.offsets[group[rows]], sizes)
        best[system, at] = similarity(matches, side.best[slots])
        match = side.at[slots]
        exact[system, at] = (match >= 0) & (types[match] == types[side.token[slots]])
    return BestMatches(best, exact)


def _groups(matches: Matches, batch: Batch, places: Places) -> NDArray[np.int64]:
    """The reference, among the places, of every comparison."""
    segments = batch.segments[matches.cell % max(matches.shape[1], 1)].tolist()
    texts = (batch.texts[text] for text in matches.texts[matches.pair, 1].tolist())
    try:
        groups = [places.number[key] for key in zip(segments, texts, strict=True)]
    except KeyError as error:
        raise DataError(
            f"there are no difficulties for the reference of segment {error.args[0][0] + 1}"
        ) from None
    return np.array(groups, dtype=np.int64)
