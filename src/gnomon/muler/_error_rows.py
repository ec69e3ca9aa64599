"""Rows of errors by feature: rates, differences of systems, counts."""

from __future__ import annotations

from gnomon.core.records import FEATURE, SYSTEM, EndColumns, Record, column

ERRORS, DIFFERENCES, COUNTS = "errors", "differences", "counts"

_MARKER = column("Marks", help="of which kind of judgements, file or metric")
_SEVERITY = column("Severity", help="any, major (and critical), or minor")
_ALL = column("System", help="whose outputs; empty for all systems together")


class ErrorRateRow(Record):
    """The error rate of a feature in the outputs of a system."""

    marks: str = _MARKER
    by: str = column("By", help="what marked: person, metric or judge")
    system: str | None = _ALL
    feature: str = FEATURE
    severity: str = _SEVERITY
    occurrences: int = column(
        "Occurrences", help="words of the feature in outputs that were checked for errors"
    )
    hits: int = column("Hit", help="of these, how many an error shares a character with")
    rate: float | None = column(
        "per 100", better="lower", help="hit, of a hundred occurrences", interval=True
    )
    relative: float | None = column(
        "Relative rate",
        help="the rate as a multiple of that of all words (or characters); its interval is that of"
        " the step of Holm's procedure",
        interval=True,
    )
    p_words: float | None = column(
        "p, all words",
        digits=4,
        help="of the rate being that of all words, corrected over features after Holm",
    )
    decided: bool | None = column(
        "Decided",
        help="whether that p is at most 1 - confidence, and the interval of the relative rate"
        " leaves 1 out",
    )


class ErrorRateDifferenceRow(Record):
    """Two systems on a feature, over the segments in which both were checked."""

    marks: str = _MARKER
    severity: str = _SEVERITY
    feature: str = FEATURE
    system_a: str = column("System", help="the one that comes first in the test set")
    system_b: str = column("Other system", help="the other one")
    rate_a: float = column("per 100", help="errors of the one per hundred occurrences")
    rate_b: float = column("Other, per 100", help="errors of the other")
    difference: float = column("Difference", help="the one less the other", interval=EndColumns())
    p: float | None = column(
        "p", digits=4, help="two-sided, adjusted over severities, features and pairs"
    )
    decided: bool | None = column(
        "decided",
        help="whether the interval leaves 0 out, and p is at most 1 - confidence; empty where"
        " there is no interval",
    )
    occurrences: int = column("Occurrences", help="the smaller of the two numbers")


class ErrorCountRow(Record):
    """Errors of one severity and category in the outputs of a system."""

    marks: str = _MARKER
    system: str = SYSTEM
    severity: str = column("Severity", help="as the marker has it")
    category: str = column("Category", help="likewise; empty where there is none")
    errors: float = column(
        "Errors", digits=1, help="where several people checked an output, their mean counts"
    )
    per_hundred: float = column("per 100 outputs", digits=1, better="lower", help="of these errors")
    placeless: float = column(
        "No place", digits=1, help="of these, errors without a place in the text"
    )
    outputs: int = column("Outputs", help="that were checked for errors")


ROWS = {
    ERRORS: ErrorRateRow,
    DIFFERENCES: ErrorRateDifferenceRow,
    COUNTS: ErrorCountRow,
}
