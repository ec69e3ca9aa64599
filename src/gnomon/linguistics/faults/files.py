"""Anomalies of the files of a test set: copies, doubles, lines that stand elsewhere.

Nothing here is an error, for all of it can be meant.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.data_cautions import doubt, doubtful_systems
from gnomon.core.testset import TestSet
from gnomon.data.formats import misplaced_lines
from gnomon.data.formats.audit import favoured
from gnomon.data.formats.damage import damaged_texts
from gnomon.data.formats.line_sample import Numbered, SomeLines, pick_references
from gnomon.linguistics.faults.others import character_pairs
from gnomon.linguistics.faults.writing import other_languages
from gnomon.messages import message

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.data.formats import Misplaced
    from gnomon.messages import Message

__all__ = ["anomalies"]

#: of outputs with more uncertain boundaries it is said that their alignment flatters them
_FLATTERED = 0.1
_FEWEST = 10  # segments, below which anything may happen
_EQUAL = 0.99
_NEARLY = 0.95  # of the lines of a reference, as hardly any system writes them
_MANY = 0.2  # of the letters, or of the lines
_SOME_EMPTY = 0.01
_SOME_AGAIN = (
    0.05  # of the segments, by which a test at 5 % finds noise in more than 6 of 100 draws
)
_SOME_LETTERS = 15  # of a line, below which anything may happen
_STOPS = 0.3  # of the references are a system's: by these nothing is said of it
_OF_LETTERS = ("misread", "entities", "accents")  # damage
_DOUBLED = 32  # bit of ``LineCounts.signs``


def anomalies(testset: TestSet) -> tuple[Message, ...]:
    """Anomalies of a test set, with their systems, so that no verdict judges these."""
    aligned = tuple(_report_alignment(testset))
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
    found += other_languages(testset, lines, [*doubtful_systems(found), *unread])
    found += _find_repeated(lines, numbered, doubtful_systems(found))
    found += _find_misplaced(lines, doubtful_systems(found))
    found += _find_references_apart(testset) if testset.references else ()
    doubtful = set(doubtful_systems(found))
    unlike = doubtful.union(*(one.subjects.get("systems", ()) for one in damaged))
    found += _find_favoured(testset, numbered, unlike)
    doubtful = set(doubtful_systems(found))
    found += [one for one in damaged if doubtful.isdisjoint(one.subjects.get("systems", ()))]
    return (*aligned, *found)


def _report_alignment(testset: TestSet) -> Iterator[Message]:
    """Outputs that had more or fewer lines."""
    some = [
        {
            "system": name,
            "given": one.input_lines,
            "segments": testset.segments,
            "merges": one.merges,
            "splits": one.splits,
            "dropped": "some" if one.drops else "nothing",
            "drops": one.drops,
            "added": len(one.added) or None,
            "uncertain": len(one.uncertain),
            "boundaries": len(one.margins),
            "how": "lines" if one.has_lines else "boundaries",
            "guide": bool(one.guide or one.uses_sources),
            "by": "the source" if one.uses_sources else one.guide or "the reference",
            "rough": one.by if one.uses_sources else None,
            "changes": None,
            "flattered": one.doubt > _FLATTERED,
        }
        for name, one in testset.alignments.items()
    ]
    if some:
        yield message("data.aligned", aligned=some)


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
    return equal


def _share_equal(a: NDArray[np.int32], b: NDArray[np.int32]) -> float:
    """In how many segments two texts are equal; 0 where one text is all there is."""
    return float((a == b).mean()) if a.min() < a.max() else 0.0


def _find_untranslated(lines: SomeLines, numbered: Numbered) -> Iterator[Message]:
    """Systems whose outputs equal the source in many segments, where no reference does."""
    if numbered.sources is None:
        return
    testset = lines.testset
    apart = np.ones(testset.segments, dtype=bool)
    for texts in numbered.references.values():
        apart &= texts != numbered.sources
    for name, output in testset.systems.items():
        same = np.flatnonzero(apart & (numbered.systems[name] == numbered.sources)).tolist()
        whole = len(same) >= _EQUAL * len(output)
        copied = [len(output[row]) for row in same if whole or len(output[row]) >= _SOME_LETTERS]
        at_least = lines.systems[name].letters.mean() * len(output) / 2
        if sum(copied) < _MANY * max(at_least, 1):
            continue
        if _MANY * sum(map(len, output)) <= sum(copied):
            yield doubt("untranslated", [name], lines=len(copied), segments=len(output))


def _find_repeated(
    lines: SomeLines, numbered: Numbered, involved: Collection[str]
) -> Iterator[Message]:
    """Systems with a block of lines twice: outputs that return so many lines on, always as many.

    A system that writes the same of many inputs does so at no fixed distance.
    """
    reference = pick_references(lines.testset)
    for name, output in lines.testset.systems.items():
        if name in involved:
            continue
        # of a file whose sample holds few there are too few
        may_be = lines.rows[lines.systems[name].signs & _DOUBLED > 0].tolist()
        if 2 * _twice(output, reference, may_be) >= _MANY * len(lines.rows):
            twice = _twice(output, reference, range(len(output)))
            if twice >= _MANY * len(output):
                yield doubt("doubled", [name], lines=twice, segments=len(output))
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
            yield doubt(what, [name], **counts)


def _twice(output: Sequence[str], reference: Sequence[str | None], rows: Sequence[int]) -> int:
    """Number of outputs that hold their text twice, where their references do not."""
    return sum(_is_doubled(output[row]) and not _is_doubled(reference[row] or "") for row in rows)


def _is_doubled(text: str) -> bool:
    """True if the second half of a text is the first one again."""
    letters = "".join(text.split())
    half = len(letters) // 2
    return half >= _SOME_LETTERS and letters[:half] == letters[-half:] and len(letters) == 2 * half


def _are_unlike(a: str | None, b: str | None) -> bool:
    """True if two references have less than half of their pairs of characters in common."""
    pairs, others = character_pairs(a or ""), character_pairs(b or "")
    return 2 * len(pairs & others) < len(pairs | others)


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
        yield doubt("apart", list(testset.systems), **told)


def _disorder(wrong: Misplaced, names: Sequence[str]) -> Message:
    at = wrong.first + 1
    if wrong.exchanged:
        return doubt("exchanged", names, at=at, fits=at + 1)
    if not wrong.shift:
        return doubt("order", names, lines=wrong.segments, found=wrong.found)
    return doubt("shifted", names, shift=abs(wrong.shift), at=at, fits=at + wrong.shift)
