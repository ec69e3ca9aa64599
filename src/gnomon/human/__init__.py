"""Human judgements: plan and sample judgements, and compare systems by them.

Intervals take documents as what is independent, and the leniency of raters out. The package is
callable: ``gnomon.human(testset)`` compares. Everything public is listed in ``__all__``; names are
imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.lazy import callable_package, lazy_exports

if TYPE_CHECKING:
    from gnomon.human.blind import sheet as sheet
    from gnomon.human.comparison import compare as compare
    from gnomon.human.drawing import sample as sample
    from gnomon.human.planning import plan as plan

__getattr__, __dir__, __all__ = lazy_exports(__name__)

callable_package(__name__, "compare")
