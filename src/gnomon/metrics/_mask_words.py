"""Words that stand for masks in texts, and the probe whether a metric tells them apart."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from gnomon.batch import Batch
from gnomon.errors import MaskingError, ScoringError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.metrics.protocol import BoundMetric

__all__ = ["MaskWords", "check_absent", "surviving_words"]

#: scores closer than this (relative and absolute) count as equal
_MARGIN = 1e-6


class MaskWords(NamedTuple):
    """The words that stand for masks: one for both sides, and one for each side alone."""

    shared: str
    candidate: str
    reference: str


#: private-use characters; words of rare letters, pairwise without a letter in common; numbers
_PROPOSALS = (
    MaskWords("\ue5a1", "\ue5b2", "\ue5c3"),
    MaskWords("qzqzqz", "xjxjxj", "vkvkvk"),
    MaskWords("zqzqzqzq", "jxjxjxjx", "kvkvkvkv"),
    MaskWords("7171717", "2828282", "9393939"),
    MaskWords("171717171", "828282828", "393939393"),
)


def surviving_words(bound: BoundMetric, batch: Batch) -> MaskWords:
    """Mask words that occur in no text of the batch and survive in the metric.

    Raises:
        MaskingError: there are none: oracle equals anti-oracle under this metric.
        ScoringError: the metric fails, whatever the mask.
    """
    failures: list[ScoringError] = []
    tried = 0
    for words in _PROPOSALS:
        if _present(words, batch.texts):
            continue
        tried += 1
        try:
            if _survive(bound, words, batch.language_pair):
                return words
        except ScoringError as error:
            failures.append(error)
    if failures and len(failures) == tried:
        raise failures[0]  # no mask is at fault: the metric fails on any text
    raise MaskingError(
        f"oracle equals anti-oracle under {bound.name}: {len(_PROPOSALS)} sets of mask words were"
        " tried, and none makes texts with equal masks score like identical texts and better than"
        " texts with different masks; MuLER is undefined for this metric"
    )


def _survive(bound: BoundMetric, words: MaskWords, language_pair: str | None) -> bool:
    """Whether a metric tells three mask words apart in a short sentence."""
    plain = _carrier("house", "garden")
    shared, candidate, reference = (_carrier(word, word) for word in words)
    pairs = [
        (plain, plain),
        (shared, shared),
        (candidate, reference),
        (candidate, shared),
        (shared, reference),
    ]
    probe = Batch.build(
        systems={"probe": [pair[0] for pair in pairs]},
        references=[[pair[1] for pair in pairs]],
        sources=[plain] * len(pairs),
        language_pair=language_pair,
    )
    sign = 1.0 if bound.higher_is_better else -1.0
    identical, equal, *different = (sign * bound.segments(probe)[0]).tolist()
    return _reaches(equal, identical) and all(_beats(equal, other) for other in different)


def _carrier(first: str, second: str) -> str:
    return f"we saw the {first} near the {second} today ."


def _reaches(score: float, goal: float) -> bool:
    return score >= goal or math.isclose(score, goal, rel_tol=_MARGIN, abs_tol=_MARGIN)


def _beats(score: float, other: float) -> bool:
    return score > other and not math.isclose(score, other, rel_tol=_MARGIN, abs_tol=_MARGIN)


def check_absent(words: MaskWords, texts: Sequence[str]) -> None:
    """Refuse texts in which a mask word occurs.

    Raises:
        MaskingError: one does.
    """
    if _present(words, texts):
        raise MaskingError(
            f"one of the mask words {', '.join(map(ascii, words))} occurs in a text; choose them"
            " for these very texts: with_masking(bound, batch)"
        )


def _present(words: MaskWords, texts: Sequence[str]) -> bool:
    # metrics may ignore case
    whole = "\n".join(texts).casefold()
    return any(word in whole for word in words)
