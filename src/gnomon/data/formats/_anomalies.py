"""What looks wrong in a test set that was read without an error: shifted files, a wrong language.

Nothing here is an error, for all of it can be meant. The share of letters in lines with next to no
word of the references (in scripts without spaces: with next to no letter of their script) shows
whether an output is in their language; names, code and bad words do not fill whole lines. Trigrams
of letters show whether roles are swapped.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from functools import cached_property
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.doubts import doubtful_systems
from gnomon.core.languages import language_scripts
from gnomon.core.lazy import checked
from gnomon.core.scores import named
from gnomon.core.scripts import main_script
from gnomon.core.testset import TestSet
from gnomon.data.formats._files import LOGGER
from gnomon.data.formats._line_order import Misplaced, misplaced_lines
from gnomon.data.formats.audit import favoured
from gnomon.data.formats.damage import damaged_texts
from gnomon.data.formats.looks import LineCounts, Numbered, SomeLines, one_reference
from gnomon.messages import Message, message, noted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

_DOUBTS = logging.getLogger("gnomon.formats.doubts")
_FEWEST = 10  # segments, below which anything may happen
_LETTERS = 400  # of a text whose language is compared; a thousand trigrams scatter little
_MANY_LETTERS = 2000
_LOOKED_AT = 100  # segments, spread over the test set
_LONGEST = 200  # characters of a segment
_UNLIKE = 0.5
_LIKE = 0.65
_EQUAL = 0.99
_NEARLY = 0.95  # of the lines of a reference, as hardly any system writes them
_MANY = 0.2  # of the letters, or of the lines
_SOME_EMPTY = 0.01
_SOME_AGAIN = (
    0.05  # of the segments, by which a test at 5 % finds noise in more than 6 of 100 draws
)
_STRANGE = 0.3  # of the letters; of few lines twice as many, half as many where they are unlike
_SOME_LETTERS, _SOME_WORDS = 15, 5  # of a line, below which anything may happen
_ENOUGH_LINES = 100  # whose words say which words the language has
_STOPS = 0.3  # of the references are a system's: by these nothing is said of it
_OF_LETTERS = ("misread", "entities", "accents")  # damage
_DOUBLED = 32  # bit of ``LineCounts.signs``
_HARDLY = 0.2  # of the letters of a line

_WORD = re.compile(r"[^\W\d_]+")
_REFERENCE = re.compile(r"(ref(erence)?s?|gold)([._\-0-9].*)?", re.IGNORECASE)
_SOURCE = re.compile(r"(src|sources?)([._\-0-9].*)?", re.IGNORECASE)


@checked
def warn_of_anomalies(testset: TestSet) -> TestSet:
    """The same test set, with a warning for each thing that looks wrong in it."""
    if not _DOUBTS.isEnabledFor(logging.WARNING):
        return testset
    for text in anomaly_texts(testset):
        _DOUBTS.warning("%s: %s", testset.name, text)
    return testset


@checked
def anomaly_texts(testset: TestSet) -> tuple[str, ...]:
    """What looks wrong in a test set, in sentences; none in sets of fewer than ten segments."""
    return tuple(map(noted, testset.anomalies))


@checked
def anomalies(testset: TestSet) -> tuple[Message, ...]:
    """What looks wrong in a test set, and in which systems, so that no verdict judges these."""
    aligned = tuple(_aligned(testset))
    if testset.segments < _FEWEST:
        return aligned
    numbered, lines = Numbered(testset), SomeLines(testset)
    found = [
        *_find_odd_segments(testset, numbered),
        *_find_equal_texts(testset, numbered),
        *_find_untranslated(lines, numbered),
    ]
    damaged = list(_find_damaged(lines))
    # words of which letters are damaged are of no language
    unread = [str(one.params["name"]) for one in damaged if one.params["what"] in _OF_LETTERS]
    found += _find_other_languages(testset, lines, [*doubtful_systems(found), *unread])
    found += _find_repeated(lines, numbered, doubtful_systems(found))
    found += _find_misplaced(lines, doubtful_systems(found))
    found += _find_references_apart(testset) if testset.references else ()
    doubtful = set(doubtful_systems(found))
    unlike = doubtful.union(*(one.subjects.get("systems", ()) for one in damaged))
    found += _find_favoured(testset, numbered, unlike)
    doubtful = set(doubtful_systems(found))
    found += [one for one in damaged if doubtful.isdisjoint(one.subjects.get("systems", ()))]
    return (*aligned, *found)


def _aligned(testset: TestSet) -> Iterator[Message]:
    """Outputs that had more or fewer lines."""
    some = [
        {
            "system": name,
            "given": one.given,
            "segments": testset.segments,
            "merges": one.merges,
            "splits": one.splits,
            "dropped": "some" if one.drops else "nothing",
            "drops": one.drops,
            "added": len(one.added) or None,
            "uncertain": len(one.uncertain),
            "changes": None,
        }
        for name, one in testset.alignments.items()
    ]
    if some:
        yield message("data.aligned", aligned=some)


def say_roles(references: Sequence[str], systems: Sequence[str], source: str | None = None) -> None:
    """Warn of files whose names say that they are something else than they are given as."""
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


def _doubt(what: str, systems: Sequence[str], **counts: Any) -> Message:
    """Of whose outputs nothing can be said while it is so.

    They are shifted, in another order, repeated, not translated, or in another language.
    """
    said = message("data.doubtful", what=what, systems=list(systems), **counts)
    return said.about(systems=systems)


# Texts that are the same


def _find_odd_segments(testset: TestSet, numbered: Numbered) -> Iterator[Message]:
    """Segments without a reference, and segments that come again."""
    size, columns = testset.segments, list(testset.references.values())
    empty = [any(row) for row in zip(*columns, strict=True)].count(False)
    if size > empty > _SOME_EMPTY * size:
        yield message("data.no_reference", empty=empty, segments=size)
    if not columns or not testset.systems:
        return
    if size - len(set(columns[0])) - empty > _SOME_AGAIN * size:
        every = [*numbered.references.values(), *numbered.systems.values()]
        again = size - len(set(zip(*(one.tolist() for one in every), strict=True)))
        if again - empty > _SOME_AGAIN * size:
            yield message("data.repeated", again=again, segments=size)


def _find_equal_texts(testset: TestSet, numbered: Numbered) -> list[Message]:
    equal = []
    sources, systems = numbered.sources, numbered.systems
    for reference, texts in numbered.references.items():
        if sources is not None and _share_equal(sources, texts) >= _EQUAL:
            equal.append(message("note.reference_is_source", reference=reference))
        for system, output in systems.items():
            info = testset.info.get(system)
            if system == reference or (info and info.human):
                continue
            share = _share_equal(output, texts)
            if share >= _NEARLY:
                said = message(
                    "data.copied",
                    what="output",
                    system=system,
                    nearly=share < _EQUAL,
                    reference=reference,
                )
                equal.append(said)
    alike: dict[bytes, list[str]] = {}
    for system, output in systems.items():
        alike.setdefault(output.tobytes(), []).append(system)
    equal += [
        message("data.copied", what="outputs", systems=names)
        for names in alike.values()
        if len(names) > 1
    ]
    if sources is not None:
        untranslated = [n for n, texts in systems.items() if _share_equal(texts, sources) >= _EQUAL]
        if untranslated:
            equal.append(_doubt("source", untranslated))
    return equal


def _share_equal(a: NDArray[np.int32], b: NDArray[np.int32]) -> float:
    """In how many segments two texts are equal; 0 where one text is all there is."""
    return float((a == b).mean()) if a.min() < a.max() else 0.0


def _find_untranslated(lines: SomeLines, numbered: Numbered) -> Iterator[Message]:
    """Systems whose outputs equal the source in many segments, though not in all."""
    if numbered.sources is None:
        return
    testset = lines.testset
    apart = np.ones(testset.segments, dtype=bool)
    for texts in numbered.references.values():
        apart &= texts != numbered.sources
    for name, output in testset.systems.items():
        same = np.flatnonzero(apart & (numbered.systems[name] == numbered.sources)).tolist()
        copied = [len(output[row]) for row in same if len(output[row]) >= _SOME_LETTERS]
        at_least = lines.systems[name].letters.mean() * len(output) / 2
        if sum(copied) < _MANY * max(at_least, 1):
            continue
        if _MANY * sum(map(len, output)) <= sum(copied) and len(copied) < _EQUAL * len(output):
            yield _doubt("untranslated", [name], lines=len(copied), segments=len(output))


def _find_repeated(
    lines: SomeLines, numbered: Numbered, involved: Collection[str]
) -> Iterator[Message]:
    """Systems with a block of lines twice: outputs that return so many lines on, always as many.

    A system that writes the same of many inputs does so at no fixed distance.
    """
    reference = one_reference(lines.testset)
    for name, output in lines.testset.systems.items():
        if name in involved:
            continue
        # of a file whose sample holds few there are too few
        may_be = lines.rows[lines.systems[name].signs & _DOUBLED > 0].tolist()
        if 2 * _twice(output, reference, may_be) >= _MANY * len(lines.rows):
            twice = _twice(output, reference, range(len(output)))
            if twice >= _MANY * len(output):
                yield _doubt("doubled", [name], lines=twice, segments=len(output))
                continue
        if len(output) - numbered.distinct[name] < _MANY * len(output):
            continue
        last: dict[str, int] = {}
        distances: Counter[int] = Counter()
        for at, text in enumerate(output):
            if len(text) >= _SOME_LETTERS:
                before = last.get(text)
                if before is not None and _are_unlike(reference[before], reference[at]):
                    distances[at - before] += 1
                last[text] = at
        distance, times = distances.most_common(1)[0] if distances else (0, 0)
        if times >= _MANY * len(output):
            what = "before" if distance == 1 else "repeated"
            counts = {"lines": times, "segments": len(output), "distance": distance}
            yield _doubt(what, [name], **counts)


def _twice(output: Sequence[str], reference: Sequence[str | None], rows: Sequence[int]) -> int:
    """How many of some outputs hold their text twice, and their references do not."""
    return sum(_is_doubled(output[row]) and not _is_doubled(reference[row] or "") for row in rows)


def _is_doubled(text: str) -> bool:
    """Whether the second half of a text is the first one again."""
    letters = "".join(text.split())
    half = len(letters) // 2
    return half >= _SOME_LETTERS and letters[:half] == letters[-half:] and len(letters) == 2 * half


def _are_unlike(a: str | None, b: str | None) -> bool:
    """Whether two references have less than half of their pairs of characters in common."""
    pairs = [{text[at : at + 2] for at in range(len(text) - 1)} for text in (a or "", b or "")]
    return 2 * len(pairs[0] & pairs[1]) < len(pairs[0] | pairs[1])


def _find_favoured(
    testset: TestSet, numbered: Numbered, unlike: Collection[str]
) -> Iterator[Message]:
    """Systems from whose outputs references were made."""
    for one in favoured(testset, unlike, numbered):
        among = one.reference if len(testset.references) > 1 else ""
        said = message(
            "data.favoured",
            system=one.system,
            among=among,
            equal=one.equal,
            near=one.near,
            segments=one.counted,
            # nothing is compared of a system alone
            stops=len(testset.systems) > 1 and one.equal + one.near >= _STOPS * one.counted,
            by=None,
            beside=None,
        )
        yield said.about(systems=[one.system])


def _find_damaged(lines: SomeLines) -> Iterator[Message]:
    """Texts that match less than they are worth, for what no translator did."""
    for one in damaged_texts(lines):
        text = "reference" if one.reference else "system"
        said = message(
            "data.damaged",
            what=one.kind,
            text=text,
            than=text,
            name=one.name,
            lines=one.damaged,
            segments=one.lines,
            effect="unknown",
            **dict.fromkeys(("metric", "value", "score")),
        )
        yield said if one.reference else said.about(systems=[one.name])


# Lines that stand elsewhere


def _find_misplaced(lines: SomeLines, involved: Collection[str]) -> Iterator[Message]:
    """Systems whose lines fit other references than their own."""
    if not lines.references:
        return
    outputs = lines.testset.systems.keys() - set(involved)
    systems: dict[Misplaced, list[str]] = {}
    for name, wrong in misplaced_lines(lines, outputs).items():
        # of one reference that lacks a line, all outputs are named together
        alike = wrong.shift or wrong.exchanged
        key = wrong._replace(segments=0, found=0) if alike else wrong
        systems.setdefault(key, []).append(name)
    for wrong, names in systems.items():
        yield _disorder(wrong, names)


def _find_references_apart(testset: TestSet) -> Iterator[Message]:
    """References whose lines stand elsewhere than those of the first one."""
    (first, texts), *others = testset.references.items()
    if not others:
        return
    outputs = {name: [text or "" for text in column] for name, column in others}
    both = TestSet(name="", references={first: texts}, systems=outputs)
    for name, wrong in misplaced_lines(SomeLines(both), outputs).items():
        told = {"reference": name, "other": first, "at": wrong.first + 1}
        yield _doubt("apart", list(testset.systems), **told)


def _disorder(wrong: Misplaced, names: Sequence[str]) -> Message:
    at = wrong.first + 1
    if wrong.exchanged:
        return _doubt("exchanged", names, at=at, fits=at + 1)
    if not wrong.shift:
        return _doubt("order", names, lines=wrong.segments, found=wrong.found)
    return _doubt("shifted", names, shift=abs(wrong.shift), at=at, fits=at + wrong.shift)


# Scripts and languages


def _find_other_languages(
    testset: TestSet, lines: SomeLines, copies: Collection[str]
) -> list[Message]:
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
            share = _Strange.of_all(testset, name)
        if _is_strange(share, profile, whole):
            strange[name] = share.share
    long_enough = [n for n in names if strange and _Profile(testset.systems[n]).letters >= _LETTERS]
    if len(strange) == len(long_enough):
        swapped = _swapped([outputs[name] for name in strange], whole, testset.sources)
        if swapped or len(strange) > 1:
            return [_doubt(swapped or "others", list(strange))]
    return [_doubt("language", [name], share=share) for name, share in strange.items()]


def _swapped(
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
    """Whether so many lines are strange that it is no accident, of few lines whatever is in them.

    The vocabulary of few lines is small, and a bad system may have few of their words in common:
    the trigrams of its letters are then those of the language all the same.
    """
    if estimate.lines >= _ENOUGH_LINES:
        many = estimate.share >= _STRANGE
        half = estimate.share >= _STRANGE / 2
        return many or (half and _is_unlike(_Profile(estimate.texts), references))
    return estimate.share >= 2 * _STRANGE and max(map(output.likeness, references)) < _UNLIKE


def _is_unlike(lines: _Profile, references: Sequence[_Profile]) -> bool:
    """Whether lines are long enough for their language, and it is not that of the references."""
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
    def of_all(cls, testset: TestSet, system: str) -> _Strange:
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
        return _doubt(
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
    written = {"script": outputs[strange[0]].script, "other": next(iter(scripts))}
    what = "scripts" if 1 < len(strange) == systems else "script"
    return _doubt(what, strange, **{side: _title(script) for side, script in written.items()})


def _title(script: str | None) -> str:
    return (script or "").title()


class _Profile:
    """The letters of a text: how many, of which script, and their trigrams."""

    def __init__(self, texts: Sequence[str | None]) -> None:
        some = _with_text(texts[:: max(1, len(texts) // _LOOKED_AT)])
        if 2 * len(some) < min(len(texts), _LOOKED_AT):
            there = _with_text(texts)
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


def _with_text(texts: Sequence[str | None]) -> list[str]:
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
