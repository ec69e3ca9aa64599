"""Words of a text as sentence scorers look them up."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["Word", "entry_key", "pieces"]


class Word(NamedTuple):
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
        """Whether it counts as a word: it begins with a letter ("n't" does, "'s" and "7" do not).

        >>> [Word(text).is_word for text in ("cat", "n't", "'s", "7", ",")]
        [True, True, False, False, False]
        """
        return self.text[0].isalpha()


@lru_cache(maxsize=1)
def _pattern() -> Any:
    import regex

    letter = r"[\p{L}\p{M}]"
    return regex.compile(
        rf"\p{{L}}{letter}*?(?=n['’]t(?!{letter}))"  # the "do" of "don't"
        rf"|n['’]t(?!{letter})|['’](?:s|re|ve|ll|d|m)(?!{letter})"
        r"|[\p{L}\p{M}\p{N}]+|[^\s\p{L}\p{M}\p{N}]",
        flags=regex.VERSION1 | regex.IGNORECASE,
    )


def pieces(text: str) -> Iterator[tuple[int, int, str]]:
    """Words, clitics and signs with their offsets; the third is what is looked up.

    >>> [piece for _, _, piece in pieces("Don\N{RIGHT SINGLE QUOTATION MARK}t re-use Ann's!")]
    ['do', "n't", 're', '-', 'use', 'ann', "'s", '!']
    """
    for match in _pattern().finditer(text):
        yield match.start(), match.end(), _folded(match[0])


@lru_cache(maxsize=65536)
def _folded(piece: str) -> str:
    return unicodedata.normalize("NFC", piece.lower()).replace(
        "\N{RIGHT SINGLE QUOTATION MARK}", "'"
    )


def entry_key(term: str) -> tuple[str, ...]:
    """A term of a lexicon in the pieces that a text would have ("_" stands for a space).

    >>> entry_key("hot-air balloon"), entry_key("New_Year")
    (('hot', '-', 'air', 'balloon'), ('new', 'year'))
    """
    return tuple(piece for _, _, piece in pieces(term.replace("_", " ")))
