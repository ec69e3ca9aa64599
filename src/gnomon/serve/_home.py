"""The first page: a new comparison, earlier ones, sign-in and sign-out."""

from __future__ import annotations

import datetime as dt
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from gnomon.serve._guard import cookie_name, link_cookie_name
from gnomon.serve.access import owner_of
from gnomon.serve.pages import Page, Shown
from gnomon.serve.problems import WebProblem

if TYPE_CHECKING:
    from starlette.requests import Request

    from gnomon.serve.access import Access

__all__ = ["PAGES", "set_cookie"]

_MONTH = 30 * 24 * 3600


async def _enter(request: Request) -> Response | Shown:
    """Exchange a token for a cookie, and leave no trace of it in the address.

    Whoever comes from another site learns as whom, and says so: that site may have chosen it.
    """
    access: Access = request.state.access
    settings = request.state.settings
    asked = link_cookie_name(settings).replace("-link", "-asked")
    token = request.query_params.get("token") or request.cookies.get(asked, "")
    site = request.headers.get("sec-fetch-site", "none")
    user = access.user_of_token(token) if request.method == "GET" else None
    if user is not None and "token" not in request.query_params:
        return Shown("enter.html.j2", {"name": user.name})
    if user is not None and site not in ("none", "same-origin"):
        ask = RedirectResponse("/enter", HTTPStatus.SEE_OTHER)
        ask.set_cookie(asked, token, 60, path="/enter", secure=settings.secure, httponly=True)
        return ask
    session = access.session_for(token)
    if session is None:
        raise WebProblem(
            HTTPStatus.UNAUTHORIZED,
            "This link does not open gnomon",
            "It was made for another start of the server, or revoked.",
            remedy="Open the link that gnomon printed when it was last started, or ask for a new"
            " one.",
        )
    answer = RedirectResponse("/", HTTPStatus.SEE_OTHER)
    set_cookie(request, answer, session)
    return answer


def set_cookie(request: Request, answer: Response, session: str, *, study: str = "") -> None:
    """Let a browser keep a session: of the server, or below one comparison."""
    settings = request.state.settings
    answer.set_cookie(
        link_cookie_name(settings) if study else cookie_name(settings),
        session,
        max_age=_MONTH,
        path=f"/studies/{study}" if study else "/",
        secure=settings.secure,
        httponly=True,
        samesite="strict",
    )


async def _leave(request: Request) -> Response:
    """Forget this browser."""
    answer = RedirectResponse("/", HTTPStatus.SEE_OTHER)
    settings = request.state.settings
    answer.delete_cookie(
        cookie_name(settings), secure=settings.secure, httponly=True, samesite="strict"
    )
    return answer


async def _first(request: Request) -> Shown:
    limits = request.state.settings.limits
    values = {
        "studies": await run_in_threadpool(_lines, request),
        "stored": list(request.app.state.stored.values()),
        "may_compare": may_compare(request),
        "max_file": limits.file,
        "max_upload": limits.upload,
    }
    return Shown("first.html.j2", values)


def may_compare(request: Request) -> bool:
    """True if this person may start comparisons here."""
    there = request.app.state.workspace is not None
    return there and request.state.user.is_at_least("author")


def _lines(request: Request) -> list[tuple[Any, str, str]]:
    """List what this person may read, with other owners and the day: newest first."""
    user, access, state = request.state.user, request.state.access, request.app.state
    studies = state.workspace.studies() if state.workspace is not None else []
    return [
        (
            study,
            "" if owner_of(study) == user.id else access.name_of(owner_of(study)),
            "" if study.damaged else f"{dt.datetime.fromisoformat(study.about.made):%-d %B %Y}",
        )
        for study in studies
        if access.rights(user, study) is not None
    ]


PAGES = (
    Page("/", ("GET",), _first, "reader", "workspace"),
    Page("/enter", ("GET", "POST"), _enter, "reader", "public"),
    Page("/leave", ("POST",), _leave, "reader", "workspace"),
)
