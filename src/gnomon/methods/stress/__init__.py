"""What a metric does not see: which kinds of errors it scores below the same text without them.

``gnomon.stress`` may be called itself. Everything public is listed in ``__all__``; names are
imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.lazy import callable_package, lazy_exports

if TYPE_CHECKING:
    from gnomon.methods.stress._stress import stress as stress
    from gnomon.methods.stress._stress import stress_pairs as stress_pairs

__getattr__, __dir__, __all__ = lazy_exports(__name__)
callable_package(__name__, "stress")
