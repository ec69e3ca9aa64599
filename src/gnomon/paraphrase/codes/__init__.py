"""Codes of sentences (semantic, syntactic, random): the requests that a paraphraser takes.

``fit`` clusters sentences, ``Codes.assign`` gives each its code, ``Codes.save`` and ``load`` keep
codes in a folder. The package itself is called as the method ``paraphrase.codes``. Names are
imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.lazy import callable_package, lazy_exports

if TYPE_CHECKING:
    from gnomon.paraphrase.codes._fit import fit as fit
    from gnomon.paraphrase.codes._quality import quality as quality
    from gnomon.paraphrase.codes._sentences import codes as codes
    from gnomon.paraphrase.codes.autoencoder import TreeRecipe as TreeRecipe
    from gnomon.paraphrase.codes.clustering import KINDS as KINDS
    from gnomon.paraphrase.codes.clustering import NO_CODE as NO_CODE
    from gnomon.paraphrase.codes.clustering import CodeFacts as CodeFacts
    from gnomon.paraphrase.codes.clustering import Codes as Codes
    from gnomon.paraphrase.codes.clustering import Fitted as Fitted
    from gnomon.paraphrase.codes.clustering import Kind as Kind
    from gnomon.paraphrase.codes.clustering import Placed as Placed
    from gnomon.paraphrase.codes.clustering import SentenceCoder as SentenceCoder
    from gnomon.paraphrase.codes.clustering import code_of as code_of
    from gnomon.paraphrase.codes.clustering import facts as facts
    from gnomon.paraphrase.codes.clustering import load as load
    from gnomon.paraphrase.codes.clustering import read_codes as read_codes
    from gnomon.paraphrase.codes.clustering import write_codes as write_codes
    from gnomon.paraphrase.codes.sentence_files import text_name as text_name
    from gnomon.paraphrase.codes.trees import Pruned as Pruned
    from gnomon.paraphrase.codes.trees import pruned as pruned

__getattr__, __dir__, __all__ = lazy_exports(__name__)
callable_package(__name__, "codes")
