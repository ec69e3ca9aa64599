"""What looks wrong in a test set that is read without a fault: swapped files, the wrong language.

Nothing here is an error, for all of it can be meant. Texts are compared by their scripts and by the
trigrams of their letters: on published sets the trigrams of outputs and references have a cosine of
0.79 to 0.99, those of texts in two languages one of 0.01 to 0.43.
"""

from __future__ import annotations

import logging
import re
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from gnomon.doors import checked
from gnomon.formats._files import LOGGER
from gnomon.scores import named
from gnomon.scripts import main_script

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.testset import TestSet

_FEWEST = 10  # segments, below which anything may happen
_LETTERS = 400  # of a text whose language is compared; a thousand trigrams scatter little
_MANY_LETTERS = 2000
_LOOKED_AT = 100  # segments, spread over the test set
_LONGEST = 200  # characters of a segment
_UNLIKE = 0.5
_LIKE = 0.65
_EQUAL = 0.99

_WORD = re.compile(r"[^\W\d_]+")
_REFERENCE = re.compile(r"(ref(erence)?s?|gold)([._\-0-9].*)?", re.IGNORECASE)
_SOURCE = re.compile(r"(src|sources?)([._\-0-9].*)?", re.IGNORECASE)

_SCRIPTS = {
    "CYRILLIC": ("be", "bg", "kk", "ky", "mk", "mn", "ru", "uk"),
    "LATIN": (
        "cs", "da", "de", "en", "es", "et", "fi", "fr", "hr", "hu", "is", "it", "lt", "lv", "nl",
        "no", "pl", "pt", "ro", "sk", "sl", "sv", "tr", "vi",
    ),
    "HAN": ("zh",),
    "KANA": ("ja",),
    "HANGUL": ("ko",),
    "ARABIC": ("ar", "fa", "ps", "ur"),
    "HEBREW": ("he", "yi"),
    "GREEK": ("el",),
    "THAI": ("th",),
    "DEVANAGARI": ("hi", "mr", "ne"),
    "BENGALI": ("bn",),
    "GUJARATI": ("gu",),
    "TAMIL": ("ta",),
    "GEORGIAN": ("ka",),
    "ARMENIAN": ("hy",),
}  # fmt: skip
_SCRIPT_OF = {language: script for script, those in _SCRIPTS.items() for language in those}


@checked
def say_suspicions(testset: TestSet) -> TestSet:
    """The test set; what looks wrong in it is said with a warning, where that is heard."""
    if not LOGGER.isEnabledFor(logging.WARNING):
        return testset
    for one in suspicions(testset):
        LOGGER.warning("%s: %s", testset.name, one)
    return testset


@checked
def suspicions(testset: TestSet) -> tuple[str, ...]:
    """What looks wrong in a test set, in sentences; none in sets of fewer than ten segments."""
    if testset.segments < _FEWEST:
        return ()
    said = (*_equal_parts(testset), _other_languages(testset))
    return tuple(filter(None, said))


def say_roles(references: Sequence[str], systems: Sequence[str], source: str | None = None) -> None:
    """Warn of files whose names say that they are something else than they are given as.

    Args:
        references: names of references.
        systems: names of systems.
        source: name of the source.
    """
    wrong = [name for name in systems if _REFERENCE.fullmatch(name)]
    if wrong and not any(_REFERENCE.fullmatch(name) for name in references):
        LOGGER.warning(
            "%s is given as a system, and %s as reference; are they swapped? references come first:"
            " REF -i SYSTEM",
            named(wrong),
            named(list(references)),
        )
    others = [("a reference", name) for name in references]
    others += [("a system", name) for name in systems]
    for role, name in others:
        if _SOURCE.fullmatch(name):
            LOGGER.warning("%s is given as %s; the source is named with -s (source=)", name, role)
    if source is not None and _REFERENCE.fullmatch(source):
        LOGGER.warning("%s is given as the source; references come first, without -s", source)


# Texts that are the same


def _equal_parts(testset: TestSet) -> list[str]:
    found = []
    for reference, texts in testset.references.items():
        if testset.sources is not None and _same(testset.sources, texts):
            found.append(f"the reference {reference!r} is the same text as the source")
        for system, output in testset.systems.items():
            info = testset.info.get(system)
            if system != reference and not (info and info.human) and _same(output, texts):
                found.append(
                    f"the output of {system!r} is the same text as the reference {reference!r};"
                    " was one file given twice?"
                )
    if testset.sources is not None:
        untranslated = [n for n, texts in testset.systems.items() if _same(texts, testset.sources)]
        if untranslated:
            found.append(f"the same text as the source is the output of {named(untranslated)}")
    return found


def _same(a: Sequence[str | None], b: Sequence[str | None]) -> bool:
    equal = sum(x == y for x, y in zip(a, b, strict=True))
    return equal >= _EQUAL * len(a) and len(set(a)) > 1


# Scripts and languages


def _other_languages(testset: TestSet) -> str:
    own = {n for n in testset.systems if n not in testset.references}
    outputs = {n: _Profile(t) for n, t in testset.systems.items() if n in own}
    references = {n: _Profile(t) for n, t in testset.references.items()}
    source = None if testset.sources is None else _Profile(testset.sources)
    found = _wrong_script(testset, references, outputs)
    if found:
        return found
    whole = [one for one in references.values() if one.letters >= _LETTERS]
    known = {n: one for n, one in outputs.items() if one.letters >= _LETTERS}
    if not whole or not known:
        return ""
    strange = [n for n, one in known.items() if max(map(one.likeness, whole)) < _UNLIKE]
    every = len(strange) == len(known)
    if not every:  # single systems may be as bad as this for a while
        strange = [name for name in strange if known[name].letters >= _MANY_LETTERS]
    if not strange:
        return ""
    if every and source is not None and source.letters >= _LETTERS:
        if all(known[name].likeness(source) > _LIKE for name in strange):
            return (
                "the outputs are written like the source and not like the references; are source"
                " and references swapped, or are the outputs not translated?"
            )
        if all(one.likeness(source) > _LIKE for one in whole):
            return (
                "the references are written like the source and not like the outputs; was the"
                " source given as reference?"
            )
    who = "all outputs are" if every and len(strange) > 1 else f"{named(strange)} is"
    return (
        f"{who} written as if in another language than the references; do the files belong"
        " together?"
    )


def _wrong_script(
    testset: TestSet, references: Mapping[str, _Profile], outputs: Mapping[str, _Profile]
) -> str:
    wanted = _SCRIPT_OF.get((testset.target_language or "").split("_")[0])
    others = {n: one.script for n, one in references.items() if one.script not in (None, wanted)}
    if wanted is not None and others:
        name, script = next(iter(others.items()))
        return (
            f"the reference {name!r} is written in {_letters(script)}, which"
            f" {testset.target_language} is not; is it the source, or the language pair another?"
        )
    scripts = {one.script for one in references.values()} - {None}
    strange = [n for n, one in outputs.items() if one.script not in (None, *scripts)]
    if len(strange) < len(outputs):
        strange = [name for name in strange if outputs[name].letters >= _MANY_LETTERS]
    if len(scripts) != 1 or not strange:
        return ""
    theirs = _letters(outputs[strange[0]].script)
    who = "all outputs are" if 1 < len(strange) == len(outputs) else f"{named(strange)} is"
    return (
        f"{who} written in {theirs}, and the references in {_letters(next(iter(scripts)))}; do the"
        " files belong together?"
    )


def _letters(script: str | None) -> str:
    return f"{(script or '').title()} letters"


class _Profile:
    """The letters of a text: how many, of which script, and their trigrams."""

    def __init__(self, texts: Sequence[str | None]) -> None:
        there = [text for text in texts if text and not text.isspace()]
        step = max(1, len(there) // _LOOKED_AT)
        words = " ".join(text[:_LONGEST] for text in there[::step][:_LOOKED_AT]).lower()
        plain = " ".join(_WORD.findall(words))
        self.letters = len(plain) - plain.count(" ")
        self.script = main_script(plain) if self.letters >= _LETTERS // 4 else None
        self._trigrams, self._counts = _trigrams(plain)
        self._length = sqrt((self._counts**2).sum())

    def likeness(self, other: _Profile) -> float:
        """The cosine of the trigrams' counts, from 0 to 1."""
        lengths = self._length * other._length
        if not lengths:
            return 0.0
        place = np.searchsorted(other._trigrams, self._trigrams)
        place[place == len(other._trigrams)] = 0
        both = other._trigrams[place] == self._trigrams
        shared = (self._counts[both] * other._counts[place[both]]).sum()
        return float(shared / lengths)


def _trigrams(text: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct sequences of three characters as ascending numbers, and how often each occurs.

    >>> [part.tolist() for part in _trigrams("aaaa")]
    [[426610715000929], [2]]
    """
    data = text.encode("utf-32-le", "surrogatepass")
    codes = np.frombuffer(data, dtype="<u4").astype(np.int64)
    keys = np.sort(codes[:-2] << 42 | codes[1:-1] << 21 | codes[2:])
    firsts = np.flatnonzero(np.diff(keys, prepend=-1))
    return keys[firsts], np.diff(firsts, append=len(keys))
