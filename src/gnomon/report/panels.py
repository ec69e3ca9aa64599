"""The panels of a page's tables: views of one kind share one, with a chart for each choice."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from gnomon.core.findings import Bars, HeatMap, Lines, Listing
from gnomon.core.tabular import visible
from gnomon.report.charts import METRICS, figure

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gnomon.core.findings import Cell, Column, Table, View

Json: TypeAlias = dict[str, Any]

__all__ = ["Panel", "list_columns", "packed", "panels"]

_OF_ONE_VIEW = frozenset({"title", "where", "shown", "prominent", "low", "high", "better"})
#: what a view draws of its table, by the names of its attributes
_DRAWN = ("value", "values", "parts", "x", "y", "start", "count", "beside", "under")
#: charts of a panel, and rows that these draw; its tables have all
_CHARTS, _ROWS = 40, 3000


@dataclass(frozen=True)
class Panel:
    """Views that differ only in title and rows, with what is drawn of them."""

    views: tuple[View, ...]

    @property
    def title(self) -> str:
        """The title of the first view."""
        return self.views[0].title

    def charts(
        self,
        table: Table,
        rows: Iterable[Mapping[str, Cell]],
        titles: Mapping[str, str],
        apart: Sequence[str] = (),
        lower: Sequence[str] = (),
    ) -> Json:
        """A chart of each kind of rows, those first that views name.

        ``apart``: further columns; ``lower``: metrics that are error rates.
        """
        first, names = self.views[0], [*self.views[0].where, *apart]
        listed = {tuple(view.where.values()): view for view in self.views}
        by_key: dict[tuple[Cell, ...], list[Mapping[str, Cell]]] = {}
        for row in rows:
            by_key.setdefault(tuple(row[name] for name in names), []).append(row)
        keys = sorted(by_key, key=lambda key: key[: len(first.where)] not in listed)
        varied = [n for n in range(len(names)) if len({key[n] for key in keys}) > 1]
        charts: list[Json] = []
        drawn = 0
        for key in keys[:_CHARTS]:
            drawn += len(by_key[key])
            if charts and drawn > _ROWS:
                break
            said = ", ".join(_describe_value(key[n], names[n], titles) for n in varied)
            view = listed.get(key[: len(first.where)])
            view = view or replace(
                first, title=": ".join(filter(None, (_kind(first, table), said)))
            )
            metric = dict(zip(names, key, strict=True)).get("metric")
            if isinstance(view, Bars) and metric in lower:
                view = replace(view, better="lower")
            spec = figure(view, table, by_key[key], titles)
            if spec is not None:
                charts.append({"said": said, "metric": metric, "spec": _packed_rows(spec)})
        by = ", ".join(table.column(names[n]).title for n in varied)
        leads = isinstance(first, HeatMap) and first.exhibits
        return {"by": by, "leads": leads, "charts": charts}

    def tell_apart(
        self, columns: Sequence[Column], rows: Sequence[Mapping[str, Cell]]
    ) -> list[str]:
        """The fewest further columns of words without which rows of other kinds would be mixed."""
        keys = [*_axes(self.views[0]), *self.views[0].where]
        others = [c.name for c in columns if c.kind == "text" and c.name not in (*keys, "task")]

        def mixed(more: Sequence[str]) -> dict[str, None] | None:
            firsts: dict[tuple[Cell, ...], Mapping[str, Cell]] = {}
            differ: dict[str, None] = {}
            found = False
            for row in rows:
                first = firsts.setdefault(tuple(row[name] for name in (*keys, *more)), row)
                found |= first is not row
                differ |= dict.fromkeys(name for name in others if row[name] != first[name])
            return differ if found else None

        differ = mixed([])
        if not differ:
            return []
        every = [[name] for name in differ] + [list(differ)]
        return next((more for more in every if mixed(more) is None), [])


def panels(views: Iterable[View]) -> list[Panel]:
    """Views by what they have in common; listings are not drawn: a page holds every table."""
    families: dict[str, list[View]] = {}
    for view in views:
        if isinstance(view, Listing):
            continue
        shared = {name: v for name, v in asdict(view).items() if name not in _OF_ONE_VIEW}
        family = f"{type(view).__name__} {shared} {list(view.where)}"
        families.setdefault(family, []).append(view)
    return [Panel(tuple(family)) for family in families.values()]


def list_columns(view: View) -> list[str]:
    """The columns whose values a view draws."""
    names: dict[str, None] = {}
    for attribute in _DRAWN:
        drawn = getattr(view, attribute, None) or ()
        names |= dict.fromkeys([drawn] if isinstance(drawn, str) else drawn)
    return list(names)


def _axes(view: View) -> list[str]:
    """The columns whose values tell what a view draws apart."""
    named = ("rows", "columns", "category", "series", "label", "panels")
    axes = [name for one in named if (name := getattr(view, one, None))]
    return [*axes, view.x] if isinstance(view, Lines) else axes


def _describe_value(value: Cell, name: str, titles: Mapping[str, str]) -> str:
    if value is None or value == "":
        return "all"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return visible(titles.get(str(value), str(value)) if name in METRICS else str(value))


def _kind(view: View, table: Table) -> str:
    """Kind of a view, whatever rows it is of."""
    return table.column(list_columns(view)[0]).title


def _packed_rows(spec: Json) -> Json:
    """A specification whose rows are columns, in which what recurs is stored once."""
    rows = spec["data"]["values"]
    columns = {name: packed([row[name] for row in rows]) for name in rows[0]}
    return {**spec, "data": {"size": len(rows), "columns": columns}}


def packed(cells: Sequence[Cell]) -> Json:
    """A column: what recurs in it is stored once, by number; numbers that do not, as they are."""
    levels: dict[tuple[type, Cell], int] = {}  # by type too: True is no 1
    plain = [number_in_json(cell) for cell in cells]
    codes = [levels.setdefault((type(cell), cell), len(levels)) for cell in plain]
    if any(isinstance(cell, str) for cell in plain) or 2 * len(levels) <= len(plain):
        return {"levels": [cell for _, cell in levels], "codes": codes}
    return {"cells": plain}


def number_in_json(cell: Cell) -> Cell:
    """A cell as JSON can say it."""
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell
