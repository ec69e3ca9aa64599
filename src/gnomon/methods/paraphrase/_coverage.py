"""Which n-grams of the outputs do paraphrases match that the references did not?"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from gnomon.core.errors import DataError, LengthMismatchError
from gnomon.core.findings import Exhibit, ExhibitText, Finding, Highlight, Listing
from gnomon.core.options import Count, Flags
from gnomon.core.records import Record, column, column_names, table
from gnomon.core.registry import method
from gnomon.core.signature import Signature
from gnomon.core.testset import TestSet
from gnomon.core.validation import Problem, problems
from gnomon.core.verdicts import Claim
from gnomon.methods.paraphrase._constraints import (
    Gram,
    Longest,
    Tokeniser,
    TokenSpans,
    grams,
    words_of,
)
from gnomon.methods.paraphrase._wordings import Paraphrases, needed
from gnomon.metrics.tokenise import check_tokeniser

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gnomon.core.findings import Statement
    from gnomon.core.options import BoundOptions
    from gnomon.core.summary import Outline

NEW, MISSING = "newly matched", "still missing"
_TITLE = "N-grams of the outputs that references match"
_USAGE = """\
examples:
  gnomon paraphrase coverage ref.txt -i sysA.txt sysB.txt --paraphrases made.jsonl
  gnomon paraphrase coverage -t wmt19/de-en --first 500 --paraphrases ref.human1.txt --html c.html
"""


class CoverageRow(Record):
    """How many n-grams of one length the references match, without paraphrases and with them."""

    n: int = column("n", help="tokens of the n-grams")
    ngrams: int = column("N-grams", help="of all outputs")
    original: int = column("Matched before", help="as BLEU clips them")
    paraphrased: int = column("Matched now", help="likewise, with the paraphrases, too")
    new: int = column("Newly matched", help="by paraphrases alone")
    missing: int = column("Still missing", help="that no reference matches")
    precision: float | None = column(
        "Share before", kind="share", digits=4, better="higher", help="matched before, of all"
    )
    wider: float | None = column(
        "Share now", kind="share", digits=4, better="higher", help="matched now, of all"
    )


class GramRow(Record):
    """An n-gram of the outputs that is newly matched, or still missing."""

    n: int = column("n", help="its tokens")
    ngram: str = column("N-gram", help="the tokens")
    count: int = column("Count", help="occurrences in outputs")
    systems: int = column("Systems", help="whose outputs hold it there")
    segments: int = column("Segments", help="where it occurs")
    segment: int = column("Example", help="a segment where it occurs")


_MATCHES = Claim(
    "paraphrase.coverage.matches",
    "With paraphrases, references match {shares}. More matches need not mean better agreement with"
    " people: gnomon metaeval --paraphrases tests that",
    "undecided",
    "counts of matched n-grams",
)


def coverage_verdict(finding: Finding) -> Iterator[Statement]:
    """How many more of the systems' words references match, and what they miss most."""
    rows = finding.records(CoverageRow)
    shares = []
    for row in rows:
        if row.precision is not None and row.wider is not None and row.n in (1, 4):
            of = "words" if row.n == 1 else f"sequences of {row.n} words"
            change = f"{row.wider:.1%} of the {of} of the systems, {row.precision:.1%} without them"
            shares.append(change)
    if shares:
        yield _MATCHES.said(finding.positions(rows), shares="; ".join(shares))


_EXAMPLES = 5


@dataclass
class _Seen:
    """Where an n-gram was newly matched, or missed."""

    count: int = 0
    systems: set[str] = field(default_factory=set)
    places: dict[int, str] = field(default_factory=dict)  # segment -> the first system there

    def add(self, count: int, system: str, segment: int) -> None:
        self.count += count
        self.systems.add(system)
        self.places.setdefault(segment, system)


def check_coverage(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """What :func:`gnomon.paraphrase.coverage` refuses of options that fit each alone."""
    yield from problems("tokenizer", check_tokeniser, options.tokenizer)
    if outline is not None and not outline.systems:
        message = "coverage is of the outputs of systems, and the test set has none"
        yield Problem("", DataError(message))


def _without_and_with(inputs: Any, _: object) -> tuple[TestSet, TestSet]:
    """The test set that a command line names, and the same with paraphrases."""
    given = inputs.one()
    needed(given, "coverage compares references with paraphrases")
    testset = given.original()
    return testset, given.paraphrased(testset)


def _sets_of_study(*, testset: TestSet, original: TestSet, **_: object) -> tuple[TestSet, TestSet]:
    return original, testset


@method(
    "paraphrase.coverage",
    answers="which n-grams of the systems paraphrases match, and which they still miss",
    title="Paraphrases: coverage",
    data=("original", "paraphrased"),
    given=_without_and_with,
    unread=("sources", "documents", "domains"),
    examples=_USAGE,
    tables={"": "paraphrase_coverage"},
    rows={"coverage": CoverageRow, "new": GramRow, "missing": GramRow},
    from_study=_sets_of_study,
    paraphrased=True,
    check=check_coverage,
    verdict=coverage_verdict,
    claims=(_MATCHES,),
)
def coverage(
    original: TestSet,
    paraphrased: TestSet | Paraphrases,
    *,
    longest: Longest = 4,
    most: Count = 20,
    tokenizer: Annotated[Tokeniser, Flags(("-tok",))] = "13a",
) -> Finding:
    """What paraphrases match, and what they leave (Bawden et al., 2020, table 4).

    Args:
        original: outputs with the original references.
        paraphrased: the same outputs with wider references (``original.with_paraphrases(...)``);
            or the paraphrases that widen them, or files of these.
        most: n-grams listed of each length, the most frequent ones.

    Returns:
        A finding with a row per length, the tables "new" and "missing" of the n-grams themselves,
        and examples of both in context.

    Raises:
        DataError: there are no systems.
        LengthMismatchError: the two are not the same outputs.
        UsageError: ``longest`` is not from 1 to 100.
    """
    if not isinstance(paraphrased, TestSet):
        paraphrased = original.with_paraphrases(paraphrased)
    if dict(original.systems) != dict(paraphrased.systems):
        raise LengthMismatchError("the two test sets must hold the same outputs")
    words = words_of(_texts(paraphrased, original), tokenizer)
    sums: list[Counter[str]] = [Counter() for _ in range(longest + 1)]
    new: dict[Gram, _Seen] = {}
    missing: dict[Gram, _Seen] = {}
    for i in range(original.segments):
        shared = [
            _most_held(_references(t, i, None), words, longest) for t in (original, paraphrased)
        ]
        for system, texts in original.systems.items():
            before, after = (
                _most_held(_references(t, i, system), words, longest)
                if system in t.system_references
                else counts
                for t, counts in zip((original, paraphrased), shared, strict=True)
            )
            for gram, count in grams(words[texts[i]].tokens, longest).items():
                old, now = min(count, before[gram]), min(count, after[gram])
                sums[len(gram)].update(ngrams=count, original=old, paraphrased=now)
                if now > old:
                    new.setdefault(gram, _Seen()).add(now - old, system, i)
                if count > now:
                    missing.setdefault(gram, _Seen()).add(count - now, system, i)
    rows = tuple(_row(n, sums[n]) for n in range(1, longest + 1))
    kinds = {NEW: _first(new, longest, most), MISSING: _first(missing, longest, most)}
    tables = [
        table(name, title, GramRow, [_gram_row(g, seen) for g, seen in kinds[title]])
        for name, title in (("new", NEW), ("missing", MISSING))
    ]
    return Finding(
        method="paraphrase coverage",
        title=_TITLE,
        tables=(table("coverage", _TITLE, CoverageRow, rows), *tables),
        signatures={"coverage": str(Signature("coverage").adding(tok=tokenizer, longest=longest))},
        views=(
            Listing("coverage", _TITLE, column_names(CoverageRow)),
            *(
                Listing(name, f"N-grams {title}", ("n", "ngram", "count", "systems", "segments"))
                for name, title in (("new", NEW), ("missing", MISSING))
            ),
        ),
        exhibits=tuple(
            _exhibit(kind, gram, seen, paraphrased, words)
            for kind, of_kind in kinds.items()
            for gram, seen in _examples(of_kind)
        ),
        facts={
            "test set": original.name,
            "systems": str(len(original.systems)),
            "references": ", ".join(original.references),
            "with paraphrases": ", ".join(paraphrased.references),
        },
    )


def _texts(*testsets: TestSet) -> list[str]:
    texts_seen: dict[str, None] = {}
    for testset in testsets:
        of_systems = (
            texts for refs in testset.system_references.values() for texts in refs.values()
        )
        for texts in (*testset.references.values(), *testset.systems.values(), *of_systems):
            texts_seen |= dict.fromkeys(text for text in texts if text is not None)
    return list(texts_seen)


def _references(testset: TestSet, segment: int, system: str | None) -> list[tuple[str, str]]:
    """Names and texts of the references of a segment, for one system or those shared by all."""
    of_system = testset.system_references.get(system, {}) if system is not None else {}
    columns = (*testset.references.items(), *of_system.items())
    return [(name, text) for name, texts in columns if (text := texts[segment]) is not None]


def _most_held(
    references: Iterable[tuple[str, str]], words: Mapping[str, TokenSpans], longest: int
) -> Counter[Gram]:
    most: Counter[Gram] = Counter()
    for _, text in references:
        most |= grams(words[text].tokens, longest)
    return most


def _row(n: int, sums: Counter[str]) -> CoverageRow:
    total, old, now = sums["ngrams"], sums["original"], sums["paraphrased"]
    return CoverageRow(
        n=n,
        ngrams=total,
        original=old,
        paraphrased=now,
        new=now - old,
        missing=total - now,
        precision=old / total if total else None,
        wider=now / total if total else None,
    )


def _first(seen: Mapping[Gram, _Seen], longest: int, most: int) -> list[tuple[Gram, _Seen]]:
    first = []
    for n in range(1, longest + 1):
        of_length = [(gram, example) for gram, example in seen.items() if len(gram) == n]
        first += sorted(of_length, key=lambda pair: (-pair[1].count, pair[0]))[:most]
    return first


def _gram_row(gram: Gram, seen: _Seen) -> GramRow:
    return GramRow(
        n=len(gram),
        ngram=" ".join(gram),
        count=seen.count,
        systems=len(seen.systems),
        segments=len(seen.places),
        segment=next(iter(seen.places)) + 1,
    )


def _examples(found: Sequence[tuple[Gram, _Seen]]) -> list[tuple[Gram, _Seen]]:
    """The most frequent n-grams of each length."""
    counts: Counter[int] = Counter()
    kept = []
    for gram, seen in found:
        counts[len(gram)] += 1
        if counts[len(gram)] <= _EXAMPLES:
            kept.append((gram, seen))
    return kept


def _exhibit(
    kind: str, gram: Gram, seen: _Seen, testset: TestSet, words: Mapping[str, TokenSpans]
) -> Exhibit:
    segment, system = next(iter(seen.places.items()))
    output = testset.systems[system][segment]
    texts = [
        ExhibitText("reference", name, text, _marks(text, gram, words[text]))
        for name, text in _references(testset, segment, system)
    ]
    texts.append(ExhibitText("candidate", system, output, _marks(output, gram, words[output])))
    return Exhibit(
        group=f"{len(gram)}-grams",
        kind=kind,
        segment=segment + 1,
        texts=tuple(texts),
        systems=(system,),
        weight=float(seen.count),
        caption=f"{' '.join(gram)!r}: {kind} {seen.count} times, in {len(seen.places)} segments",
    )


def _marks(text: str, gram: Gram, words: TokenSpans) -> tuple[Highlight, ...]:
    marks, size, position = [], len(gram), 0
    while position <= len(words.tokens) - size:
        if words.tokens[position : position + size] == gram:
            surface = words.surface(text, position, size)
            start = words.spans[position][0]
            marks.append(Highlight(start, start + len(surface)))
            position += size
        else:
            position += 1
    return tuple(marks)
