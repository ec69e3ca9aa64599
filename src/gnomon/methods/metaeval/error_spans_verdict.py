"""How marks compare with people's, in sentences: how much is found, who finds more, the ceiling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.verdicts import (
    LEAST,
    Claim,
    amount,
    counted,
    listed,
    metric_title,
    p_value,
)
from gnomon.methods.metaeval.error_span_rows import ErrorFreeRow, SpanAgreementRow, SpanContestRow
from gnomon.stats.jackknife import LEAST_DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.findings import Finding, Statement

_FOUND = Claim(
    "metaeval.spans.found",
    "{marker} marks {recall} of the characters that people marked, and {precision} of what it marks"
    " is theirs (F1 {f1}, {n})",
    "undecided",
    "the figures alone: nothing says from which F1 on marks are good",
)
_NOTHING = Claim(
    "metaeval.spans.nothing",
    "{whose} nothing in the outputs of {n}{checked}",
    "undecided",
    "the number of marks",
)
_PEOPLE = Claim(
    "metaeval.spans.people",
    "People beside each other reach F1 {f1} of characters ({n}): no more can be asked of a metric",
    "undecided",
    "outputs that two people checked",
)
_BETTER = Claim(
    "metaeval.spans.better",
    "{first} marks people's errors better than {second}, by F1 {size} (corrected {p})",
    "better",
    "the test of the difference on the judgements that both are beside, Holm over all pairs",
)
_EQUAL = Claim(
    "metaeval.spans.undecided",
    "{first} and {second} cannot be told apart: F1 of {first} is higher by {size} (corrected {p})",
    "undecided",
    "the test of the difference is not significant",
)
_FREE = Claim(
    "metaeval.spans.free",
    "Of {n} people found {share} % free of errors; {marker} tells these from the others, by its"
    " {decided} (MCC {mcc}{best})",
    "better",
    "an interval of Matthews' correlation above 0; the highest of several is not tested",
)
_FREE_UNSURE = Claim(
    "metaeval.spans.free_unsure",
    "Of {n} people found {share} % free of errors; the data cannot tell whether {marker} knows"
    " which, by its {decided} (MCC {mcc}{best})",
    "undecided",
    "an interval of Matthews' correlation that holds 0, or none",
)
_FEW = Claim(
    "metaeval.spans.few",
    "{markers}: fewer than {least} judgements are too few to be read as a finding",
    "caution",
    "the number of judgements",
)
_FEW_DOCUMENTS = Claim(
    "metaeval.spans.few_documents",
    "{documents} {are} too few for intervals and tests; what one person marked in a document is not"
    " independent",
    "caution",
    "the number of documents of the judgements, below 15",
)
#: all that can be said of marks and people's
CLAIMS = (*(_FOUND, _NOTHING, _PEOPLE, _BETTER, _EQUAL, _FREE, _FREE_UNSURE, _FEW, _FEW_DOCUMENTS),)


def error_spans_verdict(finding: Finding) -> Iterator[Statement]:
    """How many of people's characters each marker finds, and the ceiling; then who is better."""
    rows = [
        row
        for row in finding.records(SpanAgreementRow)
        if row.system is None and row.unit == "characters" and row.average == "pooled"
    ]
    few = [row for row in rows if row.judgements < LEAST]
    sound = [row for row in rows if row.judgements >= LEAST]
    markers = [row for row in sound if not row.ceiling]
    markers.sort(key=lambda row: -(row.f1 or 0.0))
    for row in markers:
        yield _agreement_statement(finding, row)
    for row in [row for row in sound if row.ceiling][:1]:
        n = counted(row.judgements, "judgement")
        yield _PEOPLE.said(finding.positions([row]), f1=_figure(row, "f1"), n=n)
    yield from _contests(finding)
    yield from _free(finding)
    if few:
        names = listed([metric_title(row.marks) for row in few])
        yield _FEW.said(finding.positions(few), markers=names, least=LEAST)
    short = [row for row in sound if row.documents and row.documents < LEAST_DOCUMENTS]
    if short:
        most = max(row.documents or 0 for row in short)
        yield _FEW_DOCUMENTS.said(
            finding.positions(short),
            documents=counted(most, "document"),
            are="is" if most == 1 else "are",
        )


def _figure(row: SpanAgreementRow | ErrorFreeRow, name: str) -> str:
    value = getattr(row, name)
    return "an undefined share" if value is None else amount(value, *row.ends(name), share=True)


def _agreement_statement(finding: Finding, row: SpanAgreementRow) -> Statement:
    n, title = counted(row.judgements, "judgement"), metric_title(row.marks)
    at = finding.positions([row])
    if not row.marked:
        return _NOTHING.said(at, whose=f"{title} marks", n=n, checked="")
    if not row.gold:
        return _NOTHING.said(at, whose="People marked", n=n, checked=f" that {title} checked")
    figures = {name: _figure(row, name) for name in ("recall", "precision", "f1")}
    return _FOUND.said(at, marker=title, n=n, **figures)  # type: ignore[arg-type]


def _contests(finding: Finding) -> Iterator[Statement]:
    for row in finding.records(SpanContestRow):
        if row.difference is None or row.p_holm is None or row.judgements < LEAST:
            continue
        first, second = row.first, row.second
        low, high = row.ends("difference")
        if row.difference < 0:
            first, second = second, first
            low, high = (None if end is None else -end for end in (high, low))
        claim = _BETTER if row.decided else _EQUAL
        yield claim.said(
            finding.positions([row]),
            first=metric_title(first),
            second=metric_title(second),
            size=amount(abs(row.difference), low, high, share=True),
            p=p_value(row.p_holm),
        )


def _free(finding: Finding) -> Iterator[Statement]:
    """The marker that tells best which outputs are free of errors, at the first threshold."""
    rows = finding.records(ErrorFreeRow)
    sound = [
        row
        for row in rows
        if row.threshold == rows[0].threshold
        and not row.ceiling
        and row.mcc is not None
        and row.outputs >= LEAST
    ]
    if not sound:
        return
    best = max(sound, key=lambda row: row.mcc or 0.0)
    low = best.ends("mcc")[0]
    claim = _FREE if low is not None and low > 0 else _FREE_UNSURE
    yield claim.said(
        finding.positions([best]),
        n=counted(best.outputs, "judgement"),
        share=amount(100 * (best.people or 0.0)),
        marker=metric_title(best.marks),
        decided=best.decided_by,
        mcc=_figure(best, "mcc"),
        best=f", the highest of {len(sound)}" if len(sound) > 1 else "",
    )
