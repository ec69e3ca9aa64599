"""The columns of the specificity experiment, and how its tables may be looked at."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from gnomon.findings import Bars, Column, HeatMap, Lines, Listing, Table
from gnomon.muler._tables import VARIANTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gnomon.findings import Cell, View

__all__ = ["specificity_tables", "specificity_views"]

_KEYS = (Column("system", "System"), Column("metric", "Metric"))
_VARIANT = Column("variant", "Variant", help="ratio of means, or mean of clipped segment ratios")
_MULER = Column("muler", "MuLER", "number", 3, better="lower")
_GROUPS = Column("groups", "p", "count", help="groups that the vocabulary is split into")
_DRAWS = Column("draws", "draws", "count", help="random features with a defined MuLER")
_MOMENTS = (
    Column("mean", "mean", "number", 3, help="mean MuLER of the random features"),
    Column("variance", "var", "number", 5, help="its variance (n - 1)"),
)

_REAL = (
    *_KEYS,
    Column("feature", "Feature"),
    _VARIANT,
    Column("segments", "|I|", "count", help="segments where both sides have the feature"),
    Column("reference_share", "in ref", "number", 3, help="share of the references' words"),
    Column("output_share", "in out", "number", 3, help="share of the output's words"),
    _MULER,
    _GROUPS,
    _DRAWS,
    Column("synthetic_reference_share", "random: in ref", "number", 3, help="mean share"),
    Column("synthetic_output_share", "random: in out", "number", 3, help="mean share"),
    *_MOMENTS,
    Column("q05", "5 %", "number", 3, help="quantile of the random features"),
    Column("median", "median", "number", 3),
    Column("q95", "95 %", "number", 3),
    Column("deviation", "excess", "number", 3, help="MuLER of the feature less the mean"),
    Column("z", "z", "number", help="deviation in standard deviations"),
    Column("below", "below", "number", 3, help="share of random features with lower MuLER"),
)

_SYNTHETIC = (
    *_KEYS,
    _VARIANT,
    _GROUPS,
    Column("types", "types", "count", help="vocabulary of references and output, case-folded"),
    _DRAWS,
    Column("reference_share", "in ref", "number", 3, help="mean share of the references' words"),
    Column("output_share", "in out", "number", 3, help="mean share of the output's words"),
    Column("segments", "|I|", "number", 0, help="mean size of I"),
    *_MOMENTS,
    Column("low", "least", "number", 3),
    Column("q05", "5 %", "number", 3),
    Column("q25", "25 %", "number", 3),
    Column("median", "median", "number", 3),
    Column("q75", "75 %", "number", 3),
    Column("q95", "95 %", "number", 3),
    Column("high", "greatest", "number", 3),
)

_DISTRIBUTION = (
    *_KEYS,
    _VARIANT,
    Column("feature", "Feature", help="the real feature, or 'random words' for several p"),
    Column("curve", "curve", help="random features, or the real one as a mark"),
    _MULER,
    Column("share", "share at or below", "number", 3),
)

_LISTED = "system feature reference_share output_share groups muler mean variance deviation z below"
_LISTED_GROUPS = "system groups reference_share output_share segments mean variance q05 median q95"


def specificity_tables(
    real: Sequence[Mapping[str, Cell]],
    synthetic: Sequence[Mapping[str, Cell]],
    curves: Sequence[Mapping[str, Cell]],
) -> tuple[Table, Table, Table]:
    """Real features beside random ones, random ones alone, their distributions."""
    return (
        Table(
            "specificity",
            "Features beside random words of like frequency",
            _REAL,
            tuple(real),
            "below = share of random features with lower MuLER; near 0 or 1 a feature stands out.",
        ),
        Table("synthetic", "Random features", _SYNTHETIC, tuple(synthetic)),
        Table("distribution", "Cumulative distributions of MuLER", _DISTRIBUTION, tuple(curves)),
    )


def specificity_views(metrics: Sequence[str], systems: Sequence[str]) -> tuple[View, ...]:
    """Lists per metric and variant, distributions, bars, a heat map of the share below."""
    views: list[View] = []
    for metric, variant in product(metrics, VARIANTS):
        where: dict[str, Cell] = {"metric": metric, "variant": variant}
        kind = f"{metric} ({variant})"
        title = f"Features beside random words under {kind}"
        views.append(Listing("specificity", title, tuple(_LISTED.split()), where))
        title = f"Random features under {kind}"
        views.append(Listing("synthetic", title, tuple(_LISTED_GROUPS.split()), where))
    for metric, variant in product(metrics, VARIANTS):
        views.extend(_plots(metric, variant, systems))
    return tuple(views)


def _plots(metric: str, variant: str, systems: Sequence[str]) -> list[View]:
    where: dict[str, Cell] = {"metric": metric, "variant": variant}
    kind = f"{metric} ({variant})"
    curves: list[View] = [
        Lines(
            table="distribution",
            title=f"MuLER of random features, real ones marked: {system} under {kind}",
            x="muler",
            y="share",
            series="curve",
            panels="feature",
            where={**where, "system": system},
        )
        for system in systems
    ]
    bars = Bars(
        table="specificity",
        title=f"Features beside random words under {kind}",
        category="feature",
        series="system",
        values=("muler", "mean", "below"),
        where=where,
        shown=tuple(systems),
        beside="segments",
    )
    below = HeatMap(
        table="specificity",
        title=f"Share of random features with a lower MuLER under {kind}",
        rows="feature",
        columns="system",
        value="below",
        beside="segments",
        where=where,
        low=0.0,
        high=1.0,
        prominent=False,
    )
    return [*curves, bars, below]
