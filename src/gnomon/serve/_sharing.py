"""Pages of sharing: links to one comparison, and people with tokens."""

from __future__ import annotations

import datetime as dt
from http import HTTPStatus
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, RedirectResponse, Response

from gnomon.serve._guard import ASK_AGAIN
from gnomon.serve._home import set_cookie
from gnomon.serve.pages import Page, Shown
from gnomon.serve.problems import NotFound, WebProblem
from gnomon.serve.settings import LOOPBACK
from gnomon.serve.store_pages import first_sentence
from gnomon.serve.uploads import fields_of

if TYPE_CHECKING:
    from starlette.requests import Request

    from gnomon.serve.access import Access, Role

__all__ = ["PAGES"]

_ROLES = {
    "author": "may compare: makes comparisons of their own",
    "reader": "may read: what is opened to everybody here",
}
_NAME = 100


# Links to one comparison.


async def _links(request: Request) -> Shown:
    return await run_in_threadpool(_shared, request)


def _shared(
    request: Request, *, new: str = "", errors: dict[str, str] | None = None, status: int = 200
) -> Shown:
    study, access = request.state.study, request.state.access
    host = urlsplit(request.state.settings.address).hostname
    values = {
        "loopback": host in LOOPBACK,
        "sentence": first_sentence(study.store) if host in LOOPBACK else "",
        "id": study.id,
        "title": study.about.title,
        "links": [
            {
                "id": link.id,
                "note": link.note,
                "until": link.until,
                "texts": link.texts,
                "ended": link.ended(),
            }
            for link in access.links(study.id)
        ],
        "open": access.is_open(study.id),
        "new": new,
        "errors": errors or {},
        "tomorrow": (_today() + dt.timedelta(days=1)).isoformat(),
        "month": (_today() + dt.timedelta(days=30)).isoformat(),
    }
    return Shown("share.html.j2", values, status)


async def _share(request: Request) -> Shown:
    fields = await fields_of(request)
    note, until = (fields.get(name, [""])[-1].strip() for name in ("note", "until"))
    end: dt.date | None = None
    if until:
        try:
            end = dt.date.fromisoformat(until)
        except ValueError:
            return _shared(request, errors={"until": "Write the day as 2026-12-31."}, status=422)
        if end < _today():
            return _shared(request, errors={"until": "This day is over."}, status=422)
    _, secret = await run_in_threadpool(
        lambda: request.state.access.add_link(
            request.state.study.id,
            until=end,
            texts="texts" in fields,
            note=note[:_NAME],
        )
    )
    return _shared(request, new=f"{request.state.settings.address}/s/{secret}")


async def _open(request: Request) -> Response:
    fields = await fields_of(request)
    study = request.state.study.id
    request.state.access.set_open(study, open="open" in fields)
    return RedirectResponse(f"/studies/{study}/share", HTTPStatus.SEE_OTHER)


async def _revoke_link(request: Request) -> Response:
    study = request.state.study.id
    if not request.state.access.revoke_link(study, request.path_params["link"]):
        raise NotFound
    return RedirectResponse(f"/studies/{study}/share", HTTPStatus.SEE_OTHER)


async def _follow(request: Request) -> Response:
    """Exchange a link for a cookie that opens its comparison, and no other."""
    if request.headers.get("sec-fetch-site") == "cross-site":
        return HTMLResponse(ASK_AGAIN)  # cookies for this site alone would not be sent
    access: Access = request.state.access
    link = access.link(request.path_params["secret"])
    if link is None:
        raise WebProblem(
            HTTPStatus.NOT_FOUND,
            "This link opens nothing",
            "Its last day is over, it was revoked, or what it led to was deleted.",
            remedy="Ask whoever sent it to you for a new one.",
        )
    answer = RedirectResponse(f"/studies/{link.study}", HTTPStatus.SEE_OTHER)
    set_cookie(request, answer, access.session_of_link(link), study=link.study)
    return answer


def _today() -> dt.date:
    return dt.datetime.now(dt.UTC).date()


# People with tokens.


async def _people(request: Request) -> Shown:
    return _team(request)


def _team(
    request: Request, *, new: str = "", name: str = "", error: str = "", status: int = 200
) -> Shown:
    values = {
        "tokens": [
            {"id": t.id, "name": t.name, "role": t.role, "made": t.made[:10]}
            for t in request.state.access.tokens()
        ],
        "roles": _ROLES,
        "new": new,
        "name": name,
        "error": error,
    }
    return Shown("people.html.j2", values, status)


async def _invite(request: Request) -> Shown:
    fields = await fields_of(request)
    name, role = (fields.get(key, [""])[-1].strip() for key in ("name", "role"))
    access: Access = request.state.access
    taken = {token.name for token in access.tokens()}
    if not name or name in taken:
        error = "Somebody has this name already." if name else "Say who it is for."
        return _team(request, name=name, error=error, status=422)
    if role not in _ROLES:
        return _team(request, name=name, error="Say what they may do.", status=422)
    _, token = await run_in_threadpool(lambda: access.add_token(name[:_NAME], cast("Role", role)))
    address = request.state.settings.address
    return _team(request, new=f"{address}/enter?token={token}", name=name)


async def _revoke_token(request: Request) -> Response:
    if not request.state.access.revoke_token(request.path_params["token"]):
        raise NotFound
    return RedirectResponse("/people", HTTPStatus.SEE_OTHER)


PAGES = (
    Page("/studies/{id}/share", ("GET",), _links, "author", "study"),
    Page("/studies/{id}/share", ("POST",), _share, "author", "study"),
    Page("/studies/{id}/share/open", ("POST",), _open, "author", "study"),
    Page("/studies/{id}/share/{link}", ("POST",), _revoke_link, "author", "study"),
    Page("/s/{secret}", ("GET",), _follow, "reader", "public"),
    Page("/people", ("GET",), _people, "owner", "workspace"),
    Page("/people", ("POST",), _invite, "owner", "workspace"),
    Page("/people/{token}", ("POST",), _revoke_token, "owner", "workspace"),
)
