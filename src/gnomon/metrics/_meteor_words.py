"""Words as METEOR sees them: lower-cased, and which of them are function words."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gnomon.formats import read_text
from gnomon.signature import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gnomon.metrics.tokenise import TokenTable

__all__ = ["FunctionWords", "frequent_words", "listed_words", "lowered_words"]

#: METEOR calls words function words that make up more than this share of a large text
_SHARE = 1e-3
#: in a small text, a share says nothing
_TIMES = 10


class FunctionWords(NamedTuple):
    """Words that count less.

    Attributes:
        words: the words, lower-cased.
        identity: where they are from, and a hash of them, for signatures.
    """

    words: frozenset[str]
    identity: str


def lowered_words(table: TokenTable) -> list[tuple[str, ...]]:
    """The words of every text, lower-cased."""
    lowered = [word.lower() for word in table.vocabulary]
    ids = table.ids.tolist()
    return [tuple(lowered[i] for i in ids[a:b]) for a, b in pairwise(table.offsets.tolist())]


def frequent_words(texts: Iterable[Iterable[str]]) -> FunctionWords:
    """The words that make up more than a thousandth of some texts, and occur ten times or more.

    >>> frequent_words([["the", "cat"]] * 12 + [["a", "dog"]]).words == {"the", "cat"}
    True
    """
    counts = Counter(word for text in texts for word in text)
    least = max(_SHARE * counts.total(), _TIMES - 1)
    return _named("references", (word for word, count in counts.items() if count > least))


def listed_words(path: str) -> FunctionWords:
    """The words of a file, one per line.

    Raises:
        MissingFileError: there is no such file.
        FormatError: it is not UTF-8.
    """
    words = (line.strip().lower() for line in read_text(path).split("\n"))
    return _named(Path(path).name, (word for word in words if word))


def _named(origin: str, words: Iterable[str]) -> FunctionWords:
    kept = frozenset(words)
    return FunctionWords(kept, f"{origin}#{len(kept)}-{content_hash(*sorted(kept))}")
