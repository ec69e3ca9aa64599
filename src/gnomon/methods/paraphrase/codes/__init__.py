"""Codes of sentences (semantic, syntactic, random): what a paraphraser can be asked for.

``fit`` clusters sentences, ``Codes.assign`` gives each its code, ``Codes.save`` and ``load`` keep
codes in a folder. The package itself is called as the method ``paraphrase.codes``. Names are
imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.lazy import callable_package, lazy_exports

if TYPE_CHECKING:
    from gnomon.methods.paraphrase.codes._autoencoder import TreeRecipe as TreeRecipe
    from gnomon.methods.paraphrase.codes._codes import KINDS as KINDS
    from gnomon.methods.paraphrase.codes._codes import NO_CODE as NO_CODE
    from gnomon.methods.paraphrase.codes._codes import CodeFacts as CodeFacts
    from gnomon.methods.paraphrase.codes._codes import Codes as Codes
    from gnomon.methods.paraphrase.codes._codes import Fitted as Fitted
    from gnomon.methods.paraphrase.codes._codes import Kind as Kind
    from gnomon.methods.paraphrase.codes._codes import Placed as Placed
    from gnomon.methods.paraphrase.codes._codes import SentenceCoder as SentenceCoder
    from gnomon.methods.paraphrase.codes._codes import code_of as code_of
    from gnomon.methods.paraphrase.codes._codes import facts as facts
    from gnomon.methods.paraphrase.codes._codes import load as load
    from gnomon.methods.paraphrase.codes._codes import read_codes as read_codes
    from gnomon.methods.paraphrase.codes._codes import write_codes as write_codes
    from gnomon.methods.paraphrase.codes._fit import fit as fit
    from gnomon.methods.paraphrase.codes._quality import quality as quality
    from gnomon.methods.paraphrase.codes._sentences import codes as codes
    from gnomon.methods.paraphrase.codes._sentences import text_name as text_name
    from gnomon.methods.paraphrase.codes._trees import Pruned as Pruned
    from gnomon.methods.paraphrase.codes._trees import pruned as pruned

__getattr__, __dir__, __all__ = lazy_exports(__name__)
callable_package(__name__, "codes")
