"""LIME: a linear model of the score around a text (Ribeiro et al., 2016)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from gnomon.bmx._seeds import generator
from gnomon.errors import SpecError
from gnomon.metrics.spec import Options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.bmx._words import Words
    from gnomon.metrics.protocol import BoundMetric
    from gnomon.testset import TestSet

__all__ = ["Lime", "lime_masks", "lime_weights"]

_WIDTH = 25.0
_ALPHA = 1.0


@dataclass(frozen=True)
class Lime(Options):
    """LIME: weights of a ridge regression of the score on which words are there.

    Each sample replaces between 1 and all words of one side, as many as not with equal chance, by
    ``UNKWORDZ``. Equal texts get equal samples. Each side costs samples - 1 scores at most.

    Attributes:
        samples: texts per side, the unperturbed one included.
        seed: another seed draws other samples.

    Raises:
        SpecError: fewer than two samples.
    """

    name: ClassVar[str] = "lime"

    samples: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.samples < 2:
            raise SpecError(f"lime: samples is 2 or more; got {self.samples}")

    @property
    def fields(self) -> Mapping[str, object]:
        """The seed."""
        return {"seed": self.seed}

    def bind(self, testset: TestSet, bound: BoundMetric) -> Lime:  # noqa: ARG002  # any metric
        """Itself: nothing is frozen."""
        return self

    def plans(self, texts: Sequence[Words]) -> Sequence[_Regression]:
        """Samples of each text."""
        return [self._plan(text) for text in texts]

    def calls(self, words: int) -> int:  # noqa: ARG002  # the same for any length
        """All samples but the unperturbed one."""
        return self.samples - 1

    def _plan(self, text: Words) -> _Regression:
        masks = lime_masks(len(text), self.samples, generator(self.seed, text.text))
        return _Regression([text.masked(kept) for kept in masks[1:].tolist()], masks)


@dataclass(frozen=True, eq=False)
class _Regression:
    texts: Sequence[str]
    masks: NDArray[np.bool_]

    def importances(self, score: float, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return lime_weights(self.masks, np.concatenate([[score], scores]))


def lime_masks(words: int, samples: int, draw: np.random.Generator) -> NDArray[np.bool_]:
    """Which words each sample keeps, bool [samples, words]; the first keeps all.

    How many go is uniform in 1..words, and which, among all choices of so many.
    """
    masks = np.ones((samples, words), dtype=np.bool_)
    sizes = draw.integers(1, words + 1, samples - 1)
    order = draw.random((samples - 1, words)).argsort(axis=1).argsort(axis=1)
    masks[1:] = order >= sizes[:, None]
    return masks


def lime_weights(masks: NDArray[np.bool_], scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights of the words, float64 [n]: the package lime's, given its samples.

    Ridge regression (alpha 1, with intercept) of the scores on the masks. A sample's own weight is
    sqrt(exp(-(100 d)^2 / 25^2)), d its cosine distance to the full mask: 1 - sqrt(kept share).

    Args:
        masks: bool [samples, n], words that are kept.
        scores: float64 [samples].
    """
    distance = 100 * (1 - np.sqrt(masks.mean(axis=1)))
    weight = np.sqrt(np.exp(-((distance / _WIDTH) ** 2)))
    share = weight / weight.sum()
    centred = masks - share @ masks
    left = np.sqrt(weight)[:, None] * centred
    right = np.sqrt(weight) * (scores - share @ scores)
    samples, words = masks.shape
    if words <= samples:
        return np.asarray(np.linalg.solve(left.T @ left + _ALPHA * np.eye(words), left.T @ right))
    dual = np.linalg.solve(left @ left.T + _ALPHA * np.eye(samples), right)
    return np.asarray(left.T @ dual)
