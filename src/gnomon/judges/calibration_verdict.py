"""Sentences on calibrated judges' scores."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gnomon.core.verdicts import LEAST, titles_of
from gnomon.judges.calibration_rows import CalibrationRow
from gnomon.judges.verdict import judge_title
from gnomon.messages import message
from gnomon.stats.jackknife import LEAST_DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.findings import Finding
    from gnomon.messages import Message

__all__ = ["calibration_verdict"]


def calibration_verdict(finding: Finding) -> Iterator[Message]:
    """State whether a calibrated judge is nearer to people than their mean, and than it was."""
    titles = titles_of(finding)
    for row in finding.records(CalibrationRow):
        yield from _carried_over(finding, judge_title(titles[row.metric]), row)


def _carried_over(finding: Finding, judge: str, row: CalibrationRow) -> Iterator[Message]:
    places = finding.positions([row])
    parts: dict[str, Any] = {"metric": judge, "kind": row.kind, "outputs": row.outputs}
    if row.gain is None:
        yield message("judges.calibrate.not_possible", places, **parts)
        return
    if row.outputs < LEAST:
        few: dict[str, Any] = {"n": row.outputs, "unit": "output", "least": LEAST}
        yield message("data.few", places, of=[judge], **few)
        return
    parts |= {"documents": row.documents, "calibrated": row.calibrated}
    if row.documents is not None and row.documents < LEAST_DOCUMENTS:
        few = {"n": row.documents, "unit": "document", "least": LEAST_DOCUMENTS}
        yield message("data.few", places, of=[judge], **few)
    code = "judges.calibrate.differs" if row.decided else "judges.calibrate.alike"
    of_mean = _side("mean", row.gain, row.ends("gain"), row.by_mean, row.p)
    yield message(code, places, **parts, **of_mean)
    if row.raw_decided and row.raw_gain is not None and row.raw_gain < 0:
        of_raw = _side("raw", row.raw_gain, row.ends("raw_gain"), row.raw, row.raw_p)
        yield message("judges.calibrate.differs", places, **parts, **of_raw)


def _side(
    beside: str,
    gain: float,
    ends: tuple[float | None, float | None],
    distance: float | None,
    p: float | None,
) -> dict[str, Any]:
    """Parameters of a sentence: the calibrated judge beside another guess."""
    return {
        "beside": beside,
        "way": "nearer" if gain > 0 else "farther",
        "gain": gain,
        "low": ends[0],
        "high": ends[1],
        "other": distance,
        "p": None if p is None or math.isnan(p) else p,
    }
