"""Intervals of the gain of an experiment, over other segments."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gnomon.bmx.aggregation import combine, power_means
from gnomon.bmx.correlations import usable
from gnomon.core.options import CONFIDENCE, RESAMPLES, SEED
from gnomon.stats.correlation import pearson_of_sums
from gnomon.stats.resampling import Interval, percentile_interval, resample_counts, resampled_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.bmx.aggregation import Shift
    from gnomon.bmx.choices import Setting
    from gnomon.bmx.experiments import Explained
    from gnomon.core.options import DrawOptions

    Floats = NDArray[np.float64]

__all__ = ["explained_interval", "gain_interval"]


#: spread below this share of the magnitude is rounding, not variation (as gnomon.stats has it)
_CONSTANT = 1e-13


def explained_interval(
    explained: Explained, setting: Setting, shift: Shift, draws: DrawOptions
) -> Interval | None:
    """The gain of one experiment at a setting; None where it has no correlation."""
    kept, reason = usable(explained)
    if reason is not None:
        return None
    means = power_means(explained.values, explained.offsets, [setting.p], shift=shift).means[0]
    return gain_interval(
        explained.score[kept],
        means[kept],
        explained.human[kept],
        setting.w,
        resamples=draws.resamples,
        seed=draws.seed,
        confidence=draws.confidence,
    )


def gain_interval(
    score: Floats,
    means: Floats,
    human: Floats,
    w: float,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    confidence: float = CONFIDENCE,
) -> Interval:
    """Gain of a setting over the metric alone, with a percentile interval over segments.

    The same segments are drawn for the metric and for the boosted one.
    """
    scaled = np.stack([_standardise(values) for values in (human, score, combine(score, means, w))])
    h, s = scaled[0], scaled[1:]
    observed = s @ h / float(len(score))
    gain = float(observed[1] - observed[0])
    if not resamples:
        return Interval(gain, math.nan, math.nan)
    counts = resample_counts(len(score), count=resamples, seed=seed)
    sums = resampled_sums(np.concatenate([scaled, scaled**2, s * h]), counts)
    first, squares, products = np.split(sums, [len(scaled), 2 * len(scaled)])
    n = np.full_like(products, len(score))
    people = [np.broadcast_to(power[0], products.shape) for power in (first, squares)]
    # a draw of equal values has no r
    r = pearson_of_sums(np.array([n, people[0], first[1:], people[1], squares[1:], products]))
    low, high = percentile_interval(r[1] - r[0], confidence)
    return Interval(gain, float(low), float(high))


def _standardise(values: Floats) -> Floats:
    centred = values - values.mean()
    deviation = float(np.sqrt((centred**2).mean()))
    varies = deviation > _CONSTANT * float(np.abs(values).max())
    return np.asarray(centred / deviation if varies else np.full(len(values), np.nan))
