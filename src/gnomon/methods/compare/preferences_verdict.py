"""What a pairwise metric says of systems, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from gnomon.core.verdicts import (
    CUT,
    LEAST,
    Claim,
    amount,
    counted,
    cut_texts,
    listed,
    metric_title,
    p_value,
)
from gnomon.methods.compare.preference_rows import (
    PAIRS,
    REFERENCES,
    PairedOutputsRow,
    StandingRow,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gnomon.core.findings import Finding, Statement


R = TypeVar("R", PairedOutputsRow, StandingRow)

_SIGNS = "the sign test of the segments that prefer one output, corrected for all pairs"
PREFERS = Claim(
    "pairwise.prefers",
    "{title} prefers {ahead} to {behind} in {most} segments, and the reverse in {least} ({facts})",
    "better",
    _SIGNS,
)
UNDECIDED = Claim(
    "pairwise.undecided",
    "{ahead} and {behind} cannot be told apart by {title}: it prefers {ahead} in {most} segments,"
    " and {behind} in {least} ({facts})",
    "undecided",
    _SIGNS,
)
SAME = Claim(
    "pairwise.same",
    "{title} prefers neither {ahead} nor {behind} in any segment ({facts})",
    "undecided",
    "the answers for all segments",
)
BEST = Claim(
    "pairwise.best",
    "{system} is the best of {systems} by {title}: {size} above the mean of the others, and better"
    " than each of them ({segments})",
    "better",
    _SIGNS,
)
FIRST = Claim(
    "pairwise.first",
    "{system} is preferred most by {title}, by {size} to the mean of the others, but is better than"
    " {better} of {others} only ({segments})",
    "undecided",
    _SIGNS,
)
CHOSEN = Claim(
    "pairwise.chosen",
    "of the outputs of a segment, that of {system} is chosen most often under {title}, in a share"
    " of {share} of the segments; whether more often than the next was not tested",
    "undecided",
    "the shares of segments, with Wilson's intervals",
)
OPPOSITE = Claim(
    "pairwise.opposite",
    "for {names} the mean says the opposite of most segments: read some of these",
    "caution",
    "the signs of the mean and of wins less losses",
)
FEW = Claim(
    "pairwise.few",
    "preferences of {title} rest on {segments}, too few to be a finding",
    "caution",
    f"fewer than {LEAST} segments",
)
REFERENCES_BEATEN = Claim(
    "pairwise.references",
    "{title} prefers {names}: either the references are poor, or the metric likes machine"
    " translation",
    "caution",
    "the sign test of systems against references",
)
CLAIMS = (
    PREFERS,
    UNDECIDED,
    SAME,
    BEST,
    FIRST,
    CHOSEN,
    OPPOSITE,
    FEW,
    REFERENCES_BEATEN,
    CUT,
)


def pairwise_verdict(finding: Finding) -> Iterator[Statement]:
    """Who is preferred, by pairs or over all; the choice per segment; then cautions."""
    for metric in finding.signatures:
        pairs = _of(metric, finding.records(PairedOutputsRow, PAIRS))
        sound = [row for row in pairs if row.segments >= LEAST]
        standings = _of(metric, finding.records(StandingRow))
        if len(standings) > 2 and sound:
            yield _overall(finding, standings)
        else:
            yield from (_pair(finding, row) for row in sound)
        if sound:
            yield from _chosen(finding, standings)
        yield from _contradictions(finding, sound)
        if pairs and not sound:
            n = counted(pairs[0].segments)
            yield FEW.said(finding.positions(pairs), title=metric_title(metric), segments=n)
        yield from _anchored(finding, _of(metric, finding.records(PairedOutputsRow, REFERENCES)))
    yield from cut_texts(finding.notices)


def _of(metric: str, rows: Sequence[R]) -> list[R]:
    return [row for row in rows if row.metric == metric]


def _pair(finding: Finding, row: PairedOutputsRow) -> Statement:
    """Two systems."""
    wins = row.wins >= row.losses
    facts = f"{counted(row.segments)}, {counted(row.ties, 'tie')}"
    p = row.p_adjusted
    parts: dict[str, Any] = {
        "title": metric_title(row.metric),
        "ahead": row.system if wins else row.other,
        "behind": row.other if wins else row.system,
        "most": f"{max(row.wins, row.losses):,}",
        "least": f"{min(row.wins, row.losses):,}",
    }
    position = finding.positions([row])
    if p is None or row.wins + row.losses == 0:
        return SAME.said(position, facts=facts, **parts)
    claim = UNDECIDED if row.verdict == "undecided" else PREFERS
    return claim.said(position, facts=f"{facts}, {p_value(p)}", **parts)


def _overall(finding: Finding, standings: Sequence[StandingRow]) -> Statement:
    """Several systems: who is better than most."""
    first = max(standings, key=lambda row: row.score or 0.0)
    claim = BEST if first.better == len(standings) - 1 else FIRST
    return claim.said(
        finding.positions([first]),
        system=first.system,
        title=metric_title(first.metric),
        size=amount(first.score or 0.0, *first.ends("score")),
        better=first.better,
        others=counted(len(standings) - 1, "other system"),
        systems=counted(len(standings), "system"),
        segments=counted(first.segments),
    )


def _chosen(finding: Finding, standings: Sequence[StandingRow]) -> Iterator[Statement]:
    """Whose outputs are chosen."""
    if len(standings) < 3:  # of two, the winner of each segment is chosen
        return
    most = max(standings, key=lambda row: row.chosen)
    share = amount(most.share or 0.0, *most.ends("share"), share=True)
    yield CHOSEN.said(
        finding.positions([most]), system=most.system, title=metric_title(most.metric), share=share
    )


def _contradictions(finding: Finding, pairs: Sequence[PairedOutputsRow]) -> Iterator[Statement]:
    """Pairs in which the mean says the opposite of what most segments say."""
    rows = [
        row
        for row in pairs
        if row.verdict in ("better", "worse") and (row.score or 0.0) * (row.wins - row.losses) < 0
    ]
    if rows:
        names = listed([f"{row.system} and {row.other}" for row in rows])
        yield OPPOSITE.said(finding.positions(rows), names=names)


def _anchored(finding: Finding, pairs: Sequence[PairedOutputsRow]) -> Iterator[Statement]:
    """Systems that are preferred to a reference."""
    rows = [row for row in pairs if row.verdict == "better"]
    if rows:
        names = listed([f"{row.system} to {row.other}" for row in rows])
        title = metric_title(rows[0].metric)
        yield REFERENCES_BEATEN.said(finding.positions(rows), title=title, names=names)
