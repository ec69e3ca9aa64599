"""Sentences on marks beside people's: how much is found, who finds more, the ceiling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gnomon.core.verdicts import LEAST, metric_title
from gnomon.messages import message
from gnomon.metaeval.error_span_rows import ErrorFreeRow, SpanAgreementRow, SpanContestRow
from gnomon.stats.jackknife import LEAST_DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.findings import Finding
    from gnomon.messages import Level, Message


def error_spans_verdict(finding: Finding) -> Iterator[Message]:
    """State how many of people's characters each marker finds, the ceiling, and who is better."""
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
        parts = {**_figure(row, "f1"), "n": row.judgements}
        yield message("metaeval.spans.people", finding.positions([row]), **parts)
    yield from _contests(finding)
    yield from _free(finding)
    if few:
        names, most = [metric_title(row.marks) for row in few], max(r.judgements for r in few)
        units: dict[str, Any] = {"unit": "judgement", "least": LEAST}
        yield message("data.few", finding.positions(few), of=names, n=most, **units)
    short = [row for row in sound if row.documents and row.documents < LEAST_DOCUMENTS]
    if short:
        most = max(row.documents or 0 for row in short)
        units = {"unit": "document", "least": LEAST_DOCUMENTS}
        yield message("data.few", finding.positions(short), of=[], n=most, **units)


def _figure(row: SpanAgreementRow | ErrorFreeRow, *names: str) -> dict[str, Any]:
    """Figures with their ends."""
    figures: dict[str, Any] = {}
    for name in names:
        low, high = row.ends(name)
        figures |= {name: getattr(row, name), f"{name}_low": low, f"{name}_high": high}
    return figures


def _agreement_statement(finding: Finding, row: SpanAgreementRow) -> Message:
    places = finding.positions([row])
    parts: dict[str, Any] = {"marker": metric_title(row.marks), "n": row.judgements}
    if not row.marked or not row.gold:
        who = "people" if row.marked else "marker"
        return message("metaeval.spans.nothing", places, who=who, **parts)
    figures = _figure(row, "recall", "precision", "f1")
    return message("metaeval.spans.found", places, **parts, **figures)


def _contests(finding: Finding) -> Iterator[Message]:
    for row in finding.records(SpanContestRow):
        if row.difference is None or row.p_holm is None or row.judgements < LEAST:
            continue
        first, second = row.first, row.second
        if row.difference < 0:
            first, second = second, first
        low, high = row.ends("difference")
        claim = "metaeval.spans.better" if row.decided else "metaeval.spans.undecided"
        yield message(
            claim,
            finding.positions([row]),
            first=metric_title(first),
            second=metric_title(second),
            difference=row.difference,
            low=low,
            high=high,
            p=row.p_holm,
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
    known: Level = "finding" if low is not None and low > 0 else "undecided"
    yield message(
        "metaeval.spans.free",
        finding.positions([best]),
        level=known,
        known=known,
        n=best.outputs,
        share=best.people or 0.0,
        marker=metric_title(best.marks),
        decided=best.decided_by,
        several=len(sound) if len(sound) > 1 else None,
        **_figure(best, "mcc"),
    )
