"""Words of results that translators need not know, in plain words: shown beside what has them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gnomon.core.data_files import data_beside

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["QUESTIONS", "TERMS", "Term", "terms_in"]

_DATA = data_beside(__file__)
#: method -> what people ask who would not know its name
QUESTIONS: dict[str, str] = _DATA["questions"]


@dataclass(frozen=True)
class Term:
    """A word of results, and what it means.

    Attributes:
        word: as a page says it.
        meaning: a sentence or a few.
    """

    word: str
    meaning: str


#: pattern of where a term occurs -> the term
_TERMS = {term["pattern"]: Term(term["word"], term["meaning"]) for term in _DATA["terms"]}
TERMS = tuple(_TERMS.values())


def terms_in(sentences: Iterable[str]) -> tuple[Term, ...]:
    """The terms that sentences have, in the order of :data:`TERMS`.

    >>> [term.word for term in terms_in(["A is better than B by 3.1 BLEU [1.0, 5.2] (p = .01)."])]
    ['BLEU', 'two numbers in brackets', 'p']
    """
    text = "\n".join(sentences)
    return tuple(term for pattern, term in _TERMS.items() if re.search(pattern, text))
