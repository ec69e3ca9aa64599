"""Words of results that translators need not know, in plain words: shown beside what has them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["QUESTIONS", "TERMS", "Term", "terms_in"]

#: method -> what people ask who would not know its name
QUESTIONS = {
    "compare": "Which translation is better?",
    "score": "How good is each translation?",
    "systems": "How good is each translation?",
    "muler": "Which kinds of words go wrong?",
}


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
_TERMS = {
    r"\bBLEU\b": Term(
        "BLEU",
        "Counts the words and runs of up to four words that a translation shares with the"
        " reference. From 0 to 100; higher is better.",
    ),
    r"\bchrF\b": Term(
        "chrF",
        "Counts the runs of up to six letters that a translation shares with the reference. From"
        " 0 to 100; higher is better.",
    ),
    r"\bTER\b": Term(
        "TER",
        "Counts the words to change until a translation is the reference, for every 100 words of"
        " the reference. Lower is better.",
    ),
    r"\[-?[\d.,]+, -?[\d.,]+\]": Term(
        "two numbers in brackets",
        "The range in which the figure before it probably lies: other texts of the same kind would"
        " mostly give a value in it. A range of a difference without 0 speaks for a real"
        " difference.",
    ),
    r"\bp (?:=|<|<=) ": Term(
        "p",
        "How often chance alone would make a difference at least as large, if neither were better:"
        " .01 is once in a hundred times. A small p speaks against chance; a large one does not say"
        " that both are equally good.",
    ),
    r"\bcorrected p\b": Term(
        "corrected p",
        "Whoever looks at many differences finds some by chance. So p is raised here, the more the"
        " more of them were tested; below .05 a difference is named.",
    ),
    r"cannot tell|can(?:not)? be told apart|cannot be separated|\bUndecided\b": Term(
        "cannot be told apart, not decided",
        "These texts do not show which is better. More text may show it. It does not mean that both"
        " are equally good.",
    ),
    r"\bMuLER\b|\bcould give\b": Term(
        "MuLER",
        "How much of what a score could give for one kind of word was lost by wrong words of it: 0"
        " is nothing, 1 is all of it. Lower is better.",
    ),
    r"\bmasks\b": Term(
        "masks",
        "To see what a kind of word costs, its words are covered in the translation and in the"
        " reference: once so that they match, as if all were right, and once so that they differ,"
        " as if all were wrong. MuLER says where the translation lies between the two.",
    ),
    r"outside (?:of )?0 to 1": Term(
        "MuLER outside 0 to 1",
        "Such a figure is no share, and says nothing of the translation. It comes about where a"
        " score does not rise when words match, or where a word counts as of this kind in one text"
        " and not in the other.",
    ),
    r"\btagger\b|\btagged\b": Term(
        "tagger",
        "The program that sorts words into kinds, as nouns and verbs. It errs at times, most of"
        " all in odd sentences; where it sorts the same words differently in the translation and"
        " the reference, their figure is left out.",
    ),
    r"\b(?:pos|ent):[A-Z]": Term(
        "pos:, ent:",
        "The short names of kinds of words, as tables have them: pos: for parts of speech"
        " (pos:NOUN are nouns), ent: for names, dates and numbers (ent:PERSON are people).",
    ),
}
TERMS = tuple(_TERMS.values())


def terms_in(sentences: Iterable[str]) -> tuple[Term, ...]:
    """The terms that sentences have, in the order of :data:`TERMS`.

    >>> [term.word for term in terms_in(["A is better than B by 3.1 BLEU [1.0, 5.2] (p = .01)."])]
    ['BLEU', 'two numbers in brackets', 'p']
    """
    text = "\n".join(sentences)
    return tuple(term for pattern, term in _TERMS.items() if re.search(pattern, text))
