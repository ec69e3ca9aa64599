"""Power means of importances, and their combination with a score (Leiter et al., steps 2 and 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, get_args, overload

import numpy as np

from gnomon.core.errors import LengthMismatchError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

__all__ = ["SHIFTS", "Shift", "combine", "power_mean", "power_means"]


# Shifts of importances, which may be negative, for a power mean.


Shift = Literal["paper", "floor", "exponential"]
SHIFTS: tuple[Shift, ...] = get_args(Shift)
#: a power mean below this share of the arithmetic mean depends on the shift alone
COLLAPSED = 1e-3
_OFFSET = 1e-9
_FLOOR = 0.01


class Shifted(NamedTuple):
    """Importances as logarithms of positive numbers, and the way back.

    - ``logs``: float64 [values].
    - ``offset``, ``scale``: float64 [N]; a mean m of the logarithms of a segment stands for
      offset + scale * m; both ``None``: it stands for exp(m).
    - ``least``: float64 [N]; a mean below it has collapsed.
    """

    logs: Floats
    offset: Floats | None
    scale: Floats | None
    least: Floats

    def back(self, means: Floats) -> Floats:
        """Power means from means of logarithms, float64 [P, N]."""
        if self.offset is None or self.scale is None:
            return np.exp(means)
        return self.offset + self.scale * means


def shifted(values: Floats, offsets: NDArray[np.int64], shift: Shift) -> Shifted:
    """Importances shifted segment by segment; no segment is empty."""
    if shift not in SHIFTS:
        raise UnknownNameError("shift", str(shift), SHIFTS)
    starts, sizes = offsets[:-1], np.diff(offsets)
    lowest = np.minimum.reduceat(values, starts) if len(starts) else values
    spread = np.maximum.reduceat(values, starts) - lowest if len(starts) else values
    if shift == "exponential":
        above = (values - np.repeat(lowest, sizes)) / np.repeat(
            np.where(spread > 0, spread, 1.0), sizes
        )
        return Shifted(above, lowest, spread, np.full(len(sizes), -np.inf))
    if shift == "paper":
        by = np.where(lowest <= 0, np.abs(lowest), 0.0)
    else:
        by = np.maximum(0.0, _FLOOR * spread - lowest)
    # one number, as in the original: two would move the smallest, 1e-9, by up to 1e-8 of it
    positive = values + np.repeat(by + _OFFSET, sizes)
    totals = np.add.reduceat(positive, starts) if len(starts) else values
    return Shifted(np.log(positive), None, None, np.log(COLLAPSED * totals / sizes))


#: nearer to 0 a power mean is the geometric mean to the last digit
_ZERO = 1e-15
#: nearer to 0 the sum of powers is taken less 1, lest digits are lost
_SMALL = 0.1


class Aggregates(NamedTuple):
    """Power means of many segments.

    - ``means``: float64 [P, N]; NaN for a segment without importances, or with one that is not
      finite.
    - ``collapsed``: bool [P, N]: M_p is below a thousandth of the arithmetic mean of the shifted
      values: it tells how many tokens there are and no more.
    """

    means: Floats
    collapsed: NDArray[np.bool_]

    @property
    def share_collapsed(self) -> Floats:
        """Share of the defined segments that collapsed, float64 [P]; NaN where none is defined."""
        defined = (~np.isnan(self.means)).sum(axis=1)
        return np.asarray(self.collapsed.sum(axis=1) / np.where(defined == 0, np.nan, defined))


@overload
def power_mean(values: ArrayLike, p: float, *, shift: Shift = ...) -> float: ...
@overload
def power_mean(values: ArrayLike, p: ArrayLike, *, shift: Shift = ...) -> float | Floats: ...
def power_mean(values: ArrayLike, p: ArrayLike, *, shift: Shift = "paper") -> float | Floats:
    """Power mean of the importances of one segment, M_p(e) = (mean e^p)^(1/p).

    p = 0 is the geometric mean, minus and plus infinity are the minimum and the maximum. Values
    that are not positive are shifted first:

    - ``paper`` (Leiter et al., 2022): -min(e) is added where min(e) <= 0, and 1e-9 always. For
      p < 0 the smallest value, now 1e-9, decides alone: the mean *collapses*.
    - ``floor``: the least shift that leaves the smallest value at a hundredth of the range
      (max - min) or above, and 1e-9. Never collapses: M_p is at least about 1/101 of the largest.
    - ``exponential``: min + range * log M_p(exp((e - min)/range)), the exponential mean with p in
      units of the range. Nothing is shifted: the mean lies between the smallest and the largest
      importance, p = 0 is the arithmetic mean, and it moves and scales with the importances.

    Computed in float64 on logarithms with the largest power taken out, so that no p overflows.

    >>> power_mean([0.1, 0.3, 0.2], 1)
    0.2000...
    >>> power_mean([0.1, 0.3, 0.2], float("-inf"))
    0.1000...
    """
    importances = np.asarray(values, dtype=np.float64)
    if importances.ndim != 1:
        raise UsageError(f"importances of one segment are a list; got shape {importances.shape}")
    exponents = np.asarray(p, dtype=np.float64)
    computed = power_means(importances, [0, len(importances)], exponents.ravel(), shift=shift)
    means = computed.means[:, 0].reshape(exponents.shape)
    return means if exponents.ndim else float(means)


def power_means(
    values: ArrayLike, offsets: ArrayLike, p: ArrayLike, *, shift: Shift = "paper"
) -> Aggregates:
    """Power means of many ragged segments for many p at once."""
    importances = np.ascontiguousarray(values, dtype=np.float64)
    bounds = _check_offsets(np.asarray(offsets, dtype=np.int64), importances)
    exponents = np.atleast_1d(np.asarray(p, dtype=np.float64))
    if np.isnan(exponents).any():
        raise UsageError("p of a power mean is a number or infinite; got NaN")
    defined, kept, limits = _select_defined(importances, bounds)
    means = np.full((len(exponents), len(defined)), np.nan)
    collapsed = np.zeros(means.shape, dtype=bool)
    ready = shifted(kept, limits, shift)
    logs = _log_means(ready.logs, limits, exponents)
    if defined.all():
        return Aggregates(ready.back(logs), logs < ready.least)
    means[:, defined], collapsed[:, defined] = ready.back(logs), logs < ready.least
    return Aggregates(means, collapsed)


def combine(score: ArrayLike, aggregate: ArrayLike, w: float) -> Floats:
    """The boosted score, S1 = w S0 + (1 - w) s_hat (Leiter et al., step 3).

    >>> combine([1.0, 2.0], [3.0, 5.0], 0.5).tolist()
    [2.0, 3.5]
    """
    if not 0 <= w <= 1:
        raise UsageError(f"the weight w of the metric's own score lies in [0, 1]; got {w}")
    s0, s_hat = np.broadcast_arrays(
        np.asarray(score, dtype=np.float64), np.asarray(aggregate, dtype=np.float64)
    )
    if w in {0, 1}:
        return np.array(s0 if w == 1 else s_hat)
    return np.asarray(w * s0 + (1 - w) * s_hat)


def _log_means(logs: Floats, offsets: NDArray[np.int64], p: Floats) -> Floats:
    """Log M_p of every segment, log (mean exp(p log x))^(1/p), float64 [P, N].

    log M_p = m + log(mean exp(p (log x - m)))/p with the largest (p > 0) or smallest (p < 0)
    logarithm as m, so that no power overflows. There is no compiled twin: what p makes of a
    segment is the same number whatever else is asked for.
    """
    starts, sizes = offsets[:-1], np.diff(offsets)
    means = np.empty((len(p), len(sizes)))
    powers = np.empty_like(logs)
    peaks = [extreme.reduceat(logs, starts) for extreme in (np.minimum, np.maximum)]
    below = [logs - np.repeat(peak, sizes) for peak in peaks]
    for row, power in zip(means, p.tolist(), strict=True):
        peak, less = peaks[power > 0], below[power > 0]
        if np.isinf(power):
            row[:] = peak
            continue
        if abs(power) <= _ZERO:
            row[:] = peak + np.add.reduceat(less, starts) / sizes
            continue
        to_power, to_log = (np.expm1, np.log1p) if abs(power) < _SMALL else (np.exp, np.log)
        with np.errstate(over="ignore"):  # to minus infinity, whose power is 0
            np.multiply(less, power, out=powers)
        to_power(powers, out=powers)
        np.add.reduceat(powers, starts, out=row)
        row[:] = peak + to_log(row / sizes) / power
    return means


def _check_offsets(offsets: NDArray[np.int64], values: Floats) -> NDArray[np.int64]:
    fits = (
        offsets.ndim == values.ndim == 1
        and len(offsets) > 0
        and offsets[0] == 0
        and offsets[-1] == len(values)
        and bool((np.diff(offsets) >= 0).all())
    )
    if not fits:
        raise LengthMismatchError(
            f"offsets must rise from 0 to the number of values, {values.size}; got shape"
            f" {offsets.shape}" + (f", {offsets[0]} to {offsets[-1]}" if offsets.size else "")
        )
    return offsets


def _select_defined(
    values: Floats, offsets: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], Floats, NDArray[np.int64]]:
    """Which segments have importances, all finite; and these alone."""
    sizes = np.diff(offsets)
    finite = np.isfinite(values)
    if finite.all() and sizes.all():
        return sizes > 0, values, offsets
    wrong = np.concatenate([[0], np.cumsum(~finite)])
    defined = (sizes > 0) & (wrong[offsets[1:]] == wrong[offsets[:-1]])
    limits = np.concatenate([[0], np.cumsum(sizes[defined])])
    return defined, values[np.repeat(defined, sizes)], limits
