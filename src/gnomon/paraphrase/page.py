"""Paraphrases side by side, segment by segment, with their changes marked."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from gnomon.core.findings import Exhibit, ExhibitText, Finding, Highlight, Listing
from gnomon.core.records import Record, column, column_names, table
from gnomon.core.scripts import spaced_words, split_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.core.testset import TestSet

__all__ = ["changed", "exhibits_of", "paraphrases_used"]


_ALL = "all methods"
_MARKED = "marked: words that the first reference has not, or not there"


def exhibits_of(testset: TestSet, *, segments: int) -> tuple[Exhibit, ...]:
    """Wordings of the first segments that have some, of each method and of all, side by side."""
    chosen = [i for i in range(testset.segments) if any(_wordings(testset, i))][:segments]
    methods = tuple(dict.fromkeys(testset.paraphrases.values()))
    groups = (*([_ALL] if len(methods) > 1 else []), *methods)
    exhibits = [
        _exhibit(testset, segment, group, wordings)
        for group in groups
        for segment in chosen
        if (wordings := [w for w in _wordings(testset, segment) if group in (_ALL, w[0])])
    ]
    return tuple(exhibits)


def changed(text: str, reference: str) -> tuple[Highlight, ...]:
    """The words of a text that are not in line with the reference, in runs.

    >>> [(mark.start, mark.end) for mark in changed("a new cat sat", "a cat sat")]
    [(2, 5)]
    >>> [(mark.start, mark.end) for mark in changed("我们明天去", "我们去")]
    [(2, 4)]
    """
    spans = spaced_words(text)
    words = [text[start:end] for start, end in spans]
    theirs = split_words(reference)
    matcher = SequenceMatcher(None, theirs, words, autojunk=False)
    return tuple(
        Highlight(spans[first][0], spans[last - 1][1], "changed")
        for kind, _, _, first, last in matcher.get_opcodes()
        if kind in ("replace", "insert")
    )


def _wordings(testset: TestSet, segment: int) -> Iterator[tuple[str, str, str | None, str]]:
    """Method, name, system and text of the paraphrases of a segment; equal texts once."""
    seen = set()
    columns: list[tuple[str | None, Mapping[str, Sequence[str | None]]]] = [
        (None, testset.references),
        *testset.system_references.items(),
    ]
    for system, references in columns:
        for name, texts in references.items():
            made_by, text = testset.paraphrases.get(name), texts[segment]
            if made_by is not None and text is not None and (made_by, text) not in seen:
                seen.add((made_by, text))
                yield made_by, name, system, text


def _originals(testset: TestSet, segment: int) -> list[tuple[str, str]]:
    return [
        (name, text)
        for name, texts in testset.references.items()
        if name not in testset.paraphrases and (text := texts[segment]) is not None
    ]


def _exhibit(
    testset: TestSet,
    segment: int,
    group: str,
    wordings: Sequence[tuple[str, str, str | None, str]],
) -> Exhibit:
    originals = _originals(testset, segment)
    first = originals[0][1] if originals else ""
    texts = [] if testset.sources is None else [ExhibitText("source", "", testset.sources[segment])]
    texts += [ExhibitText("reference", name, text) for name, text in originals]
    for _, name, system, text in wordings:
        called = name if system is None else f"{name} (for {system})"
        texts.append(ExhibitText("reference", called, text, changed(text, first)))
    return Exhibit(
        group=group,
        kind="paraphrases",
        segment=segment + 1,
        texts=tuple(texts),
        document=None if testset.documents is None else testset.documents[segment],
        domain=None if testset.domains is None else testset.domains[segment],
        caption=_MARKED,
    )


# Paraphrases among the references of a score: a section of other commands' pages.


_USED_TITLE = "Paraphrased references"
_SHOWN = 20


class UsedParaphrasesRow(Record):
    """The paraphrases of one method among the references of a test set."""

    set: str = column("Paraphrases", help="the method that made them")
    n: int = column("n", help="of each segment, at most")
    count: int = column("Count", help="of all segments")
    segments: int = column("Segments", help="that have one")
    identity: str = column("Identity", help="hash of their texts, also in signatures")


def paraphrases_used(testset: TestSet) -> Finding | None:
    """The paraphrases among the references of a test set, with segments side by side."""
    rows = [
        UsedParaphrasesRow(
            set=made.method,
            n=made.n,
            count=made.count,
            segments=made.segments,
            identity=made.identity,
        )
        for made in testset.paraphrase_sets
    ]
    if not rows:
        return None
    return Finding(
        method="paraphrases used",
        title=_USED_TITLE,
        tables=(table("paraphrases", _USED_TITLE, UsedParaphrasesRow, rows),),
        signatures={},
        views=(
            Listing(
                "paraphrases",
                _USED_TITLE,
                column_names(UsedParaphrasesRow),
            ),
        ),
        exhibits=exhibits_of(testset, segments=_SHOWN),
        facts={"test set": testset.name, "segments": str(testset.segments)},
    )
