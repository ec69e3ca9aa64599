"""N-grams of the outputs: matched by references, by paraphrases alone, and by neither."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gnomon.core.errors import DataError, LengthMismatchError
from gnomon.core.findings import Finding, Listing
from gnomon.core.options import Count, OutputFile, Share
from gnomon.core.records import column_names, table
from gnomon.core.registry import method
from gnomon.core.signature import Signature
from gnomon.core.testset import TestSet
from gnomon.core.validation import Problem, problems
from gnomon.metrics.tokenise import check_tokeniser, fitting_tokeniser
from gnomon.paraphrase._constraints import (
    Gram,
    Tokeniser,
    TokenSpans,
    check_share,
    grams,
    output_constraints,
    words_of,
    write_constraints,
)
from gnomon.paraphrase._wordings import Paraphrases
from gnomon.paraphrase.coverage_rows import CoverageRow, GramRow, LackingRow
from gnomon.paraphrase.coverage_verdict import coverage_verdict
from gnomon.paraphrase.page import exhibits_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gnomon.core.options import BoundOptions
    from gnomon.core.outline import Outline
    from gnomon.paraphrase._constraints import Constraint

_TITLE = "N-grams of the outputs that references match"
_LACKING = "N-grams that references lack, segment by segment"
_USAGE = """\
Without --paraphrases it says what the references match and lack, and no more.

examples:
  gnomon paraphrase coverage ref.txt -i sysA.txt sysB.txt --paraphrases made.jsonl
  gnomon paraphrase coverage -t wmt19/de-en --missing-per-segment wanted.jsonl --share .6
  gnomon paraphrase coverage -t wmt19/de-en --first 500 --paraphrases ref.human1.txt --html c.html
"""


#: tokens of the longest n-grams, as BLEU has it; n-grams listed of each length
_LONGEST, _MOST = 4, 20


@dataclass
class _Seen:
    """Where an n-gram was newly matched, or missed."""

    count: int = 0
    systems: set[str] = field(default_factory=set)
    segments: dict[int, None] = field(default_factory=dict)

    def add(self, count: int, system: str, segment: int) -> None:
        self.count += count
        self.systems.add(system)
        self.segments[segment] = None


def check_coverage(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """Check options of :func:`gnomon.paraphrase.coverage` that fit each alone."""
    if options.tokenizer is not None:
        yield from problems("tokenizer", check_tokeniser, options.tokenizer)
    yield from problems("share", check_share, options.share)
    if outline is not None and not outline.systems:
        message = "coverage is of the outputs of systems, and the test set has none"
        yield Problem("", DataError(message))


def _pair_test_sets(inputs: Any, _: object) -> tuple[TestSet, TestSet]:
    """The test set that a command line names, and the same with paraphrases."""
    given = inputs.only()
    testset = given.original()
    return testset, given.paraphrased(testset)


def _sets_of_study(*, testset: TestSet, original: TestSet, **_: object) -> tuple[TestSet, TestSet]:
    return original, testset


@method(
    "paraphrase.coverage",
    purpose="list words of outputs that references and paraphrases match, and that they lack",
    title="Paraphrases: coverage",
    data=("original", "paraphrased"),
    given=_pair_test_sets,
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
)
def coverage(
    original: TestSet,
    paraphrased: TestSet | Paraphrases = (),
    *,
    share: Share = 0.75,
    missing_per_segment: OutputFile = None,
    examples: Count = 3,
    tokenizer: Tokeniser = None,
) -> Finding:
    """N-grams that references match, with paraphrases and without, and n-grams that they lack.

    Counts are those of Bawden et al. (2020, table 4). N-grams that many systems have and no
    reference of the segment has are what paraphrases may be asked for (section 3.4 there).

    Args:
        original: outputs with the original references.
        paraphrased: the same outputs with wider references (``original.with_paraphrases(...)``);
            or the paraphrases that widen them, or files of these.
        share: the share of systems from which on an n-gram that references lack counts as missing;
            in (0, 1].
        missing_per_segment: a file (.jsonl) for the missing n-grams of each segment, which
            ``constrained(constraints='FILE')`` of gnomon paraphrase generate reads.
        examples: segments shown on a page, their wordings side by side with changes marked.

    Returns:
        A finding with a row per length, the tables "new" (with paraphrases) and "missing" of the
        most frequent n-grams, and "missing per segment" of those that many systems share.

    Raises:
        DataError: there are no systems.
        LengthMismatchError: the two are not the same outputs.
        UsageError: the share is no share.
    """
    if not isinstance(paraphrased, TestSet):
        paraphrased = original.with_paraphrases(paraphrased) if paraphrased else original
    widened = paraphrased is not original
    if dict(original.systems) != dict(paraphrased.systems):
        raise LengthMismatchError("the two test sets must hold the same outputs")
    tokeniser = fitting_tokeniser(original, tokenizer)
    words = words_of(_texts(paraphrased, original), tokeniser.name)
    sums: list[Counter[str]] = [Counter() for _ in range(_LONGEST + 1)]
    new: dict[Gram, _Seen] = {}
    missing: dict[Gram, _Seen] = {}
    for i in range(original.segments):
        shared = [_most_held(_references(t, i, None), words) for t in (original, paraphrased)]
        for system, texts in original.systems.items():
            before, after = (
                _most_held(_references(t, i, system), words)
                if system in t.system_references
                else counts
                for t, counts in zip((original, paraphrased), shared, strict=True)
            )
            for gram, count in grams(words[texts[i]].tokens, _LONGEST).items():
                old, now = min(count, before[gram]), min(count, after[gram])
                sums[len(gram)].update(ngrams=count, matched=old, new=now - old)
                if now > old:
                    new.setdefault(gram, _Seen()).add(now - old, system, i)
                if count > now:
                    missing.setdefault(gram, _Seen()).add(count - now, system, i)
    rows = [_row(n, sums[n], widened=widened) for n in range(1, _LONGEST + 1)]
    grams_by_table = {"missing": ("N-grams that no reference matches", missing)}
    if widened:
        grams_by_table = {"new": ("N-grams newly matched", new), **grams_by_table}
    tables = [
        table(name, title, GramRow, _first(seen)) for name, (title, seen) in grams_by_table.items()
    ]
    lacking = output_constraints(paraphrased, share=share, tokenizer=tokeniser.name)
    if missing_per_segment is not None:
        write_constraints(missing_per_segment, lacking)
    tables.append(
        table("missing per segment", _LACKING, LackingRow, [_lacking_row(one) for one in lacking])
    )
    signature = Signature("coverage").adding(tok=tokeniser.name, longest=_LONGEST, share=share)
    return Finding(
        method="paraphrase coverage",
        title=_TITLE,
        tables=(table("coverage", _TITLE, CoverageRow, rows), *tables),
        signatures={"coverage": signature},
        views=(
            Listing("coverage", _TITLE, column_names(CoverageRow)[: None if widened else 4]),
            *(
                Listing(name, title, ("n", "ngram", "count", "systems", "segments"))
                for name, (title, _) in grams_by_table.items()
            ),
            Listing("missing per segment", _LACKING, column_names(LackingRow), most=_MOST),
        ),
        exhibits=exhibits_of(paraphrased, segments=examples),
        notices=tokeniser.notices,
        facts={
            "test set": original.name,
            "systems": str(len(original.systems)),
            "references": ", ".join(original.references),
            **({"with paraphrases": ", ".join(paraphrased.references)} if widened else {}),
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


def _references(testset: TestSet, segment: int, system: str | None) -> Iterator[str]:
    """The references of a segment, for one system or those shared by all."""
    of_system = testset.system_references.get(system, {}) if system is not None else {}
    for texts in (*testset.references.values(), *of_system.values()):
        text = texts[segment]
        if text is not None:
            yield text


def _most_held(references: Iterable[str], words: Mapping[str, TokenSpans]) -> Counter[Gram]:
    most: Counter[Gram] = Counter()
    for text in references:
        most |= grams(words[text].tokens, _LONGEST)
    return most


def _row(n: int, sums: Counter[str], *, widened: bool) -> CoverageRow:
    total, matched, new = sums["ngrams"], sums["matched"], sums["new"]
    return CoverageRow(
        n=n,
        ngrams=total,
        matched=matched,
        share=matched / total if total else None,
        new=new if widened else None,
        wide_share=(matched + new) / total if widened and total else None,
    )


def _first(seen: Mapping[Gram, _Seen]) -> list[GramRow]:
    """The most frequent n-grams of each length."""
    rows = []
    for n in range(1, _LONGEST + 1):
        of_length = [pair for pair in seen.items() if len(pair[0]) == n]
        rows += [
            GramRow(
                n=n,
                ngram=" ".join(gram),
                count=one.count,
                systems=len(one.systems),
                segments=len(one.segments),
                segment=next(iter(one.segments)) + 1,
            )
            for gram, one in sorted(of_length, key=lambda pair: (-pair[1].count, pair[0]))[:_MOST]
        ]
    return rows


def _lacking_row(one: Constraint) -> LackingRow:
    return LackingRow(
        segment=one.segment,
        ngram=one.text,
        n=len(one.tokens),
        systems=one.systems,
        share=one.share or 0.0,
    )
