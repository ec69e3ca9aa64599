"""N-grams of the outputs: matched by references, by paraphrases alone, and by neither."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gnomon.core.errors import DataError, LengthMismatchError
from gnomon.core.findings import Exhibit, ExhibitText, Finding, Highlight, Listing
from gnomon.core.options import Count, OutputFile, Share
from gnomon.core.records import SEGMENT, Record, column, column_names, table
from gnomon.core.registry import method
from gnomon.core.signature import Signature
from gnomon.core.testset import TestSet
from gnomon.core.validation import Problem, problems
from gnomon.core.verdicts import Claim, counted, listed
from gnomon.methods.paraphrase._constraints import (
    Gram,
    Longest,
    Tokeniser,
    TokenSpans,
    check_share,
    grams,
    output_constraints,
    words_of,
    write_constraints,
)
from gnomon.methods.paraphrase._page import exhibits_of
from gnomon.methods.paraphrase._wordings import Paraphrases
from gnomon.metrics.tokenise import check_tokeniser

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gnomon.core.findings import Statement
    from gnomon.core.options import BoundOptions
    from gnomon.core.summary import Outline
    from gnomon.methods.paraphrase._constraints import Constraint

NEW, MISSING = "newly matched", "still missing"
_TITLE = "N-grams of the outputs that references match"
_LACKING = "N-grams that references lack, segment by segment"
_USAGE = """\
Without --paraphrases it says what the references match and lack.

examples:
  gnomon paraphrase coverage ref.txt -i sysA.txt sysB.txt --paraphrases made.jsonl
  gnomon paraphrase coverage -t wmt19/de-en --missing-per-segment wanted.jsonl --share .6
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


class LackingRow(Record):
    """An n-gram of many systems that the references of a segment lack."""

    segment: int = SEGMENT
    ngram: str = column("N-gram", help="its characters, as they stand in an output")
    n: int = column("n", help="its tokens")
    systems: int = column("Systems", help="systems whose output holds it")
    share: float | None = column("Share", kind="share", help="of the systems")


_MATCHES = Claim(
    "paraphrase.coverage.matches",
    "With paraphrases, references match {shares}. More matches need not mean better agreement with"
    " people: gnomon metaeval --paraphrases tests that",
    "undecided",
    "counts of matched n-grams",
)


_MATCHES_ALONE = Claim(
    "paraphrase.coverage.references",
    "References match {shares}",
    "undecided",
    "counts of matched n-grams",
)
_LACKS = Claim(
    "paraphrase.coverage.lacks",
    "At least {share} of the systems use {grams} in {segments} that the references lack; most often"
    " {common}. Whether these are right is for people to say",
    "undecided",
    "counts of n-grams in outputs and references",
    quotes=True,
)
_IN_FULL = 3  # rows that a sentence rests on


def coverage_verdict(finding: Finding) -> Iterator[Statement]:
    """The shares of n-grams that references match, and what they lack most often."""
    rows = finding.records(CoverageRow)
    widened = any(row.new for row in rows)
    shares = []
    for row in rows:
        if row.precision is not None and row.wider is not None and row.n in (1, 4):
            of = "words" if row.n == 1 else f"sequences of {row.n} words"
            without = f", {row.precision:.1%} without them" if widened else ""
            shares.append(f"{row.wider:.1%} of the {of} of the systems{without}")
    if shares:
        claim = _MATCHES if widened else _MATCHES_ALONE
        yield claim.said(finding.positions(rows), shares="; ".join(shares))
    yield from _lacks(finding, finding.records(LackingRow))


def _lacks(finding: Finding, rows: Sequence[LackingRow]) -> Iterator[Statement]:
    if not rows:
        return
    counts = Counter(row.ngram for row in rows)
    lettered = {gram: n for gram, n in counts.items() if any(map(str.isalnum, gram))} or counts
    common = sorted(lettered, key=lambda gram: -lettered[gram])[:_IN_FULL]
    yield _LACKS.said(
        finding.positions(rows[:_IN_FULL]),
        share=f"{min(row.share for row in rows if row.share is not None):.0%}",
        grams=counted(len(rows), "n-gram"),
        segments=counted(len({row.segment for row in rows})),
        common=listed([f"“{gram}” ({counted(lettered[gram], 'time')})" for gram in common]),
    )


#: n-grams listed of each length, and those of them that are shown in context
_MOST, _EXAMPLES = 20, 5


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
    yield from problems("share", check_share, options.share)
    if outline is not None and not outline.systems:
        message = "coverage is of the outputs of systems, and the test set has none"
        yield Problem("", DataError(message))


def _without_and_with(inputs: Any, _: object) -> tuple[TestSet, TestSet]:
    """The test set that a command line names, and the same with paraphrases."""
    given = inputs.one()
    testset = given.original()
    return testset, given.paraphrased(testset)


def _sets_of_study(*, testset: TestSet, original: TestSet, **_: object) -> tuple[TestSet, TestSet]:
    return original, testset


@method(
    "paraphrase.coverage",
    answers="which words of the systems references and paraphrases match, and which they lack",
    title="Paraphrases: coverage",
    data=("original", "paraphrased"),
    given=_without_and_with,
    unread=("sources", "documents", "domains"),
    examples=_USAGE,
    tables={"": "paraphrase_coverage"},
    rows={
        "coverage": CoverageRow,
        "new": GramRow,
        "missing": GramRow,
        "missing per segment": LackingRow,
    },
    from_study=_sets_of_study,
    paraphrased=True,
    check=check_coverage,
    verdict=coverage_verdict,
    claims=(_MATCHES, _MATCHES_ALONE, _LACKS),
)
def coverage(
    original: TestSet,
    paraphrased: TestSet | Paraphrases = (),
    *,
    longest: Longest = 4,
    share: Share = 0.75,
    missing_per_segment: OutputFile = None,
    examples: Count = 3,
    tokenizer: Tokeniser = "13a",
) -> Finding:
    """N-grams that references match, with paraphrases and without, and n-grams that they lack.

    Counts are those of Bawden et al. (2020, table 4). N-grams that many systems have and no
    reference of the segment has are what paraphrases may be asked for (section 3.4 there).

    Args:
        original: outputs with the original references.
        paraphrased: the same outputs with wider references (``original.with_paraphrases(...)``);
            or the paraphrases that widen them, or files of these.
        share: n-grams of at least this share of the systems are missing; in (0, 1].
        missing_per_segment: where they are written (:func:`write_constraints`), for
            constrained(constraints='FILE') of :func:`generate`: .jsonl.
        examples: segments whose wordings stand side by side on a page, with changes marked.

    Returns:
        A finding with a row per length, the tables "new" and "missing" of the most frequent
        n-grams, "missing per segment" of those that many systems share, and examples in context.

    Raises:
        DataError: there are no systems.
        LengthMismatchError: the two are not the same outputs.
        UsageError: ``longest`` is not from 1 to 100, or the share is no share.
    """
    if not isinstance(paraphrased, TestSet):
        paraphrased = original.with_paraphrases(paraphrased) if paraphrased else original
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
    kinds = {NEW: _first(new, longest), MISSING: _first(missing, longest)}
    tables = [
        table(name, title, GramRow, [_gram_row(g, seen) for g, seen in kinds[title]])
        for name, title in (("new", NEW), ("missing", MISSING))
    ]
    lacking = output_constraints(paraphrased, share=share, longest=longest, tokenizer=tokenizer)
    if missing_per_segment is not None:
        write_constraints(missing_per_segment, lacking)
    tables.append(
        table("missing per segment", _LACKING, LackingRow, [_lacking_row(one) for one in lacking])
    )
    signature = Signature("coverage").adding(tok=tokenizer, longest=longest, share=share)
    return Finding(
        method="paraphrase coverage",
        title=_TITLE,
        tables=(table("coverage", _TITLE, CoverageRow, rows), *tables),
        signatures={"coverage": str(signature)},
        views=(
            Listing("coverage", _TITLE, column_names(CoverageRow)),
            *(
                Listing(name, f"N-grams {title}", ("n", "ngram", "count", "systems", "segments"))
                for name, title in (("new", NEW), ("missing", MISSING))
            ),
            Listing("missing per segment", _LACKING, column_names(LackingRow), most=_MOST),
        ),
        exhibits=(
            *(
                _exhibit(kind, gram, seen, paraphrased, words)
                for kind, of_kind in kinds.items()
                for gram, seen in _examples(of_kind)
            ),
            *exhibits_of(paraphrased, segments=examples),
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


def _first(seen: Mapping[Gram, _Seen], longest: int) -> list[tuple[Gram, _Seen]]:
    first = []
    for n in range(1, longest + 1):
        of_length = [(gram, example) for gram, example in seen.items() if len(gram) == n]
        first += sorted(of_length, key=lambda pair: (-pair[1].count, pair[0]))[:_MOST]
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


def _lacking_row(one: Constraint) -> LackingRow:
    return LackingRow(
        segment=one.segment,
        ngram=one.text,
        n=len(one.tokens),
        systems=one.systems,
        share=one.share,
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
