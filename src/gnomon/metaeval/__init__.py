"""Meta-evaluation: do the metrics agree with people, and which of them agrees best?

The package is callable: ``gnomon.metaeval(testset, ["bleu", scores])``. Everything public is listed
in ``__all__``; names are imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.lazy import callable_package, lazy_exports

if TYPE_CHECKING:
    from gnomon.agreement.files import add_judgements as add_judgements
    from gnomon.agreement.files import metric_scores as metric_scores
    from gnomon.agreement.files import textless as textless
    from gnomon.agreement.measures import LEVELS as LEVELS
    from gnomon.agreement.measures import PRESETS as PRESETS
    from gnomon.agreement.measures import STATISTICS as STATISTICS
    from gnomon.comparison.gate import fail_if_worse as fail_if_worse
    from gnomon.metaeval.agreement import metaeval as metaeval
    from gnomon.metaeval.difference_accuracy import delta_accuracy as delta_accuracy
    from gnomon.metaeval.error_spans import spans as spans

__getattr__, __dir__, __all__ = lazy_exports(__name__)

callable_package(__name__, "metaeval")
