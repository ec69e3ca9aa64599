"""Codes of sentences (semantic, syntactic, random): what a paraphraser can be asked for.

``fit`` clusters sentences, ``Codes.assign`` gives each its code, ``save`` and ``load`` keep codes
in a folder. Names are imported when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gnomon.paraphrase.codes._autoencoder import TreeRecipe as TreeRecipe
    from gnomon.paraphrase.codes._codes import NO_CODE as NO_CODE
    from gnomon.paraphrase.codes._codes import CodeFacts as CodeFacts
    from gnomon.paraphrase.codes._codes import Codes as Codes
    from gnomon.paraphrase.codes._codes import Fitted as Fitted
    from gnomon.paraphrase.codes._codes import Placed as Placed
    from gnomon.paraphrase.codes._codes import SentenceCoder as SentenceCoder
    from gnomon.paraphrase.codes._codes import facts as facts
    from gnomon.paraphrase.codes._codes import load as load
    from gnomon.paraphrase.codes._codes import read_codes as read_codes
    from gnomon.paraphrase.codes._codes import save as save
    from gnomon.paraphrase.codes._codes import write_codes as write_codes
    from gnomon.paraphrase.codes._fit import KINDS as KINDS
    from gnomon.paraphrase.codes._fit import fit as fit
    from gnomon.paraphrase.codes._quality import quality as quality
    from gnomon.paraphrase.codes._trees import DEPTHS as DEPTHS
    from gnomon.paraphrase.codes._trees import Pruned as Pruned
    from gnomon.paraphrase.codes._trees import pruned as pruned
    from gnomon.paraphrase.codes._trees import tree_stats as tree_stats

_HOMES = {
    "DEPTHS": "_trees",
    "KINDS": "_fit",
    "NO_CODE": "_codes",
    "Codes": "_codes",
    "CodeFacts": "_codes",
    "Fitted": "_codes",
    "Placed": "_codes",
    "Pruned": "_trees",
    "SentenceCoder": "_codes",
    "TreeRecipe": "_autoencoder",
    "facts": "_codes",
    "fit": "_fit",
    "load": "_codes",
    "pruned": "_trees",
    "quality": "_quality",
    "read_codes": "_codes",
    "save": "_codes",
    "tree_stats": "_trees",
    "write_codes": "_codes",
}

__all__ = [
    "DEPTHS",
    "KINDS",
    "NO_CODE",
    "CodeFacts",
    "Codes",
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
