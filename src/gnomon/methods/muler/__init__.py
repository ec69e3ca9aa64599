"""MuLER: which word classes, names and forms cost you BLEU (or any metric).

The package is callable: ``gnomon.muler(testset, "bleu", ["pos:*"])``. The pure functions are
importable beside it: ``gnomon.muler.ratio(base, oracle, anti_oracle)``.
"""

from typing import TYPE_CHECKING

from gnomon.core.lazy import callable_package, lazy_exports
from gnomon.methods.muler import validate as validate

if TYPE_CHECKING:
    from gnomon.core.slices import slices as slices
    from gnomon.methods.muler._errors import errors as errors
    from gnomon.methods.muler._figures import clipped_ratios as clipped_ratios
    from gnomon.methods.muler._figures import ratio as ratio
    from gnomon.methods.muler._score import score as score
    from gnomon.methods.muler._setup import Masks as Masks
    from gnomon.methods.muler.paper.correlate import correlate as correlate
    from gnomon.methods.muler.paper.judge import judge as judge
    from gnomon.methods.muler.paper.pairs import PairStudy as PairStudy
    from gnomon.methods.muler.paper.pairs import pairs as pairs
    from gnomon.methods.muler.paper.sheet import Answer as Answer
    from gnomon.methods.muler.paper.sheet import Key as Key
    from gnomon.methods.muler.paper.sheet import Sheet as Sheet
    from gnomon.methods.muler.paper.sheet import read_answers as read_answers
    from gnomon.methods.muler.paper.sheet import read_key as read_key
    from gnomon.methods.muler.paper.sheet import write_key as write_key
    from gnomon.methods.muler.paper.sheet import write_sheet as write_sheet

__getattr__, __dir__, __all__ = lazy_exports(__name__)

callable_package(__name__, "score")
