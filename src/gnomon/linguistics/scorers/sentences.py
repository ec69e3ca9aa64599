"""The protocol of sentence scorers, and the words and lemmas that they are given."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from gnomon.core.data_files import data_beside

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "PlainReader",
    "Reader",
    "SentenceScorer",
    "SentenceWord",
    "Sentences",
    "entry_key",
    "pieces",
    "rule_lemmas",
]


# The protocol of sentence scorers.


@runtime_checkable
class SentenceScorer(Protocol):
    """Anything that gives a sentence a number without looking at another sentence.

    Attributes:
        name: what is measured, "sentiment".
        source: by what, "vader" or the name of a file.
        signature: how to make the numbers again: the source with its version or hash, options.
    """

    @property
    def name(self) -> str:
        """The name of the scorer."""

    @property
    def source(self) -> str:
        """Where its figures come from."""

    @property
    def signature(self) -> str:
        """Name and version of what scores."""

    def score(self, sentences: Sentences) -> NDArray[np.float64]:
        """Score each of n sentences by itself; NaN where there is nothing to go by."""
        ...


# Words of a text as sentence scorers look them up.


_CONTRACTION = re.compile("[nN]['\N{RIGHT SINGLE QUOTATION MARK}][tT]")


class SentenceWord(NamedTuple):
    """A word, or a sign between words.

    Attributes:
        text: lower-cased and composed (NFC), with a straight apostrophe.
        lemmas: base forms to try where the text itself is not known, likeliest first.
        pos: universal part of speech; empty if unknown.
    """

    text: str
    lemmas: tuple[str, ...] = ()
    pos: str = ""

    @property
    def is_word(self) -> bool:
        """True if it counts as a word: it begins with a letter ("n't" does, "'s" and "7" do not).

        >>> [SentenceWord(text).is_word for text in ("cat", "n't", "'s", "7", ",")]
        [True, True, False, False, False]
        """
        return self.text[0].isalpha()


@lru_cache(maxsize=1)
def _patterns() -> tuple[Any, Any]:
    """Patterns of pieces: where no "n't" occurs, and, slower, where it does."""
    import regex

    letter = r"[\p{L}\p{M}]"
    plain = (
        rf"[\p{{L}}\p{{M}}\p{{N}}]+|['’](?:s|re|ve|ll|d|m)(?!{letter})"
        r"|[^\s\p{L}\p{M}\p{N}]"
    )
    contracted = rf"\p{{L}}{letter}*?(?=n['’]t(?!{letter}))|n['’]t(?!{letter})|{plain}"
    flags = regex.VERSION1 | regex.IGNORECASE
    return regex.compile(plain, flags=flags), regex.compile(contracted, flags=flags)


def pieces(text: str) -> Iterator[tuple[int, int, str]]:
    """Words, clitics and signs with their offsets; the third is what is looked up.

    >>> [piece for _, _, piece in pieces("Don\N{RIGHT SINGLE QUOTATION MARK}t re-use Ann's!")]
    ['do', "n't", 're', '-', 'use', 'ann', "'s", '!']
    """
    plain, contracted = _patterns()
    pattern = contracted if _CONTRACTION.search(text) else plain
    for match in pattern.finditer(text):
        yield match.start(), match.end(), _fold_piece(match[0])


@lru_cache(maxsize=65536)
def _fold_piece(piece: str) -> str:
    return unicodedata.normalize("NFC", piece.lower()).replace(
        "\N{RIGHT SINGLE QUOTATION MARK}", "'"
    )


def entry_key(term: str) -> tuple[str, ...]:
    """A term of a lexicon in the pieces that a text would have ("_" stands for a space).

    >>> entry_key("hot-air balloon"), entry_key("New_Year")
    (('hot', '-', 'air', 'balloon'), ('new', 'year'))
    """
    words = term.replace("_", " ")
    if words.isascii() and words.replace(" ", "").isalpha():  # nearly all of them
        return tuple(words.lower().split())
    return tuple(piece for _, _, piece in pieces(words))


# Base forms of English words by rule, where there is no tagger.


_VOWELS = frozenset("aeiouy")
_REPLACED = (
    ("ies", ("y", "ie")),
    ("ied", ("y", "ie")),
    ("ying", ("y", "ie")),
    ("ves", ("f", "fe", "ve")),
    ("men", ("man",)),
    ("ier", ("y",)),
    ("iest", ("y",)),
)
_ADDED = ("ed", "ing", "er", "est")
_KEEP_DOUBLE = frozenset("lsfz")  # called, missed, stuffed, buzzed: the double belongs to the stem


@lru_cache(maxsize=1)
def _bases() -> dict[str, tuple[str, ...]]:
    """Irregular forms, and what they are forms of."""
    lemmas: dict[str, tuple[str, ...]] = {}
    for base, forms in data_beside(__file__)["irregular"].items():
        for form in forms:
            lemmas[form] = (*lemmas.get(form, ()), base)
    return lemmas


@lru_cache(maxsize=65536)
def rule_lemmas(word: str) -> tuple[str, ...]:
    """Base forms that a lower-cased English word may have, likeliest first, without itself.

    >>> rule_lemmas("hoping")[:2], rule_lemmas("stories")[0], rule_lemmas("went")
    (('hope', 'hop'), 'story', ('go',))
    """
    if word in _bases():
        return _bases()[word]
    return tuple(dict.fromkeys(base for base in _regular(word) if _may_be(base) and base != word))


def _may_be(stem: str) -> bool:
    return len(stem) > 1 and not _VOWELS.isdisjoint(stem)


def _regular(word: str) -> Iterator[str]:
    for ending, bases in _REPLACED:
        if word.endswith(ending):
            yield from (word.removesuffix(ending) + base for base in bases)
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        yield word[:-1]
        yield word.removesuffix("es")
    for ending in _ADDED:
        if word.endswith(ending):
            yield from _stems(word.removesuffix(ending))


def _stems(stem: str) -> tuple[str, ...]:
    """Possible stems before -ed, -ing, -er, -est: with a mute e, as it is, or undoubled."""
    if not _may_be(stem):
        return ()
    last, before = stem[-1], stem[-2]
    if last == before and last not in _VOWELS:
        both = (stem, stem[:-1])
        return both if last in _KEEP_DOUBLE else both[::-1]
    closed = last not in _VOWELS and before in _VOWELS
    single = closed and (len(stem) < 3 or stem[-3] not in _VOWELS)
    return (stem + "e", stem) if single or last in _VOWELS else (stem, stem + "e")


class Reader(Protocol):
    """Finds the words of texts and their base forms.

    Attributes:
        signature: how base forms are found.
    """

    @property
    def signature(self) -> str:
        """Name and version of what scores."""

    def words(self, texts: Sequence[str]) -> list[tuple[SentenceWord, ...]]:
        """The words of each text, signs between them included."""
        ...


@dataclass(frozen=True)
class PlainReader:
    """Reads words without a tagger: English base forms by rule, of other languages none.

    Attributes:
        language: of the texts; unknown counts as English.
    """

    language: str | None = None

    @property
    def signature(self) -> str:
        """``rules`` for English, else ``none``."""
        return "rules" if self.language in (None, "en") else "none"

    def words(self, texts: Sequence[str]) -> list[tuple[SentenceWord, ...]]:
        """The words of each text."""
        english = self.language in (None, "en")
        words_by_form: dict[str, SentenceWord] = {}

        def word(piece: str) -> SentenceWord:
            if piece not in words_by_form:
                words_by_form[piece] = SentenceWord(piece, rule_lemmas(piece) if english else ())
            return words_by_form[piece]

        return [tuple(word(piece) for _, _, piece in pieces(text)) for text in texts]


@dataclass(frozen=True, eq=False)
class Sentences:
    """Sentences with their words.

    Attributes:
        texts: the sentences.
        reader: finds their words, when a scorer first asks.
    """

    texts: tuple[str, ...]
    reader: Reader = PlainReader()

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def words(self) -> list[tuple[SentenceWord, ...]]:
        """The words of each sentence, signs between them included."""
        return self.reader.words(self.texts)
