"""What people's scores say of systems, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.verdicts import amount, counted, listed
from gnomon.human.campaign import LEAST_SEGMENTS
from gnomon.human.rows import PreferredRow, RaterRow, SystemScoreRow
from gnomon.messages import message
from gnomon.stats.jackknife import LEAST_DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gnomon.core.findings import Finding
    from gnomon.messages import Message

_T = "Student's t over documents (jackknife), corrected for the number of pairs"
_TITLES = dict.fromkeys(("rr", "darr"), "of the comparisons won") | {
    "da-z": "standard deviations (DA)",
    "da-raw": "points of DA",
}


def compare_verdict(finding: Finding) -> Iterator[Message]:
    """Which systems people prefer, and what is unknown."""
    every = finding.records(PreferredRow)
    for human in dict.fromkeys(row.human for row in every):
        pairs = [row for row in every if row.human == human]
        systems = [row for row in finding.records(SystemScoreRow) if row.human == human]
        raters = [row for row in finding.records(RaterRow) if row.human == human]
        yield from _outcome(finding, pairs, systems, raters)
        if "analysis" in finding.facts:
            yield _at_analysis(finding, pairs)
        yield from _cautions(finding, pairs, systems, raters)


def points(human: str) -> str:
    """The unit of a kind of judgements."""
    return _TITLES.get(human, f"points of {human.upper() if len(human) < 5 else human}")


def _data(
    pairs: Sequence[PreferredRow], systems: Sequence[SystemScoreRow], raters: Sequence[RaterRow]
) -> str:
    row, sizes = pairs[0], [system.segments for system in systems]
    units = f"{min(sizes):,} to {counted(max(sizes))} of a system"
    if row.documents:
        units = counted(row.documents, "document")
    elif min(sizes) == max(sizes):
        units = counted(sizes[0])
    said = f"{units}, {counted(sum(system.judgements for system in systems), 'judgement')}"
    return f"{said} of {len(raters):,} people" if len(raters) > 1 else said


def _outcome(
    finding: Finding,
    pairs: Sequence[PreferredRow],
    systems: Sequence[SystemScoreRow],
    raters: Sequence[RaterRow],
) -> Iterator[Message]:
    data, row = _data(pairs, systems, raters), pairs[0]
    if row.verdict == "too few":
        few_segments = row.documents is None or row.segments < LEAST_SEGMENTS
        least = f"{LEAST_SEGMENTS} segments" if few_segments else f"{LEAST_DOCUMENTS} documents"
        what = counted(row.segments if few_segments else row.documents or 0, least.split()[1][:-1])
        yield message(
            "human.compare.few", finding.positions(pairs), what=what, least=f"{least} at least"
        )
    elif len(pairs) == 1:
        yield _of_two(finding, row, data)
    elif len({pair.other for pair in pairs}) == 1:
        yield _against(finding, pairs, data)
    else:
        yield _leader(finding, [r for r in pairs if r.system == systems[0].system], data)


def _alike(finding: Finding, pairs: Sequence[PreferredRow], data: str) -> Message:
    names = {name for row in pairs for name in (row.system, row.other)}
    systems = (
        f"all {len(names)} systems" if len(names) > 2 else listed([pairs[0].system, pairs[0].other])
    )
    return message("human.compare.alike", finding.positions(pairs), systems=systems, data=data)


def _of_two(finding: Finding, row: PreferredRow, data: str) -> Message:
    if not row.difference:
        return _alike(finding, [row], data)
    low, high = row.ends("difference")
    flipped = (row.difference or 0.0) < 0  # a baseline stands second, whichever is better
    a, b = (row.other, row.system) if flipped else (row.system, row.other)
    ends = (-(high or 0.0), -(low or 0.0)) if flipped else (low, high)
    said = amount(abs(row.difference or 0.0), *ends, unit=points(row.human))
    claim = "human.compare.undecided" if row.verdict == "undecided" else "human.compare.prefers"
    return message(claim, finding.positions([row]), a=a, b=b, amount=said, data=data)


def _against(finding: Finding, pairs: Sequence[PreferredRow], data: str) -> Message:
    names = {
        verdict: [row.system for row in pairs if row.verdict == verdict]
        for verdict in ("better", "worse", "undecided")
    }
    how = (
        ("better", "prefer {}"),
        ("worse", "find {} worse"),
        ("undecided", "cannot tell {} apart from it"),
    )
    parts = [said.format(listed(names[verdict])) for verdict, said in how if names[verdict]]
    return message(
        "human.compare.against",
        finding.positions(pairs),
        level="finding" if names["better"] or names["worse"] else "undecided",
        baseline=pairs[0].other,
        what=listed(parts),
        data=data,
    )


def _leader(finding: Finding, own: Sequence[PreferredRow], data: str) -> Message:
    """What is said of the system with the highest score, by its pairs."""
    beaten = [row for row in own if row.verdict == "better"]
    even = [row.other for row in own if row.verdict == "undecided"]
    places, first, others = finding.positions(own), own[0].system, len(own)
    if not even:
        low, high = own[0].ends("difference")
        gap = amount(own[0].difference or 0.0, low, high, unit=points(own[0].human))
        return message(
            "human.compare.first",
            places,
            first=first,
            others=others,
            second=own[0].other,
            amount=gap,
            data=data,
        )
    if not any(row.difference for row in own):
        return _alike(finding, own, data)
    if not beaten:
        return message("human.compare.all_undecided", places, first=first, others=others, data=data)
    return message(
        "human.compare.leads",
        places,
        first=first,
        others=others,
        beaten=len(beaten),
        even=listed(even),
        data=data,
    )


def _at_analysis(finding: Finding, pairs: Sequence[PreferredRow]) -> Message:
    decided = [row for row in pairs if row.verdict in ("better", "worse")]
    analysis, of = finding.facts["analysis"].split(" of ")
    last = len(decided) == len(pairs) or analysis == of
    return message(
        "human.compare.analysis",
        finding.positions(pairs),
        analysis=finding.facts["analysis"],
        decided=len(decided),
        pairs=counted(len(pairs), "pair"),
        most=finding.facts["level"],
        go_on="" if last else "; judge on to the next analysis for the others",
    )


def _cautions(
    finding: Finding,
    pairs: Sequence[PreferredRow],
    systems: Sequence[SystemScoreRow],
    raters: Sequence[RaterRow],
) -> Iterator[Message]:
    row, human = pairs[0], pairs[0].human
    places = finding.positions(raters)
    if not raters and not systems[0].ranked:
        yield message("human.compare.no_raters", finding.positions(systems), human=human)
    elif raters and raters[0].shrunk is None:
        alone = sum(rater.systems == 1 for rater in raters)
        if 2 * alone > len(raters):
            yield message(
                "human.compare.one_system",
                places,
                alone=alone,
                raters=counted(len(raters), "person").replace("persons", "people"),
            )
    if row.verdict != "too few" and row.documents is None:
        yield message("human.compare.no_documents", finding.positions(pairs), human=human)
    sizes = [system.segments for system in systems]
    if min(sizes) < max(sizes):
        yield message(
            "human.compare.unequal", finding.positions(systems), fewest=min(sizes), most=max(sizes)
        )
