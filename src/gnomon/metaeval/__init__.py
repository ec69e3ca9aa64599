"""Meta-evaluation: do the metrics agree with people, and which of them agrees best?

The room is callable: ``gnomon.metaeval(testset, ["bleu", scores])``; ``compare`` compares systems.
Everything public is listed in ``__all__``; names are imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.doors import callable_room, door

if TYPE_CHECKING:
    from gnomon.agreement.files import metric_scores as metric_scores
    from gnomon.agreement.files import textless as textless
    from gnomon.agreement.files import with_judgements as with_judgements
    from gnomon.agreement.measures import LEVELS as LEVELS
    from gnomon.agreement.measures import PRESETS as PRESETS
    from gnomon.agreement.measures import STATISTICS as STATISTICS
    from gnomon.metaeval.agreement import metaeval as metaeval
    from gnomon.metaeval.comparison import compare as compare
    from gnomon.metaeval.comparison import fail_if_worse as fail_if_worse
    from gnomon.metaeval.error_spans import spans as spans
    from gnomon.metaeval.preferences import pairwise as pairwise

__getattr__, __dir__, __all__ = door(__name__)

callable_room(__name__, "metaeval")
