"""How far a gain would move with other segments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.bmx._power_mean import combine
from gnomon.stats.resampling import (
    Interval,
    percentile_interval,
    resample_counts,
    resampled_sums,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["gain_intervals"]

#: spread below this share of the magnitude is rounding, not variation (as gnomon.stats has it)
_CONSTANT = 1e-13


def gain_intervals(
    score: Floats,
    means: Floats,
    human: Floats,
    w: Sequence[float],
    *,
    count: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
) -> list[Interval]:
    """Gains of some settings over the metric alone, with percentile intervals over segments.

    The same segments are drawn for the metric and for all settings.

    Args:
        score: float64 [N], S0; finite.
        means: float64 [S, N], s_hat of every setting; finite.
        human: float64 [N]; finite.
        w: weight of every setting.
        count: number of draws.
        seed: seed of the draws.
        confidence: share of draws inside the intervals.

    Returns:
        One interval for each setting; NaN where undefined.
    """
    sides = np.stack([score, *(combine(score, m, x) for m, x in zip(means, w, strict=True))])
    scaled = np.stack([_standardised(values) for values in (human, *sides)])
    h, s = scaled[0], scaled[1:]
    counts = resample_counts(len(score), count=count, seed=seed)
    sums = resampled_sums(np.concatenate([scaled, scaled**2, s * h]), counts)
    first, squares, products = np.split(sums, [len(scaled), 2 * len(scaled)])
    n = float(len(score))
    covariances = products - first[1:] * first[0] / n
    variances = squares - first**2 / n
    with np.errstate(invalid="ignore", divide="ignore"):
        r = covariances / np.sqrt(variances[1:] * variances[0])
    observed = s @ h / n
    low, high = percentile_interval(r[1:] - r[0], confidence)
    return [
        Interval(float(observed[i + 1] - observed[0]), float(low[i]), float(high[i]))
        for i in range(len(low))
    ]


def _standardised(values: Floats) -> Floats:
    centred = values - values.mean()
    deviation = float(np.sqrt((centred**2).mean()))
    varies = deviation > _CONSTANT * float(np.abs(values).max())
    return np.asarray(centred / deviation if varies else np.full(len(values), np.nan))
