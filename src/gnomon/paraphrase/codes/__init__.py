"""Codes of sentences (semantic, syntactic, random): what a paraphraser can be asked for.

``fit`` clusters sentences, ``Codes.assign`` gives each its code, ``save`` and ``load`` keep codes
in a folder. Names are imported when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gnomon.paraphrase.codes._coder import SentenceCoder as SentenceCoder
    from gnomon.paraphrase.codes._codes import NO_CODE as NO_CODE
    from gnomon.paraphrase.codes._codes import Codes as Codes
    from gnomon.paraphrase.codes._codes import Fitted as Fitted
    from gnomon.paraphrase.codes._codes import Placed as Placed
    from gnomon.paraphrase.codes._files import read_codes as read_codes
    from gnomon.paraphrase.codes._files import write_codes as write_codes
    from gnomon.paraphrase.codes._fit import KINDS as KINDS
    from gnomon.paraphrase.codes._fit import fit as fit
    from gnomon.paraphrase.codes._folder import Facts as Facts
    from gnomon.paraphrase.codes._folder import facts as facts
    from gnomon.paraphrase.codes._folder import load as load
    from gnomon.paraphrase.codes._folder import save as save
    from gnomon.paraphrase.codes._prune import Pruned as Pruned
    from gnomon.paraphrase.codes._prune import pruned as pruned
    from gnomon.paraphrase.codes._quality import quality as quality
    from gnomon.paraphrase.codes._recipe import TreeRecipe as TreeRecipe
    from gnomon.paraphrase.codes._tree_stats import DEPTHS as DEPTHS
    from gnomon.paraphrase.codes._tree_stats import tree_stats as tree_stats

_HOMES = {
    "DEPTHS": "_tree_stats",
    "KINDS": "_fit",
    "NO_CODE": "_codes",
    "Codes": "_codes",
    "Facts": "_folder",
    "Fitted": "_codes",
    "Placed": "_codes",
    "Pruned": "_prune",
    "SentenceCoder": "_coder",
    "TreeRecipe": "_recipe",
    "facts": "_folder",
    "fit": "_fit",
    "load": "_folder",
    "pruned": "_prune",
    "quality": "_quality",
    "read_codes": "_files",
    "save": "_folder",
    "tree_stats": "_tree_stats",
    "write_codes": "_files",
}

__all__ = [
    "DEPTHS",
    "KINDS",
    "NO_CODE",
    "Codes",
    "Facts",
    "Fitted",
    "Placed",
    "Pruned",
    "SentenceCoder",
    "TreeRecipe",
    "facts",
    "fit",
    "load",
    "pruned",
    "quality",
    "read_codes",
    "save",
    "tree_stats",
    "write_codes",
]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(importlib.import_module(f"gnomon.paraphrase.codes.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'gnomon.paraphrase.codes' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
