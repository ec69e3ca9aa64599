"""Checks that every output is a translation, and keeps what was prescribed.

``gnomon.check`` may be called itself. Everything public is listed in ``__all__``; names are
imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.lazy import callable_package, lazy_exports

if TYPE_CHECKING:
    from gnomon.check.checking import check as check

__getattr__, __dir__, __all__ = lazy_exports(__name__)
callable_package(__name__, "check")
