"""The columns of the range experiment, its summary, and how both may be looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.findings import Column, HeatMap, Lines, Listing, Table
from gnomon.muler._validate_summary import averaged, known, means

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gnomon.findings import Cell, View

__all__ = ["range_tables", "range_views"]

_COLUMNS = (
    Column("system", "System"),
    Column("metric", "Metric"),
    Column("feature", "Feature"),
    Column("alpha", "alpha", "number", help="share of the feature asked for"),
    Column("share", "share", "number", 3, help="share that the first letters really hold"),
    Column("letters", "letters", help="first letters that are masked alike on both sides"),
    Column("segments", "|I|", "count", help="segments where both sides have the whole feature"),
    Column("anti_oracle", "min", "number", help="mean over I, masked differently on each side"),
    Column("oracle", "max", "number", help="mean over I, masked alike on both sides"),
    Column("hybrid", "hybrid", "number", help="the first letters masked alike, others differently"),
    Column("expected", "expected", "number", help="min + share (max - min)"),
    Column("deviation", "deviation", "number", help="hybrid - expected"),
    Column("relative_deviation", "relative", "number", 3, help="deviation / (max - min)"),
    Column("position", "position", "number", 3, help="(hybrid - min) / (max - min)"),
    Column("rises", "rises", "truth", help="the hybrid lies no lower than at the share before"),
)

_SUMMARY = (
    Column("metric", "Metric"),
    Column("feature", "Feature", help="empty: all of them"),
    Column("alpha", "alpha", "number"),
    Column("systems", "systems", "count", help="systems (and features) averaged over"),
    Column("share", "share", "number", 3),
    Column("relative_deviation", "relative deviation", "number", 3, help="mean, signed"),
    Column("absolute", "|relative deviation|", "number", 3, help="mean of absolute values"),
    Column("largest", "largest", "number", 3, help="largest absolute value"),
    Column("rising", "rising", "share", help="share of them in which the hybrid rises"),
)

_LEFT_OUT = "Averages leave out systems with fewer than 20 segments in I."


def range_tables(rows: Sequence[Mapping[str, Cell]]) -> tuple[Table, Table]:
    """The records, and their averages per metric, feature and alpha."""
    note = "An even scale gives position = share; deviation = hybrid - (min + share (max - min))."
    return (
        Table("range", "Hybrids between the oracles", _COLUMNS, tuple(rows), note),
        Table("summary", "Averages over systems", _SUMMARY, tuple(_summary(rows)), _LEFT_OUT),
    )


def range_views(metrics: Sequence[str], alphas: Sequence[float]) -> tuple[View, ...]:
    """Lists per metric; position against share; heat maps of the deviation."""
    shown = tuple(c.name for c in _COLUMNS if c.name not in ("metric", "position"))
    averages = tuple(c.name for c in _SUMMARY if c.name != "metric")
    views: list[View] = []
    for metric in metrics:
        where: dict[str, Cell] = {"metric": metric}
        views.append(Listing("range", f"Range under {metric}", shown, where))
        views.append(Listing("summary", f"Range under {metric}: averages", averages, where))
        views.append(
            Lines(
                table="range",
                title=f"Where hybrids lie between min and max under {metric}",
                x="share",
                y="position",
                series="system",
                panels="feature",
                where=where,
                identity=True,
            )
        )
    return (*views, *(_heat_map(metric, alpha) for metric in metrics for alpha in alphas))


def _heat_map(metric: str, alpha: float) -> HeatMap:
    return HeatMap(
        table="range",
        title=f"Relative deviation from an even scale under {metric}, alpha {alpha:g}",
        rows="feature",
        columns="system",
        value="relative_deviation",
        beside="segments",
        where={"metric": metric, "alpha": alpha},
        low=-0.5,
        high=0.5,
        prominent=False,
    )


def _summary(rows: Sequence[Mapping[str, Cell]]) -> list[dict[str, Cell]]:
    return [
        {**key, "systems": len(known(part, "relative_deviation")), **_averages(part)}
        for key, part in averaged(rows, "metric", "feature", "alpha")
    ]


def _averages(part: Sequence[Mapping[str, Cell]]) -> dict[str, Cell]:
    deviations = known(part, "relative_deviation")
    sizes = [abs(value) for value in deviations]
    return {
        "share": means(known(part, "share")),
        "relative_deviation": means(deviations),
        "absolute": means(sizes),
        "largest": max(sizes, default=None),
        "rising": means(known(part, "rises")),
    }
