"""Agreement of several judges with each other, as figures with intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.stats import holm, holm_levels
from gnomon.stats.correlation import pearson_of_sums
from gnomon.stats.jackknife import Jackknife, jackknife_test
from gnomon.stats.reliability import alpha_of_sums, alpha_sums

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


class AgreementFigure(NamedTuple):
    """A figure with its interval; None where undefined."""

    value: float | None
    low: float | None
    high: float | None
    p: float | None = None
    n: int = 0  # outputs that it rests on
    decided: bool | None = None

    @classmethod
    def from_test(cls, test: Jackknife, n: int) -> AgreementFigure:
        """Make a figure of a jackknife over segments."""
        value, low, high = (_number(one) for one in (test.estimate, test.low, test.high))
        return cls(value, low, high, _number(test.p), n)


@dataclass
class JudgeAgreement:
    """Agreement of judges, of their scores float64 [M, K, N]; NaN where there is none.

    Intervals and tests leave segments out one at a time, with the outputs of all systems.
    """

    scores: NDArray[np.float64]
    confidence: float

    def alpha(self) -> AgreementFigure:
        """Krippendorff's alpha of all judges, on the interval scale."""
        several = int((np.isfinite(self.scores).sum(axis=0) >= 2).sum())
        return AgreementFigure.from_test(
            self._test(alpha_sums(self.scores), alpha_of_sums), several
        )

    def pairs(self) -> list[tuple[int, int, AgreementFigure, AgreementFigure]]:
        """Of each two judges r, and how much higher the first one scores on the same outputs.

        The levels are tested by Holm's procedure, each with the interval of its own step.
        """
        pairs = list(combinations(range(len(self.scores)), 2))
        products = [_products(self.scores[a], self.scores[b]) for a, b in pairs]
        levels = [self._test(each, _difference) for each in products]
        alpha, p = round(1 - self.confidence, 12), [float(level.p) for level in levels]
        steps = zip(holm(p).tolist(), holm_levels(p, alpha), strict=True)
        found = []
        for (a, b), each, level, (q, step) in zip(pairs, products, levels, steps, strict=True):
            n = int(each[..., 0].sum())
            r = AgreementFigure.from_test(self._test(each, _pearson), n)._replace(p=None)
            low, high = level.ends(np.asarray(step))
            tested = level._replace(low=low, high=high, p=np.asarray(q))
            decided = None if math.isnan(q) else q <= alpha
            found.append((a, b, r, AgreementFigure.from_test(tested, n)._replace(decided=decided)))
        return found

    def _test(
        self,
        values: NDArray[np.float64],
        statistic: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    ) -> Jackknife:
        """A statistic of sums over outputs [K, N, Q], without each segment in turn."""
        sums = values.sum(axis=0)
        segments = np.arange(len(sums))
        return jackknife_test(sums, segments, statistic, confidence=self.confidence)


def _products(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of each output 1, x, y, x x, y y and x y; 0 where either is missing: [..., 6]."""
    both = np.isfinite(x) & np.isfinite(y)
    x, y = (np.where(both, side, 0.0) for side in (x, y))
    return np.stack([both.astype(np.float64), x, y, x * x, y * y, x * y], axis=-1)


def _pearson(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return pearson_of_sums(np.moveaxis(sums, -1, 0))


def _difference(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((sums[..., 1] - sums[..., 2]) / sums[..., 0])


def _number(value: object) -> float | None:
    number = float(value)  # type: ignore[arg-type]  # an array of one number
    return None if math.isnan(number) else number
