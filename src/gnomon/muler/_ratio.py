"""The two definitions of MuLER, on numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["clipped_ratios", "ratio", "ratios"]

_ROUNDING = 1e-12  # a difference below this share of the scores is rounding, not a difference


def ratio(base: float, oracle: float, anti_oracle: float) -> float | None:
    """Share of the reachable gain that a system leaves on a feature (Karidi et al., eq. 2).

    The same for a metric and for its negative, so that error rates need no special care.

    Args:
        base: mean sentence score over the segments where both sides have the feature.
        oracle: the same mean with the feature masked alike on both sides.
        anti_oracle: the same mean with the feature masked differently on each side.

    Returns:
        (oracle - base) / (oracle - anti_oracle); 0 is perfect, 1 is worst, and values outside
        [0, 1] occur where the two sides are tagged differently. None where oracle equals
        anti-oracle, or a value is missing.

    >>> ratio(base=30.0, oracle=40.0, anti_oracle=20.0)
    0.5
    """
    found = float(ratios(base, oracle, anti_oracle))
    return None if np.isnan(found) else found


def ratios(base: ArrayLike, oracle: ArrayLike, anti_oracle: ArrayLike) -> NDArray[np.float64]:
    """:func:`ratio` of arrays of any one shape; NaN where it is undefined."""
    top, bottom = np.asarray(oracle, dtype=np.float64), np.asarray(anti_oracle, dtype=np.float64)
    spread = top - bottom
    vanishes = np.abs(spread) <= _ROUNDING * np.maximum(np.abs(top), np.abs(bottom))
    undefined = np.where(vanishes, np.nan, spread)
    return np.asarray((top - np.asarray(base, dtype=np.float64)) / undefined)


def clipped_ratios(
    base: ArrayLike, oracle: ArrayLike, anti_oracle: ArrayLike
) -> NDArray[np.float64]:
    """Segment-wise a / b, counted 0 unless 0 < a <= b (Karidi et al., tables 3 and 15).

    Args:
        base: sentence scores, any shape, oriented so that higher is better.
        oracle: the same with the feature masked alike on both sides.
        anti_oracle: the same with the feature masked differently on each side.

    Returns:
        float64 of the same shape, in [0, 1]; a = oracle - base, b = oracle - anti_oracle.
    """
    top = np.asarray(oracle, dtype=np.float64)
    reached = np.asarray(base, dtype=np.float64)
    bottom = np.asarray(anti_oracle, dtype=np.float64)
    gain, spread = top - reached, top - bottom
    noise = _ROUNDING * np.maximum(np.abs(top), np.maximum(np.abs(reached), np.abs(bottom)))
    counted = (gain > noise) & (gain <= spread + noise)
    share = np.divide(gain, spread, out=np.zeros_like(gain), where=counted)
    return np.minimum(share, 1.0)
