"""The columns of a MuLER finding, its records, and how they may be looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from gnomon.findings import Bars, Column, HeatMap, StackedBars, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gnomon.findings import Cell, View
    from gnomon.muler._figures import Figures

__all__ = ["VARIANTS", "Variant", "main_table", "negative_table", "rows_of", "views"]

Variant: TypeAlias = Literal["ratio", "segment-clipped"]
VARIANTS: tuple[Variant, ...] = ("ratio", "segment-clipped")

_COLUMNS = (
    Column("system", "System"),
    Column("metric", "Metric"),
    Column("feature", "Feature"),
    Column("variant", "Variant", help="ratio of means, or mean of clipped segment ratios"),
    Column("slice", "Slice", help="the segments looked at; empty for all of them"),
    Column(
        "segments", "|I|", "count", help="segments where candidate and a reference have the feature"
    ),
    Column(
        "muler", "MuLER", "share", better="lower", help="share of the reachable gain not earned"
    ),
    Column("base", "base (I)", "number", help="mean sentence score over I"),
    Column("base_all", "base (all)", "number", help="mean sentence score over all segments"),
    Column("oracle", "max", "number", help="mean over I, the feature masked alike on both sides"),
    Column("anti_oracle", "min", "number", help="mean over I, masked differently on each side"),
    Column("spread", "max - min", "number", help="what the feature can move"),
    Column("gain", "max - base", "number", help="what is left to gain (abl-MuLER)"),
    Column("add", "add", "share", help="segments with more of it in the candidate"),
    Column("miss", "miss", "share", help="segments with more of it in the reference"),
    Column("hit", "hit", "share", help="segments with equally much of it, and some"),
    Column("neither", "neither", "share", help="segments without it on both sides"),
    Column("negative", "base > max", "count", help="segments of I scored above their oracle"),
    Column("outside", "outside [0, 1]", help="the two sides are tagged differently"),
)

_NEGATIVE = (
    Column("metric", "Metric"),
    Column("feature", "Feature"),
    Column("system", "System"),
    Column("segment", "Segment", "count", help="1-based"),
    Column("base", "base", "number"),
    Column("oracle", "max", "number"),
    Column("anti_oracle", "min", "number"),
)


def rows_of(
    figures: Figures, *, system: str, metric: str, feature: str, part: str | None
) -> dict[Variant, dict[str, Cell]]:
    """The records of one system, feature and slice, one per variant."""
    found: dict[Variant, dict[str, Cell]] = {}
    for variant, value in zip(VARIANTS, (figures.muler, figures.clipped), strict=True):
        found[variant] = {
            "system": system,
            "metric": metric,
            "feature": feature,
            "variant": variant,
            "slice": part,
            "segments": figures.segments,
            "muler": value,
            "base": figures.base,
            "base_all": figures.base_all,
            "oracle": figures.oracle,
            "anti_oracle": figures.anti_oracle,
            "spread": figures.spread,
            "gain": figures.gain,
            "add": figures.add,
            "miss": figures.miss,
            "hit": figures.hit,
            "neither": figures.neither,
            "negative": figures.negative,
            "outside": value is not None and not 0 <= value <= 1,
        }
    return found


def main_table(rows: Sequence[Mapping[str, Cell]]) -> Table:
    """The table of the contract."""
    note = "Lower MuLER is better: 0 = all of the reachable gain is earned, 1 = none of it."
    return Table("muler", "MuLER by feature and system", _COLUMNS, tuple(rows), note)


def negative_table(rows: Sequence[Mapping[str, Cell]]) -> Table:
    """The segments whose base exceeds their oracle, largest excess first within a feature."""
    note = "The two sides are tagged differently here: masking takes a match away."
    return Table("negative", "Segments scored above their oracle", _NEGATIVE, tuple(rows), note)


def views(
    metrics: Sequence[str],
    variants: Sequence[Variant],
    parts: Sequence[str | None],
    shown: Sequence[str],
) -> tuple[View, ...]:
    """Heat maps per metric, variant and slice; then bars of one or two systems, groups, shares.

    Args:
        metrics: names of the metrics.
        variants: the variants asked for.
        parts: names of the slices, ``None`` for all segments.
        shown: the systems picked at first.
    """
    found: list[View] = [
        _heat_map(metric, variant, part, prominent=variant == variants[0])
        for metric in metrics
        for part in parts
        for variant in variants
    ]
    for metric in metrics:
        found.extend(_bars(metric, variants[0], tuple(shown)))
    return tuple(found)


def _heat_map(metric: str, variant: Variant, part: str | None, *, prominent: bool) -> HeatMap:
    where: dict[str, Cell] = {"metric": metric, "variant": variant, "slice": part}
    place = "" if part is None else f", {part}"
    kind = "" if variant == "ratio" else " (segment-clipped)"
    return HeatMap(
        table="muler",
        title=f"MuLER under {metric}{kind}{place}",
        rows="feature",
        columns="system",
        value="muler",
        beside="segments",
        where=where,
        low=0.0,
        high=1.0,
        marks="outside",
        exhibits=True,
        prominent=prominent,
    )


def _bars(metric: str, variant: Variant, shown: tuple[str, ...]) -> tuple[View, ...]:
    where: dict[str, Cell] = {"metric": metric, "variant": variant, "slice": None}
    return (
        Bars(
            table="muler",
            title=f"One or two systems under {metric}: what each feature costs",
            category="feature",
            series="system",
            values=("muler", "base", "spread"),
            where=where,
            shown=shown[:2],
            most=2,
            beside="segments",
        ),
        Bars(
            table="muler",
            title=f"Systems side by side under {metric}",
            category="feature",
            series="system",
            values=("muler",),
            where=where,
            shown=shown,
        ),
        StackedBars(
            table="muler",
            title="Too few, equally many, too many: discrepancy of counts",
            category="feature",
            series="system",
            parts=("miss", "hit", "add"),
            where=where,
        ),
    )
