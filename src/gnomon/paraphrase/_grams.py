"""N-grams of texts, with their places."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from gnomon.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Gram", "Words", "check_longest", "contains", "grams", "words_of"]

#: the tokens of an n-gram
Gram: TypeAlias = tuple[str, ...]

_LONGEST = 100  # every text has as many n-grams of each length as tokens


class Words(NamedTuple):
    """The tokens of a text, and where each starts and ends in it."""

    tokens: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]

    def surface(self, text: str, place: int, length: int) -> str:
        """The characters of an n-gram."""
        return text[self.spans[place][0] : self.spans[place + length - 1][1]]


def words_of(texts: Sequence[str], tokenizer: str) -> dict[str, Words]:
    """The tokens of each distinct text.

    Raises:
        UnknownNameError: there is no such tokeniser.
    """
    from gnomon.metrics.tokenise import tokenise

    distinct = list(dict.fromkeys(texts))
    table = tokenise(distinct, tokenizer)
    return {
        text: Words(tuple(table.strings(i)), tuple(table.spans(i)))
        for i, text in enumerate(distinct)
    }


def grams(tokens: Sequence[str], longest: int) -> Counter[Gram]:
    """How often each n-gram of 1 to ``longest`` tokens occurs, in order of appearance."""
    found: Counter[Gram] = Counter()
    for size in range(1, longest + 1):
        found.update(tuple(tokens[i : i + size]) for i in range(len(tokens) - size + 1))
    return found


def contains(outer: Gram, inner: Gram) -> bool:
    """Whether an n-gram is a part of another one (or equals it).

    >>> contains(("a", "b", "c"), ("b", "c")), contains(("a", "b", "c"), ("a", "c"))
    (True, False)
    """
    size = len(inner)
    return any(outer[i : i + size] == inner for i in range(len(outer) - size + 1))


def check_longest(longest: int) -> None:
    """Refuse n-grams of no token, and of more than any use.

    Raises:
        UsageError: ``longest`` is not from 1 to 100.
    """
    if not 1 <= longest <= _LONGEST:
        raise UsageError(f"the longest n-gram has from 1 to {_LONGEST} tokens; got {longest}")
