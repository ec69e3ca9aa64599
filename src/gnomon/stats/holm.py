"""Holm's correction: p-values and intervals of many tests that are decided together."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.core.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Stepped",
    "holm",
    "holm_levels",
    "step_down",
]


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
    result = np.array(p, dtype=np.float64)
    made = ~np.isnan(result)
    values = result[made]
    if ((values < 0) | (values > 1)).any():
        raise DataError(f"p-values lie in [0, 1]; got {values.min()} to {values.max()}")
    order = np.argsort(values, kind="stable")
    ascending = values[order] * np.arange(len(values), 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(np.maximum.accumulate(ascending), 1.0)
    result[made] = adjusted
    return result


def holm_levels(p: ArrayLike, alpha: float = 0.05) -> NDArray[np.float64]:
    """The level at which Holm's procedure tests each hypothesis: alpha over how many are left.

    The k-th smallest of m p-values is tested at alpha / (m - k + 1) until one is larger; from there
    on all are tested at the level of that step. An interval of confidence 1 - level leaves 0 out
    where Holm's adjusted p is at most alpha, and there alone.

    Args:
        p: p-values, any shape; NaN is a test that was not made.
        alpha: the level of the family.

    Returns:
        Levels of the same shape; NaN where ``p`` is NaN.

    >>> holm_levels([0.01, 0.04, 0.03], 0.06).round(3).tolist()
    [0.02, 0.06, 0.03]
    """
    values = np.asarray(p, dtype=np.float64)
    levels = np.full(values.shape, np.nan)
    made = np.flatnonzero(~np.isnan(values))
    order = made[np.argsort(values.flat[made], kind="stable")]
    step = alpha / np.arange(len(order), 0, -1)
    larger = np.flatnonzero(values.flat[order] > step)
    if len(larger):
        step = np.minimum(step, step[larger[0]])
    levels.flat[order] = step
    return levels


class Stepped(NamedTuple):
    """A test of a family by Holm's procedure, with the interval of its own step."""

    low: float
    high: float
    p: float
    decided: bool | None


def step_down(
    tests: Sequence[Callable[[float], tuple[float, float, float]]],
    alpha: float,
    families: Sequence[object] | None = None,
) -> list[Stepped]:
    """Tests by Holm's procedure, each with the interval of its own step.

    Args:
        tests: each gives for a level the ends of an interval, and p.
        alpha: the level of a family.
        families: of each test its own; by default all are one.

    Returns:
        Intervals and adjusted p; what is not decided, or was not tested (p is NaN: None).
    """
    p = np.array([test(alpha)[2] for test in tests], dtype=np.float64)
    adjusted, levels = p.copy(), np.full(len(p), alpha)
    names = [None] * len(p) if families is None else families
    for family in dict.fromkeys(names):
        places = [n for n, name in enumerate(names) if name == family]
        adjusted[places], levels[places] = holm(p[places]), holm_levels(p[places], alpha)
    steps = zip(tests, levels.tolist(), adjusted.tolist(), strict=True)
    return [
        Stepped(
            *test(alpha if math.isnan(q) else level)[:2], q, None if math.isnan(q) else q <= alpha
        )
        for test, level, q in steps
    ]
