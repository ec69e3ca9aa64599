"""The tokens of rouge-score, with their places in the text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, Protocol

from gnomon.errors import MissingDependencyError
from gnomon.metrics.tokenise import Tokens, lowered

__all__ = ["RougeTokeniser", "porter"]

_TOKEN = re.compile(r"[a-z0-9]+")
_TOKEN_OR_BREAK = re.compile(r"[a-z0-9]+|\n")
#: rouge-score leaves shorter words unstemmed
_STEMMED_FROM = 4


class _Stemmer(Protocol):
    def stem(self, word: str) -> str: ...


@dataclass(frozen=True)
class RougeTokeniser:
    """rouge-score's tokens: runs of a-z and 0-9 of the lower-cased text, stemmed if asked.

    Attributes:
        stemmer: a Porter stemmer, or none.
        lines: give line breaks as tokens of no width, for rougeLsum.
    """

    stemmer: _Stemmer | None
    lines: bool = False
    name: ClassVar[str] = "rouge"
    local: ClassVar[bool] = True

    def __call__(self, text: str) -> Tokens:
        """The tokens, and where they stand in the text."""
        characters = lowered(text)
        matches = list(self.pattern.finditer(characters.text))
        strings = [self.stem(match[0]) for match in matches]
        starts = [characters.starts[match.start()] for match in matches]
        ends = [characters.ends[match.end() - 1] for match in matches]
        wide = [string != "\n" for string in strings]
        return Tokens(
            strings, starts, [e if w else s for s, e, w in zip(starts, ends, wide, strict=True)]
        )

    @property
    def pattern(self) -> re.Pattern[str]:
        """What a token is, in a lower-cased text."""
        return _TOKEN_OR_BREAK if self.lines else _TOKEN

    def stem(self, word: str) -> str:
        """The token that stands for a word; short words stay as they are."""
        if self.stemmer is None or len(word) < _STEMMED_FROM:
            return word
        return self.stemmer.stem(word)


def porter() -> _Stemmer:
    """The Porter stemmer of nltk, as rouge-score uses it.

    Raises:
        MissingDependencyError: nltk is not installed.
    """
    try:
        from nltk.stem.porter import PorterStemmer
    except ImportError:
        raise MissingDependencyError(
            "rouge(stemmer=True) needs nltk, which is not installed; run:"
            " pip install 'gnomon[rouge]'"
        ) from None
    stemmer: _Stemmer = PorterStemmer()
    return stemmer
