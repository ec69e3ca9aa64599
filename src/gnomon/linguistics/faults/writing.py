"""Languages of whole files, judged beside their references and sources.

The share of letters in lines with next to no word of the references (in scripts without spaces:
with next to no letter of their script) shows whether an output is in their language; names, code
and bad words do not fill whole lines. Trigrams of letters show whether roles are swapped.
"""

from __future__ import annotations

import re
from functools import cached_property
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.data_cautions import doubt
from gnomon.core.languages import language_scripts
from gnomon.core.scripts import main_script
from gnomon.data.formats.line_sample import LineCounts, SomeLines

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.testset import TestSet
    from gnomon.messages import Message

__all__ = ["other_languages"]

_LETTERS = 400  # of a text whose language is compared; a thousand trigrams scatter little
_MANY_LETTERS = 2000
_LOOKED_AT = 100  # segments, spread over the test set
_LONGEST = 200  # characters of a segment
_UNLIKE = 0.5
_LIKE = 0.65
_STRANGE = 0.3  # of the letters; of few lines twice as many, half as many where they are unlike
_SOME_LETTERS, _SOME_WORDS = 15, 5  # of a line, below which anything may happen
_ENOUGH_LINES = 100  # whose words say which words the language has
_HARDLY = 0.2  # of the letters of a line

_WORD = re.compile(r"[^\W\d_]+")


def other_languages(testset: TestSet, lines: SomeLines, copies: Collection[str]) -> list[Message]:
    """Systems, or all of them or the references, that are in another language or script.

    Args:
        testset: the test set.
        lines: some of it.
        copies: systems that are left out.
    """
    names = [n for n in testset.systems if n not in testset.references and n not in copies]
    references = {n: _Profile(t) for n, t in testset.references.items()}
    unspaced = lines.unspaced
    shares = {n: _Strange(testset.systems[n], lines.systems[n], unspaced) for n in names}
    # where most letters stand in lines whose words are known, nothing is of another script
    outputs = {
        n: _Profile(testset.systems[n])
        for n, estimate in shares.items()
        if unspaced or estimate.share >= _STRANGE / 2 or not estimate.is_of_most_letters
    }
    wrong_script = _find_wrong_script(testset, references, outputs, len(names))
    if wrong_script:
        return [wrong_script]
    whole = [profile for profile in references.values() if profile.letters >= _LETTERS]
    strange = {}
    for name, profile in outputs.items():
        share = shares[name]
        if not whole or profile.letters < _LETTERS:
            continue
        if not unspaced and share.share >= _STRANGE / 2 and len(lines.rows) < testset.segments:
            share = _Strange.count_in_all_lines(testset, name)
        if _is_strange(share, profile, whole):
            strange[name] = share.share
    long_enough = [n for n in names if strange and _Profile(testset.systems[n]).letters >= _LETTERS]
    if len(strange) == len(long_enough):
        swapped = _find_swapped_side([outputs[name] for name in strange], whole, testset.sources)
        if swapped or len(strange) > 1:
            return [doubt(swapped or "others", list(strange))]
    return [doubt("language", [name], share=share) for name, share in strange.items()]


def _find_swapped_side(
    outputs: Sequence[_Profile], references: Sequence[_Profile], sources: Sequence[str] | None
) -> str:
    """Which side is written like the source; empty where none is."""
    source = _Profile(sources or ())
    if not outputs or source.letters < _LETTERS:
        return ""
    if all(profile.likeness(source) > _LIKE for profile in outputs):
        return "swapped"
    if all(profile.likeness(source) > _LIKE for profile in references):
        return "references"
    return ""


def _is_strange(estimate: _Strange, output: _Profile, references: Sequence[_Profile]) -> bool:
    """True if so many lines are strange that it is no accident, of few lines whatever is in them.

    The vocabulary of few lines is small, and a bad system may have few of their words in common:
    the trigrams of its letters are then those of the language all the same.
    """
    if estimate.lines >= _ENOUGH_LINES:
        many = estimate.share >= _STRANGE
        half = estimate.share >= _STRANGE / 2
        return many or (half and _is_unlike(_Profile(estimate.texts), references))
    return estimate.share >= 2 * _STRANGE and max(map(output.likeness, references)) < _UNLIKE


def _is_unlike(lines: _Profile, references: Sequence[_Profile]) -> bool:
    """True if lines are long enough for their language, and it is not that of the references."""
    return lines.letters >= _LETTERS and max(map(lines.likeness, references)) < _UNLIKE


class _Strange:
    """Lines that hold hardly a word of the references.

    Where spaces part no words, it is hardly a letter of such scripts.
    """

    def __init__(self, texts: Sequence[str], counts: LineCounts, unspaced: bool) -> None:  # noqa: FBT001
        enough = counts.letters >= _SOME_LETTERS if unspaced else counts.words >= _SOME_WORDS
        known = counts.unspaced if unspaced else counts.shared
        strange = enough & (known < _HARDLY * counts.letters)
        letters, whole = int(counts.letters[strange].sum()), int(counts.letters[enough].sum())
        self.lines = int(enough.sum())
        self.share = letters / whole if whole else 0.0
        self.is_of_most_letters = 2 * whole > counts.letters.sum()
        self.texts = [texts[row] for row in counts.rows[strange].tolist()]

    @classmethod
    def count_in_all_lines(cls, testset: TestSet, system: str) -> _Strange:
        """Among all lines, by the words of all references."""
        every = SomeLines(testset, [system], np.arange(testset.segments))
        return cls(testset.systems[system], every.systems[system], unspaced=False)


def _find_wrong_script(
    testset: TestSet,
    references: Mapping[str, _Profile],
    outputs: Mapping[str, _Profile],
    systems: int,
) -> Message | None:
    wanted = language_scripts().get((testset.target_language or "").split("_")[0])
    others = {n: p.script for n, p in references.items() if p.script not in (None, wanted)}
    if wanted is not None and others:
        name, script = next(iter(others.items()))
        # words are cut as in a language that the outputs are not in either
        return doubt(
            "reference",
            list(testset.systems),
            reference=name,
            script=_title(script),
            language=testset.target_language,
        )
    scripts = {profile.script for profile in references.values()} - {None}
    strange = [n for n, profile in outputs.items() if profile.script not in (None, *scripts)]
    if len(strange) < systems:
        strange = [name for name in strange if outputs[name].letters >= _MANY_LETTERS]
    if len(scripts) != 1 or not strange:
        return None
    written = _title(outputs[strange[0]].script)
    return doubt("script", strange, script=written, other=_title(next(iter(scripts))))


def _title(script: str | None) -> str:
    return (script or "").title()


class _Profile:
    """The letters of a text: how many, of which script, and their trigrams."""

    def __init__(self, texts: Sequence[str | None]) -> None:
        some = _drop_empty(texts[:: max(1, len(texts) // _LOOKED_AT)])
        if 2 * len(some) < min(len(texts), _LOOKED_AT):
            there = _drop_empty(texts)
            some = there[:: max(1, len(there) // _LOOKED_AT)]
        words = " ".join(text[:_LONGEST] for text in some[:_LOOKED_AT]).lower()
        self._plain = " ".join(_WORD.findall(words))
        self.letters = len(self._plain) - self._plain.count(" ")
        self.script = main_script(self._plain) if self.letters >= _LETTERS // 4 else None

    @cached_property
    def _trigrams(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return _trigrams(self._plain)

    def likeness(self, other: _Profile) -> float:
        """The cosine of the trigrams' counts, from 0 to 1."""
        (trigrams, counts), (theirs, other_counts) = self._trigrams, other._trigrams
        lengths = sqrt((counts**2).sum()) * sqrt((other_counts**2).sum())
        if not lengths:
            return 0.0
        matching = np.searchsorted(theirs, trigrams)
        matching[matching == len(theirs)] = 0
        both = theirs[matching] == trigrams
        return float((counts[both] * other_counts[matching[both]]).sum() / lengths)


def _drop_empty(texts: Sequence[str | None]) -> list[str]:
    return [text for text in texts if text and not text.isspace()]


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
