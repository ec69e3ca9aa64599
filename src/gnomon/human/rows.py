"""Rows of comparisons by people's scores."""

from __future__ import annotations

from typing import Literal, TypeAlias

from gnomon.core.records import SYSTEM, EndColumns, Record, column

#: summary of a pair: of its first system, or that it is undefined
PairVerdict: TypeAlias = Literal["better", "worse", "undecided", "too few", "confounded"]

PAIRS, SYSTEMS, RATERS = "pairs", "systems", "raters"
_HUMAN = column("Judgements", help="the kind of people's scores")
_OTHER = column("Other system", help="that it is compared with")
_INTERVAL = EndColumns()
_OWN_STEP = EndColumns(how="Student's t at the level of its own step of Holm's correction")


class PreferredRow(Record):
    """Two systems by people's scores."""

    human: str = _HUMAN
    system: str = SYSTEM
    other: str = _OTHER
    difference: float | None = column(
        "Difference",
        interval=_OWN_STEP,
        help="mean score of the system less that of the other one, leniency taken out where"
        " raters are adjusted for",
    )
    p: float | None = column("p", digits=3, help="Student's t, two-sided")
    p_corrected: float | None = column("p, corrected", digits=3, help="for the number of pairs")
    decided: bool | None = column(
        "Decided", help="corrected p is at most 1 - confidence; empty where there is no interval"
    )
    verdict: str = column(
        "Verdict",
        help="better, worse or undecided, by the corrected p; too few: segments or documents;"
        " confounded: most judgements of one are by raters who did not judge the other",
    )
    by_segment: bool | None = column(
        "... by segments", help="what would be decided were segments independent"
    )
    segments: int = column("Segments", help="judged segments of either of the two systems")
    documents: int | None = column(
        "Documents", help="judged, of the system with fewer; blank where unknown"
    )
    se: float | None = column("Standard error", help="of the difference")
    se_segments: float | None = column(
        "... of segments", help="of the plain difference, were segments independent"
    )
    design_effect: float | None = column(
        "Design effect",
        help="how many times the variance of the plain difference is that of independent segments",
    )
    saved: float | None = column(
        "Saved",
        kind="share",
        better="higher",
        help="share of judgements that taking leniency out saves: 1 - (se / se without)^2",
    )


class SystemScoreRow(Record):
    """A system by people's scores."""

    human: str = _HUMAN
    system: str = SYSTEM
    score: float | None = column(
        "Score",
        better="higher",
        interval=_INTERVAL,
        help="mean score, leniency taken out where raters are adjusted for",
    )
    mean: float | None = column("Mean", better="higher", help="plain mean of what people said")
    judgements: int = column("Judgements", help="single judgements of its outputs")
    segments: int = column("Segments", help="judged segments")
    saved: float | None = column(
        "Saved",
        kind="share",
        better="higher",
        help="share of judgements that taking leniency out saves, median over its pairs",
    )
    better_than: int = column("Better than", help="systems that it is significantly better than")
    worse_than: int = column("Worse than", help="systems that it is significantly worse than")
    ranked: bool = column("Ranked", help="whether scores are shares of comparisons that it won")


class RaterRow(Record):
    """A person who judged."""

    human: str = _HUMAN
    rater: str = column("Rater", help="as the file names them")
    judgements: int = column("Judgements", help="how many")
    systems: int = column("Systems", help="how many systems these are of")
    leniency: float | None = column(
        "Leniency", help="mean distance of the judgements from the systems' scores"
    )
    by_system: float | None = column(
        "By system",
        kind="share",
        help="of the variance of the judgements, what differences between systems explain beyond"
        " chance; of 30 judgements or more",
    )
    extremes: float = column(
        "Extremes", kind="share", help="judgements that are the lowest or highest score of all"
    )
    shrunk: float | None = column(
        "Shrunk", help="what of it is taken for leniency; blank where raters are ignored"
    )


ROWS: dict[str, type[Record]] = {
    PAIRS: PreferredRow,
    SYSTEMS: SystemScoreRow,
    RATERS: RaterRow,
}
