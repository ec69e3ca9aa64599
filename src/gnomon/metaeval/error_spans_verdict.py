"""How marks compare with people's, in sentences: how much is found, who finds more, the ceiling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.verdicts import LEAST, amount, counted, listed, metric_title, p_value
from gnomon.messages import message
from gnomon.metaeval.error_span_rows import ErrorFreeRow, SpanAgreementRow, SpanContestRow
from gnomon.stats.jackknife import LEAST_DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.findings import Finding
    from gnomon.messages import Message


def error_spans_verdict(finding: Finding) -> Iterator[Message]:
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
        yield message("metaeval.spans.people", finding.positions([row]), f1=_figure(row, "f1"), n=n)
    yield from _contests(finding)
    yield from _free(finding)
    if few:
        names = listed([metric_title(row.marks) for row in few])
        yield message("metaeval.spans.few", finding.positions(few), markers=names, least=LEAST)
    short = [row for row in sound if row.documents and row.documents < LEAST_DOCUMENTS]
    if short:
        most = max(row.documents or 0 for row in short)
        yield message(
            "metaeval.spans.few_documents",
            finding.positions(short),
            documents=counted(most, "document"),
            are="is" if most == 1 else "are",
        )


def _figure(row: SpanAgreementRow | ErrorFreeRow, name: str) -> str:
    value = getattr(row, name)
    return "an undefined share" if value is None else amount(value, *row.ends(name), share=True)


def _agreement_statement(finding: Finding, row: SpanAgreementRow) -> Message:
    n, title = counted(row.judgements, "judgement"), metric_title(row.marks)
    at = finding.positions([row])
    if not row.marked:
        return message("metaeval.spans.nothing", at, whose=f"{title} marks", n=n, checked="")
    if not row.gold:
        return message(
            "metaeval.spans.nothing",
            at,
            whose="People marked",
            n=n,
            checked=f" that {title} checked",
        )
    figures = {name: _figure(row, name) for name in ("recall", "precision", "f1")}
    return message("metaeval.spans.found", at, marker=title, n=n, **figures)  # type: ignore[arg-type]


def _contests(finding: Finding) -> Iterator[Message]:
    for row in finding.records(SpanContestRow):
        if row.difference is None or row.p_holm is None or row.judgements < LEAST:
            continue
        first, second = row.first, row.second
        low, high = row.ends("difference")
        if row.difference < 0:
            first, second = second, first
            low, high = (None if end is None else -end for end in (high, low))
        claim = "metaeval.spans.better" if row.decided else "metaeval.spans.undecided"
        yield message(
            claim,
            finding.positions([row]),
            first=metric_title(first),
            second=metric_title(second),
            size=amount(abs(row.difference), low, high, share=True),
            p=p_value(row.p_holm),
        )


def _free(finding: Finding) -> Iterator[Message]:
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
    claim = "metaeval.spans.free" if low is not None and low > 0 else "metaeval.spans.free_unsure"
    yield message(
        claim,
        finding.positions([best]),
        n=counted(best.outputs, "judgement"),
        share=amount(100 * (best.people or 0.0)),
        marker=metric_title(best.marks),
        decided=best.decided_by,
        mcc=_figure(best, "mcc"),
        best=f", the highest of {len(sound)}" if len(sound) > 1 else "",
    )
