"""Ratings of words and multi-word entries, and where they occur in a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from gnomon.annotate.scorers._words import entry_key
from gnomon.signature import content_hash

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from gnomon.annotate.scorers._words import Word

__all__ = ["Hit", "Rated", "Ratings"]

# what publishers call parts of speech, by how it begins, and their names in UD
_POS = {"adj": "ADJ", "adv": "ADV", "noun": "NOUN", "verb": "VERB", "n": "NOUN", "v": "VERB"}
_SAME = {"PROPN": "NOUN", "AUX": "VERB"}


class Rated(NamedTuple):
    """One line of a lexicon: a term, its rating, and its part of speech where that is told."""

    term: str
    value: float
    pos: str = ""


class Hit(NamedTuple):
    """An entry found in a sentence: its first word, how many words and signs, its value."""

    start: int
    length: int
    value: float


@dataclass(frozen=True, eq=False)
class Ratings:
    """A lexicon: what each of its terms is rated, in general and by part of speech.

    Terms are compared lower-cased; lines that come to the same term count with their mean.

    Attributes:
        values: for each term, cut into words: part of speech -> value; "" is the mean of its lines.
    """

    values: Mapping[tuple[str, ...], Mapping[str, float]]

    @classmethod
    def of(cls, lines: Iterable[Rated]) -> Ratings:
        """Gather the lines of a lexicon."""
        gathered: dict[tuple[str, ...], dict[str, list[float]]] = {}
        for term, value, pos in lines:
            key = entry_key(term)
            if key:
                entry = gathered.setdefault(key, {"": []})
                entry[""].append(value)
                if universal(pos):
                    entry.setdefault(universal(pos), []).append(value)
        return cls({k: {p: fmean(v) for p, v in entry.items()} for k, entry in gathered.items()})

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def hash(self) -> str:
        """A hash of all that is in it."""
        lines = (f"{key}{sorted(entry.items())}" for key, entry in sorted(self.values.items()))
        return content_hash(*lines)

    def hits(self, words: Sequence[Word], skipped: Collection[str] = ()) -> Iterator[Hit]:
        """The entries of a sentence from left to right, longest first, without overlaps.

        A word is looked up as it stands, then by its base forms; within a multi-word entry each
        word may stand in either form.

        Args:
            words: the sentence.
            skipped: words that are not looked up by themselves.
        """
        place = 0
        while place < len(words):
            hit = self._longest(words, place) or self._single(words[place], place, skipped)
            if hit:
                yield hit
            place += hit.length if hit else 1

    def _longest(self, words: Sequence[Word], place: int) -> Hit | None:
        """The longest entry of several words that begins here."""
        first = words[place]
        for option in (first.text, *first.lemmas):
            for entry in self._several.get(option, ()):
                following = words[place : place + len(entry)]
                if len(following) == len(entry) and all(
                    part == word.text or part in word.lemmas
                    for part, word in zip(entry, following, strict=True)
                ):
                    return Hit(place, len(entry), self.values[entry][""])
        return None

    def _single(self, word: Word, place: int, skipped: Collection[str]) -> Hit | None:
        if word.text in skipped or not word.is_word:
            return None
        pos = _SAME.get(word.pos, word.pos)
        for option in (word.text, *word.lemmas):
            entry = self.values.get((option,))
            if entry is not None:
                return Hit(place, 1, entry.get(pos, entry[""]))
        return None

    @cached_property
    def _several(self) -> dict[str, tuple[tuple[str, ...], ...]]:
        """Entries of several words by their first word, longest first."""
        found: dict[str, list[tuple[str, ...]]] = {}
        for key in self.values:
            if len(key) > 1:
                found.setdefault(key[0], []).append(key)
        return {k: tuple(sorted(some, key=lambda e: (-len(e), e))) for k, some in found.items()}


def universal(pos: str) -> str:
    """A publisher's part of speech in Universal Dependencies; empty if it is none of the four.

    >>> universal("Adjective"), universal("v"), universal("article")
    ('ADJ', 'VERB', '')
    """
    folded = pos.strip().casefold()
    begins = (upos for name, upos in _POS.items() if len(name) > 1 and folded.startswith(name))
    return _POS.get(folded) or next(begins, "")
