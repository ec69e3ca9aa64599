"""The words of a text that explanations are about, with their places."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from gnomon.spans import Span

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["MASK", "Words"]

#: what stands in the place of a word that LIME and SHAP take away
MASK = "UNKWORDZ"

# \s and str.split() agree on what is white space, non-breaking spaces included
_WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class Words:
    """A text and its whitespace words, every occurrence one word.

    The words are those of ``str.split()``. What lies between them belongs to no word, and edits
    leave it as it is: a text with nothing taken away is the text itself, double and non-breaking
    spaces included.

    Attributes:
        text: the text.
    """

    text: str

    @cached_property
    def spans(self) -> tuple[Span, ...]:
        """The place of each word, half-open, in code points."""
        return tuple(Span(*found.span()) for found in _WORD.finditer(self.text))

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words themselves."""
        return tuple(self.text[start:end] for start, end in self.spans)

    def __len__(self) -> int:
        return len(self.spans)

    def without(self, word: int) -> str:
        """The text without one word and the white space after it (before it, at the end).

        >>> Words("the old  cat").without(1)
        'the cat'
        """
        return self.keeping([position != word for position in range(len(self))])

    def keeping(self, kept: Sequence[bool]) -> str:
        """The text of some of its words, each with the white space that follows it.

        >>> Words("the old  cat ").keeping([True, True, False])
        'the old '
        """
        left = [position for position, keep in enumerate(kept) if keep]
        after = [*(self._between[position + 1] for position in left[:-1]), ""]
        words = [self.words[position] for position in left]
        inner = [part for pair in zip(words, after, strict=False) for part in pair]
        return "".join([self._between[0], *inner, self._between[-1] if len(self) else ""])

    def masked(self, kept: Sequence[bool]) -> str:
        """The text with ``UNKWORDZ`` in the place of every word that is not kept.

        >>> Words("the old  cat").masked([True, False, True])
        'the UNKWORDZ  cat'
        """
        parts = [choice[keep] for choice, keep in zip(self._choices, kept, strict=True)]
        return "".join([self._between[0], *parts])

    def replaced(self, by: Sequence[str | None]) -> str:
        """The text with other words in the place of some; ``None`` keeps a word.

        >>> Words("the old cat").replaced([None, "young", None])
        'the young cat'
        """
        parts = [new if new is not None else old for old, new in zip(self.words, by, strict=True)]
        between = self._between
        return "".join([between[0], *(p + b for p, b in zip(parts, between[1:], strict=True))])

    @cached_property
    def _between(self) -> tuple[str, ...]:
        starts = [span.start for span in self.spans] + [len(self.text)]
        ends = [0, *(span.end for span in self.spans)]
        return tuple(self.text[a:b] for a, b in zip(ends, starts, strict=True))

    @cached_property
    def _choices(self) -> tuple[tuple[str, str], ...]:
        """Each word masked and as it is, with what follows it."""
        after = zip(self.words, self._between[1:], strict=True)
        return tuple((MASK + between, word + between) for word, between in after)
