"""Erasure: what does the score lose without a word?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from gnomon.metrics.spec import Options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from gnomon.bmx._words import Words
    from gnomon.metrics.protocol import BoundMetric
    from gnomon.testset import TestSet

__all__ = ["Erasure"]


@dataclass(frozen=True)
class Erasure(Options):
    """Erasure: the score minus the score without the word (Leiter et al., 2022; Li et al., 2016).

    The word goes with the white space after it. Sides of n and m words cost 1 + n + m scores.
    """

    name: ClassVar[str] = "erasure"

    @property
    def fields(self) -> Mapping[str, object]:
        """Nothing beside the spec."""
        return {}

    def bind(self, testset: TestSet, bound: BoundMetric) -> Erasure:  # noqa: ARG002  # any metric
        """Itself: nothing is frozen."""
        return self

    def plans(self, texts: Sequence[Words]) -> Sequence[_Without]:
        """Each text without each of its words."""
        return [_Without([text.without(word) for word in range(len(text))]) for text in texts]

    def calls(self, words: int) -> int:
        """One text per word."""
        return words


@dataclass(frozen=True, eq=False)
class _Without:
    texts: Sequence[str]

    def importances(self, score: float, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return score - scores
