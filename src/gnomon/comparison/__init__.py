"""Systems side by side: the better one, by how much, and in which segments and words.

Everything public is listed in ``__all__``; names are imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.lazy import lazy_exports

if TYPE_CHECKING:
    from gnomon.comparison.systems import compare as compare

__getattr__, __dir__, __all__ = lazy_exports(__name__)
