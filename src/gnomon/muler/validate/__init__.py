"""Validation: how far MuLER can be trusted here: range, frequency, specificity."""

from typing import TYPE_CHECKING

from gnomon.doors import door

if TYPE_CHECKING:
    from gnomon.muler.validate._frequency import frequency
    from gnomon.muler.validate._range import range  # noqa: A004  # its name as a method
    from gnomon.muler.validate._specificity import specificity

__all__ = ["frequency", "range", "specificity"]

_HOMES = {"frequency": "_frequency", "range": "_range", "specificity": "_specificity"}

__getattr__ = door(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
