"""How a meta-evaluation may be looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.findings import HeatMap, Lines, Listing, Scatter, StackedBars

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.findings import Cell, Table, View
    from gnomon.metaeval._measures import Measure
    from gnomon.stats.significance import Alternative

__all__ = ["views"]

_SAID = {"greater": "better than", "less": "worse than", "two-sided": "other than"}
_LISTED = 40  # rows of a statistic that text lists in full; more are shown as a map


def views(
    tables: Mapping[str, Table],
    measured: Sequence[tuple[Measure, str]],
    places: Sequence[str],
    baseline: str | None,
    *,
    alternative: Alternative = "greater",
) -> tuple[View, ...]:
    """A table (or map over test sets) per statistic, gains, wins, scatter plots, curves.

    Args:
        tables: the tables of the finding, by name.
        measured: what was measured, and over which systems.
        places: what the test sets are called.
        baseline: the metric that others are tested against.
        alternative: what p says of (row, column).
    """
    found: list[View] = []
    for measure, subset in measured:
        found += _agreement(tables["metaeval"], measure, subset, baseline, len(places))
    found += _overview(tables["metaeval"])
    if baseline is not None and len(places) > 1:
        found += [_gains(measure, subset) for measure, subset in measured]
    for measure, subset in measured:
        found += _wins(tables["wins"], measure, subset, _SAID[alternative])
    found += _plots(tables, places, baseline)
    return tuple(found)


def _where(measure: Measure, subset: str) -> dict[str, Cell]:
    return {
        "level": measure.level,
        "statistic": measure.statistic,
        "grouping": measure.grouping,
        "subset": subset,
    }


def _title(measure: Measure, subset: str) -> str:
    title = measure.title[0].upper() + measure.title[1:]
    return title if subset == "all" else f"{title}, {subset}"


def _agreement(
    table: Table, measure: Measure, subset: str, baseline: str | None, sets: int
) -> Iterator[View]:
    where, title = _where(measure, subset), _title(measure, subset)
    rows = [row for row in table.rows if all(row[key] == value for key, value in where.items())]
    listed = sets == 1 or len(rows) <= _LISTED
    if sets > 1:
        yield HeatMap(
            table="metaeval",
            title=title,
            rows="metric",
            columns="place",
            value="value",
            where=where,
            faint="few",
            under="n",
            prominent=not listed,
        )
    if listed:
        shown = ["place"] if sets > 1 else []
        shown += ["metric", "value", "low", "high", "n", "rank", "cluster"]
        shown += ["p"] if baseline is not None else []
        shown += ["p_corrected"] if any(row["p_corrected"] is not None for row in rows) else []
        shown += ["epsilon"] if measure.statistic == "acc_eq" else []
        yield Listing("metaeval", title, tuple(shown), where)
    if baseline is not None and sets > 1:
        yield HeatMap(
            table="metaeval",
            title=f"{title}: p against {baseline}",
            rows="metric",
            columns="place",
            value="p",
            where={**where, "control": False},
            low=0.0,
            high=1.0,
            prominent=not listed,
        )


def _overview(table: Table) -> Iterator[View]:
    """All measures of one test set side by side, on a page."""
    for place in dict.fromkeys(table.values("place")):
        yield HeatMap(
            table="metaeval",
            title=f"All measures: {place}",
            rows="metric",
            columns="measure",
            value="value",
            where={"place": place, "subset": "all"},
            faint="few",
            under="n",
            prominent=False,
        )


def _gains(measure: Measure, subset: str) -> Listing:
    return Listing(
        "gains",
        f"Gains over the baseline: {measure.title}" + ("" if subset == "all" else f", {subset}"),
        (
            "metric",
            "average",
            "gain",
            "gain_min",
            "gain_max",
            "language_pairs",
            "better",
            "worse",
        ),
        _where(measure, subset),
    )


def _wins(table: Table, measure: Measure, subset: str, said: str) -> Iterator[View]:
    where = _where(measure, subset)
    rows = [row for row in table.rows if all(row[key] == value for key, value in where.items())]
    for place in dict.fromkeys(row["place"] for row in rows):
        yield HeatMap(
            table="wins",
            title=f"p of row {said} column: {measure.title}"
            + ("" if subset == "all" else f", {subset}")
            + f", {place}",
            rows="metric",
            columns="against",
            value="p",
            where={**where, "place": place},
            low=0.0,
            high=1.0,
            prominent=False,
        )


def _plots(
    tables: Mapping[str, Table], places: Sequence[str], baseline: str | None
) -> Iterator[View]:
    there = set(tables["systems"].values("place"))
    for place in (one for one in places if one in there):
        yield Scatter(
            table="systems",
            title=f"Systems by metric and by people, {place}",
            x="score",
            y="human",
            label="system",
            panels="metric",
            where={"place": place},
        )
    for statistic in dict.fromkeys(tables["top_k"].values("statistic")):
        yield Lines(
            table="top_k",
            title=f"Agreement over the K best systems alone: {statistic}",
            x="k",
            y="value",
            series="metric",
            panels="place",
            where={"statistic": statistic},
        )
    if tables["decisions"].rows:
        yield StackedBars(
            table="decisions",
            title=f"Pairs of systems: decisions repaired and broken, against {baseline}",
            category="metric",
            series="place",
            parts=("right_share", "repaired_share", "broken_share", "wrong_share"),
        )
