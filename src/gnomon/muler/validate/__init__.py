"""Validation of MuLER on given data: range, frequency, random words."""

from typing import TYPE_CHECKING

from gnomon.core.lazy import callable_package, lazy_exports

if TYPE_CHECKING:
    from gnomon.muler.validate._validate import validate as validate

__getattr__, __dir__, __all__ = lazy_exports(__name__)

callable_package(__name__, "validate")
