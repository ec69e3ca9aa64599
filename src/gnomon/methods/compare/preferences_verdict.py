"""What a pairwise metric says of systems, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gnomon.core.verdicts import (
    CUT,
    LEAST,
    Claim,
    amount,
    counted,
    cut_texts,
    listed,
    metric_title,
    number,
    p_value,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.core.findings import Cell, Finding, Statement

    Numbered = tuple[int, Mapping[str, Cell]]

_PAIRS, _STANDINGS, _REFERENCES = "pairs", "systems", "references"
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
REFERENCES = Claim(
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
    REFERENCES,
    CUT,
)


def pairwise_verdict(finding: Finding) -> Iterator[Statement]:
    """Who is preferred, by pairs or over all; the choice per segment; then cautions."""
    tables = {one.name: one for one in finding.tables}
    for metric in finding.signatures:
        pairs = _of(tables[_PAIRS].rows, metric)
        sound = [one for one in pairs if (number(one[1]["segments"]) or 0) >= LEAST]
        standings = _of(tables[_STANDINGS].rows, metric)
        if len(standings) > 2 and sound:
            yield _overall(standings, metric)
        else:
            yield from (_pair(one, metric) for one in sound)
        if sound:
            yield from _chosen(standings, metric)
        yield from _contradictions(sound)
        if pairs and not sound:
            n = counted(int(number(pairs[0][1]["segments"]) or 0))
            title = metric_title(metric)
            yield FEW.said(_places(_PAIRS, pairs), title=title, segments=n)
        if _REFERENCES in tables:
            yield from _anchored(_of(tables[_REFERENCES].rows, metric), metric)
    yield from cut_texts(finding.notices)


def _of(rows: Sequence[Mapping[str, Cell]], metric: str) -> list[Numbered]:
    return [(place, row) for place, row in enumerate(rows) if row["metric"] == metric]


def _places(name: str, some: Sequence[Numbered]) -> dict[str, list[int]]:
    return {name: [place for place, _ in some]}


def _pair(one: Numbered, metric: str) -> Statement:
    """Two systems."""
    place, row = one
    wins, losses, ties = (int(number(row[name]) or 0) for name in ("wins", "losses", "ties"))
    p = number(row["p_adjusted"])
    ahead, behind = ("system", "other") if wins >= losses else ("other", "system")
    facts = f"{counted(int(number(row['segments']) or 0))}, {counted(ties, 'tie')}"
    parts: dict[str, Any] = {
        "title": metric_title(metric),
        "ahead": row[ahead],
        "behind": row[behind],
        "most": f"{max(wins, losses):,}",
        "least": f"{min(wins, losses):,}",
        "facts": facts if p is None else f"{facts}, {p_value(p)}",
    }
    if p is None or wins + losses == 0:
        return SAME.said({_PAIRS: [place]}, **{**parts, "facts": facts})
    claim = UNDECIDED if row["verdict"] == "undecided" else PREFERS
    return claim.said({_PAIRS: [place]}, **parts)


def _overall(standings: Sequence[Numbered], metric: str) -> Statement:
    """Several systems: who is better than most."""
    order = sorted(standings, key=lambda one: -(number(one[1]["score"]) or 0.0))
    place, first = order[0]
    size = amount(number(first["score"]) or 0.0, number(first["low"]), number(first["high"]))
    claim = BEST if first["better"] == len(standings) - 1 else FIRST
    return claim.said(
        {_STANDINGS: [place]},
        system=first["system"],
        title=metric_title(metric),
        size=size,
        better=first["better"],
        others=counted(len(standings) - 1, "other system"),
        systems=counted(len(standings), "system"),
        segments=counted(int(number(first["segments"]) or 0)),
    )


def _chosen(standings: Sequence[Numbered], metric: str) -> Iterator[Statement]:
    """Whose outputs are chosen."""
    if len(standings) < 3:  # of two, the winner of each segment is chosen
        return
    place, most = max(standings, key=lambda one: number(one[1]["chosen"]) or 0)
    share = amount(
        number(most["share"]) or 0.0,
        number(most["share_low"]),
        number(most["share_high"]),
        share=True,
    )
    yield CHOSEN.said(
        {_STANDINGS: [place]}, system=most["system"], title=metric_title(metric), share=share
    )


def _contradictions(pairs: Sequence[Numbered]) -> Iterator[Statement]:
    """Pairs in which the mean says the opposite of what most segments say."""
    some = [
        one
        for one in pairs
        if one[1]["verdict"] in ("better", "worse")
        and (number(one[1]["score"]) or 0.0) * _lead(one[1]) < 0
    ]
    if some:
        names = listed([f"{row['system']} and {row['other']}" for _, row in some])
        yield OPPOSITE.said(_places(_PAIRS, some), names=names)


def _lead(row: Mapping[str, Cell]) -> float:
    return (number(row["wins"]) or 0.0) - (number(row["losses"]) or 0.0)


def _anchored(rows: Sequence[Numbered], metric: str) -> Iterator[Statement]:
    """Systems that are preferred to a reference."""
    some = [one for one in rows if one[1]["verdict"] == "better"]
    if some:
        names = listed([f"{row['system']} to {row['other']}" for _, row in some])
        places = _places(_REFERENCES, some)
        yield REFERENCES.said(places, title=metric_title(metric), names=names)
