"""gnomon makes any metric of machine translation or text generation say more.

Everything public is listed in ``__all__``; names are imported when first used, so that
``import gnomon`` stays quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from gnomon.signature import version as _version

if TYPE_CHECKING:
    from gnomon.errors import GnomonError as GnomonError
    from gnomon.findings import Finding as Finding
    from gnomon.metaeval import compare as compare
    from gnomon.metaeval import pairwise as pairwise
    from gnomon.metrics import metric as metric
    from gnomon.metrics import score as score
    from gnomon.scores import Scores as Scores
    from gnomon.testset import TestSet as TestSet

_HOMES = {
    "Finding": "gnomon.findings",
    "GnomonError": "gnomon.errors",
    "Scores": "gnomon.scores",
    "TestSet": "gnomon.testset",
    "compare": "gnomon.metaeval",
    "metric": "gnomon.metrics",
    "pairwise": "gnomon.metaeval",
    "score": "gnomon.metrics",
}
_ROOMS = (
    "annotate",
    "bmx",
    "difficulty",
    "errors",
    "formats",
    "judges",
    "metaeval",
    "metrics",
    "muler",
    "paraphrase",
    "report",
    "stats",
    "study",
    "train",
)

__all__ = [
    "Finding",
    "GnomonError",
    "Scores",
    "TestSet",
    "__version__",
    "annotate",
    "bmx",
    "compare",
    "difficulty",
    "errors",
    "formats",
    "judges",
    "metaeval",
    "metric",
    "metrics",
    "muler",
    "pairwise",
    "paraphrase",
    "report",
    "score",
    "stats",
    "study",
    "train",
]

__version__ = _version()


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in _ROOMS:
        return importlib.import_module(f"gnomon.{name}")
    if name.startswith("_"):
        raise AttributeError(f"module 'gnomon' has no attribute {name!r}")
    raise importlib.import_module("gnomon.doors").unknown_attribute("gnomon", name, __all__)


def __dir__() -> list[str]:
    return sorted(__all__)
