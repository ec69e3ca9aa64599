"""Views as figures of matplotlib, for notebooks and papers; pages draw their own."""

from __future__ import annotations

import io
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from gnomon.core.errors import UsageError, not_installed
from gnomon.core.findings import Bars, Boxes, HeatMap, Lines, Listing, Scatter, StackedBars
from gnomon.core.tabular import cell_text, selected
from gnomon.core.verdicts import titles_of
from gnomon.report.html import METRICS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from gnomon.core.findings import Cell, Column, Finding, Table, View

__all__ = ["draw"]

_MOST = 40  # categories in one picture
_SERIES = 8  # series side by side
_PANELS = 6
#: colours that people with any sight of colours tell apart (Okabe and Ito)
_COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999",
)  # fmt: skip


def draw(finding: Finding, view: int | None = None) -> Any:  # matplotlib is optional
    """A view as a figure; see :meth:`gnomon.Finding.plot`."""
    chosen = _chosen(finding, view)
    table = finding.table(chosen.table)
    titles = titles_of(finding)  # of metrics, as people know them
    rows = [
        {k: titles.get(str(v), v) if k in METRICS else v for k, v in row.items()}
        for row in selected(table, chosen.where)
    ]
    if not rows:
        raise UsageError(f"the view {chosen.title!r} has no rows to draw")
    figure = _figure_class()(layout="constrained")
    drawers: dict[type, Callable[[Any, Any, Table, Sequence[Any]], None]] = {
        HeatMap: _heat_map,
        Bars: _bars,
        StackedBars: _stacked,
        Scatter: _scatter,
        Lines: _lines,
        Boxes: _boxes,
    }
    if isinstance(chosen, Bars) and chosen.series in METRICS:
        chosen = replace(chosen, shown=tuple(titles.get(title, title) for title in chosen.shown))
    drawers[type(chosen)](figure, chosen, table, rows)
    figure.suptitle(chosen.title)
    return figure


def _chosen(finding: Finding, number: int | None) -> View:
    pictures = [i for i, shown in enumerate(finding.views) if not isinstance(shown, Listing)]
    listed = "; ".join(f"{i}: {finding.views[i].title}" for i in pictures) or "none"
    if number is None:
        if not pictures:
            raise UsageError(f"{finding.method} has no view that can be drawn; see its tables")
        return finding.views[pictures[0]]
    if number not in pictures:
        raise UsageError(f"view is {number!r}; views that can be drawn: {listed}")
    return finding.views[number]


@cache
def _figure_class() -> Any:  # a class of matplotlib's, which is optional
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise not_installed(
            "a figure",
            "matplotlib",
            "plots",
            " (or write a page, which needs nothing: gnomon.report.write_html)",
        ) from error

    class NotebookFigure(Figure):
        """A figure that a notebook shows without pyplot and its state."""

        def _repr_png_(self) -> bytes:
            data = io.BytesIO()
            self.savefig(data, format="png", dpi=100)
            return data.getvalue()

    return NotebookFigure


def _number(value: Cell) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return float("nan")


def _distinct(rows: Iterable[Mapping[str, Cell]], name: str) -> list[str]:
    return list(dict.fromkeys(str(row[name]) for row in rows))


def _cut(names: list[str], most: int, axes: Any, what: str) -> list[str]:
    """The first names; what is left out is said below the picture."""
    if len(names) > most:
        axes.annotate(
            f"the first {most} of {len(names)} {what}", (0, 0), (0, -32),
            xycoords="axes fraction", textcoords="offset points", fontsize="small",
        )  # fmt: skip
    return names[:most]


def _size(figure: Any, panels: int, lines: int) -> None:
    figure.set_size_inches(2.5 + 3.8 * panels, 1.6 + 0.26 * max(lines, 6))


def _heat_map(figure: Any, view: HeatMap, table: Table, rows: Sequence[Any]) -> None:
    axes = figure.subplots()
    value = table.column(view.value)
    names = _cut(_distinct(rows, view.rows), _MOST, axes, "rows")
    heads = _distinct(rows, view.columns)
    cells = {(str(row[view.rows]), str(row[view.columns])): row for row in rows}
    grid = [[_number(cells.get((n, h), {}).get(view.value)) for h in heads] for n in names]
    image = axes.imshow(
        grid, aspect="auto", vmin=view.low, vmax=view.high,
        cmap="RdYlBu_r" if value.better == "lower" else "RdYlBu",
    )  # fmt: skip
    for y, name in enumerate(names):
        for x, head in enumerate(heads):
            row = cells.get((name, head))
            if row is None or row[view.value] is None:
                continue
            faint = view.faint is not None and row[view.faint] is True
            faint |= view.few is not None and float(row[view.few[0]] or 0) < view.few[1]
            mark = "*" if view.marks is not None and row[view.marks] is True else ""
            text = f"{cell_text(row[view.value], value)}{mark}"
            shown = f"({text})" if faint else text
            axes.text(x, y, shown, ha="center", va="center", fontsize="x-small")
    axes.set_xticks(range(len(heads)), heads, rotation=45, ha="right")
    axes.set_yticks(range(len(names)), names)
    figure.colorbar(image, ax=axes, label=value.title)
    figure.set_size_inches(3 + 0.9 * len(heads), 1.8 + 0.28 * len(names))


def _bars(figure: Any, view: Bars, table: Table, rows: Sequence[Any]) -> None:
    panels = figure.subplots(1, len(view.values), squeeze=False, sharey=True)[0]
    series = list(view.shown) or _distinct(rows, view.series)[: view.most or _SERIES]
    series = series[:_SERIES]
    names = _cut(_distinct(rows, view.category), _MOST, panels[0], "categories")
    height = 0.8 / len(series)
    for axes, name in zip(panels, view.values, strict=True):
        column = table.column(name)
        for k, label in enumerate(series):
            cells = {str(r[view.category]): r for r in rows if str(r[view.series]) == label}
            there = [i for i, category in enumerate(names) if category in cells]
            mine = [cells[names[i]] for i in there]
            at = [i + (k - (len(series) - 1) / 2) * height for i in there]
            values, reach = [_number(row[name]) for row in mine], _errors(column, mine)
            if view.dots:
                style = {"fmt": "o", "label": label, "color": _COLOURS[k], "elinewidth": 0.8}
                axes.errorbar(values, at, xerr=reach, **style)
            else:
                style = {"label": label, "color": _COLOURS[k], "error_kw": {"lw": 0.8}}
                axes.barh(at, values, height, xerr=reach, **style)
            if view.hollow:
                others = [_number(row[view.hollow]) for row in mine]
                axes.plot(others, at, "o", mfc="none", color=_COLOURS[k], zorder=3)
        axes.set_xlabel(column.title)
    if len(names) == 1:  # the bars of one category have names of their own
        middle = (len(series) - 1) / 2
        panels[0].set_yticks([(k - middle) * height for k in range(len(series))], series)
    else:
        panels[0].set_yticks(range(len(names)), names)
        _legend(figure, panels[0], len(series))
    panels[0].invert_yaxis()
    _size(figure, len(view.values), len(names) * (1 + len(series) // 3))


def _legend(figure: Any, axes: Any, entries: int) -> None:
    """What colours mean, beside the picture; nothing where there is one."""
    if entries > 1:
        figure.legend(
            *axes.get_legend_handles_labels(), loc="outside right upper", fontsize="small"
        )


def _errors(column: Column, rows: Sequence[Any]) -> list[list[float]] | None:
    """How far intervals reach to both sides of the values, where the table has them."""
    if column.ends is None:
        return None
    low, high = column.ends
    values = [_number(row[column.name]) for row in rows]
    ends = [(_number(row[low]), _number(row[high])) for row in rows]
    return [
        [max(value - lower, 0.0) for value, (lower, _) in zip(values, ends, strict=True)],
        [max(upper - value, 0.0) for value, (_, upper) in zip(values, ends, strict=True)],
    ]


def _stacked(figure: Any, view: StackedBars, table: Table, rows: Sequence[Any]) -> None:
    series = _distinct(rows, view.series)[:_PANELS]
    panels = figure.subplots(1, len(series), squeeze=False, sharey=True)[0]
    names = _cut(_distinct(rows, view.category), _MOST, panels[0], "categories")
    for axes, title in zip(panels, series, strict=True):
        cells = {str(r[view.category]): r for r in rows if str(r[view.series]) == title}
        left = [0.0] * len(names)
        for k, measure in enumerate(view.parts):
            there = [_number(cells[name][measure]) if name in cells else 0.0 for name in names]
            widths = [0.0 if value != value else value for value in there]  # noqa: PLR0124  # NaN alone differs
            column = table.column(measure)
            axes.barh(range(len(names)), widths, 0.8, left, label=column.title, color=_COLOURS[k])
            left = [a + b for a, b in zip(left, widths, strict=True)]
        axes.set_title(title, fontsize="medium")
    panels[0].set_yticks(range(len(names)), names)
    panels[0].invert_yaxis()
    _legend(figure, panels[0], len(view.parts))
    _size(figure, len(series), len(names))


def _panels(figure: Any, rows: Sequence[Any], name: str | None) -> list[tuple[Any, list[Any]]]:
    """Axes side by side, one for each value of a column, and its rows."""
    if name is None:
        return [(figure.subplots(), list(rows))]
    values = _distinct(rows, name)[:_PANELS]
    axes = figure.subplots(1, len(values), squeeze=False)[0]
    parts = [[row for row in rows if str(row[name]) == value] for value in values]
    for panel, value in zip(axes, values, strict=True):
        panel.set_title(value, fontsize="medium")
    figure.set_size_inches(2 + 3.8 * len(values), 4)
    return list(zip(axes, parts, strict=True))


def _scatter(figure: Any, view: Scatter, table: Table, rows: Sequence[Any]) -> None:
    for axes, points in _panels(figure, rows, view.panels):
        groups = _distinct(points, view.series)[:_SERIES] if view.series else [""]
        for k, group in enumerate(groups):
            mine = [r for r in points if not view.series or str(r[view.series]) == group]
            x, y = ([_number(row[name]) for row in mine] for name in (view.x, view.y))
            axes.scatter(x, y, s=18, color=_COLOURS[k], label=group)
            for row, a, b in zip(mine, x, y, strict=True):
                if row[view.label] and len(points) <= _MOST and a == a and b == b:  # noqa: PLR0124  # NaN alone differs
                    axes.annotate(str(row[view.label]), (a, b), fontsize="x-small")
        _finish(axes, view, table, several=len(groups) > 1)


def _lines(figure: Any, view: Lines, table: Table, rows: Sequence[Any]) -> None:
    for axes, points in _panels(figure, rows, view.panels):
        groups = _distinct(points, view.series)[:_SERIES]
        for k, group in enumerate(groups):
            mine = [row for row in points if str(row[view.series]) == group]
            colour = "black" if view.ink is not None and str(view.ink) == group else _COLOURS[k]
            x = [_number(row[view.x]) for row in mine]
            axes.plot(x, [_number(row[view.y]) for row in mine], color=colour, label=group)
            if view.low is not None and view.high is not None:
                ends = ([_number(row[end]) for row in mine] for end in (view.low, view.high))
                axes.fill_between(x, *ends, color=colour, alpha=0.15, linewidth=0)
        _finish(axes, view, table, several=len(groups) > 1)


def _finish(axes: Any, view: Scatter | Lines, table: Table, *, several: bool) -> None:
    axes.set_xlabel(table.column(view.x).title)
    axes.set_ylabel(table.column(view.y).title)
    if view.identity:
        low = max(axes.get_xlim()[0], axes.get_ylim()[0])
        high = min(axes.get_xlim()[1], axes.get_ylim()[1])
        axes.plot([low, high], [low, high], color="grey", linewidth=0.8, linestyle="--")
    if several:
        axes.legend(fontsize="small")


def _boxes(figure: Any, view: Boxes, table: Table, rows: Sequence[Any]) -> None:
    axes = figure.subplots()
    low, first, middle, third, high = view.values
    shown = [row for row in rows if row[middle] is not None][:_MOST]
    boxes = [
        {
            "whislo": _number(row[low]), "q1": _number(row[first]), "med": _number(row[middle]),
            "q3": _number(row[third]), "whishi": _number(row[high]),
            "label": str(row[view.category]),
        }
        for row in shown
    ]  # fmt: skip
    axes.bxp(boxes, showfliers=False, orientation="horizontal")
    axes.invert_yaxis()
    axes.set_xlabel(table.column(middle).title)
    _size(figure, 1, len(boxes))
