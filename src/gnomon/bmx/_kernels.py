"""Compiled loops over ragged segments. Imported where they pay: compiling needs numba.

The plain twin of :func:`log_means` is ``gnomon.bmx._log_means.plain``; tests hold the two equal.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["log_means"]

#: what is smaller adds nothing to a sum that is 1 or more, and slows multiplication down
_TINY = 1e-290


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _sides(logs, first, last, step, sign, wanted, column, out):
    """Logarithms of the means of one segment for p = sign * step * 1, 2, ...

    The largest power is 1 throughout (the largest value for p > 0, the smallest for p < 0); from
    one p to the next every power is multiplied by its value to the ``step``.
    """
    n = last - first
    peak = logs[first]
    for i in range(first, last):
        if sign * logs[i] > sign * peak:
            peak = logs[i]
    ratios, powers = np.empty(n), np.ones(n)
    for i in range(n):
        ratios[i] = np.exp(sign * step * (logs[first + i] - peak))
    for k in range(1, len(wanted)):
        total = 0.0
        for i in range(n):
            power = powers[i] * ratios[i]
            power = power if power > _TINY else 0.0
            powers[i] = power
            total += power
        if wanted[k] >= 0:
            out[column, wanted[k]] = peak + np.log(total / n) / (sign * step * k)


@njit(cache=True, nogil=True)
def log_means(logs, offsets, step, above, below, out):
    """Logarithms of power means for multiples of one step.

    Args:
        logs: float64 [values], logarithms of the values of all segments.
        offsets: int64 [N + 1]; no segment is empty.
        step: p counts these.
        above: int64: row of ``out`` for p = step * index, or -1 where it is not asked for.
        below: likewise for p = -step * index.
        out: float64 [N, P], filled where ``above`` and ``below`` say, but for p = 0.
    """
    for segment in range(len(offsets) - 1):
        first, last = offsets[segment], offsets[segment + 1]
        _sides(logs, first, last, step, 1.0, above, segment, out)
        _sides(logs, first, last, step, -1.0, below, segment, out)
