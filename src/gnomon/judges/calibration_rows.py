"""Rows on the distance of judges from people's scores."""

from __future__ import annotations

from gnomon.core.records import METRIC, SEGMENT, SYSTEM, EndColumns, Record, column

__all__ = ["CalibrationPoint", "CalibrationRow"]


_INTERVAL = (
    "by jackknife over documents; Student's t over outputs where these are unknown; at the level of"
    " its own step of Holm's correction"
)


class CalibrationRow(Record):
    """Figures of a judge's scores on people's scale, and of how near they come."""

    metric: str = METRIC
    kind: str = column("Human scores", help="kind of people's scores")
    outputs: int = column("Outputs", help="that people scored and the judge's answer can be read")
    intercept: float | None = column(
        "Intercept", digits=4, help="what the line makes of a score of 0"
    )
    slope: float | None = column("Slope", digits=4, help="what one point of the judge is worth")
    r: float | None = column("r", digits=3, better="higher", help="Pearson's, judge and people")
    raw: float | None = column(
        "As it is", better="lower", help="mean distance from people, if both had one scale"
    )
    calibrated: float | None = column(
        "Calibrated",
        better="lower",
        help="mean distance from people of each output by the line of all others",
    )
    by_mean: float | None = column(
        "By the mean", better="lower", help="likewise of people's mean score of all others"
    )
    gain: float | None = column(
        "Gain",
        better="higher",
        interval=EndColumns(how=_INTERVAL),
        help="how much nearer the calibrated judge comes than the mean",
    )
    p: float | None = column(
        "p", digits=3, help="two-sided, that the gain is 0, corrected (Holm's over judges, kinds)"
    )
    decided: bool | None = column("Decided", help="p is at most 1 - confidence")
    raw_gain: float | None = column(
        "Gain on raw",
        better="higher",
        interval=EndColumns("raw_low", "raw_high", how=_INTERVAL),
        help="how much nearer the calibrated judge comes than as it is",
    )
    raw_p: float | None = column("p, on raw", digits=3, help="likewise, that this gain is 0")
    raw_decided: bool | None = column("Decided, on raw", help="likewise")
    documents: int | None = column(
        "Documents", help="that the outputs are of, which people judge whole"
    )


class CalibrationPoint(Record):
    """An output as a judge and people score it."""

    metric: str = METRIC
    kind: str = column("Human scores", help="kind of people's scores")
    system: str = SYSTEM
    segment: int = SEGMENT
    judge: float | None = column("Judge", help="its score; empty where no answer can be read")
    human: float | None = column("People", help="people's score")
    left_out: float | None = column("Calibrated", help="by the line of all other outputs")
