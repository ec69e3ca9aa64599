"""The application: the route table as data, and what is made of it."""

from __future__ import annotations

import contextlib
import functools
from http import HTTPStatus
from importlib import import_module
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import Response
from starlette.routing import Route

from gnomon.serve._guard import Guard, guarded
from gnomon.serve.access import Access
from gnomon.serve.jobs import Queue
from gnomon.serve.pages import STATIC, Page, json_response, render, static_file, wants_json
from gnomon.serve.problems import NotFound, WebProblem
from gnomon.serve.store_pages import stored_study
from gnomon.serve.workers import Background
from gnomon.serve.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request

    from gnomon.serve.settings import Settings

__all__ = ["make_app", "pages"]

#: modules of this package with rows of the route table (``PAGES``), in the order of the table
_MODULES = ("_home", "_comparing", "_sharing", "_methods", "_views", "_api")


def pages() -> tuple[Page, ...]:
    """The route table: every address that this server answers."""
    tables = (import_module(f"gnomon.serve.{name}").PAGES for name in _MODULES)
    return tuple(page for table in tables for page in table) + _OWN


def make_app(settings: Settings) -> Starlette:
    """A server, ready for uvicorn.

    Args:
        settings: what its owner decided.

    Returns:
        The application. ``state.access`` has tokens and links, ``state.settings`` the settings.
    """
    workspace = Workspace(settings.folder) if settings.folder else None
    access = Access(settings.folder)
    routes = [
        Route(page.path, guarded(page, settings, access), methods=list(page.methods))
        for page in pages()
    ]
    app = Starlette(
        routes=routes,
        middleware=[Middleware(Guard, settings=settings)],
        exception_handlers={
            WebProblem: _problem,
            HTTPException: _http_problem,
            Exception: _fault,
        },
        lifespan=_lifespan,
    )
    app.router.redirect_slashes = False
    app.state.settings = settings
    app.state.access = access
    app.state.stored = {study.id: study for study in map(stored_study, settings.stores)}
    app.state.workspace = workspace
    app.state.queue = None
    app.state.background = Background(settings.limits)
    if workspace is not None:
        app.state.queue = Queue(workspace, settings.workers, settings.limits)
    app.state.study_of = functools.partial(_study, app)
    return app


def _study(app: Starlette, id: str) -> Any:  # noqa: A002  # as it is called everywhere
    """A comparison, or a store that is only shown."""
    if id in app.state.stored:
        return app.state.stored[id].looked_at()
    if app.state.workspace is None:
        raise NotFound
    return app.state.workspace.study(id)


@contextlib.asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    """Run comparisons as long as the server runs."""
    queue: Queue | None = app.state.queue
    if queue is not None:
        await run_in_threadpool(queue.start)
    try:
        yield
    finally:
        if queue is not None:
            await run_in_threadpool(queue.stop)
        await run_in_threadpool(app.state.background.stop)


# Problems, as pages and as data.


async def _problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, WebProblem)  # noqa: S101  # it is registered for these
    if wants_json(request):
        answer = json_response(error.data, error.status, problem=True)
    else:
        answer = render(request, "problem.html.j2", status=error.status, problem=error.data)
    if error.status == HTTPStatus.UNAUTHORIZED:
        answer.headers["www-authenticate"] = "Bearer"
    return answer


async def _http_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101  # it is registered for these
    if error.status_code == HTTPStatus.NOT_FOUND:
        return await _problem(request, NotFound())
    problem = WebProblem(error.status_code, HTTPStatus(error.status_code).phrase)
    answer = await _problem(request, problem)
    answer.headers.update(error.headers or {})
    return answer


async def _fault(request: Request, _error: Exception) -> Response:
    problem = WebProblem(
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "Something went wrong in gnomon",
        "Your texts and results are as they were. What happened is in the log of the server.",
        remedy="Try again; if it happens again, tell whoever runs this server.",
    )
    return await _problem(request, problem)


# What every server answers, whoever asks.


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in STATIC:
        raise NotFound
    content, version, media = static_file(name)
    fresh = request.query_params.get("v") == version
    return Response(
        content,
        media_type=media,
        headers={"cache-control": "max-age=31536000, immutable" if fresh else "no-cache"},
    )


async def _healthy(_request: Request) -> Response:
    return json_response({"ok": True})


_OWN = (
    Page("/static/{name}", ("GET",), _static, "reader", "public"),
    Page("/healthz", ("GET",), _healthy, "reader", "public"),
)
