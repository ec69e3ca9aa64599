"""Sentences on faults of outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.check.figures import ALL, TRANSLATED, UNTRANSLATED, FaultDifferenceRow, RateRow
from gnomon.core.verdicts import metric_title
from gnomon.linguistics.faults.kinds import fault_kinds
from gnomon.linguistics.faults.texts import REFERENCE
from gnomon.messages import message

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from gnomon.core.findings import Finding
    from gnomon.messages import Message

__all__ = ["check_verdict"]

#: systems, kinds and comparisons that are said, at most
_SYSTEMS, _KINDS, _COSTS, _RATES = 3, 3, 2, 2


def check_verdict(finding: Finding) -> Iterator[Message]:
    """Outputs that are no translations, what that costs, marks that are lost, and rates."""
    rates = finding.records(RateRow)
    systems = [row for row in rates if not row.system.startswith(REFERENCE)]
    references = [row for row in rates if row.system.startswith(REFERENCE)]
    groups = {name: one.group for name, one in fault_kinds().items()}
    missing = sorted(
        (row for row in systems if row.kind == UNTRANSLATED and row.hits), key=lambda r: -r.hits
    )
    if not missing and any(row.kind == UNTRANSLATED for row in systems):
        yield _say_translated(finding, systems, groups)
    for row in missing[:_SYSTEMS]:
        own = [one for one in systems if one.system == row.system]
        of_kinds = [one for one in own if groups.get(one.kind) == UNTRANSLATED and one.hits]
        yield message(
            "check.untranslated",
            finding.positions([row, *of_kinds]),
            system=row.system,
            hits=row.hits,
            segments=row.segments,
            share=row.share,
            low=row.ends("share")[0],
            high=row.ends("share")[1],
            kinds=_kinds(of_kinds),
        ).about(systems=[row.system])
    there = any(table.name == "differences" for table in finding.tables)
    differences = finding.records(FaultDifferenceRow, "differences") if there else ()
    yield from _costs(finding, differences)
    yield from _differences(finding, differences)
    if not references:  # whose rate of changed numbers they would be compared with
        groups["number"] = "kept"
    yield from _say_other_faults(finding, systems, groups)
    yield from _rates(finding, systems, references, groups)
    hit = [row for row in references if row.listed and groups.get(row.kind) not in (None, "rate")]
    if hit:
        yield message(
            "check.reference",
            finding.positions(hit),
            names=list(dict.fromkeys(row.system.removeprefix(REFERENCE) for row in hit)),
            kinds=_kinds(hit),
        )


def _kinds(rows: Iterable[RateRow]) -> list[dict[str, Any]]:
    """Kinds with their hits, the most frequent first."""
    ordered = sorted(rows, key=lambda row: -row.listed)
    return [{"kind": row.kind, "hits": row.listed} for row in ordered]


def _say_translated(
    finding: Finding, systems: Sequence[RateRow], groups: Mapping[str, str]
) -> Message:
    rows = [row for row in systems if row.kind == UNTRANSLATED]
    kinds = dict.fromkeys(row.kind for row in systems if groups.get(row.kind) == UNTRANSLATED)
    most = max(rows, key=lambda row: row.ends("share")[1] or 0.0)
    return message(
        "check.translated",
        finding.positions(rows),
        systems=[row.system for row in rows],
        looked=[{"kind": kind} for kind in kinds],
        segments=most.segments,
        high=most.ends("share")[1],
    )


def _say_other_faults(
    finding: Finding, systems: Sequence[RateRow], groups: Mapping[str, str]
) -> Iterator[Message]:
    """Say the other faults of systems: shape, marks to keep, prescribed terms."""
    some = [
        row
        for row in systems
        if row.listed
        and row.kind != UNTRANSLATED
        and groups.get(row.kind) not in (UNTRANSLATED, "rate")
    ]
    some.sort(key=lambda row: -row.listed / max(row.segments, 1))
    of_kind: dict[str, list[RateRow]] = {}
    for row in some:
        of_kind.setdefault(row.kind, []).append(row)
    for kind, rows in list(of_kind.items())[:_KINDS]:
        first = rows[0]
        yield message(
            "check.faults",
            finding.positions(rows),
            fault=kind,
            plural=kind,
            system=first.system,
            hits=first.listed,
            segments=first.segments,
            more=len(rows) > 1,
            others=[{"name": row.system, "count": row.listed} for row in rows[1:3]],
        ).about(systems=[row.system for row in rows])


def _costs(finding: Finding, rows: Sequence[FaultDifferenceRow]) -> Iterator[Message]:
    """Comparisons whose answer depends on what was not translated."""
    whole = {(r.kind, r.system): r for r in rows if r.on == ALL}
    changed = []
    for row in rows:
        before = whole.get((row.kind, row.system))
        if row.on == TRANSLATED and before is not None:
            differs = (row.decided, row.gain > 0) != (before.decided, before.gain > 0)
            weight = abs(row.gain - before.gain) * (3 if differs and row.decided else 1)
            told = row.decided or before.decided
            if told and (weight >= 0.5 or differs):
                changed.append((weight, before, row))
    for _, before, row in sorted(changed, key=lambda one: -one[0])[:_COSTS]:
        yield message(
            "check.cost",
            finding.positions([before, row]),
            metric=metric_title(row.kind),
            system=row.system,
            baseline=row.baseline,
            segments=row.segments,
            whole=_name_outcome(before),
            part=_name_outcome(row),
            decided=True,
            **_amount("", before),
            **_amount("other_", row),
        )


def _name_outcome(row: FaultDifferenceRow) -> str:
    if not row.decided:
        return "undecided"
    return "better" if row.gain > 0 else "worse"


def _amount(prefix: str, row: FaultDifferenceRow) -> dict[str, Any]:
    """A difference, positive, with its ends."""
    low, high = row.gain_ends
    if row.gain < 0 and low is not None and high is not None:
        low, high = -high, -low
    return {f"{prefix}gain": abs(row.gain), f"{prefix}low": low, f"{prefix}high": high}


def _differences(finding: Finding, rows: Sequence[FaultDifferenceRow]) -> Iterator[Message]:
    """Kinds in which a system differs from the baseline, the largest difference first."""
    kinds = {row.kind for row in finding.records(RateRow)}
    decided = [row for row in rows if row.kind in kinds and row.decided]
    decided.sort(key=lambda row: -abs(row.difference or 0.0))
    for row in decided[:1]:
        yield message(
            "check.difference",
            finding.positions([row]),
            kind=row.kind,
            system=row.system,
            baseline=row.baseline,
            more="more" if (row.difference or 0.0) > 0 else "fewer",
            segments=row.segments,
            p=row.p,
            **_amount("", row),
        )


def _rates(
    finding: Finding,
    systems: Sequence[RateRow],
    references: Sequence[RateRow],
    groups: Mapping[str, str],
) -> Iterator[Message]:
    """Rates of systems that lie above those of the references, intervals apart."""
    floor: dict[str, RateRow] = {}
    for row in references:
        if groups.get(row.kind) == "rate":
            known = floor.get(row.kind, row)
            floor[row.kind] = max(known, row, key=lambda one: one.share or 0.0)
    apart = [
        (row, floor[row.kind])
        for row in systems
        if row.kind in floor
        and (row.ends("share")[0] or 0.0) > (floor[row.kind].ends("share")[1] or 0.0)
    ]
    apart.sort(key=lambda pair: (pair[1].share or 0.0) - (pair[0].share or 0.0))
    for row, beside in apart[:_RATES]:
        low, high = row.ends("share")
        yield message(
            "check.rate",
            finding.positions([row, beside]),
            what=row.kind,
            system=row.system,
            share=row.share,
            low=low,
            high=high,
            reference_share=beside.share,
            segments=row.segments,
        )
