"""Rows on a blind sheet, and sentences on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.records import Record, column
from gnomon.core.verdicts import titles_of
from gnomon.human import answers as said
from gnomon.linguistics import gloss
from gnomon.messages import message
from gnomon.muler.contrasting import PairRow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.findings import Finding
    from gnomon.messages import Message

__all__ = ["DRAWN", "PAIRS", "DrawnRow", "sheet_verdict"]


PAIRS, DRAWN = "pairs", "drawn"


class DrawnRow(Record):
    """Number of items of a system, a pair of systems or a method on the sheet."""

    system: str = column("System", help="or the method of paraphrases")
    other: str = column("Other", help="that it is compared with; empty where outputs are scored")
    drawn: int = column("Items", help="on the sheet")


def sheet_verdict(finding: Finding) -> Iterator[Message]:
    """State what is on the sheet, or what the answers say."""
    name = finding.tables[0].name
    if name not in (PAIRS, DRAWN):
        yield from said.answers_verdict(finding)
        return
    if name == PAIRS:
        yield from _pairs_verdict(finding)
    drawn, wanted = (int(finding.facts[fact]) for fact in ("items", "items asked for"))
    if drawn < wanted:
        places = {name: range(len(finding.tables[0].rows))}
        yield message("note.human.sheet.smaller", places, items=drawn, wanted=wanted)


def _pairs_verdict(finding: Finding) -> Iterator[Message]:
    rows = finding.records(PairRow, PAIRS)
    readable = [row for row in rows if row.readable]
    if readable:
        row = readable[0]
        yield message(
            "human.sheet.found",
            finding.positions([row]),
            pairs=len(readable),
            system=row.system,
            other=row.other,
            feature=gloss(row.feature),
            muler=row.muler,
            other_muler=row.other_muler,
            metric=list(titles_of(finding).values()),
            score=row.score,
            other_score=row.other_score,
        )
    others = [row for row in rows if not row.readable]
    if others:
        names = list(dict.fromkeys(gloss(row.feature) for row in others))
        yield message("human.sheet.unreadable", finding.positions(others), features=names)
