"""Difficulty: find words that are hard for a group of systems, and score systems by them.

Zhan et al. (2021), "Difficulty-Aware Machine Translation Evaluation". The package is callable:
``gnomon.difficulty(testset, "rouge1")`` is :func:`score`. Everything public is listed
in ``__all__``; names are imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.lazy import callable_package, lazy_exports

if TYPE_CHECKING:
    from gnomon.difficulty.hard_words import words as words
    from gnomon.difficulty.matched import BoundAlignedDifficulty as BoundAlignedDifficulty
    from gnomon.difficulty.matched import BoundDifficulty as BoundDifficulty
    from gnomon.difficulty.metric import Difficulty as Difficulty
    from gnomon.difficulty.ngrams import BoundNgramDifficulty as BoundNgramDifficulty
    from gnomon.difficulty.pools import Pool as Pool
    from gnomon.difficulty.pools import choose_pool as choose_pool
    from gnomon.difficulty.scoring import score as score
    from gnomon.difficulty.segments import BoundSegmentDifficulty as BoundSegmentDifficulty
    from gnomon.difficulty.word_matches import ReferenceWords as ReferenceWords
    from gnomon.difficulty.word_matches import reference_words as reference_words

__getattr__, __dir__, __all__ = lazy_exports(__name__)

callable_package(__name__, "score")
