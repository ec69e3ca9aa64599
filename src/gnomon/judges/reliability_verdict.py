"""What the reliability of judges says, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.verdicts import LEAST, amount, counted, listed, p_value, titles_of
from gnomon.judges.reliability_rows import ReliabilityRow
from gnomon.judges.verdict import ALPHA, judge_title, or_nan
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
        n = counted(min(row.n for row in few))
        yield message("judges.reliability.few", finding.positions(few), n=n)


def _about_judge(
    finding: Finding, metric: str, rows: Sequence[ReliabilityRow]
) -> Iterator[Message]:
    named = {
        name: [row for row in rows if row.measure == name]
        for name in ("score", "noise", "error", "injection")
    }
    places = finding.positions(rows)
    if named["score"]:
        missing = sum(row.missing for row in named["score"])
        total = missing + sum(row.answers or 0 for row in named["score"])
        if missing > _MISSING * total:
            share = f"{missing:,} of {counted(total, 'answer')}"
            yield message("judges.missing", places, missing=share, metric=metric)
        yield from _about_noise(finding, metric, named)
    if named["injection"]:
        yield _about_injections(finding, metric, named["injection"])


def _about_noise(
    finding: Finding, metric: str, named: dict[str, list[ReliabilityRow]]
) -> Iterator[Message]:
    noisy = [row for row in named["noise"] if row.value is not None]
    places = finding.positions(named["noise"])
    if not noisy:
        why = "it was asked once; take repeats=3 or more"
        yield message("judges.reliability.no_noise", places, metric=metric, why=why)
        return
    noise = max(noisy, key=lambda row: or_nan(row.value))
    if not noise.value:
        why = "all repetitions gave equal scores; take more, or a temperature above 0"
        yield message("judges.reliability.no_noise", places, metric=metric, why=why)
        return
    score = next(row for row in named["score"] if row.subject == noise.subject)
    error = next(row for row in named["error"] if row.subject == noise.subject)
    share = noise.value**2 / max(or_nan(error.value) ** 2, 1e-300)
    yield message(
        "judges.reliability.noise",
        finding.positions([score, noise, error]),
        metric=metric,
        system=score.subject,
        score=amount(or_nan(score.value), *score.ends("value")),
        share=f"{min(share, 1.0):.0%}",
    )


def _about_injections(finding: Finding, metric: str, rows: Sequence[ReliabilityRow]) -> Message:
    raised = [row for row in rows if or_nan(row.p) <= ALPHA and or_nan(row.value) > 0]
    least = min(row.n for row in rows)
    places, candidates = finding.positions(rows), counted(least, "candidate")
    if least < _FEW_CANDIDATES:
        return message("judges.reliability.few", places, n=candidates)
    if not raised:
        injections = counted(len(rows), "injection")
        return message(
            "judges.reliability.not_raised",
            places,
            metric=metric,
            injections=injections,
            candidates=candidates,
        )
    most = max(raised, key=lambda row: or_nan(row.value))
    return message(
        "judges.reliability.raised",
        finding.positions(raised),
        metric=metric,
        injections=listed([row.subject for row in raised]),
        gain=amount(or_nan(most.value), *most.ends("value")),
        injection=most.subject,
    )


def _about_panel(
    finding: Finding, titles: dict[str, str], rows: Sequence[ReliabilityRow]
) -> Iterator[Message]:
    for row in rows:
        if row.measure == "alpha" and row.value is not None and row.n >= LEAST:
            yield message(
                "judges.reliability.agreement",
                finding.positions([row]),
                judges=counted(int(finding.facts["judges"]), "judge"),
                outputs=counted(row.n, "output"),
                alpha=amount(row.value, *row.ends("value"), share=True),
            )
    apart = [row for row in rows if row.measure == "level" and or_nan(row.p) <= ALPHA]
    if apart:
        row = max(apart, key=lambda row: abs(or_nan(row.value)))
        value, (low, high) = or_nan(row.value), row.ends("value")
        a, b = titles[row.metric], titles[row.subject]
        if value < 0:
            a, b, value, low, high = b, a, -value, -or_nan(high), -or_nan(low)
        difference, facts = amount(value, low, high), p_value(or_nan(row.p))
        places = finding.positions([row])
        yield message(
            "judges.reliability.levels", places, a=a, b=b, difference=difference, facts=facts
        )
