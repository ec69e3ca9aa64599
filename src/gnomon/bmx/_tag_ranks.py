"""How well do numbers of words tell the tagged ones from the others?"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["TagRanks", "tag_ranks"]


class TagRanks(NamedTuple):
    """Agreement of the importances of one sentence's words with tags; 1 is best.

    Attributes:
        auc: area under the ROC curve: how often a tagged word is less important than an untagged
            one, ties counting half; chance is .5.
        average_precision: mean precision at each tagged word, words of equal importance taken at
            once; chance is about the share of tagged words.
        recall: share of the tagged words among the K least important words, K the number of tagged
            words; of words of equal importance at the border as many as chance would take.
    """

    auc: float
    average_precision: float
    recall: float


def tag_ranks(importance: NDArray[np.float64], tagged: NDArray[np.bool_]) -> TagRanks | None:
    """Agreement of one sentence (Fomicheva et al., 2021, "The Eval4NLP shared task").

    Low importance, and so a word without which the score rises, stands for an error.

    Args:
        importance: float64 [n], finite.
        tagged: bool [n], words that people tagged as errors.

    Returns:
        None where no word or every word is tagged.

    >>> tag_ranks(np.array([0.5, -0.1, 0.2]), np.array([False, True, False]))
    TagRanks(auc=1.0, average_precision=1.0, recall=1.0)
    """
    errors = int(tagged.sum())
    if not 0 < errors < len(tagged):
        return None
    _, level = np.unique(importance, return_inverse=True)
    level = level.reshape(-1)
    size = np.bincount(level)
    hits = np.bincount(level, tagged, minlength=len(size))
    right = size - hits
    above = right.sum() - np.cumsum(right)  # untagged words of more importance
    auc = (hits * (above + right / 2)).sum() / (errors * right.sum())
    precision = np.cumsum(hits) / np.cumsum(size)
    taken = np.clip(errors - (np.cumsum(size) - size), 0, size)
    return TagRanks(
        auc=float(auc),
        average_precision=float((hits * precision).sum() / errors),
        recall=float((hits * taken / size).sum() / errors),
    )
