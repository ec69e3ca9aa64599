"""Difficulty: which words were hard for a pool of systems, and who got those right.

Zhan et al. (2021), "Difficulty-Aware Machine Translation Evaluation". Everything public is listed
in ``__all__``; names are imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.doors import door

if TYPE_CHECKING:
    from gnomon.difficulty._pools import Pool as Pool
    from gnomon.difficulty._pools import choose_pool as choose_pool
    from gnomon.difficulty._score import score as score
    from gnomon.difficulty._words import words as words
    from gnomon.difficulty.matched import BoundDifficulty as BoundDifficulty
    from gnomon.difficulty.metric import Difficulty as Difficulty
    from gnomon.difficulty.ngrams import BoundNgramDifficulty as BoundNgramDifficulty

_HOMES = {
    "BoundDifficulty": "matched",
    "BoundNgramDifficulty": "ngrams",
    "Difficulty": "metric",
    "Pool": "_pools",
    "choose_pool": "_pools",
    "score": "_score",
    "words": "_words",
}

__all__ = [
    "BoundDifficulty",
    "BoundNgramDifficulty",
    "Difficulty",
    "Pool",
    "choose_pool",
    "score",
    "words",
]


__getattr__ = door(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
