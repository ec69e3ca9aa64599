"""Noise of a judge's score of a system: of repeated answers, and of other segments."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.stats.student import upper_quantile

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class JudgeNoise(NamedTuple):
    """The mean of a judge's scores of a system, and its standard errors.

    Attributes:
        score: mean over segments of the means over repetitions; NaN where there is no score.
        of_judge: standard error of the score by the judge's noise alone: these segments, asked
            again. NaN where no segment has two repetitions.
        of_all: standard error of the score as one of other segments of this kind, the judge's noise
            included; NaN for fewer than two segments.
        df_judge: degrees of freedom of ``of_judge`` (Satterthwaite).
        segments: how many have a score.
        missing: repetitions without one.
    """

    score: float
    of_judge: float
    of_all: float
    df_judge: float
    segments: int
    missing: int

    @property
    def share(self) -> float:
        """The share of the judge's noise in the variance over segments."""
        return (self.of_judge / self.of_all) ** 2 if self.of_all else math.nan

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Of the score of these segments, were the judge free of noise: Student's t."""
        return self._interval(self.of_judge, self.df_judge, confidence)

    def interval_of_all(self, confidence: float = 0.95) -> tuple[float, float]:
        """Of the score of all segments of this kind: Student's t."""
        return self._interval(self.of_all, self.segments - 1, confidence)

    def _interval(self, error: float, df: float, confidence: float) -> tuple[float, float]:
        if not math.isfinite(error) or df < 1:
            return math.nan, math.nan
        half = upper_quantile((1 - confidence) / 2, df) * error
        return self.score - half, self.score + half


def judge_noise(repetitions: ArrayLike) -> JudgeNoise:
    r"""Estimate how certain a judge's score of a system is.

    With n_i readable repetitions of segment i, their mean m_i and variance s_i^2, N segments and
    the score m, the mean of the m_i:

    - by the judge's noise: se_J^2 = sum(s_i^2 / n_i) / N^2, where segments with one repetition
      take the mean of the others' s_i^2;
    - over segments: se^2 = max(V / N, se_J^2) with V the variance of the m_i. The judge's noise is
      within V: E[V] = (variance of segments) + mean(s_i^2 / n_i). The maximum holds where few
      segments chance to lie close together.

    Args:
        repetitions: scores of one system, [R, N]; NaN where nothing could be read.

    >>> found = judge_noise([[60.0, 80.0], [64.0, 80.0]])
    >>> found.score, round(found.of_judge, 6), round(found.of_all, 6)
    (71.0, 1.0, 9.0)
    """
    each = np.asarray(repetitions, dtype=np.float64)
    readable = np.isfinite(each)
    counts = readable.sum(axis=0)
    there = counts > 0
    counts, each, readable = counts[there], each[:, there], readable[:, there]
    n = int(there.sum())
    lacking = int((~np.isfinite(np.asarray(repetitions))).sum())
    nan = float("nan")
    if not n:
        return JudgeNoise(nan, nan, nan, nan, 0, lacking)
    means = np.where(readable, each, 0.0).sum(axis=0) / counts
    squares = np.where(readable, each - means, 0.0) ** 2
    several = counts > 1
    variances = np.full(n, nan)
    variances[several] = squares.sum(axis=0)[several] / (counts[several] - 1)
    of_judge = df = nan
    if several.any():
        free = counts[several] - 1
        pooled = float((variances[several] * free).sum() / free.sum())
        parts = np.where(several, variances, pooled) / counts
        of_judge = float(np.sqrt(parts.sum())) / n
        of_several = parts[several]
        below = float((of_several**2 / free).sum())
        df = float(of_several.sum() ** 2 / below) if below else float(free.sum())
    of_all = nan
    if n > 1:
        spread = float(means.var(ddof=1)) / n
        of_all = math.sqrt(max(spread, of_judge**2 if math.isfinite(of_judge) else 0.0))
    return JudgeNoise(float(means.mean()), of_judge, of_all, df, n, lacking)
