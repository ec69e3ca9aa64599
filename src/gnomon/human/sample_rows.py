"""Rows of a sample for people to judge."""

from __future__ import annotations

from gnomon.core.records import Record, column


class DrawnStratumRow(Record):
    """Numbers drawn of a stratum; of all, where there are no strata."""

    stratum: str = column("Stratum", help="of which is drawn; all: there are none")
    unit: str = column("Unit", help="what is drawn as a whole: document or segment")
    units: int = column("In the set", help="how many documents, or segments, there are")
    drawn: int = column("Drawn", help="how many of them are judged")
    chance: float = column(
        "Chance", kind="share", digits=3, help="of each to be drawn: the inclusion probability"
    )
    segments: int = column("Segments", help="that are drawn with them")


class DrawnAnalysisRow(Record):
    """Judgements that people make for one planned analysis."""

    analysis: int = column("Analysis", help="from 1")
    file: str = column("File", help="the campaign")
    documents: int = column("Documents", help="of this analysis; segments where there are none")
    segments: int = column("Segments", help="of this analysis")
    judgements: int = column("Judgements", help="outputs to judge for this analysis")


class DrawnRaterRow(Record):
    """Judgements that one person makes."""

    rater: str = column("Rater", help="who judges")
    documents: int = column("Documents", help="of which the person judges some output")
    judgements: int = column("Judgements", help="outputs to judge")
    whole: int = column("Whole documents", help="of which the person judges all systems")
