"""Word lists: one entry per line, matched as whole words."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from os import PathLike
from typing import TYPE_CHECKING

from gnomon.annotate._facts import Mark
from gnomon.errors import UsageError
from gnomon.formats import read_lines
from gnomon.signature import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

__all__ = ["Lexicon", "bare_name"]

# scripts that write no spaces between words: there an entry may match anywhere
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_CASE = ":case"


@dataclass(frozen=True)
class Lexicon:
    """A named set of words and multi-word entries.

    Words are compared without regard to case (Unicode case folding) and canonical composition,
    unless the name is given with ``:case``. White space inside an entry matches any white space.

    Attributes:
        name: the feature is ``lex:NAME``.
        entries: words of every entry, by first word, the longest entries first.
        cased: whether case counts.
        signature: ``lex:NAME#HASH``, the hash of the entries.
    """

    name: str
    entries: Mapping[str, tuple[tuple[str, ...], ...]]
    cased: bool
    signature: str

    @classmethod
    def read(cls, name: str, source: str | PathLike[str] | Sequence[str]) -> Lexicon:
        """Take the entries from a file (``#`` begins a comment line) or a list.

        Raises:
            UsageError: there is no entry.
            MissingFileError: the file does not exist.
            FormatError: the file is not UTF-8 text.
        """
        lines = read_lines(source) if isinstance(source, str | PathLike) else list(source)
        cased, bare = name.endswith(_CASE), bare_name(name)
        words = {
            tuple(word for _, _, word in _words(line, cased=cased))
            for line in lines
            if not line.lstrip().startswith("#")
        } - {()}
        if not words or not bare:
            raise UsageError(
                f"word list {name!r} has no name or no entry; give one entry per line"
                " (lines that begin with '#' are comments)"
            )
        entries: dict[str, list[tuple[str, ...]]] = {}
        for entry in sorted(words, key=lambda e: (-len(e), e)):
            entries.setdefault(entry[0], []).append(entry)
        print_of = content_hash(str(cased), *(" ".join(entry) for entry in sorted(words)))
        frozen = {first: tuple(some) for first, some in entries.items()}
        return cls(bare, frozen, cased, f"lex:{bare}#{print_of}")

    def marks(self, text: str) -> Iterator[Mark]:
        """Longest matches from left to right, without overlaps."""
        words = list(_words(text, cased=self.cased))
        place = 0
        while place < len(words):
            length = self._length(words, place)
            if length:
                start, end = words[place][0], words[place + length - 1][1]
                yield Mark(start, end, f"lex:{self.name}")
            place += length or 1

    def _length(self, words: Sequence[tuple[int, int, str]], place: int) -> int:
        for entry in self.entries.get(words[place][2], ()):
            if tuple(word for _, _, word in words[place : place + len(entry)]) == entry:
                return len(entry)
        return 0


def bare_name(name: str) -> str:
    """The name of a word list without what it says of case."""
    return name.removesuffix(_CASE)


@lru_cache(maxsize=1)
def _pattern() -> Any:
    import regex

    return regex.compile(
        rf"[{_UNSPACED}]\p{{M}}*|[\w--[{_UNSPACED}]]+|[^\w\s]", flags=regex.VERSION1
    )


def _words(text: str, *, cased: bool) -> Iterator[tuple[int, int, str]]:
    """Words and signs with their offsets; the third is what is compared."""
    for match in _pattern().finditer(text):
        word = match[0] if cased else match[0].casefold()
        yield match.start(), match.end(), unicodedata.normalize("NFC", word)
