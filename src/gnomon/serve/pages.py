"""Pages: rows of the route table, and the values that each shows."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass, field
from http import HTTPStatus
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec
from starlette.responses import HTMLResponse, Response

from gnomon.core.tabular import visible, visible_lines
from gnomon.messages import rendered

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from jinja2 import Environment
    from starlette.requests import Request

    from gnomon.serve.access import Role

__all__ = [
    "STATIC",
    "Handler",
    "Page",
    "Shown",
    "format_megabytes",
    "json_response",
    "render",
    "static_file",
    "wants_json",
]

#: files that pages load, and where each is; one of several files has no place
STATIC = {
    "report.css": ("gnomon.report", "static/report.css"),
    "vega.js": ("gnomon.report", "static/vendor/vega.js"),
    "charts.js": ("gnomon.report", ""),
    "serve.css": ("gnomon.serve", "static/serve.css"),
    "serve.js": ("gnomon.serve", "static/serve.js"),
    "icon.svg": ("gnomon.serve", "static/icon.svg"),
}
_MEDIA = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_PROBLEM = "application/problem+json"


@dataclass(frozen=True)
class Shown:
    """A handler's answer: a template, and its values.

    Attributes:
        template: its name, under ``templates/``.
        values: what it shows: dataclasses, msgspec's structures, or plain values, by name.
        status: of HTTP.
    """

    template: str
    values: Mapping[str, Any] = field(default_factory=dict)
    status: int = HTTPStatus.OK


Handler: TypeAlias = "Callable[[Request], Awaitable[Response | Shown]]"


@dataclass(frozen=True)
class Page:
    """A row of the route table.

    Attributes:
        path: as Starlette writes it; ``{id}`` is a comparison where ``of`` is "study".
        methods: of HTTP.
        handler: what answers; blocking work goes through ``run_in_threadpool``.
        needs: the least role: of a study, "reader" may read it and "author" may change it; of the
            workspace, "reader" is anybody with a token and "author" may start comparisons; "owner"
            is the server's.
        of: what is protected; "public" needs nothing, and shows nothing of anybody.
        texts: whether it shows texts of a study, which links may leave out.
        upload: whether it takes files, and so bodies as large as ``ServerLimits.upload``.
        deletes: whether it deletes a study, of which it reads nothing.
    """

    path: str
    methods: tuple[str, ...]
    handler: Handler
    needs: Role
    of: Literal["study", "workspace", "public"]
    texts: bool = False
    upload: bool = False
    deletes: bool = False


def wants_json(request: Request) -> bool:
    """True if problems are told to a program, by the address or by what it accepts."""
    if request.url.path.startswith("/api/"):
        return True
    accepted = request.headers.get("accept", "")
    return "json" in accepted and "text/html" not in accepted


def json_response(values: object, status: int = 200, *, problem: bool = False) -> Response:
    """Anything of structures and plain values, as JSON."""
    media = _PROBLEM if problem else "application/json"
    return Response(msgspec.json.encode(values), status, media_type=media)


def render(request: Request, template: str, *, status: int = 200, **values: object) -> Response:
    """A page; everything in it is escaped."""
    page = (
        _environment()
        .get_template(template)
        .render(
            user=getattr(request.state, "user", None),
            path=request.url.path,
            **values,
        )
    )
    return HTMLResponse(page, status)


@functools.cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    from gnomon.report.charts import look
    from gnomon.report.html import json_in_html

    environment = Environment(
        loader=PackageLoader("gnomon.serve"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["visible"] = lambda text: visible(str(text))
    environment.filters["visible_lines"] = lambda text: visible_lines(str(text))
    environment.filters["bytes"] = format_megabytes
    environment.filters["in_script"] = lambda data: Markup(json_in_html(data))  # noqa: S704  # escaped
    environment.filters["sentence"] = lambda said: rendered(said, opening=False, typeset=True)
    environment.globals["static"] = lambda name: f"/static/{name}?v={static_file(name)[1]}"
    environment.globals["look"] = look()
    return environment


def format_megabytes(size: int) -> str:
    """A size for people.

    >>> format_megabytes(50_000_000), format_megabytes(1_234)
    ('50 MB', '1.23 kB')
    """
    for unit, factor in (("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)):
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size} bytes"


@functools.cache
def static_file(name: str) -> tuple[bytes, str, str]:
    """A file that pages load: its content, a version of it, and its media type."""
    from gnomon.report.html import drawing_script

    package, path = STATIC[name]
    made = (resources.files(package) / path).read_bytes() if path else drawing_script().encode()
    version = hashlib.sha256(made).hexdigest()[:12]
    return made, version, _MEDIA[name.rpartition(".")[2]]
