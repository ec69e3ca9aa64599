"""The table of the discrepancy breakdown, and how it may be looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.findings import Column, HeatMap, Listing, StackedBars, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gnomon.findings import Cell, View

__all__ = ["PARTS", "discrepancy_table", "discrepancy_views"]

PARTS = ("miss", "hit", "add", "neither")
_TABLE = "discrepancy"
_SIDE_BY_SIDE = 2  # systems that text lists one below the other; more go into heat maps
_HELP = {
    "miss": "segments with less of it in the candidate",
    "hit": "segments with equally much of it, and some",
    "add": "segments with more of it in the candidate",
    "neither": "segments without it on both sides",
}
_LISTED = ("feature", *PARTS, "per_reference", "per_candidate")


def discrepancy_table(rows: Sequence[Mapping[str, Cell]]) -> Table:
    """The table of the contract."""
    ends = (
        Column(f"{part}_{end}", f"{part} {end}", "share", help="of the bootstrap interval")
        for part in PARTS
        for end in ("low", "high")
    )
    columns = (
        Column("system", "System"),
        Column("feature", "Feature"),
        Column("slice", "Slice", help="the segments looked at; empty for all of them"),
        Column("segments", "segments", "count", help="that have a reference"),
        *(
            Column(part, part, "share", help=text, ends=(f"{part}_low", f"{part}_high"))
            for part, text in _HELP.items()
        ),
        *ends,
        Column("per_reference", "per reference", "number", help="occurrences per segment"),
        Column("per_candidate", "per candidate", "number", help="likewise in the candidate"),
    )
    note = "Shares of all segments. miss: less in the candidate; add: more; hit: equally much."
    return Table(_TABLE, "Discrepancy by feature and system", columns, tuple(rows), note)


def discrepancy_views(table: Table) -> tuple[View, ...]:
    """Stacked bars; in text a listing of one or two systems, or heat maps of more."""
    parts = list(dict.fromkeys(table.values("slice")))
    systems = list(dict.fromkeys(table.values("system")))
    told: list[View] = []
    for part in parts:
        place = "" if part is None else f", {part}"
        if len(systems) > _SIDE_BY_SIDE:
            told += [_heat_map(name, part, place) for name in ("miss", "add")]
        else:
            told += [
                Listing(_TABLE, f"Discrepancy of {s}{place}", _LISTED, {"system": s, "slice": part})
                for s in systems
            ]
    return (*told, *(_stacked(part) for part in parts))


def _heat_map(name: str, part: Cell, place: str) -> HeatMap:
    return HeatMap(
        table=_TABLE,
        title=f"{name}: {_HELP[name]}{place}",
        rows="feature",
        columns="system",
        value=name,
        where={"slice": part},
        low=0.0,
    )


def _stacked(part: Cell) -> StackedBars:
    return StackedBars(
        table=_TABLE,
        title="Too few, equally many, too many",
        category="feature",
        series="system",
        parts=("miss", "hit", "add"),
        where={"slice": part},
    )
