"""Sentences on metrics from minimal pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gnomon.core.reading_order import MOST
from gnomon.core.verdicts import titles_of
from gnomon.messages import message
from gnomon.stress.figures import StressOverallRow, StressRow

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.core.findings import Finding
    from gnomon.core.records import Record
    from gnomon.messages import Message

__all__ = ["stress_verdict"]

#: critical errors are to be penalised more than harmless changes in so many comparisons
_PENALISED = 0.8
#: metrics whose errors detected and missed are said
_PROFILES = 2
#: the share of sanity inputs that pass as good outputs which is said
_TAKEN_IN = 0.01


def stress_verdict(finding: Finding) -> Iterator[Message]:
    """Errors that each metric detects and misses, the best metric first, and what limits that."""
    every = finding.records(StressRow)
    rows = [row for row in every if row.status != "repeated"]
    titles = titles_of(finding)
    ranked = sorted(
        (row for row in finding.records(StressOverallRow) if not row.control),
        key=lambda row: -(row.detected or 0.0),
    )
    of_metrics = [row for row in rows if not row.control]
    errors = [row for row in of_metrics if row.kind == "error"]
    profiles = [
        list(_profile(finding, titles[of.metric], [r for r in errors if r.metric == of.metric]))
        for of in ranked
    ]
    first = [
        *_unusable(finding, every, "repeated"),
        *_sanity(finding, titles, of_metrics),
        *[statement for profile in profiles for statement in profile[:1]][:_PROFILES],
    ]
    limits = (
        *(list(_say_crossed(finding, titles, of_metrics)) or _wording(finding, titles, errors)),
        *_penalties(finding, titles, ranked),
        *(statement for profile in profiles for statement in profile[1:]),
        *_controls(finding, rows),
        *_unusable(finding, every, "few"),
    )
    yield from [*first, *limits][:MOST]


def _unusable(finding: Finding, rows: Sequence[StressRow], status: str) -> Iterator[Message]:
    """Kinds of which nothing can be said; they are the same under all metrics."""
    some = [row for row in rows if row.status == status and row.metric == rows[0].metric]
    if some:
        names = [row.phenomenon for row in some]
        yield message("stress.few", finding.positions(some), names=names, why=status)


def _profile(finding: Finding, title: str, errors: Sequence[StressRow]) -> Iterator[Message]:
    of_status: dict[str, list[StressRow]] = {}
    for row in sorted(errors, key=lambda row: -(row.detected or 0.0)):
        of_status.setdefault(row.status, []).append(row)
    detected, missed = of_status.get("detects", []), of_status.get("misses", [])[::-1]
    if detected or missed:
        found = "some" if missed else "all"
        yield message(
            "stress.detects",
            finding.positions([*detected, *missed]),
            title=title,
            found=found if detected else "none",
            detected=_shares(detected),
            missed=_shares(missed),
        )
    blind = of_status.get("blind", [])
    if blind:
        places = finding.positions(blind)
        yield message("stress.blind", places, title=title, phenomena=_shares(blind))
    undecided = of_status.get("undecided", [])
    if undecided and not (detected or missed or blind):
        places = finding.positions(undecided)
        yield message("stress.undecided", places, title=title, phenomena=_shares(undecided))


def _shares(rows: Sequence[StressRow]) -> list[dict[str, Any]]:
    return [{"phenomenon": row.phenomenon, **_share(row, "detected")} for row in rows]


def _share(row: Record, name: str) -> dict[str, Any]:
    """A share with its interval."""
    low, high = row.ends(name)
    return {"share": getattr(row, name) or 0.0, "low": low, "high": high}


def _other(row: Record, name: str) -> dict[str, Any]:
    """A share with its interval, beside another one."""
    return {f"other_{part}": value for part, value in _share(row, name).items()}


def _wording(
    finding: Finding, titles: Mapping[str, str], errors: Sequence[StressRow]
) -> Iterator[Message]:
    """Where the words of the reference decide, most of all."""
    apart = [
        ((row.detected_worded or 0.0) - (row.detected_unworded or 0.0), row)
        for row in errors
        if (row.ends("detected_worded")[0] or 0.0) > (row.ends("detected_unworded")[1] or 1.0)
    ]
    if apart:
        _, row = max(apart, key=lambda item: item[0])
        yield message(
            "stress.wording",
            finding.positions([row]),
            title=titles[row.metric],
            phenomenon=row.phenomenon,
            other="unworded",
            pairs=row.unworded_pairs,
            **_share(row, "detected_worded"),
            **_other(row, "detected_unworded"),
        )


def _penalties(
    finding: Finding, titles: Mapping[str, str], ranked: Sequence[StressOverallRow]
) -> Iterator[Message]:
    """Critical errors beside harmless changes, of all metrics in one sentence."""
    name = "critical_penalised_more"
    some = [row for row in ranked if (row.ends(name)[1] or 1.0) < _PENALISED]
    if some:
        some.sort(key=lambda row: row.critical_penalised_more or 0.0)
        shares = [{"title": titles[row.metric], **_share(row, name)} for row in some]
        yield message("stress.penalties", finding.positions(some), shares=shares)


def _sanity(
    finding: Finding, titles: Mapping[str, str], rows: Sequence[StressRow]
) -> Iterator[Message]:
    """The text that is no translation and passes most often as a good output."""
    some = [row for row in rows if row.kind == "sanity" and row.status != "few"]
    row = min(some, key=lambda row: row.detected or 0.0, default=None)
    if row is not None and 1 - (row.detected or 0.0) >= _TAKEN_IN:
        yield message(
            "stress.sanity",
            finding.positions([row]),
            title=titles[row.metric],
            input=row.phenomenon,
            share=1 - (row.detected or 0.0),
        )


def _say_crossed(
    finding: Finding, titles: Mapping[str, str], rows: Sequence[StressRow]
) -> Iterator[Message]:
    """The errors that a metric no longer detects where the right text is worded otherwise."""
    plain_rows = {(row.metric, f"{row.phenomenon}, crossed"): row for row in rows}
    gaps = []
    for row in rows:
        plain = plain_rows.get((row.metric, row.phenomenon))
        if row.kind != "crossed" or row.status == "few" or plain is None:
            continue
        if (plain.ends("detected")[0] or 0.0) > (row.ends("detected")[1] or 0.0):
            gaps.append(((plain.detected or 0.0) - (row.detected or 0.0), plain, row))
    if gaps:
        _, plain, row = max(gaps, key=lambda item: item[0])
        yield message(
            "stress.wording",
            finding.positions([plain, row]),
            title=titles[row.metric],
            phenomenon=plain.phenomenon,
            other="crossed",
            **_share(plain, "detected"),
            **_other(row, "detected"),
        )


def _controls(finding: Finding, rows: Sequence[StressRow]) -> Iterator[Message]:
    """Errors that a control detects as well."""
    some = [row for row in rows if row.control and row.kind == "error" and row.status == "detects"]
    if some:
        names = [
            {"metric": row.metric, **shares}
            for row, shares in zip(some, _shares(some), strict=True)
        ]
        yield message("stress.control", finding.positions(some), phenomena=names)
