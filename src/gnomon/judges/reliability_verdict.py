"""Sentences on the reliability of judges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.verdicts import LEAST, titles_of
from gnomon.judges.reliability_rows import ReliabilityRow
from gnomon.judges.verdict import judge_title
from gnomon.messages import message

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gnomon.core.findings import Finding
    from gnomon.messages import Message

__all__ = ["reliability_summary"]


#: gains of fewer candidates are no evidence: scores are coarse, and a few that are equal look sure
_FEW_CANDIDATES = 10


#: the share of answers without a score that is said, at least
_MISSING = 0.01


def reliability_summary(finding: Finding) -> Iterator[Message]:
    """Noise and injections, judge by judge; then how far the judges agree."""
    titles = {name: judge_title(title) for name, title in titles_of(finding).items()}
    rows = finding.records(ReliabilityRow)
    for metric in dict.fromkeys(row.metric for row in rows):
        of_metric = [row for row in rows if row.metric == metric]
        yield from _about_judge(finding, titles[metric], of_metric)
    yield from _about_panel(finding, titles, rows)
    few = [row for row in rows if row.measure in ("score", "alpha") and row.n < LEAST]
    if few:
        yield _too_few(finding, few, "segment", LEAST)


def _too_few(finding: Finding, rows: Sequence[ReliabilityRow], unit: str, least: int) -> Message:
    n = min(row.n for row in rows)
    return message("data.few", finding.positions(rows), of=[], n=n, unit=unit, least=least)


def _about_judge(
    finding: Finding, metric: str, rows: Sequence[ReliabilityRow]
) -> Iterator[Message]:
    named = {
        name: [row for row in rows if row.measure == name]
        for name in ("score", "noise", "share of noise", "injection")
    }
    places = finding.positions(rows)
    if named["score"]:
        missing = sum(row.missing for row in named["score"])
        total = missing + sum(row.answers or 0 for row in named["score"])
        if missing > _MISSING * total:
            yield message("judges.missing", places, missing=missing, total=total, metric=metric)
        yield from _about_noise(finding, metric, named)
    if named["injection"]:
        yield _about_injections(finding, metric, named["injection"])


def _about_noise(
    finding: Finding, metric: str, named: dict[str, list[ReliabilityRow]]
) -> Iterator[Message]:
    noisy = [row for row in named["noise"] if row.value is not None]
    places = finding.positions(named["noise"])
    noise = max(noisy, key=lambda row: row.value or 0.0, default=None)
    if noise is None or not noise.value:
        why = "once" if noise is None else "equal"
        yield message("judges.reliability.no_noise", places, metric=metric, why=why)
        return
    score = next(row for row in named["score"] if row.subject == noise.subject)
    share = next(row for row in named["share of noise"] if row.subject == noise.subject)
    low, high = score.ends("value")
    yield message(
        "judges.reliability.noise",
        finding.positions([score, noise, share]),
        metric=metric,
        system=score.subject,
        score=score.value,
        low=low,
        high=high,
        share=share.value or 0.0,
    )


def _about_injections(finding: Finding, metric: str, rows: Sequence[ReliabilityRow]) -> Message:
    raised = [row for row in rows if row.decided and (row.value or 0.0) > 0]
    least = min(row.n for row in rows)
    if least < _FEW_CANDIDATES:
        return _too_few(finding, rows, "candidate", _FEW_CANDIDATES)
    if not raised:
        return message(
            "judges.reliability.not_raised",
            finding.positions(rows),
            metric=metric,
            injections=len(rows),
            candidates=least,
        )
    most = max(raised, key=lambda row: row.value or 0.0)
    low, high = most.ends("value")
    return message(
        "judges.reliability.raised",
        finding.positions(raised),
        metric=metric,
        injections=[row.subject for row in raised],
        gain=most.value,
        low=low,
        high=high,
        injection=most.subject,
    )


def _about_panel(
    finding: Finding, titles: dict[str, str], rows: Sequence[ReliabilityRow]
) -> Iterator[Message]:
    for row in rows:
        if row.measure == "alpha" and row.value is not None and row.n >= LEAST:
            low, high = row.ends("value")
            yield message(
                "judges.reliability.agreement",
                finding.positions([row]),
                judges=int(finding.facts["judges"]),
                outputs=row.n,
                alpha=row.value,
                low=low,
                high=high,
            )
    apart = [row for row in rows if row.measure == "level" and row.decided]
    if apart:
        row = max(apart, key=lambda row: abs(row.value or 0.0))
        names, (low, high) = [titles[row.metric], titles[row.subject]], row.ends("value")
        a, b = names if (row.value or 0.0) > 0 else names[::-1]
        yield message(
            "judges.reliability.levels",
            finding.positions([row]),
            a=a,
            b=b,
            difference=row.value,
            low=low,
            high=high,
            p=row.p,
        )
