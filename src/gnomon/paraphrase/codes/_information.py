"""What codes tell: entropy, and how much the code of a sentence tells of another's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Shared", "entropy", "information", "shared"]

_SHUFFLES = 20


@dataclass(frozen=True)
class Shared:
    """What the codes of sentences and of their paraphrases have in common.

    Attributes:
        n: pairs where both have a code.
        same: share of pairs with one and the same code.
        bits: mutual information of the two codes.
        chance: mean of it where paraphrases are shuffled: what a table of this size has by chance.
        normalised: (bits - chance) / (smaller entropy - chance), 0 by chance and 1 where one code
            decides the other; None where the codes never vary.
    """

    n: int
    same: float | None
    bits: float | None
    chance: float | None
    normalised: float | None


def entropy(counts: NDArray[np.int64]) -> float:
    """The entropy of a distribution in bits, from counts.

    >>> entropy(np.array([2, 2, 0, 4]))
    1.5
    """
    shares = counts[counts > 0] / max(int(counts.sum()), 1)
    return float(-(shares * np.log2(shares)).sum()) + 0.0


def information(one: NDArray[np.int32], other: NDArray[np.int32]) -> float:
    """Mutual information in bits of two parallel columns of codes from 0 (plug-in estimate).

    >>> information(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]))
    1.0
    """
    if not len(one):
        return 0.0
    width = int(other.max()) + 1
    joint = np.unique(one.astype(np.int64) * width + other, return_counts=True)[1]
    sides = entropy(np.bincount(one)) + entropy(np.bincount(other))
    return max(sides - entropy(joint), 0.0)


def shared(one: NDArray[np.int32], other: NDArray[np.int32], *, seed: int = 0) -> Shared:
    """What two parallel columns of codes have in common; pairs with a -1 are left out."""
    both = (one >= 0) & (other >= 0)
    left, right = one[both], other[both]
    if not len(left):
        return Shared(0, None, None, None, None)
    rng = np.random.default_rng(seed)
    bits = information(left, right)
    chance = float(np.mean([information(left, rng.permutation(right)) for _ in range(_SHUFFLES)]))
    most = min(entropy(np.bincount(left)), entropy(np.bincount(right)))
    room = most - chance
    normalised = (bits - chance) / room if room > 1e-9 else None
    return Shared(len(left), float((left == right).mean()), bits, chance, normalised)
