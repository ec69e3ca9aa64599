"""Views as Vega-Lite specifications, which notebooks and pages draw and papers print."""

from __future__ import annotations

import json
import logging
import math
import re
import shutil
import subprocess
import unicodedata
from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from gnomon.core.errors import UsageError, not_installed
from gnomon.core.findings import Bars, HeatMap, Histogram, Lines, Listing, Scatter, StackedBars
from gnomon.core.tabular import UNDEFINED, cell_text, number_of, selected, visible
from gnomon.core.verdicts import titles_of
from gnomon.report.short_names import LONGEST_NAME, shorten_names
from gnomon.stats import pearson

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from gnomon.core.findings import Cell, Column, Finding, Table, View

Json: TypeAlias = dict[str, Any]
Rows: TypeAlias = "Sequence[Mapping[str, Cell]]"

__all__ = ["METRICS", "Chart", "chart", "figure", "look"]

_log = logging.getLogger(__name__)
#: columns that hold names of metrics
METRICS = frozenset({"metric", "against", "baseline"})
#: what JupyterLab and VS Code draw
_VERSION = "5.20"
_SCHEMA = f"https://vega.github.io/schema/vega-lite/v{_VERSION}.1.json"
_MIME = "application/vnd.vegalite.v5+json"
_MOST = 40  # rows of one picture
_ON_REQUEST = 200  # on a page, where the first stand at first
_FEW = 12  # rows of a heat map that stand in the order of their table
_BESIDE = 4  # series side by side
_PANELS = 6
_LINE_LENGTH = 48  # characters below a chart
_HEADS = 8  # columns of a heat map in a column of a paper
#: colours that people with any sight of colours tell apart (Okabe and Ito)
_COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b38600", "#56b4e9", "#5b4b9a", "#7a5c3e",
)  # fmt: skip
_INK, _SOFT, _GREY, _GRID, _PAPER = "#1c1f23", "#565d66", "#a9b0b8", "#e4e4df", "#ffffff"
#: widths of a column and of a page of a paper, in inches
_COLUMN, _PAGE = 3.3, 6.9
_INCH = 72  # points
_HIGHEST, _LOWEST_ROW = 5.5 * _INCH, 8
_DOTS = 300  # of an inch of PNG
#: sizes of letters and of a row, on a screen and in print
_SCREEN, _PRINT = (11, 18), (8, 13)
#: a share far outside [0, 1] must not make all others small
_CUT = (-0.5, 1.5)
_MIDDLE, _LINE = 0.5, 0.06  # of a panel: where names change sides, how high one is
_SIZE = re.compile(r'\b(width|height)="([\d.]+)"')
_SCALES = {"higher": "blues", "lower": "oranges", None: "purples"}


class Chart(dict[str, Any]):
    """A Vega-Lite specification, which a notebook draws and a file keeps."""

    def _repr_mimebundle_(self, **_kinds: object) -> Json:
        return {_MIME: dict(self), "text/plain": f"<Chart: {self['description']}>"}

    def save(self, path: str | PathLike[str], *, wide: bool | None = None) -> None:
        """Write it as PDF, SVG or PNG, by the ending of the name.

        Args:
            path: the file to write; an existing one is replaced.
            wide: as wide as a page (6.9 inches) in place of a column (3.3); by default where it
                has several panels, or more than eight columns of cells.

        Raises:
            MissingDependencyError: vl-convert-python is not installed.
            OutputError: the file cannot be written.
            UsageError: the name ends otherwise.
        """
        from gnomon.data.formats import atomic_write

        kind, convert = checked_figure(path)
        families = _fonts(json.dumps(self, ensure_ascii=False))
        across = len(self.get("hconcat", ())) or self.get("columns", 1)
        heads = {row.get("head") for row in self.get("data", {}).get("values", ())}
        many = across > 1 or len(heads) > _HEADS
        inches = _PAGE if wide or (wide is None and many) else _COLUMN
        if kind != "svg":
            _warn_of_vowel_signs(json.dumps(self, ensure_ascii=False))
        spec = self._fitted(convert, across, inches * _INCH, ", ".join([*families, "sans-serif"]))
        size = {"scale": _DOTS / _INCH, "ppi": _INCH} if kind == "png" else {}
        made = getattr(convert, f"vegalite_to_{kind}")(spec, vl_version=_VERSION, **size)
        with atomic_write(path, "wb") as file:
            file.write(_SIZE.sub(r'\1="\2pt"', made, 2).encode() if kind == "svg" else made)

    def _fitted(self, convert: Any, across: int, width: float, fonts: str) -> Json:
        """The specification with panels that make it as wide as that."""
        panel = width / across / 2
        letters, row = _PRINT[0], float(_PRINT[1])
        for _ in range(3):  # labels of axes may become fewer
            spec = {**self, "config": _look(letters, row, panel, fonts, round(width / 120))}
            drawn = convert.vegalite_to_svg(spec, vl_version=_VERSION)
            now, high = (float(size) for _, size in _SIZE.findall(drawn)[:2])
            lower = max(_LOWEST_ROW, row * _HIGHEST / high) if high > _HIGHEST else row
            if now == width and lower == row:
                break
            panel = max(panel + (width - now) / across, 20.0)
            row = lower
        return spec


def checked_figure(path: str | PathLike[str]) -> tuple[str, Any]:
    """The kind of figure that a name asks for, and what draws it, which is optional."""
    kind = Path(path).suffix.lower().removeprefix(".")
    if kind not in ("pdf", "png", "svg"):
        raise UsageError(f"a figure is written as .pdf, .svg or .png; got {str(path)!r}")
    try:
        import vl_convert
    except ImportError as error:
        raise not_installed("a figure", "vl-convert-python", "figures") from error
    return kind, vl_convert


def _fonts(text: str) -> list[str]:
    """Families that have the letters of a text, one of each script; what none has is said.

    Where fontconfig is absent, the renderer looks for them by itself and nothing is known.
    """
    listing = shutil.which("fc-list")
    plain = unicodedata.normalize("NFKC", text)
    letters = {_script(letter): letter for letter in plain if letter.isalpha()}
    letters.pop("LATIN", None)
    if listing is None:
        return []
    families: list[str] = []
    lacking: list[str] = []
    for script, letter in sorted(letters.items()):
        asked = [listing, f":charset={ord(letter):x}", "family"]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)  # noqa: S603
        found = sorted(line.split(",")[0].strip() for line in done.stdout.splitlines())
        families += sorted(found, key=_unlike_sans)[:1]
        lacking += [] if found else [script.capitalize()]
    if lacking:
        _log.warning(
            "no installed font has letters of %s, which the figure lacks; install one, such as"
            " Noto Sans, and make the figure again",
            ", ".join(lacking),
        )
    return list(dict.fromkeys(families))


def _warn_of_vowel_signs(text: str) -> None:
    """The renderer sets such signs over the letters beside them."""
    signs = (letter for letter in text if unicodedata.category(letter) == "Mc")
    if scripts := sorted({_script(sign).capitalize() for sign in signs}):
        _log.warning(
            "PDF and PNG set vowel signs of %s over their neighbours; write .svg, which is right",
            ", ".join(scripts),
        )


def _unlike_sans(family: str) -> tuple[bool, bool]:
    return not family.startswith("Noto Sans"), "Sans" not in family or "Mono" in family


def _script(letter: str) -> str:
    return unicodedata.name(letter, "LATIN").split()[0]


def chart(finding: Finding, view: int | str | None = None) -> Chart:
    """A view as a Vega-Lite specification; see :meth:`gnomon.Finding.chart`."""
    chosen = _choose_view(finding, view)
    table = finding.table(chosen.table)
    rows = selected(table, chosen.where)
    if not rows:
        raise UsageError(f"the view {chosen.title!r} has no rows to draw")
    room = _Room()
    made = _draw(chosen, table, rows, titles_of(finding), room)
    if made is None:
        raise UsageError(f"the view {chosen.title!r} has no defined values to draw")
    for said in room.left_out:
        _log.warning("%s", said)
    config = _look(*_SCREEN)
    return Chart({"$schema": _SCHEMA, "description": chosen.title, "config": config, **made})


def figure(view: View, table: Table, rows: Rows, titles: Mapping[str, str]) -> Json | None:
    """A view of some rows as a page draws it, without what all charts have in common.

    None where nothing is to be drawn. ``titles``: of metrics, as people know them.
    """
    made = _draw(view, table, rows, titles, _Room(_ON_REQUEST)) if rows else None
    return None if made is None else {"description": visible(view.title), **made}


def look() -> Json:
    """The common look of all charts of a page."""
    return _look(*_SCREEN)


def _draw(
    view: View, table: Table, rows: Rows, titles: Mapping[str, str], room: _Room
) -> Json | None:
    named = [column.name for column in table.columns if column.kind == "text"]
    shown = [
        {**row, **{name: _name(row[name], titles if name in METRICS else {}) for name in named}}
        for row in rows
    ]
    made = _DRAWERS[type(view)](view, table, shown, room)
    return shorten_names(made) if made["data"]["values"] else None


def _choose_view(finding: Finding, wanted: int | str | None) -> View:
    pictures = {
        number: shown
        for number, shown in enumerate(finding.views)
        if not isinstance(shown, Listing)
    }
    if wanted is None and not pictures:
        raise UsageError(f"{finding.method} has no view that can be drawn; see its tables")
    for number, shown in pictures.items():
        named = isinstance(wanted, str) and wanted.casefold() in shown.title.casefold()
        if named or wanted in (None, number):
            return shown
    listed = "; ".join(f"{number}: {shown.title}" for number, shown in pictures.items()) or "none"
    raise UsageError(f"view is {wanted!r}; views that can be drawn: {listed}")


def _name(value: Cell, titles: Mapping[str, str]) -> str:
    return UNDEFINED if value is None else visible(titles.get(str(value), str(value)))


def _look(
    size: int, row: float, panel: float = 420, fonts: str = "sans-serif", columns: int = 4
) -> Json:
    """The common look of all charts, with letters, rows and panels of some size."""
    quiet = {"labelColor": _SOFT, "titleColor": _INK, "titleFontWeight": "normal"}
    sizes = {"labelFontSize": size, "titleFontSize": size, "labelFont": fonts}
    return {
        "background": _PAPER,
        "font": "sans-serif",
        "view": {"stroke": None, "continuousWidth": panel, "discreteWidth": panel,
                 "continuousHeight": 12 * row, "step": row},
        "axis": {**quiet, **sizes, "gridColor": _GRID, "domain": False, "tickColor": _GRID},
        "axisY": {"labelLimit": 18 * size, "labelFontSize": min(size, row - 1)},
        "legend": {**quiet, **sizes, "orient": "bottom", "columns": columns, "symbolLimit": 40,
                   "gradientLength": 7.5 * size},
        "title": {"anchor": "start", "frame": "bounds", "orient": "bottom", "fontSize": size,
                  "font": fonts, "fontWeight": "normal", "color": _SOFT, "offset": 6},
        "header": {**sizes, "labelColor": _INK, "title": None, "labelAnchor": "start"},
        "range": {"category": list(_COLOURS)},
        "rule": {"color": _INK, "strokeWidth": 0.8},
        "bar": {"color": _COLOURS[0]},
        "point": {"filled": True, "size": 2.5 * size, "opacity": 1, "color": _COLOURS[0]},
        "text": {"fontSize": min(size - 1, row - 2), "font": fonts, "color": _SOFT},
        "line": {"strokeWidth": 1.4},
        "area": {"opacity": 0.16},
    }  # fmt: skip


# What the functions below are made of.


def _distinct(rows: Rows, name: str) -> list[Any]:
    return list(dict.fromkeys(row[name] for row in rows))


@dataclass(frozen=True)
class _Room:
    """The parts that a chart has no room for, in words."""

    most: int = _MOST  # rows of a heat map
    left_out: list[str] = field(default_factory=list)

    def first(self, names: list[Any], most: int) -> list[Any]:
        """The names that a chart has room for."""
        if len(names) > most:
            ends = f"{names[0]} ... {names[most - 1]}"
            self.left_out.append(f"the chart shows {most} of {len(names)}: {ends}")
        return names[:most]


def _describe_mark(
    table: Table, row: Mapping[str, Cell], names: Iterable[str], shown: Iterable[str]
) -> str:
    """A mark in words: the card, and what a screen reader says."""
    columns = [table.column(name) for name in shown]
    figures = [f"{column.title} {_format_interval(table, row, column)}" for column in columns]
    said = (str(row[name]) for name in dict.fromkeys(names) if row[name] != UNDEFINED)
    return f"{', '.join(said)}: {', '.join(figures)}"


def _format_interval(table: Table, row: Mapping[str, Cell], column: Column) -> str:
    text = cell_text(row[column.name], column)
    if column.ends is None or any(number_of(row[end]) is None for end in column.ends):
        return text
    low, high = (cell_text(row[end], table.column(end)) for end in column.ends)
    return f"{text} [{low}, {high}]"


#: hover and screen readers get the same words
_CARD = {"tooltip": {"field": "said", "type": "nominal"}, "description": {"field": "said"}}


def _numbers(name: str, title: str | None = None, **more: object) -> Json:
    return {"field": name, "type": "quantitative", "title": title, **more}


def _names(name: str, **more: object) -> Json:
    """A legend of names, in the order of the rows."""
    return {"field": name, "type": "nominal", "title": None, "sort": None, **more}


def _lined_up(rows: Rows, name: str = "name", **more: object) -> Json:
    """An axis of names, in the order of the rows; also of those without a value."""
    return _names(name, scale={"domain": _distinct(rows, name)}, **more)


def _scale(column: Column, values: Iterable[Cell], *, zero: bool) -> Json:
    numbers = [number for value in values if (number := number_of(value)) is not None]
    low, high = min(numbers, default=0.0), max(numbers, default=0.0)
    if column.kind == "share" and (low < _CUT[0] or high > _CUT[1]):
        ends = [min(max(low, _CUT[0]), 0.0), max(min(high, _CUT[1]), 0.0)]
        return {"scale": {"domain": ends, "clamp": True}}
    return {"scale": {"zero": zero}}


def _whisker(low: str, high: str, title: str) -> Json:
    silent = {"aria": False}
    return {
        "transform": [{"filter": f"isValid(datum.{low}) && isValid(datum.{high})"}],
        "mark": {
            "type": "errorbar",
            "rule": silent,
            "ticks": {"size": 5, "strokeWidth": 0.8, **silent},
        },
        "encoding": {"x": _numbers(low, title), "x2": {"field": high}, "color": {"value": _INK}},
    }


def _split_panels(made: Json, rows: Sequence[Json], values: Sequence[Cell]) -> Json:
    """A chart of each panel, beside each other and below; each with axes of its own."""
    order = {"field": "panel", "type": "nominal", "sort": _distinct(rows, "panel")}
    several = {"facet": order, "columns": min(len(values), 3), "spec": made}
    return {"data": {"values": rows}, **several, "resolve": {"scale": {"x": "independent"}}}


# A function for each kind of view.


def _bars(view: Bars, table: Table, rows: Rows, room: _Room) -> Json:
    """Bars or dots with their intervals; series side by side where they are few."""
    columns = [table.column(name) for name in view.values]
    # the first that all rows have a value of
    whole = (c for c in columns if all(number_of(row[c.name]) is not None for row in rows))
    ruling = next(whole, columns[0])
    if view.ordered:
        rows = _best_first(rows, ruling.name, better=view.better or ruling.better)
    series = [name for name in view.shown if any(r[view.series] == name for r in rows)]
    series = room.first(series or _distinct(rows, view.series), view.most or _MOST)
    names = room.first(_distinct(rows, view.category), _MOST)
    single = view.series == view.category
    beside = len(names) > 1 and (single or len(series) <= _BESIDE)
    apart = len(names) > 1 and not beside
    if apart:
        columns, names = columns[:1], room.first(names, _PANELS)
    values: list[Json] = [
        {"name": row[view.category if beside else view.series], "series": row[view.series],
         "panel": row[view.category], **_bar(view, table, row, columns)}
        for row in rows
        if row[view.series] in series and row[view.category] in names
    ]  # fmt: skip
    colour: Json = {}
    if beside and not single and len(series) > 1:
        colour = {"yOffset": _names("series"), "color": _names("series")}
    elif view.strong and not view.band:
        colour = {"color": _shades(table.column(view.strong).title, values)}
    banded = sum(value.get("band", False) for value in values) > 1  # one alone is no band
    best = values[0]["name"] if view.ordered and (view.better or ruling.better) else None
    panels = [
        _bar_panel(
            view,
            column if n else replace(column, title=_axis_title(view, rows, column.title)),
            n,
            values,
            colour,
            best,
            _band() if banded else [],
        )
        for n, column in enumerate(columns)
    ]
    if apart:
        return _split_panels(panels[0], values, names)
    said = f"Shaded: cannot be told apart from {_name(view.band, {})}"
    below = {"title": {"text": wrap(said, _LINE_LENGTH)}} if banded else {}
    return {"data": {"values": values}, "hconcat": panels, **below}


def _bar(view: Bars, table: Table, row: Mapping[str, Cell], columns: Sequence[Column]) -> Json:
    """The figures of a bar."""
    made: Json = {}
    for n, column in enumerate(columns):
        made[f"value{n}"] = number_of(row[column.name])
        if column.ends:
            low, high = column.ends
            made |= {f"low{n}": number_of(row[low]), f"high{n}": number_of(row[high])}
    if view.band:
        made["band"] = row[view.strong or ""] is False or row[view.series] == _name(view.band, {})
    elif view.strong:
        title = table.column(view.strong).title
        decided = row[view.strong]
        made["shade"] = "" if decided is None else title if decided else f"not {title}"
    more = [view.hollow] if view.hollow else []
    if view.hollow:
        made["hollow"] = number_of(row[view.hollow])
    shown = [*(column.name for column in columns), *more, *view.told]
    return {**made, "said": _describe_mark(table, row, [view.category, view.series], shown)}


def _axis_title(view: View, rows: Rows, title: str) -> str:
    """The title of an axis, with the metric where a view is of one."""
    metrics = [str(rows[0][name]) for name in view.where if name in METRICS]
    return f"{title} ({metrics[0]})" if metrics else title


def _best_first(rows: Rows, name: str, *, better: str | None) -> Rows:
    sign = 1 if better == "lower" else -1

    def place(row: Mapping[str, Cell]) -> tuple[bool, float]:
        number = number_of(row[name])
        return number is None, sign * (number or 0.0)

    return sorted(rows, key=place)


def _shades(title: str, values: Rows) -> Json:
    """Grey for what is not decided; neither where nothing is to be decided."""
    colours = {title: _COLOURS[0], f"not {title}": _GREY, "": _SOFT}
    shades = [shade for shade in colours if any(row["shade"] == shade for row in values)]
    if len(shades) > 1:
        colours[""] = _GREY
    scale = {"domain": shades, "range": [colours[shade] for shade in shades]}
    said = [shade for shade in shades if shade]
    return _names("shade", scale=scale, legend={"values": said} if said != [title] else None)


def _bar_panel(
    view: Bars,
    column: Column,
    n: int,
    values: Sequence[Json],
    colour: Json,
    best: Cell,
    behind: Sequence[Json],
) -> Json:
    bold = {"test": f"datum.value === {json.dumps(best)}", "value": "bold"}
    weight = {"labelFontWeight": {"condition": bold, "value": "normal"}} if best else {}
    axis = {**weight, "grid": view.dots, "zindex": 0} if n == 0 else None
    encoding: Json = {"y": _lined_up(values, axis=axis), **colour, **_CARD}
    ends = [row.get(end) for row in values for end in (f"value{n}", f"low{n}", f"high{n}")]
    scale = _scale(column, ends, zero=not view.dots)
    mark = {"type": "point", "size": 40} if view.dots else {"type": "bar"}
    x = _numbers(f"value{n}", column.title, **scale)
    shown: Json = {"mark": mark, "encoding": {"x": x}}
    whiskers = [_whisker(f"low{n}", f"high{n}", column.title)] if column.ends else []
    layers = [*behind, *whiskers, shown] if view.dots else [*behind, shown, *whiskers]
    if view.hollow and n == 0:
        hollow = {"type": "point", "filled": False, "color": _COLOURS[0], "aria": False}
        layers.append({"mark": hollow, "encoding": {"x": _numbers("hollow", column.title)}})
    return {"layer": layers, "encoding": encoding}


def _band() -> list[Json]:
    """Behind the rows that cannot be told apart."""
    mark = {"type": "rect", "color": _COLOURS[0], "opacity": 0.14, "aria": False}
    untold = {"tooltip": None, "description": None}
    return [{"transform": [{"filter": "datum.band"}], "mark": mark, "encoding": untold}]


def _stacked(view: StackedBars, table: Table, rows: Rows, room: _Room) -> Json:
    """Bars of parts that add up, a panel for each series."""
    panels = room.first(_distinct(rows, view.series), _PANELS)
    names = room.first(_distinct(rows, view.category), _MOST)
    values = [
        {"name": row[view.category], "panel": row[view.series], "part": column.title,
         "place": place,
         "value": number_of(row[column.name]),
         "said": _describe_mark(table, row, [view.category, view.series], [column.name])}
        for row in rows
        if row[view.series] in panels and row[view.category] in names
        for place, column in enumerate(map(table.column, view.parts))
    ]  # fmt: skip
    parts = {"y": _lined_up(values), "x": _numbers("value"), "color": _names("part"), **_CARD}
    parts["order"] = {"field": "place", "type": "quantitative"}
    return _split_panels({"mark": "bar", "encoding": parts}, values, panels)


def _is_faint(row: Mapping[str, Cell], view: HeatMap) -> bool:
    """True if a cell means little."""
    few = view.few is not None and (number_of(row[view.few[0]]) or 0) < view.few[1]
    return few or (view.faint is not None and row[view.faint] is True)


def _sort_by_contrast(rows: Rows, view: HeatMap) -> list[Any]:
    """The names of its rows, of many those first whose cells differ most, greyed ones aside."""
    values: dict[Any, list[float]] = {}
    for row in rows:
        number = None if _is_faint(row, view) else number_of(row[view.value])
        values.setdefault(row[view.rows], []).extend([] if number is None else [number])
    if view.ordered or len(values) <= _FEW:
        return list(values)
    apart = {
        name: max(cells, default=0.0) - min(cells, default=0.0) for name, cells in values.items()
    }
    return sorted(apart, key=lambda name: -apart[name])


def _heat_map(view: HeatMap, table: Table, rows: Rows, room: _Room) -> Json:
    """A cell for each row and column, with its figure; greyed where it means little."""
    column = table.column(view.value)
    names = room.first(_sort_by_contrast(rows, view), room.most)
    more = [name for name in (view.under, view.beside) if name]
    values: list[Json] = []
    for row in rows:
        value = number_of(row[view.value])
        if row[view.rows] not in names or value is None:
            continue
        mark = "*" if view.marks is not None and row[view.marks] is True else ""
        said = _describe_mark(table, row, [view.rows, view.columns], [view.value, *more])
        values.append(
            {
                "name": row[view.rows],
                "head": row[view.columns],
                "value": value,
                "faint": _is_faint(row, view),
                "text": f"{cell_text(value, column)}{mark}",
                "said": said,
            }
        )
    values.sort(key=lambda cell: names.index(cell["name"]))
    low, high = view.low, view.high
    found = [cell["value"] for cell in values]
    start = min(found, default=0.0) if low is None else low
    if high is None and max(found, default=0.0) <= start:
        high = start + 1.0  # no cell stands out where all are alike
    around = low is not None and high is not None and low < 0 < high
    scale: Json = {"scheme": _SCALES[column.better], "clamp": True}
    if around:
        scale |= {"scheme": "blueorange", "reverse": column.better != "lower", "domainMid": 0}
    scale |= {
        name: end for name, end in (("domainMin", low), ("domainMax", high)) if end is not None
    }
    better = f", {column.better} is better" if column.better else ""
    title = f"{_axis_title(view, rows, column.title)}{better}"
    colour = _numbers("value", title, scale=scale, legend={"titleLimit": 0, "tickCount": 2})
    grey = {"test": "datum.faint", "value": _GRID}
    letters = [
        {"test": "datum.faint", "value": _SOFT},
        {"test": "luminance(scale('color', datum.value)) < .18", "value": "white"},
    ]
    axis = {"orient": "top", "labelAngle": -40, "labelLimit": 130}
    return {
        "data": {"values": values},
        "encoding": {"y": _lined_up(values), "x": _lined_up(values, "head", axis=axis)},
        "layer": [
            {"mark": "rect", "encoding": {"color": {"condition": grey, **colour}, **_CARD}},
            {
                "mark": {"type": "text", "aria": False},
                "encoding": {
                    "text": {"field": "text"},
                    "color": {"condition": letters, "value": "black"},
                },
            },
        ],
    }


#: a name stands on the side of the middle
_BESIDE_POINT = {
    "align": {"expr": "datum.left ? 'right' : 'left'"},
    "dx": {"expr": "datum.left ? -5 : 5"},
}


def _scatter(view: Scatter, table: Table, rows: Rows, room: _Room) -> Json:
    """Named points, with r and n of each panel; names that would lie over others are left out."""
    values: list[Json] = []
    panels = room.first(_distinct(rows, view.panels), _PANELS) if view.panels else [None]
    for panel in panels:
        mine = [row for row in rows if view.panels is None or row[view.panels] == panel]
        values += _points(view, table, mine, len(panels))
    x, y = table.column(view.x), table.column(view.y)
    encoding: Json = {
        "x": _numbers("x", x.title, scale={"zero": False}),
        "y": _numbers("y", y.title, scale={"zero": False}),
    }
    coloured = {"color": _names("series")} if view.series else {}
    layers: list[Json] = [
        *_identity(view, [(row["x"], row["y"]) for row in values]),
        {"mark": "point", "encoding": {**coloured, **_CARD}},
        {
            "mark": {"type": "text", **_BESIDE_POINT, "aria": False},
            "encoding": {"text": {"field": "label"}, "color": {"value": _SOFT}},
        },
    ]
    made = _split_panels({"layer": layers, "encoding": encoding}, values, panels)
    return {**made, "resolve": {"scale": {"x": "independent", "y": "independent"}}}


def _points(view: Scatter, table: Table, rows: Rows, panels: int) -> Iterator[Json]:
    """The points of a panel, which says their r and n."""
    pairs = [(number_of(row[view.x]), number_of(row[view.y])) for row in rows]
    there = [(x, y) for x, y in pairs if x is not None and y is not None]
    if not there:
        return
    shown = [row for row, pair in zip(rows, pairs, strict=True) if None not in pair]
    across, up = zip(*there, strict=True)
    r = pearson(across, up) if len(there) > 2 else math.nan
    parts = [str(shown[0][view.panels])] if view.panels else []
    parts += [*([f"r = {r:.2f}"] if math.isfinite(r) else []), f"n = {len(there)}"]
    labels = _place_labels(
        there,
        ["" if (name := str(row[view.label])) == UNDEFINED else name for row in shown],
        panels,
    )
    names = [name for name in (view.label, view.series, view.panels) if name]
    for (x, y), row, label in zip(there, shown, labels, strict=True):
        yield {
            "x": x, "y": y, "panel": ", ".join(parts),
            "label": label.text, "left": label.left,
            "series": row[view.series] if view.series else None,
            "said": _describe_mark(table, row, names, [view.x, view.y]),
        }  # fmt: skip


class _Label(NamedTuple):
    """The label beside a point, and its side; empty where there is no room."""

    text: str = ""
    left: bool = False


def _place_labels(
    points: Sequence[tuple[float, float]], names: Sequence[str], panels: int
) -> list[_Label]:
    """Names beside points, none over a point or another name; those far from all others first."""
    letter = 0.022 if panels < 3 else 0.033  # its share of the width
    low, high = (np.min(points, axis=0), np.max(points, axis=0))
    places = (np.array(points) - low) / np.where(high > low, high - low, 1.0)
    labels = [_Label()] * len(names)
    kept: list[tuple[float, float, float]] = []
    for number in np.argsort(-_standing_out(places), kind="stable").tolist():
        x, y = places[number].tolist()
        others = [(a, a, b) for n, (a, b) in enumerate(places.tolist()) if n != number]
        wide = letter * (min(len(names[number]), LONGEST_NAME) + 1)
        for left in (x > _MIDDLE, x <= _MIDDLE):
            start, end = (x - wide, x - 0.01) if left else (x + 0.01, x + wide)
            near = ((a, b) for a, b, up in [*others, *kept] if abs(up - y) < _LINE)
            outside = start < -_LINE or end > 1
            if not outside and not any(a < end and b > start for a, b in near):
                kept.append((start, end, y))
                labels[number] = _Label(names[number], left)
                break
    return labels


def _standing_out(places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Distance of points from the line that fits all, and then from the middle."""
    across, up = places.T
    spread = float(np.var(across))
    slope = float(np.mean((across - across.mean()) * (up - up.mean()))) / spread if spread else 0.0
    aside = np.abs(up - up.mean() - slope * (across - across.mean()))
    outside: NDArray[np.float64] = np.abs(places - _MIDDLE).max(axis=1)
    outlying: NDArray[np.float64] = aside + 0.2 * outside
    return outlying


def _identity(view: Scatter | Lines, points: Sequence[tuple[float, float]]) -> list[Json]:
    if not view.identity or not points:
        return []
    low = max(min(x for x, _ in points), min(y for _, y in points))
    high = min(max(x for x, _ in points), max(y for _, y in points))
    ends = [{"x": low, "y": low}, {"x": high, "y": high}]
    dashed = {"type": "line", "strokeDash": [3, 3], "color": _SOFT, "aria": False}
    return [{"data": {"values": ends}, "mark": dashed}]


def _lines(view: Lines, table: Table, rows: Rows, room: _Room) -> Json:
    """Curves with their bands; they break where a value is undefined."""
    panels = room.first(_distinct(rows, view.panels), _PANELS) if view.panels else [None]
    series = room.first(_distinct(rows, view.series), len(_COLOURS))
    names = [view.series, *([view.panels] if view.panels else [])]
    ends = [end for end in (view.low, view.high) if end]
    values: list[Json] = [
        {"x": number_of(row[view.x]), "y": number_of(row[view.y]), "series": row[view.series],
         "panel": row[view.panels] if view.panels else "",
         **dict(zip(("low", "high"), (number_of(row[end]) for end in ends), strict=False)),
         "said": _describe_mark(table, row, names, [view.x, view.y, *ends])}
        for row in rows
        if row[view.series] in series and (view.panels is None or row[view.panels] in panels)
    ]  # fmt: skip
    x, y = table.column(view.x), table.column(view.y)
    colours = [_INK if name == view.ink else _COLOURS[k] for k, name in enumerate(series)]
    legend = {} if len(series) > 1 else {"legend": None}
    encoding = {
        "x": _numbers("x", x.title, scale={"zero": False}),
        "color": _names("series", scale={"domain": series, "range": colours}, **legend),
    }
    band = {"y": _numbers("low", y.title), "y2": {"field": "high"}}
    shown = _numbers("y", y.title, scale={"zero": False})
    layers = [
        *_identity(view, [(r["x"], r["y"]) for r in values if None not in (r["x"], r["y"])]),
        *([{"mark": {"type": "area", "aria": False}, "encoding": band}] if len(ends) == 2 else []),
        {"mark": {"type": "line", "aria": False}, "encoding": {"y": shown}},
        {"mark": {"type": "point", "size": 12}, "encoding": {"y": shown, **_CARD}},
    ]
    return _split_panels({"layer": layers, "encoding": encoding}, values, panels)


def _histogram(view: Histogram, table: Table, rows: Rows, _room: _Room) -> Json:
    """A bar for each bin; the one that holds 0 is grey."""
    values = []
    for row in rows:
        low, high = number_of(row[view.start]), number_of(row[view.end])
        if low is None or high is None:
            continue
        said = _describe_mark(table, row, [view.name], [view.count])
        bar = {"name": row[view.name], "low": low, "high": high, "said": said}
        values.append({**bar, "count": row[view.count]})
    title = table.column(view.start).title
    middle = {"test": "datum.low < 0 && datum.high > 0", "value": _GREY}
    return {
        "data": {"values": values},
        "mark": {"type": "bar", "binSpacing": 1},
        "encoding": {
            "x": _numbers("low", _axis_title(view, rows, title), bin="binned"),
            "x2": {"field": "high"},
            "y": _numbers("count", table.column(view.count).title, axis={"tickCount": 5}),
            "color": {"condition": middle, "value": _COLOURS[0]},
            **_CARD,
        },
    }


_DRAWERS: dict[type, Callable[[Any, Table, Rows, _Room], Json]] = {
    HeatMap: _heat_map,
    Bars: _bars,
    StackedBars: _stacked,
    Scatter: _scatter,
    Lines: _lines,
    Histogram: _histogram,
}
