"""One self-contained HTML page for any findings: opens by double click and loads nothing.

Charts are drawn as SVG by the page's own script, not by a plotting library: so the reader can pick
systems and features, the Content-Security-Policy stays strict (no inline style, no outside code),
and neither the page nor the installation carries a plotting library. Every chart has its table
beside it as the textual form.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from dataclasses import asdict
from importlib import resources
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from gnomon.core.findings import HeatMap, Listing
from gnomon.core.lazy import checked
from gnomon.core.signature import version
from gnomon.core.tabular import visible
from gnomon.core.verdicts import split_notes, titles_of
from gnomon.messages import noted, rendered
from gnomon.metrics.titles import metric_titles

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence
    from os import PathLike

    from gnomon.core.findings import (
        Cell,
        Column,
        Exhibit,
        ExhibitText,
        Finding,
        Highlight,
        Table,
        View,
    )
    from gnomon.messages import Message

Json: TypeAlias = dict[str, Any]

__all__ = ["to_html", "write_html"]

#: what draws tables, views and marked texts, of one finding and of a study alike
DRAWERS = (
    "text.js",
    "tables.js",
    "grid.js",
    "charts.js",
    "plots.js",
    "boxes.js",
    "heatmap.js",
)
_UNSAFE = str.maketrans(
    {
        "<": "\\u003c",
        ">": "\\u003e",
        "&": "\\u0026",
        "\u2028": "\\u2028",
        "\u2029": "\\u2029",
    }
)
#: lines of a script that speak to its authors alone
_COMMENT = re.compile(r"^ *//.*\n", re.MULTILINE)
_SURROGATE = re.compile("[\ud800-\udfff]")
_OF_ONE_VIEW = frozenset({"title", "where", "shown", "prominent"})


@checked
def write_html(
    path: str | PathLike[str], findings: Finding | Sequence[Finding], *, title: str | None = None
) -> None:
    """Write a report; the file appears whole or not at all.

    Args:
        path: the file to write; an existing one is replaced.
        findings: one finding, or several in the order of the page.
        title: heading of the page; the first finding's title by default.

    Raises:
        OutputError: the file cannot be written.
    """
    from gnomon.data.formats import atomic_write

    page = to_html(findings, title=title)
    with atomic_write(path) as file:
        file.write(page)


@checked
def to_html(findings: Finding | Sequence[Finding], *, title: str | None = None) -> str:
    """The page of :func:`write_html` as a string, pure ASCII in what comes from data tables."""
    from gnomon.core.findings import Finding

    listed = [findings] if isinstance(findings, Finding) else list(findings)
    shown = [_head(finding) for finding in listed]
    return framed(
        "report.html.j2",
        payload(listed),
        scripts=(*DRAWERS, "exhibits.js", "page.js"),
        title=title or (listed[0].title if listed else "gnomon report"),
        contents=_contents(shown),
        findings=shown,
    )


def framed(
    template: str,
    data: object,
    *,
    scripts: Sequence[str],
    styles: Sequence[str] = ("report.css",),
    more_scripts: str = "",
    **shown: object,
) -> str:
    """A page: a template with scripts and styles of this package, and data that these read."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("gnomon.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["visible"] = lambda text: visible(str(text))
    style = "".join(map(_static, styles))
    parts = ['\n"use strict";\n(() => {\n', *map(_static, scripts), "})();\n"]
    script = _COMMENT.sub("", "".join(parts))
    return environment.get_template(template).render(
        policy=policy(script, style, more_scripts),
        version=version(),
        # these three are gnomon's own text or escaped here; everything else Jinja2 escapes
        style=Markup(style),  # noqa: S704  # files of this package
        script=Markup(script),  # noqa: S704  # files of this package
        data=Markup(json_in_html(data)),  # noqa: S704  # escaped by json_in_html
        **shown,
    )


def policy(script: str, style: str, more: str = "") -> str:
    """A Content-Security-Policy that allows this script and this style, and nothing else."""
    return (
        f"default-src 'none'; script-src {_hash(script)}{more}; style-src {_hash(style)};"
        " base-uri 'none'; form-action 'none'"
    )


def json_in_html(content: object) -> str:
    """JSON that is safe inside a ``<script>`` element: no ``<``, ``>``, ``&``, U+2028, U+2029."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # a lone surrogate has no UTF-8; JSON can escape it
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text.translate(_UNSAFE))


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _static(name: str) -> str:
    return (resources.files(__package__) / "static" / name).read_text(encoding="utf-8")


def _head(finding: Finding) -> dict[str, object]:
    first, others = split_notes(finding.verdict)
    return {
        "title": finding.title,
        "verdict": leading(first),
        "facts": dict(finding.facts),
        "notices": [*map(rendered, others), *map(noted, finding.notices)],
        "panels": [
            {**panel, "glosses": _glosses(finding.tables[panel["views"][0]["table"]], panel)}
            for panel in _panels(finding)
        ],
        "exhibits": bool(finding.exhibits),
        "tables": finding.tables,
        "signatures": {name: str(one) for name, one in finding.signatures.items()},
    }


#: statements of a verdict that stand before the first picture where the screen is small
_LEADS = 2


def leading(verdict: Sequence[Message]) -> list[Sequence[Message]]:
    """The first statements, and the others; all as one where few are no cautions."""
    plain = sum(statement.level != "caution" for statement in verdict)
    first = _LEADS if plain > _LEADS else len(verdict)
    return [group for group in (verdict[:first], verdict[first:]) if group]


def _contents(shown: Sequence[dict[str, object]]) -> list[dict[str, str]]:
    entries: list[dict[str, str]] = []
    for f, finding in enumerate(shown):
        if len(shown) > 1:
            entries.append({"id": f"f{f}", "title": str(finding["title"])})
        entries += _sections(f, finding)
    return entries


def _sections(f: int, finding: dict[str, object]) -> list[dict[str, str]]:
    titles: list[tuple[str, str]] = []
    for kind, shown in (("p", finding["panels"]), ("t", finding["tables"])):
        titles += [
            (f"{kind}{n}", _title(panel))
            for n, panel in enumerate(cast("Sequence[Any]", shown))
            if n == 0 or isinstance(panel, dict) or panel.rows
        ]
        if kind == "p" and finding["exhibits"]:
            titles.append(("segments", "Segments behind the numbers"))
    if finding["signatures"]:
        titles.append(("signatures", "Signatures, to reproduce each number"))
    return [{"id": f"f{f}-{name}-title", "title": title} for name, title in titles]


def _title(panel: Any) -> str:
    return str(panel["title"] if isinstance(panel, dict) else panel.title)


# Findings as data: columns one by one, and texts that recur (names, segments) once.


class _Pool:
    """What recurs in exhibits, each once, by number: texts, who speaks, marks, names of values."""

    def __init__(self) -> None:
        self.parts: dict[str, dict[Hashable, int]] = {
            "strings": {}, "sides": {}, "marks": {}, "names": {}
        }  # fmt: skip

    def number(self, name: str, value: Hashable) -> int:
        numbers = self.parts[name]
        return numbers.setdefault(value, len(numbers))

    def lists(self) -> Json:
        return {name: list(numbers) for name, numbers in self.parts.items()}


def payload(findings: Sequence[Finding]) -> Json:
    """What the script of the page reads."""
    pool = _Pool()
    contents = [_finding(finding, pool) for finding in findings]
    return {
        "findings": contents,
        "glosses": _meanings(findings),
        "long": _short_names(findings),
        **pool.lists(),
    }


def _meanings(findings: Sequence[Finding]) -> dict[str, str]:
    """What the features of tables and exhibits are, in a word or two."""
    from gnomon.linguistics import MEANINGS  # what only pages need

    named: set[Cell] = {exhibit.group for finding in findings for exhibit in finding.exhibits}
    for finding in findings:
        for table in finding.tables:
            words = [column.name for column in table.columns if column.kind == "text"]
            named.update(row[name] for name in words for row in table.rows)
    return {feature: meaning for feature, meaning in MEANINGS.items() if feature in named}


#: columns that hold names of metrics
METRICS = frozenset({"metric", "against", "baseline"})


def _short_names(findings: Sequence[Finding]) -> dict[str, str]:
    """Short names of metrics; the page shows the specs where one points.

    A word, system or feature that is called like a metric keeps its name, and so does that metric.
    """
    titles = metric_titles(spec for finding in findings for spec in titles_of(finding))
    apart = {spec: title for spec, title in titles.items() if title != spec}
    others = {
        row[column.name]
        for finding in findings
        for table in finding.tables
        for column in table.columns
        if column.kind == "text" and column.name not in METRICS
        for row in table.rows
    }
    return {spec: title for spec, title in apart.items() if "(" in spec or spec not in others}


def _finding(finding: Finding, pool: _Pool) -> Json:
    return {
        "title": finding.title,
        "verdict": " ".join(map(rendered, finding.verdict)),
        "tables": [
            {**_table(table), "answers": _answers(finding, table)} for table in finding.tables
        ],
        "panels": _panels(finding),
        "exhibits": [_exhibit(exhibit, pool) for exhibit in finding.exhibits],
    }


#: what a view draws of its table, by the names of its attributes
_DRAWN = ("value", "values", "parts", "x", "y", "beside", "under")


def _glosses(table: Table, panel: Json) -> list[tuple[str, str]]:
    """What the columns that a panel draws mean, as far as their titles do not say it."""
    view = panel["views"][0]
    drawn: dict[str, None] = {}
    for attribute in _DRAWN:
        names = view.get(attribute) or ()
        drawn |= dict.fromkeys([names] if isinstance(names, str) else names)
    columns = (table.column(name) for name in drawn)
    return [(column.title, column.help) for column in columns if column.help]


def _answers(finding: Finding, table: Table) -> list[str]:
    """The columns of a table that its views show."""
    shown: dict[str, None] = {}
    views = [view for view in finding.views if view.table == table.name]
    for view in sorted(views, key=lambda one: isinstance(one, Listing)):  # pictures first
        for attribute in ("columns",) if isinstance(view, Listing) else _DRAWN:
            names = getattr(view, attribute, None) or ()
            shown |= dict.fromkeys([names] if isinstance(names, str) else names)
    return list(shown)


def _panels(finding: Finding) -> list[Json]:
    tables = [table.name for table in finding.tables]
    numbered = ((view, tables.index(finding.table(view.table).name)) for view in finding.views)
    return panels((view, table) for view, table in numbered if finding.tables[table].rows)


def panels(views: Iterable[tuple[View, int]]) -> list[Json]:
    """Views in panels: those that differ only in title, ``where`` and prominence share one.

    The page offers the values of ``where`` as choices, so that the first view of a panel suffices
    to show them all. Listings get none: the page holds every table.
    """
    by_title: dict[str, Json] = {}
    for view, table in views:
        if isinstance(view, Listing):
            continue
        content = _view(view, table)
        family = repr({k: v for k, v in content.items() if k not in _OF_ONE_VIEW})
        keys = repr(sorted(view.where))
        panel = by_title.setdefault(
            f"{type(view).__name__} {family} {keys}",
            {"type": type(view).__name__, "title": view.title, "views": []},
        )
        panel["views"].append(content)
    return list(by_title.values())


def _view(view: View, table: int) -> Json:
    content = asdict(view)
    content["table"] = table
    content["where"] = [[name, value] for name, value in view.where.items()]
    if content.get("better") is None:
        content.pop("better", None)
    for name in ("low", "high") if isinstance(view, HeatMap) else ():
        content[name] = _number(content[name])
    return content


def _table(table: Table) -> Json:
    rows = table.rows
    if table.excerpt is not None:
        rows = tuple(rows[position] for position in table.excerpt.rows)
    columns = [_column(column, [row[column.name] for row in rows]) for column in table.columns]
    return {"title": table.title, "size": len(rows), "columns": columns}


def _column(column: Column, cells: Sequence[Cell]) -> Json:
    return {**asdict(column), **packed(cells)}


def packed(cells: Sequence[Cell]) -> Json:
    """A column: what recurs in it is stored once, by number; numbers that do not, as they are."""
    levels: dict[tuple[type, Cell], int] = {}  # by type too: True is no 1
    plain = [_number(cell) for cell in cells]
    codes = [levels.setdefault((type(cell), cell), len(levels)) for cell in plain]
    if any(isinstance(cell, str) for cell in plain) or 2 * len(levels) <= len(plain):
        return {"levels": [cell for _, cell in levels], "codes": codes}
    return {"cells": plain}


def _number(cell: Cell) -> Cell:
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def _exhibit(exhibit: Exhibit, pool: _Pool) -> Json:
    return {
        "group": exhibit.group,
        "kind": exhibit.kind,
        "segment": exhibit.segment,
        "document": exhibit.document,
        "domain": exhibit.domain,
        "caption": exhibit.caption,
        "systems": list(exhibit.systems),
        "texts": [_text(text, pool) for text in exhibit.texts],
    }


def _text(text: ExhibitText, pool: _Pool) -> list[Cell]:
    """Numbers of side, text, marks and names of values, then the values."""
    marks = tuple(_mark(mark, pool) for mark in text.highlights)
    return [
        pool.number("sides", (text.role, text.name)),
        pool.number("strings", text.text),
        pool.number("marks", marks),
        pool.number("names", tuple(text.values)),
        *map(_rounded, text.values.values()),
    ]


def _mark(mark: Highlight, pool: _Pool) -> tuple[int, ...]:
    """Ends and number of the label; the colour where there is one, and whether it is flagged."""
    packed_mark = (mark.start, mark.end, pool.number("strings", mark.label))
    return (
        packed_mark
        if mark.step is None
        else (*packed_mark, mark.step, *([1] if mark.flagged else []))
    )


def _rounded(value: float | str | None) -> float | str | None:
    if isinstance(value, str):
        return value
    # shown with a few digits and never downloaded: six are enough
    return None if value is None or not math.isfinite(value) else float(f"{value:.6g}")
