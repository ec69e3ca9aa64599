"""Random importances: the control for explainers that claim to know something."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from gnomon.bmx._protocol import PairImportances
from gnomon.bmx._seeds import generator
from gnomon.metrics.spec import Options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gnomon.batch import Batch
    from gnomon.bmx._protocol import Pair
    from gnomon.metrics.protocol import BoundMetric
    from gnomon.testset import TestSet

__all__ = ["RandomExplainer"]


@dataclass(frozen=True)
class RandomExplainer(Options):
    """Random: uniform between 0 and 1, drawn from both texts and a seed.

    Attributes:
        seed: another seed draws other importances.
    """

    name: ClassVar[str] = "random"
    blind: ClassVar[bool] = True

    seed: int = 0

    @property
    def fields(self) -> Mapping[str, object]:
        """The seed."""
        return {"seed": self.seed}

    def bind(self, testset: TestSet, bound: BoundMetric) -> RandomExplainer:  # noqa: ARG002  # any metric
        """Itself: nothing is frozen."""
        return self

    def look(
        self,
        bound: BoundMetric,  # noqa: ARG002  # looks at nothing
        batch: Batch,  # noqa: ARG002  # looks at nothing
        pairs: Sequence[Pair],
    ) -> Sequence[PairImportances]:
        """Draws for the words of both sides."""
        return [self._draw(pair) for pair in pairs]

    def _draw(self, pair: Pair) -> PairImportances:
        other = () if pair.other is None else (pair.other.text,)
        draw = generator(self.seed, pair.candidate.text, *other)
        sizes = len(pair.candidate), 0 if pair.other is None else len(pair.other)
        return PairImportances(*(draw.random(size) for size in sizes))
