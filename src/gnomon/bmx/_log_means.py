"""Logarithms of power means of many segments for many p at once, without overflow."""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from types import ModuleType

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["log_means", "plain"]

_log = logging.getLogger("gnomon")
#: the grid of the paper counts p in tenths
_STEPS = 10
_LARGEST = 1000
#: nearer to 0 a power mean is the geometric mean to the last digit
_ZERO = 1e-15
#: powers from which on compiled loops pay
_ENOUGH = 500_000


def log_means(logs: Floats, offsets: NDArray[np.int64], p: Floats) -> Floats:
    """Log M_p of every segment: log of (mean exp(p log x))^(1/p), the largest power taken out.

    Args:
        logs: float64 [values], logarithms of positive values; finite.
        offsets: int64 [N + 1], where segments begin and end; no segment is empty.
        p: float64 [P], any but NaN.

    Returns:
        float64 [P, N].
    """
    tenths = np.rint(np.clip(p, -_LARGEST, _LARGEST) * _STEPS)
    counted = (tenths / _STEPS == p) & (p != 0)
    loops = _kernels() if len(logs) * int(counted.sum()) >= _ENOUGH else None
    if loops is None:
        return plain(logs, offsets, p)
    found = np.empty((len(offsets) - 1, len(p)))
    above, below = (_places(sign * tenths, counted) for sign in (1, -1))
    loops.log_means(logs, offsets, 1 / _STEPS, above, below, found)
    found[:, counted] = found[:, _first_of_equals(p)[counted]]
    found[:, ~counted] = plain(logs, offsets, p[~counted]).T
    return np.ascontiguousarray(found.T)


def plain(logs: Floats, offsets: NDArray[np.int64], p: Floats) -> Floats:
    """The same, one p after the other.

    log M_p = m + log1p(mean expm1(p (log x - m)))/p with the largest (p > 0) or smallest
    (p < 0) logarithm as m: exact for large p and for p near 0.
    """
    starts, sizes = offsets[:-1], np.diff(offsets)
    found = np.empty((len(p), len(sizes)))
    highest, lowest = np.maximum.reduceat(logs, starts), np.minimum.reduceat(logs, starts)
    for row, power in zip(found, p, strict=True):
        peak = highest if power > 0 else lowest
        if np.isinf(power):
            row[:] = peak
            continue
        less = logs - np.repeat(peak, sizes)
        if abs(power) <= _ZERO:
            row[:] = peak + np.add.reduceat(less, starts) / sizes
            continue
        with np.errstate(over="ignore"):  # to minus infinity, whose power is 0
            powers = np.expm1(power * less)
        row[:] = peak + np.log1p(np.add.reduceat(powers, starts) / sizes) / power
    return found


def _places(tenths: Floats, counted: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Position in p of every count of tenths from 0 up; -1 where it is not asked for."""
    mine = np.flatnonzero(counted & (tenths > 0))
    counts = tenths[mine].astype(np.int64)
    places = np.full(int(counts.max(initial=0)) + 1, -1, dtype=np.int64)
    places[counts[::-1]] = mine[::-1]
    return places


def _first_of_equals(p: Floats) -> NDArray[np.intp]:
    """For every p, where it occurs first."""
    _, first, back = np.unique(p, return_index=True, return_inverse=True)
    return first[back]


def _kernels() -> ModuleType | None:
    try:
        return import_module("gnomon.bmx._kernels")
    except (ImportError, RuntimeError) as error:
        _log.debug("compiled loops are not used: %s", error)
        return None
