"""What a plan says, in sentences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gnomon.core.verdicts import counted
from gnomon.human.plan_rows import BasisRow, PlannedRow
from gnomon.human.verdict import points
from gnomon.messages import message

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gnomon.core.findings import Finding
    from gnomon.messages import Message

_POWER = "the noncentral t at the variance of the campaign or the protocol"
_OFTEN = {0.5: "one of two", 0.75: "three of four", 0.8: "four of five", 0.9: "nine of ten"}


def plan_verdict(finding: Finding) -> Iterator[Message]:
    """How much it takes, how surely that is known, and what would take less."""
    every = finding.records(PlannedRow)
    for basis in finding.records(BasisRow):
        rows = [row for row in every if row.human == basis.human]
        for difference in dict.fromkeys(row.difference for row in rows):
            yield _takes(finding, [r for r in rows if r.difference == difference], basis)
        first = [row for row in rows if row.difference == rows[0].difference]
        yield from _around(finding, first, basis)


def _takes(finding: Finding, rows: Sequence[PlannedRow], basis: BasisRow) -> Message:
    by_design = {row.design: row for row in rows}
    plain, adjusted = by_design["as judged"], by_design.get("raters adjusted")
    said = _points(plain)
    if plain.segments is None:
        places = finding.positions([plain])
        return message("human.plan.beyond", places, points=said, source=basis.source)
    further, resting = "", [plain]
    if adjusted is not None and (adjusted.segments or math.inf) < plain.segments:
        further = f"; {rounded(adjusted.segments or 0):,} segments with raters adjusted"
        further += f" who judge {rounded(basis.each or 0):,} outputs each, as there"
        resting.append(adjusted)
    often = _OFTEN.get(plain.power, f"{100 * plain.power:.3g} of 100")
    return message(
        "human.plan.takes",
        finding.positions(resting),
        points=said,
        often=f"{often} campaigns",
        size=_size(plain),
        source=basis.source,
        further=further,
    )


def _around(finding: Finding, rows: Sequence[PlannedRow], basis: BasisRow) -> Iterator[Message]:
    """What is said of the first difference beside its plan."""
    plain, places = rows[0], finding.positions(rows)
    same = next((row for row in rows if row.design == "one rater for all systems"), None)
    if same is not None:
        yield message(
            "human.plan.same_rater",
            finding.positions([same]),
            points=_points(same),
            size=_size(same),
        )
    elif finding.facts["one rater for all systems"].startswith("planned"):
        yield message("human.plan.same_rater_unknown", places, source=basis.source)
    if plain.expected is not None:
        analyses, share = finding.facts["interim analyses"], f"{plain.expected:.0%}"
        yield message(
            "human.plan.analyses", finding.positions([plain]), analyses=analyses, share=share
        )
    judged = counted(basis.segments)
    if basis.documents is not None:
        judged = counted(basis.documents, "document")
    column = "segments" if plain.documents is None else "documents"
    low, high = plain.ends(column)
    if low is not None and high is not None:
        yield message(
            "human.plan.interval",
            finding.positions([plain]),
            low=f"{rounded(low):,}",
            high=counted(rounded(high), column[:-1]),
            judged=judged,
            source=basis.source,
        )
    if basis.shown is not None:
        shown = f"{basis.shown:.2g} {points(basis.human)}"
        if (basis.shown_adjusted or math.inf) < basis.shown:
            shown += f", or {basis.shown_adjusted:.2g} with raters adjusted"
        resting = finding.positions([basis])
        yield message(
            "human.plan.shows", resting, judged=judged, source=basis.source, differences=shown
        )
    if basis.documents is None and basis.design_effect == 1 and basis.human != "da-z":
        yield message("human.plan.no_documents", places, source=basis.source)


def _points(row: PlannedRow) -> str:
    said = points(row.human)
    return (
        f"{row.difference:g} {said.replace('points', 'point', 1) if row.difference == 1 else said}"
    )


def _size(row: PlannedRow) -> str:
    segments = rounded(row.segments or 0)
    if row.documents is None:
        return counted(segments)
    documents = rounded(row.documents)
    each = (row.segments or 0) / row.documents
    return f"{counted(documents, 'document')} ({rounded(documents * each):,} segments)"


def rounded(value: float) -> int:
    """A number with three leading digits, and no more than tens from a hundred on.

    >>> rounded(747), rounded(2620.6), rounded(88.2), rounded(12345)
    (750, 2620, 88, 12300)
    """
    step = 10 ** max(0, math.floor(math.log10(max(value, 1))) - 2)
    step = max(step, 10) if value >= 100 else step
    return int(step * round(value / step))
