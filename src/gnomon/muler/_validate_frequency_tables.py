"""The columns of the frequency experiment, its summary, and how both may be looked at."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from gnomon.findings import Bars, Column, Lines, Listing, Table
from gnomon.muler._tables import VARIANTS
from gnomon.muler._validate_summary import averaged, known, means, middle

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gnomon.findings import Cell, View

__all__ = ["frequency_tables", "frequency_views"]

_COLUMNS = (
    Column("system", "System"),
    Column("metric", "Metric"),
    Column("feature", "Feature"),
    Column("variant", "Variant", help="ratio of means, or mean of clipped segment ratios"),
    Column("alpha", "alpha", "number", help="share of the feature asked for"),
    Column("share", "share", "number", 3, help="share that the first letters really hold"),
    Column("letters", "letters", help="first letters of the words that are left"),
    Column("segments", "|I|", "count", help="segments where both sides have what is left"),
    Column("muler", "MuLER", "share", 3, better="lower"),
    Column("gain", "max - base", "number", help="abl-MuLER"),
    Column("base", "base (I)", "number"),
    Column("oracle", "max", "number"),
    Column("anti_oracle", "min", "number"),
    Column("muler_change", "change of MuLER", "number", 3, help="relative to alpha = 1"),
    Column("gain_change", "change of max - base", "number", 3, help="relative to alpha = 1"),
    Column("steadier", "steadier", "truth", help="MuLER changes less than max - base"),
)

_SUMMARY = (
    Column("metric", "Metric"),
    Column("variant", "Variant"),
    Column("feature", "Feature", help="empty: all of them"),
    Column("alpha", "alpha", "number"),
    Column("systems", "systems", "count", help="systems (and features) averaged over"),
    Column("share", "share", "number", 3),
    Column("muler_change", "|change of MuLER|", "number", 3, help="median of absolute values"),
    Column("gain_change", "|change of max - base|", "number", 3, help="likewise"),
    Column("steadier", "steadier", "share", help="share of them with a steadier MuLER"),
)

_LISTED = "system feature alpha share letters segments muler gain muler_change gain_change steadier"

_LEFT_OUT = "Averages leave out systems with fewer than 20 segments in I."


def frequency_tables(rows: Sequence[Mapping[str, Cell]]) -> tuple[Table, Table]:
    """The records, and their averages per metric, variant, feature and alpha."""
    note = "A measure of quality should not change when a feature gets rarer."
    return (
        Table("frequency", "MuLER of a part of a feature", _COLUMNS, tuple(rows), note),
        Table("summary", "Averages over systems", _SUMMARY, tuple(_summary(rows)), _LEFT_OUT),
    )


def frequency_views(metrics: Sequence[str], alphas: Sequence[float]) -> tuple[View, ...]:
    """Lists per metric and variant; changes as bars; MuLER against the share that is left."""
    views: list[View] = []
    averages = tuple(c.name for c in _SUMMARY if c.name not in ("metric", "variant"))
    for metric, variant in product(metrics, VARIANTS):
        where: dict[str, Cell] = {"metric": metric, "variant": variant}
        kind = f"{metric} ({variant})"
        title = f"Robustness to frequency under {kind}"
        views.append(Listing("frequency", title, tuple(_LISTED.split()), where))
        views.append(Listing("summary", f"{title}: averages", averages, where))
        views.append(
            Lines(
                table="frequency",
                title=f"MuLER of a part of a feature under {kind}",
                x="share",
                y="muler",
                series="system",
                panels="feature",
                where=where,
            )
        )
        views.extend(_bars(kind, where, alpha) for alpha in alphas if alpha < 1)
    return tuple(views)


def _bars(kind: str, where: Mapping[str, Cell], alpha: float) -> Bars:
    return Bars(
        table="frequency",
        title=f"Relative changes from all of a feature to {alpha:g} of it under {kind}",
        category="feature",
        series="system",
        values=("muler_change", "gain_change"),
        where={**where, "alpha": alpha},
        beside="segments",
    )


def _summary(rows: Sequence[Mapping[str, Cell]]) -> list[dict[str, Cell]]:
    partial = [row for row in rows if row["alpha"] != 1]
    return [
        {
            **key,
            "systems": len(known(part, "steadier")),
            "share": means(known(part, "share")),
            "muler_change": middle([abs(v) for v in known(part, "muler_change")]),
            "gain_change": middle([abs(v) for v in known(part, "gain_change")]),
            "steadier": means(known(part, "steadier")),
        }
        for key, part in averaged(partial, "metric", "variant", "feature", "alpha")
    ]
