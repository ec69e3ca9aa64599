"""How importances, which may be negative, are made fit for a power mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from gnomon.errors import UnknownNameError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["COLLAPSED", "SHIFTS", "Shift", "Shifted", "shifted"]

Shift = Literal["paper", "floor", "exponential"]
SHIFTS: tuple[Shift, ...] = get_args(Shift)
#: a power mean below this share of the arithmetic mean tells of the shift alone
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
        """What means of the logarithms stand for, float64 [P, N]."""
        if self.offset is None or self.scale is None:
            return np.exp(means)
        return self.offset + self.scale * means


def shifted(values: Floats, offsets: NDArray[np.int64], shift: Shift) -> Shifted:
    """Importances shifted segment by segment; no segment is empty.

    Raises:
        UnknownNameError: no such shift.
    """
    if shift not in SHIFTS:
        raise UnknownNameError("shift", str(shift), SHIFTS)
    starts, sizes = offsets[:-1], np.diff(offsets)
    lowest = np.minimum.reduceat(values, starts) if len(starts) else values
    spread = np.maximum.reduceat(values, starts) - lowest if len(starts) else values
    if shift == "exponential":
        above = (values - np.repeat(lowest, sizes)) / np.repeat(_or_one(spread), sizes)
        return Shifted(above, lowest, spread, np.full(len(sizes), -np.inf))
    if shift == "paper":
        by = np.where(lowest <= 0, np.abs(lowest), 0.0)
    else:
        by = np.maximum(0.0, _FLOOR * spread - lowest)
    # one number, as in the original: two would move the smallest, 1e-9, by up to 1e-8 of it
    positive = values + np.repeat(by + _OFFSET, sizes)
    totals = np.add.reduceat(positive, starts) if len(starts) else values
    return Shifted(np.log(positive), None, None, np.log(COLLAPSED * totals / sizes))


def _or_one(spread: Floats) -> Floats:
    return np.where(spread > 0, spread, 1.0)
