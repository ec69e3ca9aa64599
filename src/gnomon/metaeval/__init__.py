"""Meta-evaluation: do people agree with the metrics, and which of them agrees best?

The room is callable: ``gnomon.metaeval(testset, ["bleu", scores])``; ``compare`` compares systems.
Everything public is listed in ``__all__``; names are imported when first used.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from gnomon.doors import door

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.findings import Finding
    from gnomon.metaeval._choices import CORRECTIONS as CORRECTIONS
    from gnomon.metaeval._choices import TESTS as TESTS
    from gnomon.metaeval._compare import compare as compare
    from gnomon.metaeval._compare_gate import fail_if_worse as fail_if_worse
    from gnomon.metaeval._human_files import textless as textless
    from gnomon.metaeval._human_files import with_judgements as with_judgements
    from gnomon.metaeval._measures import LEVELS as LEVELS
    from gnomon.metaeval._measures import PRESETS as PRESETS
    from gnomon.metaeval._measures import STATISTICS as STATISTICS
    from gnomon.metaeval._metaeval import metaeval as metaeval
    from gnomon.metaeval._score_files import metric_scores as metric_scores
    from gnomon.metaeval._score_files import split_name as split_name
    from gnomon.testset import TestSet

_HOMES = {
    "CORRECTIONS": "_choices",
    "LEVELS": "_measures",
    "PRESETS": "_measures",
    "STATISTICS": "_measures",
    "TESTS": "_choices",
    "compare": "_compare",
    "fail_if_worse": "_compare_gate",
    "metaeval": "_metaeval",
    "metric_scores": "_score_files",
    "split_name": "_score_files",
    "textless": "_human_files",
    "with_judgements": "_human_files",
}

__all__ = [
    "CORRECTIONS",
    "LEVELS",
    "PRESETS",
    "STATISTICS",
    "TESTS",
    "compare",
    "fail_if_worse",
    "metaeval",
    "metric_scores",
    "split_name",
    "textless",
    "with_judgements",
]


__getattr__ = door(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)


class _Callable(ModuleType):
    """A module that can be called as its main function."""

    def __call__(
        self, testsets: TestSet | Sequence[TestSet], *args: Any, **options: Any
    ) -> Finding:  # passed through
        found: Finding = self.metaeval(testsets, *args, **options)
        return found


sys.modules[__name__].__class__ = _Callable
