"""How what a grid search found may be looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.bmx._tune_rows import METRIC_ALONE
from gnomon.findings import Bars, Boxes, Lines, Listing, Scatter, StackedBars

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gnomon.findings import Cell, Table, View

__all__ = ["views"]

_FIRST = "median"
_SETTINGS = (
    "explainer",
    "rule",
    "p",
    "w",
    "mean_gain",
    "low",
    "high",
    "better",
    "worse",
    "over_control",
)
_BOX = ("low", "first_quartile", "median", "third_quartile", "high")
_HALVES = (
    "dataset",
    "language_pair",
    "metric",
    "explainer",
    "gain",
    "lowest",
    "highest",
    "positive",
    "over_control",
)
_FEW = 4


def views(tables: Mapping[str, Table]) -> tuple[View, ...]:
    """The views of the tables that have rows."""
    return tuple(view for view in _all(tables) if view.table in tables)


def _all(tables: Mapping[str, Table]) -> Iterator[View]:
    shown = [
        name
        for name in _SETTINGS
        if any(value is not None for value in tables["settings"].values(name))
    ]
    yield Listing("settings", "Settings by rule", tuple(shown))
    experiments = dict.fromkeys(tables["experiments"].values("name"))
    if len(experiments) <= _FEW:
        yield Listing(
            "experiments",
            "Every experiment",
            ("name", "rule", "p", "w", "base", "boosted", "gain", "low", "high"),
        )
    yield Listing(
        "halves",
        "Chosen on one half, measured on the other",
        _HALVES,
        most=_FEW,
    )
    yield Listing(
        "relation", "Do weak metrics gain more?", ("explainer", "value", "n"), {"rule": _FIRST}
    )
    yield Listing(
        "iterations",
        "Where second iterations start",
        ("language_pair", "metric", "first", "second", "difference"),
    )
    yield Lines(
        "curves",
        "Correlation over p, a curve for each w",
        "p",
        "value",
        "weight",
        panels="experiment",
        ink=METRIC_ALONE,
    )
    yield from _by_factor(tables)
    for rule in _distinct(tables, "experiments", "rule"):
        yield Scatter(
            "experiments",
            "Gain over the metric's own correlation",
            "base",
            "gain",
            "name",
            "explainer",
            where={"rule": rule},
        )


def _by_factor(tables: Mapping[str, Table]) -> Iterator[View]:
    for rule in _distinct(tables, "density", "rule"):
        for factor in _distinct(tables, "density", "factor"):
            where = {"factor": factor, "rule": rule}
            yield Lines("density", "Density of gains", "gain", "density", "level", where=where)
    for rule in _distinct(tables, "spread", "rule"):
        for factor in _distinct(tables, "spread", "factor"):
            where = {"factor": factor, "rule": rule}
            yield Boxes("spread", "Spread of gains", "level", _BOX, where, beside="n")
    for factor in _distinct(tables, "counts", "factor"):
        yield StackedBars(
            "counts",
            "Experiments improved and decreased",
            "level",
            "rule",
            ("worse_share", "between_share", "better_share"),
            where={"factor": factor},
        )
    for factor in _distinct(tables, "factors", "factor"):
        yield Bars(
            "factors",
            "What goes along with a gain: ridge coefficients",
            "level",
            "rule",
            ("coefficient",),
            where={"factor": factor},
            shown=(_FIRST,),
            most=2,
        )


def _distinct(tables: Mapping[str, Table], name: str, column: str) -> list[Cell]:
    """The values of a column that occur, in order; none where there is no such table."""
    return list(dict.fromkeys(tables[name].values(column))) if name in tables else []
