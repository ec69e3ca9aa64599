"""SHAP: Shapley values of the words of a side (Lundberg and Lee, 2017)."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
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

__all__ = ["Shap", "antithetic_masks", "antithetic_values", "exact_masks", "exact_values"]

#: most words whose every coalition is scored
_EXACT = 7


@dataclass(frozen=True)
class Shap(Options):
    """SHAP: a word's Shapley value, absent words being ``UNKWORDZ``.

    Exact up to 7 words of a side; else from random orders of the words, each walked forth and back
    (antithetic), as many as ``max_evals`` allows: floor(max_evals / (2n + 1)), at least one. The
    values of a side add up to the score minus the score with all words of that side replaced.

    Attributes:
        max_evals: scores per side of more than 7 words; a side too long for one order of its
            words takes 2n + 1 all the same.
        seed: another seed draws other orders.

    Raises:
        SpecError: no evaluation is allowed.
    """

    name: ClassVar[str] = "shap"

    max_evals: int = 500
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_evals < 1:
            raise SpecError(f"shap: max_evals is 1 or more; got {self.max_evals}")

    @property
    def fields(self) -> Mapping[str, object]:
        """The seed."""
        return {"seed": self.seed}

    def bind(self, testset: TestSet, bound: BoundMetric) -> Shap:  # noqa: ARG002  # any metric
        """Itself: nothing is frozen."""
        return self

    def plans(self, texts: Sequence[Words]) -> Sequence[_Coalitions | _Orders]:
        """Coalitions of the words of each text."""
        return [self._plan(text) for text in texts]

    def calls(self, words: int) -> int:
        """Distinct coalitions that are scored beside the full one, at most."""
        if words <= _EXACT:
            return int(2**words) - 1
        return self._orders(words) * 2 * (words - 1) + 1

    def _plan(self, text: Words) -> _Coalitions | _Orders:
        words = len(text)
        if words <= _EXACT:
            masks = exact_masks(words)
            return _Coalitions([text.masked(kept) for kept in masks.tolist()], masks)
        draw = generator(self.seed, text.text)
        orders = np.stack([draw.permutation(words) for _ in range(self._orders(words))])
        kept = antithetic_masks(orders).reshape(-1, words).tolist()
        return _Orders([text.masked(row) for row in kept], orders)

    def _orders(self, words: int) -> int:
        return max(1, self.max_evals // (2 * words + 1))


@dataclass(frozen=True, eq=False)
class _Coalitions:
    texts: Sequence[str]
    masks: NDArray[np.bool_]

    def importances(self, score: float, scores: NDArray[np.float64]) -> NDArray[np.float64]:  # noqa: ARG002  # the full coalition is among the texts
        return exact_values(self.masks, scores)


@dataclass(frozen=True, eq=False)
class _Orders:
    texts: Sequence[str]
    orders: NDArray[np.int64]

    def importances(self, score: float, scores: NDArray[np.float64]) -> NDArray[np.float64]:  # noqa: ARG002  # the full coalition is among the texts
        return antithetic_values(self.orders, scores.reshape(len(self.orders), -1))


def exact_masks(words: int) -> NDArray[np.bool_]:
    """All coalitions, bool [2^n, n]: row c keeps the words whose bit is set in c."""
    return (np.arange(2**words)[:, None] >> np.arange(words) & 1).astype(np.bool_)


def exact_values(masks: NDArray[np.bool_], scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shapley values, float64 [n], from the scores of all coalitions.

    phi_i = sum over S without i of |S|! (n - |S| - 1)! / n! (S(S and i) - S(S)).

    Args:
        masks: bool [2^n, n], of :func:`exact_masks`.
        scores: float64 [2^n].
    """
    words = masks.shape[1]
    sizes = masks.sum(axis=1)
    share = np.array([1 / (words * comb(words - 1, size)) for size in range(words)])
    values = np.empty(words)
    for word in range(words):
        without = np.flatnonzero(~masks[:, word])
        gain = scores[without | 1 << word] - scores[without]
        values[word] = share[sizes[without]] @ gain
    return values


def antithetic_masks(orders: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Coalitions along some orders, bool [R, 2n + 1, n].

    Words come one by one until all are there (rows 0 to n), then go in the same order (rows n to
    2n).

    Args:
        orders: int64 [R, n], permutations of the words.
    """
    words = orders.shape[1]
    rank = orders.argsort(axis=1)[:, None, :]
    steps = np.arange(words + 1)[None, :, None]
    return np.concatenate([rank < steps, rank >= steps[:, 1:]], axis=1)


def antithetic_values(
    orders: NDArray[np.int64], scores: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Mean gain of each word where it comes and where it goes, float64 [n].

    Args:
        orders: int64 [R, n], permutations of the words.
        scores: float64 [R, 2n + 1], of the coalitions of :func:`antithetic_masks`.
    """
    words = orders.shape[1]
    steps = np.diff(scores, axis=1)
    gains = (steps[:, :words] - steps[:, words:]) / (2 * len(orders))
    total = np.bincount(orders.ravel(), gains.ravel(), minlength=words)
    return total.astype(np.float64)
