"""Corrections of p-values for testing many hypotheses at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

__all__ = ["benjamini_hochberg", "holm"]


def holm(p: ArrayLike) -> NDArray[np.float64]:
    """p-values adjusted so that the chance of any false rejection stays below alpha (Holm, 1979).

    The k-th smallest of m p-values becomes the largest of (m - j + 1) p_j over j = 1..k, at most 1.
    Rejecting where the adjusted value is at most alpha is Holm's step-down procedure, valid under
    any dependence between the tests.

    Args:
        p: p-values in [0, 1], any shape; NaN is a test that was not made, and counts for nothing.

    Returns:
        Adjusted p-values of the same shape; NaN where ``p`` is NaN.

    Raises:
        DataError: a value lies outside [0, 1].

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    return _adjusted(p, _step_down)


def benjamini_hochberg(p: ArrayLike) -> NDArray[np.float64]:
    """p-values adjusted so that the expected share of false discoveries stays below alpha.

    The k-th smallest of m p-values becomes the smallest of m p_j / j over j = k..m, at most 1
    (Benjamini and Hochberg, 1995). Valid for independent tests and for positively dependent ones.

    Args:
        p: p-values in [0, 1], any shape; NaN is a test that was not made, and counts for nothing.

    Returns:
        Adjusted p-values of the same shape; NaN where ``p`` is NaN.

    Raises:
        DataError: a value lies outside [0, 1].

    >>> benjamini_hochberg([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.04, 0.04]
    """
    return _adjusted(p, _step_up)


def _adjusted(
    p: ArrayLike, adjust: Callable[[NDArray[np.float64]], NDArray[np.float64]]
) -> NDArray[np.float64]:
    result = np.array(p, dtype=np.float64)
    made = ~np.isnan(result)
    values = result[made]
    if ((values < 0) | (values > 1)).any():
        raise DataError(f"p-values lie in [0, 1]; got {values.min()} to {values.max()}")
    order = np.argsort(values, kind="stable")
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(adjust(values[order]), 1.0)
    result[made] = adjusted
    return result


def _step_down(ascending: NDArray[np.float64]) -> NDArray[np.float64]:
    factors = np.arange(len(ascending), 0, -1)
    return np.maximum.accumulate(factors * ascending)


def _step_up(ascending: NDArray[np.float64]) -> NDArray[np.float64]:
    ratios = len(ascending) * ascending / np.arange(1, len(ascending) + 1)
    return np.minimum.accumulate(ratios[::-1])[::-1]
