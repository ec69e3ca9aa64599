"""Words of a text as sentence scorers look them up."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["Word", "entry_key", "pieces"]

_CONTRACTION = re.compile("[nN]['\N{RIGHT SINGLE QUOTATION MARK}][tT]")


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
def _patterns() -> tuple[Any, Any]:
    """What finds pieces: where no "n't" occurs, and, slower, where it does."""
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
    words = term.replace("_", " ")
    if words.isascii() and words.replace(" ", "").isalpha():  # nearly all of them
        return tuple(words.lower().split())
    return tuple(piece for _, _, piece in pieces(words))
