"""Rows on the meaning of differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gnomon.agreement.tables import TEST_SET
from gnomon.agreement.thresholds import TITLE as PUBLISHED
from gnomon.core.records import METRIC, EndColumns, Record, column

if TYPE_CHECKING:
    from collections.abc import Mapping

CLASSES, CURVE, SETS, YEARS = "delta_accuracy", "curve", "sets", "years"
_PAIRS: Any = column("Pairs", help="of systems, both of which people and the metric tell apart")
_OVER = "by redrawing sets, and never narrower than Wilson's"


class MeaningRow(Record):
    """People's agreement with differences of one size."""

    metric: str = METRIC
    smallest: float = column("From", help="the smallest difference of the class")
    largest: float = column("To", help="the differences lie below it; the last class holds it")
    share: float = column(
        "People agree",
        kind="share",
        digits=3,
        better="higher",
        help="share of the pairs",
        interval=EndColumns("share_low", "share_high", how=_OVER, kind="share"),
    )
    pairs: int = _PAIRS
    sets: int = column("Sets", help="test sets that have such pairs")
    mean: float = column("Mean", help="of the differences")
    published: float | None = column(
        PUBLISHED, kind="share", digits=3, help="what their curve gives the mean difference"
    )


class MeaningCurveRow(Record):
    """A point of the curve that never falls."""

    metric: str = METRIC
    difference: float = column("Difference", help="of two systems under the metric, without a sign")
    share: float = column(
        "People agree",
        kind="share",
        digits=3,
        better="higher",
        help="isotonic regression over all pairs",
        interval=EndColumns("share_low", "share_high", how=_OVER, kind="share"),
    )


class MeaningSetRow(Record):
    """A test set that the meaning rests on."""

    metric: str = METRIC
    test_set: str = TEST_SET
    language_pair: str | None = column("Language pair", help="of the test set")
    year: int | None = column("Year", help="by the name of the test set")
    human: str = column("Human scores", help="their kind")
    systems: int = column("Systems", help="that people and the metric scored")
    pairs: int = _PAIRS
    share: float = column("People agree", kind="share", digits=3, help="share of the pairs")
    promised: float = column(
        "Promised", kind="share", digits=3, help="by the curve of all other sets, for these pairs"
    )


class MeaningYearRow(Record):
    """The pairs of one year beside what older sets promised."""

    metric: str = METRIC
    year: int = column("Year", help="by the names of the test sets")
    sets: int = column("Sets", help="of that year")
    pairs: int = _PAIRS
    share: float = column(
        "People agree",
        kind="share",
        digits=3,
        help="share of the pairs",
    )
    promised: float = column(
        "Promised", kind="share", digits=3, help="by the curve of all older sets, for these pairs"
    )
    p: float | None = column(
        "p", digits=3, help="two-sided, that sets of the year are like the older ones"
    )
    p_adjusted: float | None = column(
        "Corrected p", digits=3, help="after Holm over years and metrics"
    )
    decided: bool | None = column("Decided", help="corrected p is at most 1 - confidence")


#: by the names of the tables
ROWS: Mapping[str, type[Record]] = {
    CLASSES: MeaningRow,
    CURVE: MeaningCurveRow,
    SETS: MeaningSetRow,
    YEARS: MeaningYearRow,
}
