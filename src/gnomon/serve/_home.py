"""The first page, and the way in."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.responses import RedirectResponse, Response

from gnomon.serve._guard import cookie_name
from gnomon.serve._pages import Page, Shown
from gnomon.serve._problems import Problem

if TYPE_CHECKING:
    from starlette.requests import Request

__all__ = ["PAGES"]

_MONTH = 30 * 24 * 3600


async def _enter(request: Request) -> Response:
    """Exchange a token for a cookie, and leave no trace of it in the address."""
    session = request.state.access.session_for(request.query_params.get("token", ""))
    if session is None:
        raise Problem(
            HTTPStatus.UNAUTHORIZED,
            "This link does not open gnomon",
            "It was made for another start of the server, or taken back.",
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
        f"{cookie_name(settings)}-link".removeprefix("__Host-") if study else cookie_name(settings),
        session,
        max_age=_MONTH,
        path=f"/studies/{study}" if study else "/",
        secure=settings.secure,
        httponly=True,
        samesite="strict",
    )


async def _first(_request: Request) -> Shown:
    return Shown("first.html.j2", {"studies": []})


PAGES = (
    Page("/", ("GET",), _first, "reader", "workspace"),
    Page("/enter", ("GET",), _enter, "reader", "public", json=False),
)
