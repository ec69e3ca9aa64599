"""How well every system of a batch has every token of the references."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gnomon.difficulty._hardness import rows_of_system, similarity
from gnomon.errors import DataError
from gnomon.metrics.sequences import ranges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.batch import Batch
    from gnomon.difficulty._places import Places
    from gnomon.metrics.matching import Matches

__all__ = ["Seen", "seen"]


@dataclass(frozen=True, eq=False)
class Seen:
    """The best match of every token of the references in every system's output.

    Attributes:
        best: float32 [K, places], its similarity; NaN where a system was not compared with that
            reference.
        exact: bool [K, places], whether it is the same token; False where nothing was compared.
    """

    best: NDArray[np.float32]
    exact: NDArray[np.bool_]

    def difficulty(self, systems: list[int]) -> NDArray[np.float64]:
        """1 less the mean over some systems, float64 [places]; 1 where none was compared."""
        best = self.best[systems].astype(np.float64)
        known = ~np.isnan(best)
        total, count = np.where(known, best, 0.0).sum(axis=0), known.sum(axis=0)
        mean = np.divide(total, count, out=np.zeros(len(total)), where=count > 0)
        difficulty: NDArray[np.float64] = 1 - mean
        return difficulty


def seen(matches: Matches, batch: Batch, places: Places) -> Seen:
    """Best matches by place.

    Args:
        matches: in the batch.
        batch: the systems.
        places: the tokens of its references.

    Raises:
        DataError: a reference of the batch is not among the places.
    """
    shape = (len(batch.systems), len(places.type))
    best, exact = np.full(shape, np.nan, dtype=np.float32), np.zeros(shape, dtype=np.bool_)
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
    return Seen(best, exact)


def _groups(matches: Matches, batch: Batch, places: Places) -> NDArray[np.int64]:
    """The reference, among the places, of every comparison."""
    segments = batch.segments[matches.cell % max(matches.shape[1], 1)].tolist()
    texts = (batch.texts[text] for text in matches.texts[matches.pair, 1].tolist())
    try:
        found = [places.number[key] for key in zip(segments, texts, strict=True)]
    except KeyError as error:
        raise DataError(
            f"there are no difficulties for the reference of segment {error.args[0][0] + 1}"
        ) from None
    return np.array(found, dtype=np.int64)
