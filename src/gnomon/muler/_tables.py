"""The columns of a MuLER finding, its records, and how they may be looked at."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from gnomon.findings import Bars, Column, HeatMap, Listing, StackedBars, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.findings import Cell, View
    from gnomon.muler._figures import Figures
    from gnomon.muler._significance import Ends

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
    Column("below", "base < min", "count", help="segments of I scored below their anti-oracle"),
    Column("ordered", "max > base > min", "share", help="segments of I where all three differ so"),
    Column("outside", "outside [0, 1]", "truth", help="the two sides are tagged differently"),
)

_INTERVALS = (
    "muler",
    "base",
    "base_all",
    "oracle",
    "anti_oracle",
    "spread",
    "gain",
    "add",
    "miss",
    "hit",
    "neither",
)

_LISTED_SYSTEMS = 2  # that text lists one below the other; of more, heat maps tell enough
_LISTED = (
    "feature",
    "segments",
    "muler",
    "muler_low",
    "muler_high",
    "base",
    "oracle",
    "anti_oracle",
    "gain",
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
    figures: Figures,
    *,
    system: str,
    metric: str,
    feature: str,
    part: str | None,
    ends: Mapping[str, Ends] | None = None,
) -> dict[Variant, dict[str, Cell]]:
    """The records of one system, feature and slice, one per variant.

    Args:
        figures: the figures.
        system: name of the system.
        metric: name of the metric.
        feature: name of the feature.
        part: name of the slice, ``None`` for all segments.
        ends: the ends of the intervals, by the name of the figure ("clipped": MuLER of the
            variant "segment-clipped"); ``None`` where none were asked for.
    """
    found: dict[Variant, dict[str, Cell]] = {}
    for variant, name in zip(VARIANTS, ("muler", "clipped"), strict=True):
        value: float | None = getattr(figures, name)
        own = None if ends is None else {**ends, "muler": ends[name]}
        found[variant] = {
            "system": system,
            "metric": metric,
            "feature": feature,
            "variant": variant,
            "slice": part,
            "segments": figures.segments,
            **dict(_with_ends("muler", value, own)),
            **{k: v for n in _INTERVALS[1:] for k, v in _with_ends(n, getattr(figures, n), own)},
            "negative": figures.negative,
            "below": figures.below,
            "ordered": figures.ordered,
            "outside": value is not None and not 0 <= value <= 1,
        }
    return found


def _with_ends(
    name: str, value: float | None, ends: Mapping[str, Ends] | None
) -> Iterator[tuple[str, float | None]]:
    yield name, value
    if ends is not None:
        yield f"{name}_low", ends[name][0]
        yield f"{name}_high", ends[name][1]


def main_table(rows: Sequence[Mapping[str, Cell]], confidence: float | None = None) -> Table:
    """The table of the contract; with the intervals of that confidence, if they were asked for."""
    note = "Lower MuLER is better: 0 = all of the reachable gain is earned, 1 = none of it."
    columns: tuple[Column, ...] = _COLUMNS
    if confidence is not None:
        columns = tuple(made for column in _COLUMNS for made in _intervals(column, confidence))
    return Table("muler", "MuLER by feature and system", columns, tuple(rows), note)


def _intervals(column: Column, confidence: float) -> Iterator[Column]:
    if column.name not in _INTERVALS:
        yield column
        return
    ends = (f"{column.name}_low", f"{column.name}_high")
    yield replace(column, ends=ends)
    for name, title, end in zip(ends, ("low", "high"), ("lower", "upper"), strict=True):
        text = f"{end} end of the {100 * confidence:g} % interval of {column.title}"
        # a number: an end outside [0, 1] is nothing to flag
        yield replace(column, name=name, title=title, kind="number", better=None, help=text)


def negative_table(rows: Sequence[Mapping[str, Cell]], left_out: int = 0) -> Table:
    """The segments whose base exceeds their oracle, largest excess first within a feature."""
    note = "The two sides are tagged differently here: masking takes a match away."
    if left_out:
        note += (
            f" Of each feature and system the largest are listed, and {left_out} are not; column"
            " 'base > max' of the main table counts all."
        )
    return Table("negative", "Segments scored above their oracle", _NEGATIVE, tuple(rows), note)


def views(
    metrics: Sequence[str],
    variants: Sequence[Variant],
    parts: Sequence[str | None],
    shown: Sequence[str],
    table: Table,
) -> tuple[View, ...]:
    """Heat maps per metric, variant and slice; then bars of one or two systems, groups, shares.

    Of one or two systems text also lists each with its companion figures.

    Args:
        metrics: names of the metrics.
        variants: the variants asked for.
        parts: names of the slices, ``None`` for all segments.
        shown: the systems picked at first.
        table: the main table.
    """
    found: list[View] = [
        _heat_map(metric, variant, part, prominent=variant == variants[0])
        for metric in metrics
        for part in parts
        for variant in variants
    ]
    if len(shown) <= _LISTED_SYSTEMS:
        listed = tuple(n for n in _LISTED if n in {column.name for column in table.columns})
        found += [
            _listing(metric, variants[0], system, listed) for metric in metrics for system in shown
        ]
    for metric in metrics:
        found.extend(_bars(metric, variants[0], tuple(shown)))
    return tuple(found)


def _listing(metric: str, variant: Variant, system: str, columns: tuple[str, ...]) -> Listing:
    kind = "" if variant == "ratio" else f" ({variant})"
    where: dict[str, Cell] = {
        "metric": metric,
        "variant": variant,
        "slice": None,
        "system": system,
    }
    return Listing("muler", f"{system} under {metric}{kind}", columns, where)


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
