"""Systems side by side: which is better, by how much, and in which segments and words.

``gnomon.compare`` goes by metrics that score one output, ``gnomon.pairwise`` by metrics that read
two at once. Everything public is listed in ``__all__``; names are imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.lazy import lazy_exports

if TYPE_CHECKING:
    from gnomon.methods.compare.comparison import compare as compare
    from gnomon.methods.compare.preferences import pairwise as pairwise

__getattr__, __dir__, __all__ = lazy_exports(__name__)
