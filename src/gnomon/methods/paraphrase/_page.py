"""Paraphrases side by side, segment by segment, with what they change marked."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Annotated, Any, Literal

from gnomon.core.errors import DataError
from gnomon.core.findings import Exhibit, ExhibitText, Finding, Highlight, Listing
from gnomon.core.options import Metavar, Positive
from gnomon.core.records import SEGMENT, Record, column, column_names, table
from gnomon.core.registry import method
from gnomon.core.testset import TestSet
from gnomon.methods.paraphrase._wordings import Paraphrases, needed
from gnomon.metrics.diversity import lexical_values, mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.core.testset import ParaphraseSet


_TITLE = "Paraphrases side by side"
_ALL = "all methods"
_MARKED = "marked: words that the first reference has not, or not there"
_EXAMPLES = """\
examples:
  gnomon paraphrase show ref.txt --paraphrases beam.jsonl codes.jsonl --html page.html
  gnomon paraphrase show -t wmt19/de-en --first 500 --paraphrases ref.human?.txt --order change
"""


class WordingRow(Record):
    """A paraphrase of a segment."""

    segment: int = SEGMENT
    method: str = column("Paraphrases", help="the method that made it")
    number: int = column("No.", help="among those of the method, from 1")
    system: str | None = column("System", help="whose reference it is; none: of all")
    change: float | None = column(
        "Change", kind="share", digits=3, help="lexical distance from the first reference"
    )
    text: str = column("Wording", help="the paraphrase")


def _wide(inputs: Any, _: object) -> tuple[TestSet]:
    """The test set that a command line names, with paraphrases; of files, references suffice."""
    given = inputs.one()
    needed(given, "there is nothing to show")
    return (given.paraphrased(given.references()),)


@method(
    "paraphrase.show",
    answers="what paraphrases say, side by side, with what they change marked",
    data=("testset", "paraphrases"),
    given=_wide,
    examples=_EXAMPLES,
    rows={"wordings": WordingRow},
    systems=False,
    paraphrased=True,
)
def show(
    testset: TestSet,
    paraphrases: Paraphrases = (),
    *,
    most: Positive = 100,
    outputs: bool = False,
    order: Annotated[Literal["text", "change"], Metavar("ORDER")] = "text",
) -> Finding:
    """Source, reference and each method's wordings of every segment, changed words marked.

    Args:
        testset: a test set, with paraphrases (:meth:`gnomon.core.testset.TestSet.with_paraphrases`)
            unless these are given beside it.
        paraphrases: paraphrases, or files of them.
        most: how many segments are shown, so that pages stay small.
        outputs: show what the systems said, too.
        order: "text": the first segments; "change": those whose paraphrases differ most from the
            reference.

    Returns:
        A finding with rows ``segment, method, number, system, change, text``, and exhibits of every
        segment, of each method alone and of all of them.

    Raises:
        DataError: the references hold no paraphrase.
        UsageError: no segment is to be shown, or there is no such order.
    """
    if paraphrases:
        testset = testset.with_paraphrases(paraphrases)
    if not testset.paraphrases:
        raise DataError("there is no paraphrase to show; name files with --paraphrases FILE")
    chosen = _chosen(testset, most, order)
    rows = tuple(row for segment in chosen for row in _rows(testset, segment))
    left = sum(_has_some(testset, i) for i in range(testset.segments)) - len(chosen)
    notice = f"{left} more segment(s) with paraphrases are not shown; ask for more (most)"
    return Finding(
        method="paraphrase show",
        title=_TITLE,
        tables=(table("wordings", _TITLE, WordingRow, rows),),
        signatures={},
        views=(Listing("wordings", _TITLE, ("segment", "method", "number", "change", "text")),),
        exhibits=tuple(_exhibits(testset, chosen, outputs=outputs)),
        notices=(notice,) if left else (),
        facts={
            "test set": testset.name,
            "paraphrases": ", ".join(map(str, testset.paraphrase_sets)),
        },
    )


def exhibits_of(testset: TestSet, *, segments: int) -> tuple[Exhibit, ...]:
    """The exhibits of :func:`show` for the first segments."""
    return tuple(_exhibits(testset, _chosen(testset, segments, "text"), outputs=False))


def changed(text: str, reference: str) -> tuple[Highlight, ...]:
    """The white-space words of a text that are not in line with the reference, in runs.

    >>> [(mark.start, mark.end) for mark in changed("a new cat sat", "a cat sat")]
    [(2, 5)]
    """
    spans = list(_words(text))
    words = [text[start:end] for start, end in spans]
    matcher = SequenceMatcher(None, reference.split(), words, autojunk=False)
    return tuple(
        Highlight(spans[first][0], spans[last - 1][1], "changed")
        for kind, _, _, first, last in matcher.get_opcodes()
        if kind in ("replace", "insert")
    )


def _words(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    for word in text.split():
        start = text.index(word, at)
        at = start + len(word)
        yield start, at


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


def _has_some(testset: TestSet, segment: int) -> bool:
    return any(True for _ in _wordings(testset, segment))


def _chosen(testset: TestSet, segments: int, order: str) -> list[int]:
    positions = [i for i in range(testset.segments) if _has_some(testset, i)]
    if order == "change":
        positions.sort(
            key=lambda i: (
                -(mean([_change(t, _first(testset, i)) for *_, t in _wordings(testset, i)]) or 0.0)
            )
        )
    return positions[:segments]


def _first(testset: TestSet, segment: int) -> str:
    originals = _originals(testset, segment)
    return originals[0][1] if originals else ""


def _change(text: str, reference: str) -> float | None:
    return lexical_values([[text, reference]])[0] if reference else None


def _rows(testset: TestSet, segment: int) -> Iterator[WordingRow]:
    counts: dict[str, int] = {}
    for made_by, _, system, text in _wordings(testset, segment):
        counts[made_by] = counts.get(made_by, 0) + 1
        yield WordingRow(
            segment=segment + 1,
            method=made_by,
            number=counts[made_by],
            system=system,
            change=_change(text, _first(testset, segment)),
            text=text,
        )


def _exhibits(testset: TestSet, chosen: Sequence[int], *, outputs: bool) -> Iterator[Exhibit]:
    methods = tuple(dict.fromkeys(testset.paraphrases.values()))
    for group in (*([_ALL] if len(methods) > 1 else []), *methods):
        for segment in chosen:
            wordings = [
                wording for wording in _wordings(testset, segment) if group in (_ALL, wording[0])
            ]
            if wordings:
                yield _exhibit(testset, segment, group, wordings, outputs=outputs)


def _exhibit(
    testset: TestSet,
    segment: int,
    group: str,
    wordings: Sequence[tuple[str, str, str | None, str]],
    *,
    outputs: bool,
) -> Exhibit:
    first = _first(testset, segment)
    texts = [] if testset.sources is None else [ExhibitText("source", "", testset.sources[segment])]
    texts += [ExhibitText("reference", name, text) for name, text in _originals(testset, segment)]
    for _, name, system, text in wordings:
        called = name if system is None else f"{name} (for {system})"
        texts.append(ExhibitText("reference", called, text, changed(text, first)))
    if outputs:
        said = ((name, outputs_of[segment]) for name, outputs_of in testset.systems.items())
        texts += [ExhibitText("candidate", name, text) for name, text in said]
    return Exhibit(
        group=group,
        kind="paraphrases",
        segment=segment + 1,
        texts=tuple(texts),
        systems=tuple(testset.systems) if outputs else (),
        document=None if testset.documents is None else testset.documents[segment],
        domain=None if testset.domains is None else testset.domains[segment],
        caption=_MARKED,
    )


# Which paraphrases a score was made with: a section of other commands' pages.


_USED_TITLE = "Paraphrased references"
_SHOWN = 20


class UsedParaphrasesRow(Record):
    """The paraphrases of one method among the references of a test set."""

    set: str = column("Paraphrases", help="the method that made them")
    n: int = column("n", help="of each segment, at most")
    count: int = column("Count", help="of all segments")
    segments: int = column("Segments", help="that have one")
    diversity: float | None = column(
        "Diversity", kind="share", digits=3, help="lexical, among those of a segment"
    )
    change: float | None = column(
        "Change", kind="share", digits=3, help="lexical distance from the reference"
    )
    identity: str = column("Identity", help="hash of their texts, also in signatures")


def paraphrases_used(testset: TestSet, *, segments: int = _SHOWN) -> Finding | None:
    """The paraphrases among the references of a test set, with segments side by side."""
    sets = testset.paraphrase_sets
    if not sets:
        return None
    return Finding(
        method="paraphrases used",
        title=_USED_TITLE,
        tables=(
            table("paraphrases", _USED_TITLE, UsedParaphrasesRow, [_row(testset, s) for s in sets]),
        ),
        signatures={},
        views=(
            Listing(
                "paraphrases",
                _USED_TITLE,
                column_names(UsedParaphrasesRow),
            ),
        ),
        exhibits=exhibits_of(testset, segments=segments),
        facts={"test set": testset.name, "segments": str(testset.segments)},
    )


def _row(testset: TestSet, found: ParaphraseSet) -> UsedParaphrasesRow:
    names = [name for name, by in testset.paraphrases.items() if by == found.method]
    originals = [
        texts for name, texts in testset.references.items() if name not in testset.paraphrases
    ]
    groups, pairs = [], []
    for references in (testset.references, *testset.system_references.values()):
        columns = [references[name] for name in names if name in references]
        for i, texts in enumerate(zip(*columns, strict=True)):
            given = [text for text in texts if text is not None]
            groups.append(given)
            pairs += [[a, b[i]] for a in given for b in originals if b[i] is not None]
    return UsedParaphrasesRow(
        set=found.method,
        n=found.n,
        count=found.count,
        segments=found.segments,
        diversity=mean(lexical_values(groups)),
        change=mean(lexical_values(pairs)),
        identity=found.identity,
    )
