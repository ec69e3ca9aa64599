"""Gradients as explanations: what would the score lose if a word's vectors shrank?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from gnomon.bmx._protocol import PairImportances
from gnomon.errors import UsageError
from gnomon.metrics.differentiable import Differentiable
from gnomon.metrics.protocol import lacks
from gnomon.metrics.spec import Options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.batch import Batch
    from gnomon.bmx._protocol import Pair
    from gnomon.bmx._words import Words
    from gnomon.metrics.differentiable import TokenValues
    from gnomon.metrics.protocol import BoundMetric, Metric
    from gnomon.testset import TestSet

__all__ = ["Gradient"]


@dataclass(frozen=True)
class Gradient(Options):
    """Gradient: input times gradient through the encoder, for differentiable metrics.

    The sum over the word's pieces of the product of the piece's input embedding and the gradient
    of the score in it (Denil et al., 2014; Shrikumar et al., 2016); 0 for a word without any piece
    (beyond the model's limit). Costs one pass forth and one back. For metrics on one encoder:
    bertscore, xbertscore, sbert.
    """

    name: ClassVar[str] = "gradient"
    blind: ClassVar[bool] = False

    @property
    def fields(self) -> Mapping[str, object]:
        """Nothing beside the spec."""
        return {}

    def bind(self, testset: TestSet, bound: BoundMetric) -> Gradient:  # noqa: ARG002  # nothing is frozen
        """Itself, if the metric can be differentiated.

        Raises:
            UsageError: it cannot.
        """
        _check(bound)
        return self

    def check(self, metric: Metric) -> None:
        """Refuse a metric that will not be differentiable.

        Raises:
            UsageError: likewise.
        """
        if lacks(metric, Differentiable):
            raise UsageError(_not_differentiable(metric.name))

    def look(
        self, bound: BoundMetric, batch: Batch, pairs: Sequence[Pair]
    ) -> Sequence[PairImportances]:
        """Input times gradient, summed over the pieces of each word of both sides."""
        found = _check(bound).attributions(batch)
        sign = 1.0 if bound.higher_is_better else -1.0
        importances = [_NOTHING] * len(pairs)
        for number, column in enumerate(found.cell.tolist()):
            candidate, other = pairs[column]
            importances[column] = PairImportances(
                sign * _sums(candidate, found.candidate, number),
                np.zeros(0) if other is None else sign * _sums(other, found.other, number),
            )
        return importances


_NOTHING = PairImportances(np.zeros(0), np.zeros(0))


def _check(bound: BoundMetric) -> Differentiable:
    if not isinstance(bound, Differentiable):
        raise UsageError(_not_differentiable(bound.name))
    return bound


def _not_differentiable(name: str) -> str:
    return (
        f"explainer 'gradient' needs a metric that can be differentiated, and {name!r} cannot; take"
        " bertscore, xbertscore or sbert, or another explainer (erasure, lime, shap)"
    )


def _sums(words: Words, side: TokenValues, comparison: int) -> NDArray[np.float64]:
    """Sums over the pieces of each word; a piece belongs where it begins."""
    slots = side.slots(comparison)
    plain = ~side.special[slots]
    ends = np.array([span.end for span in words.spans])
    word = np.searchsorted(ends, side.start[slots][plain], side="right")
    inside = word < len(words)
    values = side.value[slots][plain][inside]
    return np.bincount(word[inside], values, minlength=len(words)).astype(np.float64)
