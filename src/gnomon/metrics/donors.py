"""Words of other segments that stand for masked ones, drawn by hashes of the texts.

Every segment has its own order of all that may be drawn, by a hash of the seed, of its own texts
and of the other one. So a draw changes neither with the order of segments nor with batches or other
systems, and where something new comes, only if that stands before the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.signature import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

__all__ = ["hashes_of", "ranks_of"]


def hashes_of(every: Iterable[Iterable[str]]) -> NDArray[np.uint64]:
    """A hash of each of some lists of texts."""
    return np.array([int(content_hash(*texts), 16) for texts in every], dtype=np.uint64)


def ranks_of(
    drawing: NDArray[np.uint64] | np.uint64, drawn: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    """The order in which whoever draws takes what may be drawn: the smallest rank first.

    Both are hashes; the result has the shape of the two broadcast together. The end of splitmix64,
    so that the order of one tells nothing of another's.
    """
    values = drawing ^ drawn
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        values = (values ^ (values >> np.uint64(shift))) * np.uint64(factor)
    return values ^ (values >> np.uint64(31))
