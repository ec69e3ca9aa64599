"""What n-grams weigh: their difficulty, 1 where the references of the segment lack them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.difficulty._gram_counts import Weigh
    from gnomon.difficulty._gram_hardness import GramHardness
    from gnomon.difficulty.metric import Difficulty

__all__ = ["GramWeights", "gram_weights"]


@dataclass(frozen=True, eq=False)
class GramWeights:
    """Weights of the n-grams of the references, order by order.

    Attributes:
        hardness: which n-grams there are.
        value: per order, float64.
    """

    hardness: GramHardness
    value: tuple[NDArray[np.float64], ...]

    def of_rows(self, order: int, ranks: NDArray[np.int64]) -> Weigh:
        """A function from segments and rows of n-grams to weights.

        Args:
            order: length of the n-grams.
            ranks: int64, the known n-gram at each row; -1 where it is unknown.
        """

        def weigh(segments: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
            found = self.hardness.find(order, segments, ranks[rows])
            weights = np.ones(len(found))
            weights[found >= 0] = self.value[order - 1][found[found >= 0]]
            return weights

        return weigh


def gram_weights(
    hardness: GramHardness, missed: tuple[NDArray[np.float64], ...], options: Difficulty
) -> GramWeights:
    """Weights from difficulties, pulled to the mean of their segment as ``smooth`` says."""
    if not options.smooth:
        return GramWeights(hardness, missed)
    smoothed = []
    for order, (keys, values) in enumerate(zip(hardness.keys, missed, strict=True)):
        owner = keys // max(len(hardness.known.keys[order]), 1)
        _, owner = np.unique(owner, return_inverse=True)
        owner = owner.reshape(-1)
        counts = np.bincount(owner)
        means = np.bincount(owner, values) / np.maximum(counts, 1)
        smoothed.append((1 - options.smooth) * values + options.smooth * means[owner])
    return GramWeights(hardness, tuple(smoothed))
