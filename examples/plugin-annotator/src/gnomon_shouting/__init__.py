"""A small tagger of words in capitals, and a function that tells parts of speech."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gnomon.linguistics import Mark

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["Shouting", "parts_of_speech"]

_CAPITALS = re.compile(r"\b[A-Z]{2,}\b")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Shouting:
    """Acronyms, and longer words in capitals.

    Attributes:
        model: the most letters of an acronym.
    """

    model: str

    @property
    def name(self) -> str:
        """What a user writes."""
        return f"shouting:{self.model}"

    @property
    def signature(self) -> str:
        """Name with version; another one when results change."""
        return f"{self.name}-1.0"

    @property
    def layers(self) -> Mapping[str, tuple[str, ...]]:
        """The kinds of features of each layer."""
        return {"shout": ("shout",)}

    def inventory(self, kind: str) -> Sequence[str]:
        """The features of a kind."""
        return ("shout:ACRONYM", "shout:WORD") if kind == "shout" else ()

    def annotate(
        self, texts: Sequence[str], layers: Sequence[str]
    ) -> Sequence[Mapping[str, Sequence[Mark]]]:
        """The marks of each text, in order of their start."""
        return [dict.fromkeys(layers, tuple(self._marks(text))) for text in texts]

    def _marks(self, text: str) -> Iterator[Mark]:
        for word in _CAPITALS.finditer(text):
            label = "ACRONYM" if len(word[0]) <= int(self.model) else "WORD"
            yield Mark(word.start(), word.end(), label)


def parts_of_speech(text: str) -> list[tuple[int, int, str]]:
    """Numerals and other words: start, end and universal part of speech of each."""
    return [
        (word.start(), word.end(), "NUM" if word[0].isdigit() else "X")
        for word in _WORD.finditer(text)
    ]
