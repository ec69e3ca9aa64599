"""Sentences on people's scores of systems."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

from gnomon.core.data_cautions import select_messages
from gnomon.core.verdicts import LEAST
from gnomon.human.campaign import LEAST_SEGMENTS
from gnomon.human.rows import PreferredRow, RaterRow, SystemScoreRow
from gnomon.messages import message
from gnomon.stats.jackknife import LEAST_DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gnomon.core.findings import Finding
    from gnomon.messages import Message

#: the intervals of single systems are too short below so many segments
_LEAST_OF_ONE = 100
#: shares of a rater's extreme judgements, and of their variance between systems, that are said
_EXTREMES, _BY_SYSTEM = 0.98, 0.8
#: unless half of the other raters have shares above this
_USUAL = 0.4
#: the share of judgements that is said to be saved, at least
_SAVED = 0.05


def compare_verdict(finding: Finding) -> Iterator[Message]:
    """Which systems people prefer, and what is unknown."""
    every = finding.records(PreferredRow)
    for human in dict.fromkeys(row.human for row in every):
        pairs = [row for row in every if row.human == human]
        systems = [row for row in finding.records(SystemScoreRow) if row.human == human]
        raters = [row for row in finding.records(RaterRow) if row.human == human]
        tested = [row for row in pairs if row.decided is not None]
        for told in _group_linked(tested):
            named = {name for row in told for name in (row.system, row.other)}
            own = [row for row in systems if row.system in named]
            people = len(raters) if len(own) == len(systems) else 0
            yield _outcome(finding, told, _sample(finding, told, own, people), own[0].system)
        if tested:
            known = {name for row in tested for name in (row.system, row.other)}
            yield from _say_width(finding, tested, [row for row in systems if row.system in known])
            if "analysis" in finding.facts:
                yield _say_analysis(finding, tested)
        few = [row for row in pairs if row.verdict == "too few"]
        if few:
            yield _too_few(finding, few, pairs, systems)
        yield from _cautions(finding, pairs, systems, raters)


def _group_linked(pairs: Sequence[PreferredRow]) -> Iterator[list[PreferredRow]]:
    """Pairs in groups that have no system in common."""
    left = list(pairs)
    while left:
        names, before = {left[0].system, left[0].other}, 0
        while len(names) > before:
            before = len(names)
            own = [row for row in left if names & {row.system, row.other}]
            names = names.union(*({row.system, row.other} for row in own))
        yield own
        left = [row for row in left if row not in own]


def _sample(
    finding: Finding,
    pairs: Sequence[PreferredRow],
    systems: Sequence[SystemScoreRow],
    people: int,
) -> dict[str, Any]:
    """Facts on what the differences of these systems rest on, and what they count."""
    human, sizes = pairs[0].human, {row.system: row.segments for row in systems}
    documents = max((row.documents or 0 for row in pairs), default=0) or None
    unequal = any(row.segments > min(sizes[row.system], sizes[row.other]) for row in pairs)
    shared = select_messages("note.human.shared", finding.notices)
    judged = [one.params["judged"] for one in shared if one.params["human"] == human]
    fewest, most = min(sizes.values()), max(sizes.values())
    return {
        "human": human,
        "documents": documents,
        "segments": None if documents and not judged else most,
        "judged": judged[0] if judged else None,
        "unequal": {"fewest": fewest, "most": most} if unequal else None,
        "mean": finding.facts.get("drawn with"),
        "unjudged": int(finding.facts.get(f"drawn, not judged ({human})", 0)) or None,
        "judgements": sum(system.judgements for system in systems),
        "people": people if people > 1 else None,
    }


def _too_few(
    finding: Finding,
    few: Sequence[PreferredRow],
    pairs: Sequence[PreferredRow],
    systems: Sequence[SystemScoreRow],
) -> Message:
    """Where judgements are too few: everywhere, or for systems that no pair is tested of."""
    sizes = {row.system: row.segments for row in systems}
    others = {name for row in pairs if row not in few for name in (row.system, row.other)}
    segments = max(min(sizes[row.system], sizes[row.other]) for row in few)
    documents = max(row.documents or 0 for row in few)
    few_segments = not documents or segments < LEAST_SEGMENTS
    return message(
        "data.few",
        finding.positions(few),
        of=[name for name in sizes if name not in others] if others else [],
        n=segments if few_segments else documents,
        unit="segment" if few_segments else "document",
        least=LEAST_SEGMENTS if few_segments else LEAST_DOCUMENTS,
    )


def _outcome(
    finding: Finding, pairs: Sequence[PreferredRow], sample: dict[str, Any], highest: str
) -> Message:
    """Who is preferred: to a baseline, else who has the highest score, to the others."""
    if len(pairs) > 1 and len({pair.other for pair in pairs}) == 1:
        return _against(finding, pairs, sample)
    own = [row for row in pairs if highest in (row.system, row.other)]
    places, beaten = finding.positions(own), [row for row in own if row.decided]
    if not any(row.difference for row in own):
        names = [highest, *(_other(row, highest) for row in own)]
        return message("human.compare.alike", places, systems=names, **sample)
    if not beaten:
        others = [_other(row, highest) for row in own]
        parts = _lead(own[0]) if len(own) == 1 else {"difference": None}
        return message(
            "human.compare.undecided", places, first=highest, others=others, **parts, **sample
        )
    others = [_other(row, highest) for row in beaten]
    return message(
        "human.compare.prefers",
        places,
        first=highest,
        others=others,
        next=others[0] if len(others) > 1 else None,
        even=[_other(row, highest) for row in own if not row.decided],
        **_lead(beaten[0]),
        **sample,
    )


def _other(row: PreferredRow, system: str) -> str:
    return row.other if row.system == system else row.system


def _lead(row: PreferredRow) -> dict[str, Any]:
    """Lead of the better one, which a baseline may be that stands second."""
    difference, (low, high) = row.difference or 0.0, row.ends("difference")
    if difference < 0:
        low, high = -(high or 0.0), -(low or 0.0)
    return {"difference": abs(difference), "low": low, "high": high}


def _against(finding: Finding, pairs: Sequence[PreferredRow], sample: dict[str, Any]) -> Message:
    names = {
        verdict: [row.system for row in pairs if row.verdict == verdict]
        for verdict in ("better", "worse", "undecided")
    }
    return message(
        "human.compare.against",
        finding.positions(pairs),
        level="finding" if names["better"] or names["worse"] else "undecided",
        baseline=pairs[0].other,
        said=[{"verdict": said, "systems": some} for said, some in names.items() if some],
        **sample,
    )


def _say_width(
    finding: Finding, pairs: Sequence[PreferredRow], systems: Sequence[SystemScoreRow]
) -> Iterator[Message]:
    """State what the unit decides, what raters' leniency saves, and whose interval is too short."""
    decided = sum(row.decided or False for row in pairs)
    by_segment = sum(row.by_segment or False for row in pairs)
    first, saved = systems[0].system, systems[0].saved or 0.0
    if pairs[0].documents is not None and (by_segment != decided or saved >= _SAVED):
        yield message(
            "human.compare.unit",
            finding.positions(pairs),
            pairs=len(pairs),
            by_segment=by_segment,
            decided=decided,
            system=first,
            saved=saved if saved >= _SAVED else None,
        )
    short = [system for system in systems if system.segments < _LEAST_OF_ONE]
    if short:
        yield message(
            "human.compare.short",
            finding.positions(short),
            systems=[system.system for system in short],
            least=_LEAST_OF_ONE,
        )


def _say_analysis(finding: Finding, pairs: Sequence[PreferredRow]) -> Message:
    decided = sum(row.decided or False for row in pairs)
    analysis, analyses = (int(finding.facts[fact]) for fact in ("analysis", "analyses"))
    return message(
        "human.compare.analysis",
        finding.positions(pairs),
        analysis=analysis,
        analyses=analyses,
        decided=decided,
        pairs=len(pairs),
        most=float(finding.facts["level"]),
        go_on=decided < len(pairs) and analysis < analyses,
    )


def _cautions(
    finding: Finding,
    pairs: Sequence[PreferredRow],
    systems: Sequence[SystemScoreRow],
    raters: Sequence[RaterRow],
) -> Iterator[Message]:
    human = systems[0].human
    confounded = [(row.system, row.other) for row in pairs if row.verdict == "confounded"]
    alone = sum(rater.systems == 1 for rater in raters)
    unknown = not raters and not systems[0].ranked
    mostly = 2 * alone > len(raters) and raters[0].shrunk is None
    if unknown or confounded or mostly:
        own = alone == len(raters)
        why = "unknown" if unknown else "own" if own else "alone" if mostly else "apart"
        yield message(
            "human.compare.leniency",
            finding.positions([*(raters or systems)]),
            why=why,
            alone=alone,
            raters=len(raters),
            pairs=[{"a": a, "b": b} for a, b in confounded],
            untold=bool(confounded),
            source=human,
        )
    yield from _odd_raters(finding, raters)
    if any(row.verdict != "too few" and row.documents is None for row in pairs):
        yield message("human.no_documents", finding.positions(pairs), source=human)


def _odd_raters(finding: Finding, raters: Sequence[RaterRow]) -> Iterator[Message]:
    """Raters whose judgements say nothing of single segments."""
    enough = [row for row in raters if row.judgements >= LEAST]
    extremes = [(row, row.extremes) for row in enough]
    by_system = [(row, row.by_system) for row in enough if row.by_system is not None]
    for how, shares, most in (("extremes", extremes, _EXTREMES), ("system", by_system, _BY_SYSTEM)):
        odd = [row for row, share in shares if share >= most]
        usual = [share for _, share in shares if share < most]
        if odd and usual and median(usual) < _USUAL:
            names = [row.rater for row in odd]
            yield message("human.compare.raters", finding.positions(odd), raters=names, how=how)
