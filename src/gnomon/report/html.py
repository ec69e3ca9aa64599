"""One self-contained HTML page for any findings: opens by double click and loads nothing.

Charts are drawn by Vega-Lite, which a page with charts carries, from the specifications of
:mod:`gnomon.report.charts`. The Content-Security-Policy stays strict: no inline style, no outside
code, no expression that is run as code. Every chart has its table beside it as the textual form.
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

from gnomon.core.findings import Listing
from gnomon.core.lazy import checked
from gnomon.core.reading_order import split_notes
from gnomon.core.signature import version
from gnomon.core.tabular import grid, visible
from gnomon.core.verdicts import titles_of
from gnomon.messages import joined, noted, rendered
from gnomon.metrics.titles import metric_titles
from gnomon.report.charts import METRICS, look
from gnomon.report.panels import Panel, list_columns, packed, panels

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence
    from os import PathLike

    from gnomon.core.findings import (
        Cell,
        Column,
        Exhibit,
        ExhibitText,
        Finding,
        Highlight,
        Table,
    )
    from gnomon.messages import Message

Json: TypeAlias = dict[str, Any]

__all__ = ["drawing_script", "to_html", "write_html"]

#: what draws tables, views and marked texts, of one finding and of a study alike
DRAWERS = ("text.js", "tables.js", "grid.js", "figures.js")
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
    data = payload(listed)
    return framed(
        "report.html.j2",
        data,
        charts=any(finding["panels"] for finding in data["findings"]),
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
    charts: bool = False,
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
    environment.filters["sentence"] = lambda said: rendered(said, typeset=True)
    style = "".join(map(_static, styles))
    script = _join_scripts(scripts)
    if charts:
        script = f"\n{_static('vendor/vega.js')}{script}"
    return environment.get_template(template).render(
        policy=policy(script, style, more_scripts),
        version=version(),
        # these three are gnomon's own text or escaped here; everything else Jinja2 escapes
        style=Markup(style),  # noqa: S704  # files of this package
        script=Markup(script),  # noqa: S704  # files of this package
        data=Markup(json_in_html(data)),  # noqa: S704  # escaped by json_in_html
        **shown,
    )


def drawing_script() -> str:
    """Script that draws the charts of a page that holds each as data in its place."""
    return _join_scripts(("text.js", "tables.js", "figures.js", "placed.js"))


def _join_scripts(scripts: Sequence[str]) -> str:
    parts = ['\n"use strict";\n(() => {\n', *map(_static, scripts), "})();\n"]
    return _COMMENT.sub("", "".join(parts))


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
        "notices": [*map(rendered, others), *map(noted, joined(finding.notices))],
        "panels": [
            {
                "title": panel.title,
                "glosses": _glosses(finding, panel),
                "grid": grid(finding, panel.views[0]),
            }
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
    if finding["facts"] or finding["signatures"]:
        titles.append(("made", "How it was made"))
    return [{"id": f"f{f}-{name}-title", "title": title} for name, title in titles]


def _title(panel: Any) -> str:
    return str(panel["title"] if isinstance(panel, dict) else panel.title)


# Findings as data: columns one by one, and texts that recur (names, segments) once.


class _Pool:
    """A pool of recurring values of exhibits, by number: texts, speakers, marks, names."""

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
    """Data for the script of the page."""
    pool = _Pool()
    contents = [_finding(finding, pool) for finding in findings]
    return {
        "findings": contents,
        "glosses": _meanings(findings),
        "look": look(),
        "long": _short_names(findings),
        **pool.lists(),
    }


def _meanings(findings: Sequence[Finding]) -> dict[str, str]:
    """Meanings of the features of tables and exhibits, in a word or two."""
    from gnomon.linguistics import MEANINGS  # what only pages need

    named: set[Cell] = {exhibit.group for finding in findings for exhibit in finding.exhibits}
    for finding in findings:
        for table in finding.tables:
            words = [column.name for column in table.columns if column.kind == "text"]
            named.update(row[name] for name in words for row in table.rows)
    return {feature: meaning for feature, meaning in MEANINGS.items() if feature in named}


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
        "panels": [
            panel.charts(table, table.rows, titles_of(finding))
            for panel in _panels(finding)
            for table in [finding.table(panel.views[0].table)]
        ],
        "pair": finding.language_pair,
        "exhibits": [_exhibit(exhibit, pool) for exhibit in finding.exhibits],
    }


def _panels(finding: Finding) -> list[Panel]:
    return panels(view for view in finding.views if finding.table(view.table).rows)


def _glosses(finding: Finding, panel: Panel) -> list[tuple[str, str]]:
    """Meanings of the columns that a panel draws, as far as their titles lack them."""
    table = finding.table(panel.views[0].table)
    columns = (table.column(name) for name in list_columns(panel.views[0]))
    return [(column.title, column.help) for column in columns if column.help]


def _answers(finding: Finding, table: Table) -> list[str]:
    """The columns of a table that its views show."""
    shown: dict[str, None] = {}
    views = [view for view in finding.views if view.table == table.name]
    for view in sorted(views, key=lambda one: isinstance(one, Listing)):  # pictures first
        shown |= dict.fromkeys(view.columns if isinstance(view, Listing) else list_columns(view))
    return list(shown)


def _table(table: Table) -> Json:
    rows = table.rows
    if table.excerpt is not None:
        rows = tuple(rows[position] for position in table.excerpt.rows)
    columns = [_column(column, [row[column.name] for row in rows]) for column in table.columns]
    return {"title": table.title, "size": len(rows), "columns": columns}


def _column(column: Column, cells: Sequence[Cell]) -> Json:
    return {**asdict(column), **packed(cells)}


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
