"""Rows of error spans beside people's: agreement, pairs of markers, outputs free of errors."""

from __future__ import annotations

from typing import Any

from gnomon.core.records import SEGMENT, SYSTEM, EndColumns, Record, column
from gnomon.metrics.marked_outputs import MarkedSpanRow

AGREEMENT, CONTESTS, ERROR_FREE, MARKS = "agreement", "contests", "error_free", "marks"
SEGMENTS = "segments"

_MARKER = column("Marks", help="of which metric, file or kind of judgements")
_BY: Any = column("By", help="what marked: person, metric or judge")
_JUDGEMENTS = column("Judgements", help="of people, each of one output")


class SpanAgreementRow(Record):
    """Agreement of one marker's errors with those that people marked."""

    marks: str = _MARKER
    by: str = _BY
    system: str | None = column("System", help="whose outputs; empty for all")
    unit: str = column("Unit", help="what is counted: characters, or spans matched one to one")
    average: str = column("Average", help="pooled: of sums; segment: mean of the outputs' figures")
    precision: float | None = column(
        "Precision",
        digits=3,
        better="higher",
        help="how much of what was marked people marked, too",
        interval=True,
    )
    recall: float | None = column(
        "Recall",
        digits=3,
        better="higher",
        help="how much of what people marked was marked",
        interval=True,
    )
    f1: float | None = column(
        "F1", digits=3, better="higher", help="harmonic mean of the two", interval=True
    )
    judgements: int = _JUDGEMENTS
    marked: float = column("Marked", digits=0, help="characters or spans that were marked")
    gold: float = column("By people", digits=0, help="characters or spans that people marked")
    ceiling: bool = column("ceiling", help="people beside each other: what can be reached")
    documents: int | None = column(
        "Documents", help="of the judgements, where these and not segments are independent"
    )


class SpanContestRow(Record):
    """Two markers beside each other: F1 of characters, pooled."""

    first: str = column("Marks", help="of the one")
    second: str = column("Other marks", help="of the other")
    difference: float | None = column(
        "Difference",
        digits=3,
        help="of F1, the first less the second",
        interval=EndColumns(),
    )
    p: float | None = column(
        "p", digits=4, help="two-sided, of a jackknife over documents or a bootstrap over segments"
    )
    p_holm: float | None = column("p Holm", digits=4, help="corrected for the number of pairs")
    decided: bool | None = column("Decided", help="corrected p is at most 1 - confidence")
    judgements: int = _JUDGEMENTS


class ErrorFreeRow(Record):
    """Figures of how well one marker finds the outputs that people found free of errors."""

    marks: str = _MARKER
    by: str = _BY
    decided_by: str = column("Decided by", help="marks: none is there; score: the best are taken")
    threshold: float | None = column(
        "Threshold", digits=0, help="people's score from which on an output may be free of errors"
    )
    rule: str = column("Rule", help="both: score and no error; score; or spans: no error")
    outputs: int = column("Outputs", help="judgements of people")
    people: float | None = column("Free", kind="share", help="share that people found so")
    marker: float | None = column("Called", kind="share", help="share that the marker calls so")
    mcc: float | None = column(
        "MCC", digits=3, better="higher", help="Matthews' correlation of the two", interval=True
    )
    f1: float | None = column(
        "F1", digits=3, better="higher", help="of finding those free of errors", interval=True
    )
    auc: float | None = column(
        "AUC",
        digits=3,
        better="higher",
        help="how often an output without errors is ranked above one with errors",
        interval=True,
    )
    ceiling: bool = column("ceiling", help="people beside each other: what can be reached")


class SpanSegmentRow(Record):
    """One judgement of people beside the marks of another in the same output: characters."""

    marks: str = _MARKER
    system: str = SYSTEM
    segment: int = SEGMENT
    rater: str = column("Rater", help="who of people, if the file says so")
    precision: float = column("Precision", digits=3, help="as in the table of agreement")
    recall: float = column("Recall", digits=3, help="likewise")
    f1: float = column("F1", digits=3, help="likewise")
    marked: float = column("Marked", digits=0, help="characters that were marked")
    gold: float = column("By people", digits=0, help="characters that this person marked")


ROWS = {
    AGREEMENT: SpanAgreementRow,
    CONTESTS: SpanContestRow,
    ERROR_FREE: ErrorFreeRow,
    MARKS: MarkedSpanRow,
    SEGMENTS: SpanSegmentRow,
}
