"""Validation: how far MuLER can be trusted here: range, frequency, specificity."""

from typing import TYPE_CHECKING

from gnomon.core.lazy import lazy_exports

if TYPE_CHECKING:
    from gnomon.methods.muler.validate._frequency import frequency as frequency
    from gnomon.methods.muler.validate._range import range as range  # noqa: A004  # the method
    from gnomon.methods.muler.validate._specificity import specificity as specificity

__getattr__, __dir__, __all__ = lazy_exports(__name__)
