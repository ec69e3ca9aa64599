"""MuLER: what does a metric charge each linguistic feature for?

The room is callable: ``gnomon.muler(testset, metric="bleu", features=["pos:*"])``. The pure
functions are importable beside it: ``gnomon.muler.ratio(base, oracle, anti_oracle)``.
"""

import sys
from types import ModuleType
from typing import Any

from gnomon.findings import Finding
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
from gnomon.muler._slices import slices
from gnomon.muler._validate_frequency import validate_frequency
from gnomon.muler._validate_range import validate_range
from gnomon.muler._validate_specificity import validate_specificity
from gnomon.testset import TestSet

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


class _Callable(ModuleType):
    """A module that can be called as its main function."""

    def __call__(self, testset: TestSet, *args: Any, **options: Any) -> Finding:  # passed through
        return muler(testset, *args, **options)


sys.modules[__name__].__class__ = _Callable
