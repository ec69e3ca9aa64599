"""Sentences to be scored, and their words, found once for all scorers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from gnomon.annotate.scorers._rules import rule_lemmas
from gnomon.annotate.scorers._words import Word, pieces

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Plain", "Reader", "Sentences"]


class Reader(Protocol):
    """Finds the words of texts and their base forms.

    Attributes:
        signature: how base forms are found.
    """

    @property
    def signature(self) -> str: ...  # documented above

    def words(self, texts: Sequence[str]) -> list[tuple[Word, ...]]:
        """The words of each text, signs between them included."""
        ...


@dataclass(frozen=True)
class Plain:
    """Reads words without a tagger: English base forms by rule, of other languages none.

    Attributes:
        language: of the texts; unknown counts as English.
    """

    language: str | None = None

    @property
    def signature(self) -> str:
        """``rules`` for English, else ``none``."""
        return "rules" if self.language in (None, "en") else "none"

    def words(self, texts: Sequence[str]) -> list[tuple[Word, ...]]:
        """The words of each text."""
        english = self.language in (None, "en")
        known: dict[str, Word] = {}

        def word(piece: str) -> Word:
            if piece not in known:
                known[piece] = Word(piece, rule_lemmas(piece) if english else ())
            return known[piece]

        return [tuple(word(piece) for _, _, piece in pieces(text)) for text in texts]


@dataclass(frozen=True, eq=False)
class Sentences:
    """Sentences with their words.

    Attributes:
        texts: the sentences.
        reader: finds their words, when a scorer first asks.
    """

    texts: tuple[str, ...]
    reader: Reader = Plain()

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def words(self) -> list[tuple[Word, ...]]:
        """The words of each sentence, signs between them included."""
        return self.reader.words(self.texts)
