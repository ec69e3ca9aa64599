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
from importlib import resources
from typing import TYPE_CHECKING, Any, cast

from gnomon.doors import checked
from gnomon.report._payload import panels, payload
from gnomon.signature import version
from gnomon.tabular import visible

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from jinja2 import Template

    from gnomon.findings import Finding

__all__ = ["to_html", "write_html"]

_SCRIPTS = (
    "text.js",
    "tables.js",
    "charts.js",
    "plots.js",
    "boxes.js",
    "heatmap.js",
    "segments.js",
    "page.js",
)
_JSON_IN_HTML = str.maketrans(
    {
        "<": "\\u003c",
        ">": "\\u003e",
        "&": "\\u0026",
        "\u2028": "\\u2028",
        "\u2029": "\\u2029",
    }
)


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
    from gnomon.formats import atomic_write

    page = to_html(findings, title=title)
    with atomic_write(path) as file:
        file.write(page)


@checked
def to_html(findings: Finding | Sequence[Finding], *, title: str | None = None) -> str:
    """The page of :func:`write_html` as a string, pure ASCII in what comes from data tables."""
    from markupsafe import Markup

    from gnomon.findings import Finding

    found = [findings] if isinstance(findings, Finding) else list(findings)
    style = _static("report.css")
    script = "".join(['\n"use strict";\n(() => {\n', *map(_static, _SCRIPTS), "})();\n"])
    shown = [_head(finding) for finding in found]
    return _template().render(
        policy=policy(script, style),
        title=title or (found[0].title if found else "gnomon report"),
        version=version(),
        contents=_contents(shown),
        findings=shown,
        # these three are gnomon's own text or escaped here; everything else Jinja2 escapes
        style=Markup(style),  # noqa: S704  # a file of this package
        script=Markup(script),  # noqa: S704  # files of this package
        data=Markup(json_in_html(payload(found))),  # noqa: S704  # escaped by json_in_html
    )


def policy(script: str, style: str) -> str:
    """A Content-Security-Policy that allows this script and this style, and nothing else."""
    return (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)};"
        " base-uri 'none'; form-action 'none'"
    )


def json_in_html(content: object) -> str:
    """JSON that is safe inside a ``<script>`` element: no ``<``, ``>``, ``&``, U+2028, U+2029."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    escaped = text.translate(_JSON_IN_HTML)
    # a lone surrogate has no UTF-8; JSON can escape it
    return "".join(f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in escaped)


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _static(name: str) -> str:
    return (resources.files(__package__) / "static" / name).read_text(encoding="utf-8")


def _template() -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("gnomon.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["visible"] = lambda text: visible(str(text))
    return environment.get_template("report.html.j2")


def _head(finding: Finding) -> dict[str, object]:
    return {
        "title": finding.title,
        "facts": dict(finding.facts),
        "notices": finding.notices,
        "panels": panels(finding),
        "exhibits": bool(finding.exhibits),
        "tables": finding.tables,
        "signatures": dict(finding.signatures),
    }


def _contents(shown: Sequence[dict[str, object]]) -> list[dict[str, str]]:
    entries: list[dict[str, str]] = []
    for f, finding in enumerate(shown):
        if len(shown) > 1:
            entries.append({"id": f"f{f}", "title": str(finding["title"])})
        entries += _sections(f, finding)
    return entries


def _sections(f: int, finding: dict[str, object]) -> list[dict[str, str]]:
    titles: list[tuple[str, str]] = []
    for kind, part in (("p", finding["panels"]), ("t", finding["tables"])):
        titles += [(f"{kind}{n}", _title(one)) for n, one in enumerate(cast("Sequence[Any]", part))]
        if kind == "p" and finding["exhibits"]:
            titles.append(("segments", "Segments behind the numbers"))
    if finding["signatures"]:
        titles.append(("signatures", "Signatures"))
    return [{"id": f"f{f}-{name}-title", "title": title} for name, title in titles]


def _title(part: Any) -> str:
    return str(part["title"] if isinstance(part, dict) else part.title)
