"""Difficulty: which words are hard for a group of systems, and which systems get them right.

Zhan et al. (2021), "Difficulty-Aware Machine Translation Evaluation". The room is callable:
``gnomon.difficulty(testset, "rouge1")`` is :func:`score`. Everything public is listed
in ``__all__``; names are imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.doors import callable_room, door

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

__getattr__, __dir__, __all__ = door(__name__)

callable_room(__name__, "score")
