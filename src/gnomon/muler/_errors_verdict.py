"""Sentences on errors by feature: their words, and the systems that have more of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.data_cautions import select_messages
from gnomon.core.verdicts import LEAST, metric_title
from gnomon.linguistics import gloss
from gnomon.messages import message
from gnomon.muler._error_rates import UNITS
from gnomon.muler._error_rows import ErrorRateDifferenceRow, ErrorRateRow

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from gnomon.core.findings import Finding
    from gnomon.messages import Message

_UNNAMED = "errors"  # marks of a file that says no more of them


def errors_verdict(finding: Finding) -> Iterator[Message]:
    """Where errors are more frequent than elsewhere, and which systems differ."""
    rows = [row for row in finding.records(ErrorRateRow) if row.severity == "any"]
    markers = list(dict.fromkeys(row.marks for row in rows))
    yield from select_messages("errors.unlisted", finding.notices)
    for marks in markers:
        whole = [row for row in rows if row.marks == marks and row.system is None]
        yield from _where(finding, marks, whole)
    for code in ("errors.cut", "data.few"):
        yield from select_messages(code, finding.notices)
    yield from _systems(finding)
    yield from select_messages("muler.untagged", finding.notices)


def _where(finding: Finding, marks: str, rows: Sequence[ErrorRateRow]) -> Iterator[Message]:
    words = next((row for row in rows if row.feature in UNITS), None)
    if words is None or words.occurrences < LEAST:
        told = select_messages("data.few", finding.notices)
        if not any(one.subjects.get("metrics") == (marks,) for one in told):
            n, unit = (words.occurrences, words.feature[:-1]) if words else (0, "word")
            yield message("data.few", {}, of=[metric_title(marks)], n=n, unit=unit, least=LEAST)
        return
    apart = [row for row in rows if row.decided]
    more = [row for row in apart if (row.relative or 0.0) > 1]
    fewer = [row for row in apart if row not in more]
    more.sort(key=lambda row: -(row.relative or 0.0))
    fewer.sort(key=lambda row: row.relative or 0.0)
    low, high = words.ends("rate")
    yield message(
        "errors.where",
        finding.positions([words, *more, *fewer]),
        level="finding" if more else "undecided",
        **_name_marks(marks),
        rate=words.rate,
        low=low,
        high=high,
        unit=words.feature,
        often=bool(more),
        more=[_times(row) for row in more],
        seldom=bool(fewer),
        fewer=[_times(row) for row in fewer],
    )


def _times(row: ErrorRateRow) -> dict[str, Any]:
    low, high = row.ends("relative")
    return {"kind": gloss(row.feature), "times": row.relative, "low": low, "high": high}


def _name_marks(marks: str) -> dict[str, Any]:
    """The marks by their name, unless nobody gave them one."""
    return {"marks": "" if marks == _UNNAMED else metric_title(marks), "unnamed": marks == _UNNAMED}


def _systems(finding: Finding) -> Iterator[Message]:
    """Say how many differences hold, and the surest."""
    rows = [
        row
        for row in finding.records(ErrorRateDifferenceRow)
        if row.severity == "any" and row.decided
    ]
    for marks in dict.fromkeys(row.marks for row in rows):
        of_features = [row for row in rows if row.marks == marks and row.feature not in UNITS]
        if not of_features:
            continue
        row = of_features[0]
        first, second = row.system_a, row.system_b
        if row.difference < 0:
            first, second = second, first
        low, high = row.ends("difference")
        yield message(
            "errors.systems",
            finding.positions([row]),
            marks=_name_marks(marks)["marks"],
            differences=len(of_features),
            first=first,
            second=second,
            feature=gloss(row.feature),
            difference=row.difference,
            low=low,
            high=high,
            decided=True,
            p=row.p,
        )
