"""Paraphrased references: measure how different they are, make them, score with them.

Everything public is listed in ``__all__``; names are imported when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gnomon.paraphrase._diversity import MEASURES as MEASURES
    from gnomon.paraphrase._diversity import diversity as diversity
    from gnomon.paraphrase._lexical import lexical_diversity as lexical_diversity
    from gnomon.paraphrase._sets import SYSTEMS as SYSTEMS
    from gnomon.paraphrase._sets import Wordings as Wordings
    from gnomon.paraphrase._sets import first_of as first_of
    from gnomon.paraphrase._sets import sets_of as sets_of
    from gnomon.paraphrase._sets import tree_sets as tree_sets
    from gnomon.paraphrase._sets import wordings_of as wordings_of
    from gnomon.paraphrase._syntactic import syntactic_diversity as syntactic_diversity
    from gnomon.paraphrase._tree_kernel import tree_similarity as tree_similarity

_HOMES = {
    "MEASURES": "_diversity",
    "SYSTEMS": "_sets",
    "Wordings": "_sets",
    "diversity": "_diversity",
    "first_of": "_sets",
    "lexical_diversity": "_lexical",
    "sets_of": "_sets",
    "syntactic_diversity": "_syntactic",
    "tree_sets": "_sets",
    "tree_similarity": "_tree_kernel",
    "wordings_of": "_sets",
}

__all__ = [
    "MEASURES",
    "SYSTEMS",
    "Wordings",
    "diversity",
    "first_of",
    "lexical_diversity",
    "sets_of",
    "syntactic_diversity",
    "tree_sets",
    "tree_similarity",
    "wordings_of",
]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(importlib.import_module(f"gnomon.paraphrase.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'gnomon.paraphrase' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
