"""Sentences on a plan."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gnomon.human.plan_rows import BasisRow, PlannedRow
from gnomon.messages import message

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gnomon.core.findings import Finding
    from gnomon.messages import Message


def plan_verdict(finding: Finding) -> Iterator[Message]:
    """State how much it takes, how surely that is known, and what would take less."""
    every = finding.records(PlannedRow)
    for basis in finding.records(BasisRow):
        rows = [row for row in every if row.human == basis.human]
        for difference in dict.fromkeys(row.difference for row in rows):
            yield _takes(finding, [r for r in rows if r.difference == difference], basis)
        first = [row for row in rows if row.difference == rows[0].difference]
        yield from _state_cheaper_plans(finding, first, basis)
        yield from _say_plan(finding, first, basis)


def _takes(finding: Finding, rows: Sequence[PlannedRow], basis: BasisRow) -> Message:
    plain, places = rows[0], finding.positions(rows[:1])
    asked: dict[str, Any] = {
        "difference": plain.difference,
        "human": plain.human,
        "source": basis.source,
    }
    if plain.segments is None:
        return message("human.plan.beyond", places, **asked)
    low, high = plain.ends("segments" if plain.documents is None else "documents")
    return message(
        "human.plan.takes",
        places,
        **asked,
        power=plain.power,
        **_size(plain),
        low=low if high is not None else None,
        high=high,
        **_describe_judged(basis),
    )


def _state_cheaper_plans(
    finding: Finding, rows: Sequence[PlannedRow], basis: BasisRow
) -> Iterator[Message]:
    """State what takes less than the first plan, and what cannot be told."""
    plain, *others = rows
    less = [row for row in others if (row.segments or math.inf) < (plain.segments or math.inf)]
    designs = [{"design": row.design, "each": basis.each, **_size(row)} for row in less]
    if plain.expected is not None:
        number = int(finding.facts["interim analyses"])
        share = {"expected": plain.expected}
        designs.append({"design": "planned analyses", "analyses": number, **share})
    if designs:
        yield message(
            "human.plan.cheaper",
            finding.positions([*less, plain]),
            difference=plain.difference,
            human=plain.human,
            designs=designs,
        )
    planned = finding.facts["one rater for all systems"] == "planned for, too"
    if planned and all(row.design != "one rater for all systems" for row in rows):
        places = finding.positions(rows)
        yield message("human.plan.same_rater_unknown", places, source=basis.source)


def _say_plan(finding: Finding, rows: Sequence[PlannedRow], basis: BasisRow) -> Iterator[Message]:
    if basis.shown is not None:
        adjusted = basis.shown_adjusted
        yield message(
            "human.plan.shows",
            finding.positions([basis]),
            **_describe_judged(basis),
            source=basis.source,
            human=basis.human,
            difference=basis.shown,
            adjusted=adjusted if adjusted is not None and adjusted < basis.shown else None,
        )
    if basis.documents is None and basis.design_effect == 1 and basis.human != "da-z":
        yield message("human.no_documents", finding.positions(rows), source=basis.source)


def _describe_judged(basis: BasisRow) -> dict[str, Any]:
    """Facts on what a campaign judged."""
    if basis.documents is None:
        return {"judged": basis.segments, "unit": "segment"}
    return {"judged": basis.documents, "unit": "document"}


def _size(row: PlannedRow) -> dict[str, Any]:
    """Facts on how much is judged of each system."""
    return {"documents": row.documents, "segments": row.segments}
