"""MuLER: what does a metric charge each linguistic feature for?

The room is callable: ``gnomon.muler(testset, metric="bleu", features=["pos:*"])``. The pure
functions are importable beside it: ``gnomon.muler.ratio(base, oracle, anti_oracle)``.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from gnomon.doors import door
from gnomon.findings import Finding
from gnomon.testset import TestSet

if TYPE_CHECKING:
    from gnomon.muler._correlate import correlate
    from gnomon.muler._discrepancy import discrepancy
    from gnomon.muler._pairs import PairStudy, pairs
    from gnomon.muler._ratio import clipped_ratios, ratio
    from gnomon.muler._run import muler
    from gnomon.muler._sentences import sentences
    from gnomon.muler._sheet import Key, Sheet
    from gnomon.muler._sheet_judge import judge_pairs
    from gnomon.muler._sheet_read import Answer, read_answers, read_key
    from gnomon.muler._sheet_write import write_key, write_sheet
    from gnomon.muler._validate_frequency import validate_frequency
    from gnomon.muler._validate_range import validate_range
    from gnomon.muler._validate_specificity import validate_specificity
    from gnomon.slices import slices

__all__ = [
    "Answer",
    "Key",
    "PairStudy",
    "Sheet",
    "clipped_ratios",
    "correlate",
    "discrepancy",
    "judge_pairs",
    "muler",
    "pairs",
    "ratio",
    "read_answers",
    "read_key",
    "sentences",
    "slices",
    "validate_frequency",
    "validate_range",
    "validate_specificity",
    "write_key",
    "write_sheet",
]


#: where the public names live: imported when asked for
_HOMES = {
    "Answer": "gnomon.muler._sheet_read",
    "Key": "gnomon.muler._sheet",
    "PairStudy": "gnomon.muler._pairs",
    "Sheet": "gnomon.muler._sheet",
    "clipped_ratios": "gnomon.muler._ratio",
    "correlate": "gnomon.muler._correlate",
    "discrepancy": "gnomon.muler._discrepancy",
    "judge_pairs": "gnomon.muler._sheet_judge",
    "muler": "gnomon.muler._run",
    "pairs": "gnomon.muler._pairs",
    "ratio": "gnomon.muler._ratio",
    "read_answers": "gnomon.muler._sheet_read",
    "read_key": "gnomon.muler._sheet_read",
    "sentences": "gnomon.muler._sentences",
    "slices": "gnomon.slices",
    "validate_frequency": "gnomon.muler._validate_frequency",
    "validate_range": "gnomon.muler._validate_range",
    "validate_specificity": "gnomon.muler._validate_specificity",
    "write_key": "gnomon.muler._sheet_write",
    "write_sheet": "gnomon.muler._sheet_write",
}


class _Callable(ModuleType):
    """A module that can be called as its main function."""

    def __call__(self, testset: TestSet, *args: Any, **options: Any) -> Finding:  # passed through
        found: Finding = self.muler(testset, *args, **options)
        return found


__getattr__ = door(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})


sys.modules[__name__].__class__ = _Callable
