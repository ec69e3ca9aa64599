"""Tests and intervals of what metrics prefer that read two outputs at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.stats.resampling import percentile_interval, resample_counts, resampled_sums
from gnomon.stats.significance import binomial_p
from gnomon.stats.student import mean_test

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.comparison.paired import PairedTestPlan


def sign_p(values: NDArray[np.float64]) -> float:
    """P of the sign test of preferences; NaN where none is for either side."""
    wins, losses = int((values > 0).sum()), int((values < 0).sum())
    return binomial_p(wins, wins + losses)


def preference_interval(
    values: NDArray[np.float64], plan: PairedTestPlan, *, graded: bool
) -> tuple[float, float]:
    """Of the mean of preferences over segments: percentiles; of choices Student's t."""
    values = values[~np.isnan(values)]
    if not len(values) or not plan.resamples:
        return np.nan, np.nan
    if graded:
        counts = resample_counts(len(values), count=plan.resamples, seed=plan.seed)
        means = resampled_sums(values[None], counts)[0] / len(values)
        ends = percentile_interval(means, plan.confidence)
        return float(ends[0]), float(ends[1])
    shares = ((values + 1) / 2).tolist()
    least, most, _ = np.clip(mean_test(shares, plan.alpha), 0, 1).tolist()
    if set(shares) in ({0.0}, {1.0}):  # equal choices are not certain: the exact binomial end
        end = (plan.alpha / 2) ** (1 / len(shares))
        least, most = (end, 1.0) if shares[0] else (0.0, 1 - end)
    return 2 * least - 1, 2 * most - 1
