"""Pure functions on arrays: correlation and resampling. No text, no metrics.

Missing values are NaN. Whatever is undefined (fewer than two points, a constant side) is NaN too,
never an error.
"""

from gnomon.stats.corrections import benjamini_hochberg, holm
from gnomon.stats.correlation import pearson
from gnomon.stats.resampling import Interval, bootstrap_interval, resamples

__all__ = [
    "Interval",
    "benjamini_hochberg",
    "bootstrap_interval",
    "holm",
    "pearson",
    "resamples",
]
