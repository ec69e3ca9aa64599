"""How hard every word of the references was for a pool of systems (Zhan et al. 2021, eq. 4)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from gnomon.difficulty._places import Places
from gnomon.metrics.sequences import offsets_of, ranges

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.batch import Batch
    from gnomon.metrics.matching import Matches

__all__ = ["Hardness", "measure", "similarity"]


@dataclass(frozen=True, eq=False)
class Hardness:
    """Difficulties of the tokens of all references.

    Attributes:
        places: the tokens.
        value: float64 [places], d = 1 - mean similarity of the pool's best matches; 1 where no
            system of the pool was compared with that reference, 0 for special tokens.
        count: int64 [places], how many systems of the pool were compared.
        own: the best similarities of each system of the pool, float32 [places], kept where a
            system is not to judge itself; NaN where it was not compared.
        pool: what chose it, for signatures.
        human: of difficulties from a file, the kinds of human scores that chose its pool.
    """

    places: Places
    value: NDArray[np.float64]
    count: NDArray[np.int64]
    pool: str
    own: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)
    human: tuple[str, ...] = ()

    def without(self, system: str) -> NDArray[np.float64]:
        """Difficulties by the other systems of the pool, float64 [places]."""
        if system not in self.own:
            return self.value
        own = self.own[system].astype(np.float64)
        seen = ~np.isnan(own)
        total = (1 - self.value) * self.count - np.where(seen, own, 0.0)
        return _hardness(total, self.count - seen, self.places.special)


def measure(
    matches: Matches, batch: Batch, pool: Sequence[str], identity: str, *, keep: bool
) -> Hardness:
    """How hard the words were for the systems of a pool.

    Args:
        matches: best matches in the batch.
        batch: at least the systems of the pool.
        pool: their names.
        identity: what to call the pool.
        keep: whether each system's own part is kept, so that it can be left out.
    """
    places, group = _places(matches, batch)
    systems = [batch.systems.index(name) for name in pool]
    total = np.zeros(len(places.type))
    count = np.zeros(len(places.type), dtype=np.int64)
    own: dict[str, NDArray[np.float32]] = {}
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
            own[name] = np.full(len(total), np.nan, dtype=np.float32)
            own[name][at] = best
    return Hardness(places, _hardness(total, count, places.special), count, identity, own)


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


_BITS = 32
_LOW = (1 << _BITS) - 1
