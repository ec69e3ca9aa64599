"""gnomon compares translations: which is better, by how much, and on which words.

Everything public is listed in ``__all__``; names are imported when first used, so that
``import gnomon`` stays quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from gnomon.core.signature import version as _version

if TYPE_CHECKING:
    from gnomon import bmx as bmx
    from gnomon import check as check
    from gnomon import difficulty as difficulty
    from gnomon import human as human
    from gnomon import judges as judges
    from gnomon import learned as learned
    from gnomon import linguistics as annotate
    from gnomon import metaeval as metaeval
    from gnomon import muler as muler
    from gnomon import paraphrase as paraphrase
    from gnomon import stress as stress
    from gnomon import studies as study
    from gnomon import train as train
    from gnomon.alignment import align as align
    from gnomon.comparison import compare as compare
    from gnomon.core import errors as errors
    from gnomon.core.errors import GnomonError as GnomonError
    from gnomon.core.findings import Finding as Finding
    from gnomon.core.scores import Scores as Scores
    from gnomon.core.testset import TestSet as TestSet
    from gnomon.data import example as example
    from gnomon.data import formats as formats
    from gnomon.data import official as official
    from gnomon.metrics import metric as metric
    from gnomon.metrics import score as score

#: where a public class or function is defined
_OBJECTS = {
    "Finding": "gnomon.core.findings",
    "GnomonError": "gnomon.core.errors",
    "Scores": "gnomon.core.scores",
    "TestSet": "gnomon.core.testset",
    "align": "gnomon.alignment",
    "compare": "gnomon.comparison",
    "metric": "gnomon.metrics",
    "score": "gnomon.metrics",
}
#: which module a public name stands for
_MODULES = {
    "annotate": "gnomon.linguistics",
    "bmx": "gnomon.bmx",
    "check": "gnomon.check",
    "difficulty": "gnomon.difficulty",
    "errors": "gnomon.core.errors",
    "example": "gnomon.data.example",
    "formats": "gnomon.data.formats",
    "human": "gnomon.human",
    "judges": "gnomon.judges",
    "learned": "gnomon.learned",
    "metaeval": "gnomon.metaeval",
    "metrics": "gnomon.metrics",
    "muler": "gnomon.muler",
    "official": "gnomon.data.official",
    "paraphrase": "gnomon.paraphrase",
    "report": "gnomon.report",
    "stats": "gnomon.stats",
    "stress": "gnomon.stress",
    "study": "gnomon.studies",
    "train": "gnomon.train",
}

__all__ = [
    "Finding",
    "GnomonError",
    "Scores",
    "TestSet",
    "__version__",
    "align",
    "annotate",
    "bmx",
    "check",
    "compare",
    "difficulty",
    "errors",
    "example",
    "formats",
    "human",
    "judges",
    "learned",
    "metaeval",
    "metric",
    "metrics",
    "muler",
    "official",
    "paraphrase",
    "report",
    "score",
    "stats",
    "stress",
    "study",
    "train",
]

__version__ = _version()


def __getattr__(name: str) -> object:
    if name in _OBJECTS:
        return getattr(importlib.import_module(_OBJECTS[name]), name)
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    if name.startswith("_"):
        raise AttributeError(f"module 'gnomon' has no attribute {name!r}")
    raise importlib.import_module("gnomon.core.lazy").unknown_attribute("gnomon", name, __all__)


def __dir__() -> list[str]:
    return sorted(__all__)
