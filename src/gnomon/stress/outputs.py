"""Outputs to be changed: their words, their marks by a tagger, and those of other segments."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from gnomon.core.scripts import (
    UNSPACED_SCRIPTS,
    script_counts,
    unspaced_language,
    word_pattern,
)
from gnomon.linguistics import FINAL_MARKS, FeatureWords, begins_sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np

    from gnomon.linguistics import Token

__all__ = ["OtherOutputs", "Output", "Word", "mark_places", "words_of"]

#: marks stand close behind words if so many do for each that stands apart
_MOSTLY = 10

#: signs that join letters and digits: hyphens, apostrophes, points and commas within numbers
_WITHIN = r"['’\-‑–]|(?<=\d)[.,:](?=\d)"
_JOINING = frozenset("-‑–'’_")
#: entities of which no word is changed by rules for common words
_NAMED = frozenset(
    (
        *("ent:PERSON", "ent:PER", "ent:ORG", "ent:GPE", "ent:LOC", "ent:NORP", "ent:FAC"),
        *("ent:PRODUCT", "ent:EVENT", "ent:LAW", "ent:LANGUAGE", "ent:WORK_OF_ART"),
    )
)
#: a few words between quotation marks, of which the first has a capital, and no full stop
_TITLE = re.compile(r"[\"“„«][A-ZÄÖÜ][^\"“”„«».!?]{1,40}[\"”“»]")


class Word(NamedTuple):
    """A word and where it stands, in half-open code points."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, eq=False)
class Output:
    """An output that is to be changed.

    Attributes:
        number: of its segment, from 0.
        text: the output.
        source: what was translated; None where it is not known.
        tokens: a tagger's words; none where there is no tagger.
        marked: where features occur, by their names.
        places: where its words stand, if spaces do not part them; None: spaces do.
        source_places: where those of the source stand, likewise.
    """

    number: int
    text: str
    source: str | None = None
    tokens: tuple[Token, ...] = ()
    marked: Mapping[str, Sequence[tuple[int, int]]] = field(default_factory=dict)
    places: Sequence[tuple[int, int]] | None = None
    source_places: Sequence[tuple[int, int]] | None = None

    @property
    def gap(self) -> str:
        """Text between two words."""
        return " " if self.places is None else ""

    def spans(self, feature: str) -> list[tuple[int, int]]:
        """Where a feature occurs, but for parts of words joined by hyphens and apostrophes."""
        return [span for span in self.marked.get(feature, ()) if self.is_whole(*span)]

    def is_whole(self, start: int, end: int) -> bool:
        """True if characters are no part of a longer word ("well" of "well-known")."""
        before, after = self.text[start - 1 : start], self.text[end : end + 1]
        joined = before in _JOINING and self.text[max(start - 2, 0) : start - 1].isalnum()
        further = after in _JOINING and self.text[end + 1 : end + 2].isalnum()
        return not (before and joined) and not (after and further)

    @cached_property
    def words(self) -> list[Word]:
        """Its words, punctuation left out; joined words ("well-known") are one."""
        return _words(self.text, self.places)

    @cached_property
    def source_words(self) -> list[Word]:
        """The words of the source, likewise."""
        return _words(self.source or "", self.source_places)

    @cached_property
    def children(self) -> list[list[int]]:
        """Positions of the tokens that depend on each token, in the order of the text."""
        children: list[list[int]] = [[] for _ in self.tokens]
        for position, token in enumerate(self.tokens):
            if token.head != position:
                children[token.head].append(position)
        return children

    @cached_property
    def common(self) -> list[bool]:
        """Of each token, whether it is a word that stands in no name and in no quoted title."""
        closed = [span for label in _NAMED & self.marked.keys() for span in self.marked[label]]
        closed += [match.span() for match in _TITLE.finditer(self.text)]
        return [
            token.pos not in ("PUNCT", "SYM", "PROPN")
            and not any(start < token.end and token.start < end for start, end in closed)
            and self.is_whole(token.start, token.end)
            for token in self.tokens
        ]

    @cached_property
    def folded(self) -> frozenset[str]:
        """Its words, case-folded."""
        return frozenset(word.text.casefold() for word in self.words)


def _words(text: str, places: Sequence[tuple[int, int]] | None) -> list[Word]:
    """Words at some places, or those that spaces part; punctuation left out."""
    if places is None:
        return words_of(text)
    spans = [span for span in places if any(map(str.isalnum, text[slice(*span)]))]
    return [Word(start, end, text[start:end]) for start, end in spans]


def words_of(text: str) -> list[Word]:
    """The words of a text that spaces part.

    >>> [word.text for word in words_of("A well-known 3.5-km run, isn't it?")]
    ['A', 'well-known', '3.5-km', 'run', "isn't", 'it']
    """
    found = word_pattern(_WITHIN, signs=False).finditer(text)
    return [Word(match.start(), match.end(), match[0]) for match in found]


def mark_places(text: str) -> Iterator[tuple[str, int]]:
    """Marks of punctuation behind words: the white space before each, and where it stands."""
    import regex

    signs = FINAL_MARKS.replace("…", "")
    pattern = rf"(?<=[\p{{L}}\p{{M}}])(\s?)[,;:،؛፣{signs}](?=\s|$)"
    for match in regex.finditer(pattern, text):
        yield match[1], match.end() - 1


class OtherOutputs:
    """The outputs of all segments: where words and sentences from elsewhere are taken.

    Attributes:
        outputs: one per segment.
    """

    def __init__(self, outputs: Sequence[Output]) -> None:
        self.outputs = outputs
        self._words: dict[str, FeatureWords] = {}

    @cached_property
    def script(self) -> str:
        """The script of the outputs, whatever names they have in Latin letters."""
        texts = [output.text for output in self.outputs]
        counts = script_counts("".join(texts))
        if unspaced_language(texts) is not None:
            counts.pop("LATIN", None)
        return max(counts, key=lambda script: counts[script], default="")

    def is_in_script(self, word: str) -> bool:
        """True if all letters of a word are of that script."""
        own = {"HAN", "KANA"} if self.script == "KANA" else {self.script}
        return own.issuperset(script_counts(word))

    @cached_property
    def close_marks(self) -> frozenset[str]:
        """Marks of punctuation that stand close behind words (not "!" in French)."""
        if self.script in UNSPACED_SCRIPTS and self.script != "HANGUL":
            return frozenset()
        close, apart = Counter[str](), Counter[str]()
        for output in self.outputs:
            for gap, place in mark_places(output.text):
                (apart if gap else close)[output.text[place]] += 1
        return frozenset(mark for mark in close if _MOSTLY * apart[mark] <= close[mark])

    def word(self, feature: str, output: Output, rng: np.random.Generator) -> str | None:
        """A word or name of a feature from elsewhere, which the output does not have.

        A capital that a word has at the beginning of a sentence alone is taken off it.
        """
        if feature not in self._words:
            self._words[feature] = FeatureWords(
                tuple(
                    _plain(other.text, *span, feature)
                    for other in self.outputs
                    for span in other.spans(feature)
                )
            )
        return self._words[feature].elsewhere(rng.random(), output.folded)

    def like(self, token: Token, output: Output, rng: np.random.Generator) -> str | None:
        """A word from elsewhere of the same part of speech and form ("cats" for "dogs")."""
        return self._forms.get((token.pos, token.morph), _NO_WORDS).elsewhere(
            rng.random(), output.folded
        )

    def draw_word(self, pos: str, output: Output, rng: np.random.Generator) -> str | None:
        """A word from elsewhere of a part of speech, in its plain form where there are several."""
        plain = self._forms.get((pos, _PLAIN.get(pos, frozenset())))
        return None if plain is None else plain.elsewhere(rng.random(), output.folded)

    @cached_property
    def _forms(self) -> dict[tuple[str, frozenset[str]], FeatureWords]:
        words: dict[tuple[str, frozenset[str]], list[str]] = {}
        for other in self.outputs:
            for token in other.tokens:
                if token.text.isalpha() and other.is_whole(token.start, token.end):
                    word = _plain(other.text, token.start, token.end, f"pos:{token.pos}")
                    words.setdefault((token.pos, token.morph), []).append(word)
        return {form: FeatureWords(tuple(same)) for form, same in words.items()}

    def other(self, output: Output, rng: np.random.Generator) -> Output | None:
        """The output of another segment, with another text."""
        first = int(rng.integers(len(self.outputs)))
        for step in range(len(self.outputs)):
            other = self.outputs[(first + step) % len(self.outputs)]
            if other.number != output.number and other.text.strip() not in (
                "",
                output.text.strip(),
            ):
                return other
        return None


_NO_WORDS = FeatureWords(())
#: the morphology of words that may stand beside any noun, as the English tagger has it
_PLAIN = {"ADJ": frozenset(("Degree=Pos",))}
#: features whose words keep their capitals
_NAMES = ("ent:", "pos:PROPN")


def _plain(text: str, start: int, end: int, feature: str) -> str:
    word = text[start:end]
    if feature.startswith(_NAMES) or not begins_sentence(text, start) or word.isupper():
        return word
    return word[:1].lower() + word[1:]
