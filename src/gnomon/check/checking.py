"""Checks that every output is a translation, and keeps what it has to (``gnomon check``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Annotated, TypeAlias

from gnomon.check.figures import (
    FaultDifferenceRow,
    FaultRates,
    HitRow,
    RateRow,
    hit_rows,
)
from gnomon.check.gate import check_limits, gate_cases
from gnomon.check.glossary import read_glossary
from gnomon.check.notes import annotated_systems, write_notes
from gnomon.check.rules import Rules, read_rules
from gnomon.check.terms import Match, Terminology
from gnomon.check.verdict import check_verdict
from gnomon.comparison.scores import leader, scored
from gnomon.core.data_cautions import select_messages
from gnomon.core.errors import UnknownNameError, UsageError
from gnomon.core.findings import Finding, HeatMap
from gnomon.core.options import (
    CONFIDENCE,
    RESAMPLES,
    SEED,
    Baseline,
    Confidence,
    InputFile,
    Metavar,
    OutputFile,
    Resamples,
    Seed,
    Specs,
    Unit,
    Workers,
)
from gnomon.core.records import table
from gnomon.core.registry import method
from gnomon.core.testset import TestSet
from gnomon.linguistics import OptionalTagger
from gnomon.linguistics.faults import Texts, find_faults
from gnomon.linguistics.faults.floor import look
from gnomon.linguistics.faults.kinds import FaultKinds
from gnomon.messages import message
from gnomon.metrics.base import Metrics

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.check.glossary import Term
    from gnomon.check.rules import Rule
    from gnomon.linguistics.faults import Fault
    from gnomon.messages import Message

__all__ = ["check"]

GivenFile: TypeAlias = Annotated[str | PathLike[str] | None, InputFile(), Metavar("FILE")]
Limits: TypeAlias = Annotated[Sequence[str], Metavar("KIND=SHARE")]

_TITLE = "Faults of outputs"
#: anomalies of whole files that are faults of their segments
_OF_SEGMENTS = ("untranslated", "script")
_EXAMPLES = """\
examples:
  gnomon check ref.txt -s src.txt -i old.txt new.txt
  gnomon check -t wmt24/en-cs --kinds untranslated shape --html check.html
  gnomon check -i new.xlf --notes noted.xlf   # faults as notes on the units
  gnomon check ref.txt -s src.txt -i new.txt --fail-above untranslated=0.5%   # for CI

exit code 3: --fail-above found a system with more; 4: with --strict, one that may have more
"""


@method(
    "check",
    purpose="find outputs that are no translations, or lose tags, numbers and terms",
    title=_TITLE,
    examples=_EXAMPLES,
    tables={"": "faults", "differences": "fault_differences", "hits": "fault_hits"},
    rows={"check": RateRow, "differences": FaultDifferenceRow, "hits": HitRow},
    metrics="all",
    doubts=False,
    check=check_limits,
    verdict=check_verdict,
)
def check(
    testset: TestSet,
    metrics: Metrics = "bleu",
    *,
    kinds: FaultKinds = ("all",),
    glossary: GivenFile = None,
    match: Match = "lemmas",
    tagger: OptionalTagger = None,
    rules: GivenFile = None,
    judge: Annotated[str | None, Specs()] = None,
    baseline: Baseline = None,
    fail_above: Limits = (),
    notes: OutputFile = None,
    resamples: Resamples = RESAMPLES,
    confidence: Confidence = CONFIDENCE,
    unit: Unit = "auto",
    seed: Seed = SEED,
    workers: Workers = 1,
    allow_code: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> Finding:
    """Is every output a translation, and does it keep what it has to?

    Outputs are looked at for kinds of faults (``gnomon list faults``): empty ones, copies of the
    source, answers of a model in place of a translation, loops, another segment's text, lost
    placeholders. A hit counts where no reference has the same, nor half of the other systems.

    Args:
        testset: outputs, and sources or references; with both most is found.
        metrics: metrics that measure what missing translations cost; as in :func:`gnomon.score`.
        kinds: names of kinds or groups: untranslated, shape, kept, rate, all.
        glossary: a file of terms and the translations that outputs must use (.csv, .tsv, .jsonl,
            .tbx).
        match: the way terms are matched: by "lemmas" (base forms), by "forms" (as written) or by
            "wmt25" (the rule of WMT25's terminology task).
        tagger: the tagger of base forms of outputs; by default the package simplemma.
        rules: a table of rules that outputs must keep, with columns segment, must, must-not,
            pattern, not-pattern, at-most.
        judge: a metric between 0 and 1 that decides rules in words, such as a judge asked yes or
            no: below .5 breaks the rule.
        baseline: the system with which the others are compared; by default the first of two
            systems, and of more the best.
        fail_above: kinds or groups, each with the largest share of segments that passes
            ("untranslated=0.5%"); where a system has more, the command line ends with exit code
            3.
        notes: a table of all faults (.csv: system, segment, kind, place, text), or the outputs' own
            XLIFF file with notes on its units (.xlf), where "{system}" stands for each of several.
        unit: the independent unit: "segment", "document", or "auto": documents where faults within
            them are clearly alike.

    Returns:
        A finding whose rows hold ``system, kind, hits, segments, share, low, high`` (references
        stand as ``reference:NAME``); tables ``differences`` and ``hits``.

    Raises:
        UnknownNameError: there is no such kind or system.
        UsageError: an option is out of range, a limit is set to what was not looked for, or a row
            of a glossary or of rules is for a segment that is not there.
    """
    annotated = annotated_systems(notes, testset) if notes is not None else {}
    prescribed: list[Fault] = []
    if glossary is not None:
        terms = read_glossary(glossary, testset.language_pair)
        _check_segments(terms.path, terms.terms, testset)
        prescribed += Terminology(terms, match, tagger).faults
    if rules is not None or judge is not None:
        kept = Rules() if rules is None else read_rules(rules)
        _check_segments(str(rules), kept.rules, testset)
        if judge is not None:
            kept = kept.add_judge(scored(testset, judge, allow_code=allow_code, progress=None)[0])
        prescribed.append(kept.fault)
    found = look(Texts(testset), [*find_faults(kinds), *prescribed])
    rates = FaultRates(testset, found, unit, resamples, confidence, seed)
    systems = list(testset.systems)
    if baseline is not None and baseline not in systems:
        raise UnknownNameError("system (baseline)", baseline, systems)
    differences: list[FaultDifferenceRow] = []
    signatures = {}
    if len(systems) > 1:
        judged = (
            scored(testset, metrics, workers=workers, allow_code=allow_code, progress=progress)
            if testset.references and rates.lost().any()
            else []
        )
        signatures = {scores.metric: scores.signature for scores in judged}
        best = leader(judged[0], systems) if judged and len(systems) > 2 else None
        first = baseline or best or systems[0]
        differences += rates.differences(first)
        for scores in judged:
            differences += rates.costs(scores, first)
    hits = list(hit_rows(found))
    if notes is not None:
        write_notes(notes, testset, annotated, hits)
    tables = [
        table("check", _TITLE, RateRow, rates.rates(), confidence=confidence),
        table("differences", "Differences", FaultDifferenceRow, differences, confidence=confidence),
        table("hits", "Faults", HitRow, hits),
    ]
    lacking = [{"kind": kind, "need": need} for kind, need in found.lacking.items()]
    return Finding(
        method="check",
        title=_TITLE,
        tables=tuple(one for one in tables if one.rows),
        signatures=signatures,
        views=(HeatMap("check", _TITLE, "kind", "system", "share", low=0),),
        facts={
            "segments": f"{testset.segments:,}",
            "kinds": str(len(found.faults)),
            "counted": "hits that neither a reference has nor half of the other systems",
        },
        notices=(
            *_whole_files(testset),
            *((message("note.check.lacking", kinds=lacking),) if lacking else ()),
        ),
        gate=gate_cases(tables[0], fail_above, {one.name: one.group for one in found.faults}),
    )


def _whole_files(testset: TestSet) -> Iterator[Message]:
    """Cautions of files of which no fault of a segment tells: lines elsewhere, other languages."""
    for one in select_messages("data.doubtful", testset.anomalies):
        lines, found = (int(str(one.params.get(name, 1))) for name in ("lines", "found"))
        if one.params["what"] not in _OF_SEGMENTS and 2 * lines >= found:
            yield one


def _check_segments(path: str, rows: Sequence[Term | Rule], testset: TestSet) -> None:
    last = max((one.segment + 1 for one in rows if one.segment is not None), default=0)
    if last > testset.segments:
        raise UsageError(
            f"{path} has a row for segment {last:,}, and the test set has {testset.segments:,};"
            " number its segments, or leave the row out"
        )
