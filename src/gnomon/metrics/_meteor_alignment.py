"""Which words of a candidate METEOR matches with which words of a reference."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

__all__ = ["Stemmer", "Word", "align", "chunks"]


class Stemmer(Protocol):
    """What reduces words to stems."""

    def stem(self, word: str, /) -> str:
        """The stem of a word."""
        ...


class Word(NamedTuple):
    """A word that is not yet matched: its place, and how it is spelt at this stage."""

    place: int
    form: str


def align(
    candidate: Sequence[str],
    reference: Sequence[str],
    stem: Callable[[str], str],
    synonyms: Callable[[str], Collection[str]],
) -> list[tuple[int, int]]:
    """Match words in three stages: equal, of equal stem, synonyms of each other's stem.

    At each stage the candidate's words, last first, take the last reference word that is free
    (nltk's order). Synonyms are looked up for stems, as nltk does.

    Args:
        candidate: words, lower-cased.
        reference: words, lower-cased.
        stem: from a word to its stem.
        synonyms: from a stem to words that share a sense with it.

    Returns:
        (place in the candidate, place in the reference), by the former.
    """
    own = [Word(i, form) for i, form in enumerate(candidate)]
    other = [Word(i, form) for i, form in enumerate(reference)]
    exact, own, other = _match(own, other, lambda form: (form,))
    own, other = ([Word(i, stem(form)) for i, form in side] for side in (own, other))
    stemmed, own, other = _match(own, other, lambda form: (form,))
    meant, _, _ = _match(own, other, lambda form: (form, *synonyms(form)))
    return sorted(exact + stemmed + meant)


def chunks(pairs: Sequence[tuple[int, int]]) -> int:
    """Number of runs that are adjacent, and in the same order, on both sides.

    >>> chunks([(0, 3), (1, 4), (2, 6)])
    2
    """
    return bool(pairs) + sum((a[0] + 1, a[1] + 1) != b for a, b in pairwise(pairs))


def _match(
    own: list[Word], other: list[Word], wanted: Callable[[str], Iterable[str]]
) -> tuple[list[tuple[int, int]], list[Word], list[Word]]:
    """Matched places, and the words of both sides that are left."""
    free: dict[str, list[int]] = {}
    for position, word in enumerate(other):
        free.setdefault(word.form, []).append(position)
    pairs: list[tuple[int, int]] = []
    left: list[Word] = []
    taken: set[int] = set()
    for word in reversed(own):
        places = [free[form] for form in wanted(word.form) if free.get(form)]
        if not places:
            left.append(word)
            continue
        position = max(places, key=lambda column: column[-1]).pop()
        taken.add(position)
        pairs.append((word.place, other[position].place))
    return pairs, left[::-1], [word for i, word in enumerate(other) if i not in taken]
