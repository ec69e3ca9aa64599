"""What calibrated judges' scores say, in sentences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gnomon import stats
from gnomon.core.verdicts import LEAST, amount, counted, p_value, titles_of, unsigned_amount
from gnomon.judges.calibration_rows import CalibrationRow
from gnomon.judges.verdict import ALPHA, judge_title, or_nan
from gnomon.messages import message
from gnomon.stats.jackknife import LEAST_DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.findings import Finding
    from gnomon.messages import Message

__all__ = ["calibration_verdict"]


def calibration_verdict(finding: Finding) -> Iterator[Message]:
    """Whether a calibrated judge is nearer to people than their mean, and than the judge itself.

    P-values are Holm's over judges and kinds of human scores.
    """
    rows, titles = finding.records(CalibrationRow), titles_of(finding)
    of_mean = stats.holm([or_nan(row.p) for row in rows]).tolist()
    of_raw = stats.holm([or_nan(row.raw_p) for row in rows]).tolist()
    for row, p, raw_p in zip(rows, of_mean, of_raw, strict=True):
        judge = judge_title(titles[row.metric])
        yield from _carried_over(finding, judge, row, p, raw_p, several=len(rows) > 1)


def _carried_over(
    finding: Finding, judge: str, row: CalibrationRow, p: float, raw_p: float, *, several: bool
) -> Iterator[Message]:
    places = finding.positions([row])
    outputs = counted(row.outputs, "output")
    parts: dict[str, Any] = {"metric": judge, "kind": row.kind}
    if row.gain is None:
        yield message("judges.calibrate.not_possible", places, outputs=outputs, **parts)
        return
    of = f" of {counted(row.documents, 'document')}" if row.documents is not None else ""
    how = f"{outputs}{of} left out one by one"

    def facts(other: float | None, p: float) -> str:
        tested = "" if math.isnan(p) else f", {'corrected ' if several else ''}{p_value(p)}"
        against = f"{amount(or_nan(row.calibrated))} against {amount(or_nan(other))} on average"
        return f"{against}, {how}{tested}"

    nearer = {
        **parts,
        "way": "nearer to" if row.gain > 0 else "farther from",
        "size": unsigned_amount(row.gain, *row.ends("gain")),
        "facts": facts(row.by_mean, p),
    }
    if row.outputs < LEAST:
        yield message("judges.calibrate.few_outputs", places, **nearer)
        return
    if row.documents is not None and row.documents < LEAST_DOCUMENTS:
        documents = counted(row.documents, "document")
        yield message(
            "judges.calibrate.few_documents",
            places,
            metric=judge,
            documents=documents,
            least=LEAST_DOCUMENTS,
        )
    if p <= ALPHA:
        yield message("judges.calibrate.nearer", places, **nearer)
    else:
        yield message("judges.calibrate.alike", places, **nearer)
    if row.raw_gain is not None and row.raw_gain < 0 and raw_p <= ALPHA:
        size = unsigned_amount(row.raw_gain, *row.ends("raw_gain"))
        told = facts(row.raw, raw_p)
        yield message("judges.calibrate.worse_than_raw", places, size=size, facts=told, **parts)
