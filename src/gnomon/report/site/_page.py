"""The page of a site: its frame as HTML, its script and style inside, its policy.

The policy allows this script by its hash, and scripts that it adds itself (the parts of the data
beside the page); nothing else runs, nothing is asked for over a network.
"""

from __future__ import annotations

import base64
import hashlib
from importlib import resources
from typing import TYPE_CHECKING

from gnomon.signature import version
from gnomon.tabular import visible

if TYPE_CHECKING:
    from gnomon.report.site._content import Content

__all__ = ["PAGES", "page"]

#: of the report of one method, and used here as they are
_SHARED = ("text.js", "tables.js", "charts.js", "plots.js", "heatmap.js")
_OWN = (
    "parts.js",
    "grid.js",
    "marks.js",
    "systems.js",
    "overview.js",
    "features.js",
    "words.js",
    "segments.js",
    "segment.js",
    "rest.js",
    "site.js",
)
PAGES = (
    ("systems", "Systems"),
    ("overview", "All test sets"),
    ("features", "Features"),
    ("words", "Words"),
    ("segments", "Segments"),
    ("references", "References"),
    ("agreement", "Agreement with people"),
    ("provenance", "Provenance"),
    ("tables", "All tables"),
)


def page(content: Content, data: str) -> tuple[str, str]:
    """The page in two pieces, between which a single file holds the parts of its data.

    Args:
        content: for title, facts and notices.
        data: JSON that is safe within HTML.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("gnomon.report.site"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["visible"] = lambda text: visible(str(text))
    style = _static("gnomon.report", "report.css") + _static(__package__, "site.css")
    script = "".join(
        ['\n"use strict";\n(() => {\n']
        + [_static("gnomon.report", name) for name in _SHARED]
        + [_static(__package__, name) for name in _OWN]
        + ["})();\n"]
    )
    before = environment.get_template("site.html.j2").render(
        policy=_policy(script, style),
        title=content.title,
        version=version(),
        pages=[one for one in PAGES if one[0] != "overview" or len(content.testsets) > 1],
        facts=dict(content.facts),
        notices=list(content.notices),
        # these three are gnomon's own text or escaped already; everything else Jinja2 escapes
        style=Markup(style),  # noqa: S704  # files of this package
        script=Markup(script),  # noqa: S704  # files of this package
        data=Markup(data),  # noqa: S704  # escaped by in_html
    )
    return before, "</body>\n</html>\n"


def _policy(script: str, style: str) -> str:
    return (
        f"default-src 'none'; script-src {_hash(script)} 'strict-dynamic';"
        f" style-src {_hash(style)}; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _static(package: str, name: str) -> str:
    return (resources.files(package) / "static" / name).read_text(encoding="utf-8")
