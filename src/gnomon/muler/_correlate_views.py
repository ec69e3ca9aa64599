"""How correlations over many systems and test sets may be looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.findings import HeatMap, Scatter
from gnomon.muler._correlate_groups import EVERY_PAIR, KINDS
from gnomon.muler._correlate_pools import ALL, CENTRED
from gnomon.muler._slices import drawn_slices

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.findings import Cell, Table, View
    from gnomon.muler._tables import Variant

__all__ = ["views"]


def views(
    tables: Mapping[str, Table], metrics: Sequence[str], variants: Sequence[Variant]
) -> tuple[View, ...]:
    """Heat maps of correlations, scatter plots, groups, frequency; per metric and variant.

    Args:
        tables: the tables of the finding by name.
        metrics: names of the metrics.
        variants: definitions of MuLER; the first is the one that text shows.
    """
    found: list[View] = []
    for metric in metrics:
        for variant in variants:
            first = variant == variants[0]
            found += _maps(tables["correlations"], metric, variant, first=first)
    for metric in metrics:
        where: dict[str, Cell] = {"metric": metric, "variant": variants[0], "slice": None}
        found += _scatters(tables["systems"], where)
        found += _group_maps(tables["groups"], metric, variants[0])
        found += _frequency(metric, variants[0])
    return tuple(found)


def _maps(table: Table, metric: str, variant: Variant, *, first: bool) -> Iterator[View]:
    """Features by test sets for each score; features by scores for each test set; slices."""
    sets = list(dict.fromkeys(str(name) for name in table.values("test_set")))
    parts = drawn_slices(list(dict.fromkeys(table.values("slice"))))
    present = {(row["test_set"], row["slice"]) for row in table.rows}
    several = len(sets) > 1
    pooled_first = sorted(sets, key=lambda name: name not in (ALL, CENTRED))
    kind = "" if variant == "ratio" else f" ({variant})"
    beside = {metric: metric, "indices": f"{metric} over I", "spread": "max - min"}
    for part in parts:
        where: dict[str, Cell] = {"metric": metric, "variant": variant, "slice": part}
        place = "" if part is None else f", {part}"
        for what, name in beside.items() if several else ():
            title = f"Correlation of -MuLER{kind} with {name}{place}"
            shown = first and (part is None or what == metric)
            yield _map(title, "test_set", {**where, "with": what}, prominent=shown)
        for name in (one for one in pooled_first if (one, part) in present):
            title = f"Correlations of -MuLER{kind} on {name}{place}"
            yield _map(title, "with", {**where, "test_set": name}, prominent=first and not several)


def _map(title: str, columns: str, where: Mapping[str, Cell], *, prominent: bool) -> HeatMap:
    return HeatMap(
        table="correlations",
        title=title,
        rows="feature",
        columns=columns,
        value="r",
        beside="segments",
        where=where,
        low=-1.0,
        high=1.0,
        faint="faint",
        under="n",
        prominent=prominent,
    )


def _scatters(table: Table, where: Mapping[str, Cell]) -> Iterator[View]:
    metric = where["metric"]
    known = [name for name in ("year", "architecture") if len(set(table.values(name))) > 1]
    for series in ("test_set", *known):
        colour = "" if series == "test_set" else f", by {series}"
        for x, name in (("score", metric), ("spread", "max - min")):
            yield Scatter(
                table="systems",
                title=f"MuLER against {name}, one point per system{colour}",
                x=x,
                y="muler",
                label="system",
                series=series,
                panels="feature",
                where=where,
            )


def _group_maps(table: Table, metric: str, variant: Variant) -> Iterator[View]:
    present = {(row["kind"], row["group"]) for row in table.rows}
    for kind in KINDS:
        if sum(name == kind for name, _ in present) > 1:
            yield HeatMap(
                table="groups",
                title=f"Mean MuLER under {metric}, by {kind}",
                rows="feature",
                columns="group",
                value="muler",
                where={
                    "kind": kind,
                    "language_pair": EVERY_PAIR,
                    "metric": metric,
                    "variant": variant,
                },
                low=0.0,
                high=1.0,
                under="systems",
            )


def _frequency(metric: str, variant: Variant) -> Iterator[View]:
    for x, name in (("per_hundred", "how often"), ("uniqueness", "in how many forms")):
        yield Scatter(
            table="frequency",
            title=f"MuLER under {metric} against {name} the best system uses a feature",
            x=x,
            y="muler",
            label="feature",
            panels="test_set",
            where={"metric": metric, "variant": variant},
        )
