"""Distinct texts, and distinct pairs of them at a place of the test set."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from gnomon.bmx._words import Words

__all__ = ["NO_TEXT", "PairKey", "PairTable", "Texts"]

#: number of the text on a side that is not there
NO_TEXT = -1


@dataclass
class Texts:
    """Distinct texts in the order in which they came."""

    all: list[str] = field(default_factory=list)
    _number: dict[str, int] = field(default_factory=dict)
    _words: dict[int, Words] = field(default_factory=dict)

    def add(self, text: str) -> int:
        """The number of a text."""
        number = self._number.setdefault(text, len(self.all))
        if number == len(self.all):
            self.all.append(text)
        return number

    def words(self, number: int) -> Words:
        """The words of a text."""
        found = self._words.get(number)
        if found is None:
            found = self._words[number] = Words(self.all[number])
        return found


class PairKey(NamedTuple):
    """A candidate and what it is judged by.

    Attributes:
        segment: position of the segment in the batch: metrics may have frozen something for it.
        candidate: number of the text.
        other: number of the reference, or source; ``NO_TEXT`` for none.
        source: number of the source that stays beside the reference; ``NO_TEXT`` for none.
        system: position of the system in the batch, for metrics that look at its name; else -1.
    """

    segment: int
    candidate: int
    other: int
    source: int
    system: int


@dataclass
class PairTable:
    """Distinct pairs in the order in which they came."""

    number: dict[PairKey, int] = field(default_factory=dict)

    def add(self, key: PairKey) -> int:
        """The number of a pair."""
        return self.number.setdefault(key, len(self.number))

    def __len__(self) -> int:
        return len(self.number)
