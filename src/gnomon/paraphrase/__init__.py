"""Paraphrased references: measure how different they are, make them, score with them.

Everything public is listed in ``__all__``; names are imported when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gnomon.paraphrase._lexical import lexical_diversity as lexical_diversity
    from gnomon.paraphrase._syntactic import syntactic_diversity as syntactic_diversity
    from gnomon.paraphrase._tree_kernel import tree_similarity as tree_similarity

_HOMES = {
    "lexical_diversity": "_lexical",
    "syntactic_diversity": "_syntactic",
    "tree_similarity": "_tree_kernel",
}

__all__ = ["lexical_diversity", "syntactic_diversity", "tree_similarity"]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(importlib.import_module(f"gnomon.paraphrase.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'gnomon.paraphrase' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
