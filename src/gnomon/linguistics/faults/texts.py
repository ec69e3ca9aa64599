"""The texts that are looked at for faults, each read once for all kinds."""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.languages import language_scripts
from gnomon.core.scripts import (
    base_language,
    is_unspaced,
    main_script,
    unspaced_language,
    word_pattern,
)
from gnomon.data.formats.line_sample import Numbered

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.testset import TestSet

__all__ = ["REFERENCE", "Texts"]

#: before the name of a reference among the columns
REFERENCE = "reference:"
_ENOUGH = 200  # texts tell the script of all
_MAY_STAND_BESIDE = re.compile(r"[@#<&]|://|www\.")  # a quick look
_BESIDE = re.compile(r"https?://\S+|www\.\S+|(?<![^\s>])\S+@\S+|[@#]\w+|<[^<>]+>|&\w+;")


class Texts:
    """Sources, and columns of outputs and references beside them.

    Attributes:
        sources: one text per segment, or None.
        systems: outputs by name.
        references: texts by ``reference:NAME``; None where a segment lacks this reference.
        columns: both, systems first.
        codes: placeholders of what stands inside the texts of a column and is none, of columns that
            may have some; those of the sources stand under "".
        segments: how many.
        documents: the document of each segment, or None.
        source_language: two letters, or empty where unknown.
        language: the target language, likewise.
    """

    def __init__(self, testset: TestSet) -> None:
        self.sources: Sequence[str] | None = testset.sources
        self.systems: Mapping[str, Sequence[str]] = testset.systems
        self.references: Mapping[str, Sequence[str | None]] = {
            f"{REFERENCE}{name}": texts for name, texts in testset.references.items()
        }
        self.columns: dict[str, Sequence[str | None]] = {**self.systems, **self.references}
        self.codes: dict[str, Sequence[str]] = {
            **testset.codes.get("sources", {}),
            **testset.codes.get("systems", {}),
            **{f"{REFERENCE}{n}": c for n, c in testset.codes.get("references", {}).items()},
        }
        self.segments = testset.segments
        self.documents = testset.documents
        first, _, second = (testset.language_pair or "").partition("-")
        self.source_language = base_language(first) if second else ""
        self.language = base_language(second or first)
        self._testset = testset
        self._words: dict[str, list[str]] = {}

    @cached_property
    def unspaced(self) -> bool:
        """True if spaces part no words in the target language."""
        if self.language:
            return is_unspaced(self.language)
        some = next(iter((self.references or self.columns).values()), ())
        return unspaced_language(some[:_ENOUGH]) is not None

    @cached_property
    def script(self) -> str:
        """The script of the target language; empty where it is unknown, and no clear one found.

        Of a language that is unknown, references show it.
        """
        known = language_scripts().get(self.language)
        shown = (self.references or self.columns).values()
        some = [text for column in shown for text in column[:_ENOUGH] if text]
        return known or main_script(" ".join(some)) or ""

    @cached_property
    def numbers(self) -> dict[str, NDArray[np.int32]]:
        """Each column's texts as numbers, equal ones alike, and -1 where one lacks."""
        numbered = Numbered(self._testset)
        references = {f"{REFERENCE}{name}": one for name, one in numbered.references.items()}
        return {**numbered.systems, **references}

    @cached_property
    def lengths(self) -> NDArray[np.float64]:
        """Characters of each text [columns, segments]; NaN where one lacks."""
        rows = [[np.nan if one is None else len(one) for one in c] for c in self.columns.values()]
        return np.array(rows, dtype=np.float64).reshape(len(self.columns), self.segments)

    def words(self, text: str) -> list[str]:
        """The words of a text, without signs; in scripts without spaces its letters.

        >>> from gnomon.core.testset import TestSet
        >>> Texts(TestSet.from_lists({"a": ["x"]}, ["x"])).words("It's a test, 你好")
        ['It', 's', 'a', 'test', '你', '好']
        """
        known = self._words.get(text)
        if known is None:
            known = self._words[text] = word_pattern(signs=False).findall(text)
        return known

    def plain_words(self, text: str) -> list[str]:
        """Its words without addresses, handles, hashtags, tags and entities."""
        return self.words(_BESIDE.sub(" ", text) if _MAY_STAND_BESIDE.search(text) else text)

    @cached_property
    def vocabularies(self) -> dict[str, Counter[str]]:
        """Counts of the words of each column, in lower case."""
        return {
            name: Counter(word.lower() for text in column if text for word in self.words(text))
            for name, column in self.columns.items()
        }

    def outputs(self, *, empty: bool = False) -> Iterator[tuple[str, int, str, str]]:
        """Column, segment, text and source (empty where there is none) of all that have text.

        Where it is asked for, also of those that are empty.
        """
        sources = self.sources or [""] * self.segments
        for column, texts in self.columns.items():
            for segment, (text, source) in enumerate(zip(texts, sources, strict=True)):
                if text or (empty and text is not None):
                    yield column, segment, text, source

    def codes_of(self, column: str, segment: int) -> tuple[str, str]:
        """The codes of a text and of its source; none where one of them cannot have any."""
        own, sources = self.codes.get(column), self.codes.get("")
        return ("", "") if own is None or sources is None else (own[segment], sources[segment])
