"""What errors by feature refuse, and which words are marked."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gnomon.core.errors import GnomonError
from gnomon.core.scripts import is_unspaced, unspaced_language
from gnomon.core.testset import TestSet
from gnomon.linguistics import standard_tagger
from gnomon.metrics.error_marks import Marking, mark_faults
from gnomon.muler._setup import WordChoice, word_faults
from gnomon.muler.uncertainty import resample_faults, unit_faults

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gnomon.core.options import BoundOptions
    from gnomon.core.summary import Outline
    from gnomon.core.validation import Problem

__all__ = ["SURFACE", "UNSPACED_SURFACE", "check_errors_by_feature", "language_of", "words_asked"]


#: features that need no tagger, for languages without one (syntax of the package regex)
SURFACE: Mapping[str, str] = {
    "number": r"\p{N}+(?:[.,:]\p{N}+)*",
    "punctuation": r"[\p{P}\p{S}]+",
    "capitalised": r"(?<=[\p{L}\p{N},;] )\p{Lu}\p{L}*",
    "first-word": r"(?:^|(?<=[.!?\u2026] ))[\p{Pi}\p{Ps}\"']*\K\p{L}+",
    "short": r"\b\p{L}{1,3}\b",
    "middle": r"\b\p{L}{4,8}\b",
    "long": r"\b\p{L}{9,}\b",
}
#: likewise for languages without spaces between words
UNSPACED_SURFACE: Mapping[str, str] = {
    "number": SURFACE["number"],
    "punctuation": SURFACE["punctuation"],
    "latin": r"\p{Latin}+",
    "katakana": r"[\p{Katakana}\u30fc]+",
}


def language_of(given: TestSet | Outline, side: str) -> str | None:
    """The language of the side that is marked, as far as it is known."""
    pair = given.language_pair or ""
    if side == "source" and not pair:
        return unspaced_language(given.sources or ()) if isinstance(given, TestSet) else None
    return pair.partition("-")[0] if side == "source" and "-" in pair else given.target_language


def words_asked(words: WordChoice, language: str | None) -> WordChoice:
    """The words asked for; without a tagger of the language, what their form shows."""
    if words != WordChoice():
        return words
    try:
        if language is not None:
            standard_tagger(language)
            return words
    except GnomonError:
        pass
    surface = UNSPACED_SURFACE if is_unspaced(language) else SURFACE
    return replace(words, pattern=surface, features=["re:*"])


def check_errors_by_feature(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """What :func:`errors` refuses of options that fit each alone."""
    yield from resample_faults(options.resamples, options.confidence)
    yield from unit_faults(outline, options.unit)
    if outline is not None:
        yield from mark_faults(
            outline,
            options.human,
            options.marks,
            Marking(options.side, allow_code=options.allow_code),
            alone=True,
        )
    language = None if outline is None else language_of(outline, options.side)
    words = words_asked(options.of(WordChoice), language)
    yield from word_faults(words, language, known=outline is not None)
