"""Rows of comparisons by pairs of outputs: of two systems, of one among all, of a segment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.records import METRIC, SEGMENT, SYSTEM, EndColumns, Record, column

if TYPE_CHECKING:
    from collections.abc import Mapping

PAIRS, REFERENCES, STANDINGS, CHOICES = "pairs", "references", "systems", "choices"


class PairedOutputsRow(Record):
    """A system against another one, or against a reference, under a pairwise metric."""

    system: str = SYSTEM
    other: str = column("Other", help="the system, or the reference, that it is compared with")
    metric: str = METRIC
    segments: int = column("n", help="segments that both have a text for")
    score: float | None = column(
        "Score",
        digits=3,
        better="higher",
        help="mean over segments; positive where the system is better than the other",
        interval=EndColumns(how="over segments"),
    )
    wins: int = column("Wins", help="segments where the system is the better one")
    ties: int = column("Ties", help="segments where neither is, or where both say the same")
    losses: int = column("Losses", help="segments where the other is the better one")
    share: float | None = column(
        "Share",
        better="higher",
        help="wins among the segments that are no ties",
        interval=EndColumns("share_low", "share_high", how="Wilson's"),
    )
    p: float | None = column("p", digits=4, help="of the sign test of wins and losses")
    p_adjusted: float | None = column("p adj.", digits=4, help="corrected for the number of pairs")
    verdict: str | None = column(
        "Verdict", help="better or worse where the corrected p is at most alpha, else undecided"
    )


class StandingRow(Record):
    """A system against all others together."""

    system: str = SYSTEM
    metric: str = METRIC
    segments: int = column("n", help="segments")
    score: float | None = column(
        "Score",
        digits=3,
        better="higher",
        help="mean over segments and over the other systems",
        interval=EndColumns(how="over segments"),
    )
    better: int = column("Better than", help="systems that it is better than, by the sign test")
    worse: int = column("Worse than", help="systems that it is worse than, by the sign test")
    chosen: int = column(
        "Chosen", help="segments where the other outputs speak for its output most of all"
    )
    share: float | None = column(
        "Share",
        better="higher",
        help="of the segments",
        interval=EndColumns("share_low", "share_high", how="Wilson's"),
    )


class ChosenOutputRow(Record):
    """The output of a segment that the others speak for most of all (minimum Bayes risk)."""

    segment: int = SEGMENT
    metric: str = METRIC
    system: str = column("Chosen", help="whose output it is; the first of those that say the same")
    utility: float = column(
        "Utility", digits=3, better="higher", help="its mean score against all other outputs"
    )
    margin: float | None = column(
        "Margin", digits=3, help="how far the next one is behind that says something else"
    )
    alike: int = column("Alike", help="systems that say the same")


#: by the names of the tables
ROWS: Mapping[str, type[Record]] = {
    PAIRS: PairedOutputsRow,
    STANDINGS: StandingRow,
    REFERENCES: PairedOutputsRow,
    CHOICES: ChosenOutputRow,
}
