"""Which words of a sentence stand under a negation."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from gnomon.annotate.scorers._words import Word

__all__ = ["NEGATORS", "negations"]

_STRICT = ("no", "not", "n't", "never", "neither", "nor", "none", "without", "cannot")
_NOUNS = ("nobody", "nothing", "nowhere")
_NEARLY = ("hardly", "scarcely", "barely")
NEGATORS = frozenset((*_STRICT, *_NOUNS, *_NEARLY))
_BREAKS = frozenset((*".,;:!?()[]…–—", "but"))
_FOCUS = frozenset(("only", "just", "merely", "simply"))  # "not only good" says that it is good


def negations(words: Sequence[Word], window: int, inert: Collection[int] = ()) -> list[int]:
    """For each word, how many negators stand within the ``window`` words before it.

    A negator reaches over words, not over signs that part clauses, nor over "but"; "not only" and
    its like negate nothing.

    Args:
        words: the sentence.
        window: reach of a negator, in words.
        inert: places of words that negate nothing, being part of an entry ("no doubt").
    """
    counts = []
    reaching: list[int] = []  # words that each negator still reaches
    for place, word in enumerate(words):
        if word.text in _BREAKS:
            reaching = []
        counts.append(len(reaching))
        if word.is_word:
            reaching = [left - 1 for left in reaching if left > 1]
        if word.text in NEGATORS and place not in inert and not _is_focus(words, place):
            reaching.append(window)
    return counts


def _is_focus(words: Sequence[Word], place: int) -> bool:
    return (
        words[place].text in {"not", "n't"}
        and place + 1 < len(words)
        and words[place + 1].text in _FOCUS
    )
