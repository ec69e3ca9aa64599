"""MuLER: the word classes, names and forms that cost BLEU, or any metric.

The package is callable: ``gnomon.muler(testset, "bleu", ["pos:*"])``. The pure functions are
importable beside it: ``gnomon.muler.ratio(base, oracle, anti_oracle)``.
"""

from typing import TYPE_CHECKING

from gnomon.core.lazy import callable_package, lazy_exports
from gnomon.muler import validate as validate

if TYPE_CHECKING:
    from gnomon.core.slices import slices as slices
    from gnomon.muler._correlate import correlate as correlate
    from gnomon.muler._errors import errors as errors
    from gnomon.muler._score import score as score
    from gnomon.muler._setup import Masks as Masks
    from gnomon.muler.figures import clipped_ratios as clipped_ratios
    from gnomon.muler.figures import ratio as ratio

__getattr__, __dir__, __all__ = lazy_exports(__name__)

callable_package(__name__, "score")
