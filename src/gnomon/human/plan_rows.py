"""Rows of plans of campaigns."""

from __future__ import annotations

from typing import Literal, TypeAlias

from gnomon.core.records import Record, column

#: protocol and analysis of a campaign
Design: TypeAlias = Literal["as judged", "raters adjusted", "one rater for all systems"]

PLAN, BASIS = "plan", "basis"


class PlannedRow(Record):
    """Size that a campaign has to have."""

    human: str = column("Judgements", help="the kind of people's scores")
    design: str = column(
        "Design",
        help="as judged: as the campaign that the plan rests on; raters adjusted: their leniency"
        " taken out; one rater for all systems: a document of all systems is judged by one person",
    )
    difference: float = column("Difference", help="of two systems, in points of the judgements")
    power: float = column("Power", kind="share", help="share of campaigns that are to find it")
    documents: int | None = column(
        "Documents",
        interval=True,
        help="judged of each system; the interval is what the variance's own uncertainty leaves."
        " Blank where documents are not known",
    )
    segments: int | None = column("Segments", interval=True, help="judged of each system, likewise")
    judgements: int | None = column("Judgements in all", help="of all systems, one for each output")
    expected: float | None = column(
        "Expected share",
        kind="share",
        help="of these that is judged on average, with planned analyses, if the difference is real",
    )


class BasisRow(Record):
    """Basis of a plan: how the judgements of a campaign vary."""

    human: str = column("Judgements", help="the kind of people's scores")
    source: str = column("Campaign", help="whose figures these are")
    sd: float = column("Standard deviation", help="of differences segment by segment, median")
    design_effect: float = column(
        "Design effect", help="times the variance of independent segments, median over pairs"
    )
    documents: int | None = column("Documents", help="judged; blank where they are not known")
    segments: int = column("Segments", help="judged")
    length: float | None = column("Segments a document", digits=1, help="that were judged")
    evenness: float = column(
        "Evenness", kind="share", help="documents of one length that say as much, of each document"
    )
    shown: float | None = column(
        "Shows", help="difference that the campaign finds as often as wanted, as it was judged"
    )
    shown_adjusted: float | None = column("... raters adjusted", help="with leniency taken out")
    saved_adjusted: float | None = column(
        "Savings by adjusting raters",
        kind="share",
        help="share of judgements saved by taking out the leniency of raters",
    )
    each: float | None = column(
        "Judgements a rater", digits=0, help="the savings by adjusting raters depend on these"
    )
    saved_same_rater: float | None = column(
        "Savings with one rater per document",
        kind="share",
        help="predicted share of judgements saved by one person for a document of all systems",
    )


ROWS: dict[str, type[Record]] = {PLAN: PlannedRow, BASIS: BasisRow}
