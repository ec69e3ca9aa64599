"""The checks of every request before a page sees it: host, site of origin, size, person.

Two layers: one around the whole application, which knows no pages, and one around each page, made
from its row of the route table.
"""

from __future__ import annotations

import errno
import logging
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakValueDictionary

import anyio
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from gnomon.core.errors import GnomonError
from gnomon.serve.pages import Shown, render
from gnomon.serve.problems import NotFound, WebProblem, no_room, problem_of, word_error

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from gnomon.serve.access import Access, User
    from gnomon.serve.pages import Page
    from gnomon.serve.settings import Settings

__all__ = ["CONTENT_POLICY", "Guard", "cookie_name", "guarded", "link_cookie_name"]

_log = logging.getLogger("gnomon.serve")

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
    " form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
#: of every answer, unless it says otherwise itself
_HEADERS = {
    "content-security-policy": CONTENT_POLICY,
    # no-referrer would make Chromium send `Origin: null` with forms, which is refused
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
#: bytes of a body of a page that takes no files
_FORM = 1_000_000
#: pages of studies that are made at once for one person, or for all who came by one link: further
#: requests of theirs wait where they keep no thread from others
_AT_ONCE = 4
_turns: WeakValueDictionary[str, anyio.Semaphore] = WeakValueDictionary()
#: a page of this server asks again: the first request came from another site, without cookies
ASK_AGAIN = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh"'
    ' content="0"><title>gnomon</title><p><a href="">Go on</a></p></html>'
)


def cookie_name(settings: Settings) -> str:
    """Of sessions; servers on other ports of a machine share its cookies, and so need others."""
    if settings.secure:
        return "__Host-gnomon"
    return f"gnomon-{settings.address.rpartition(':')[2].strip('/')}"


def link_cookie_name(settings: Settings) -> str:
    """Of links, whose cookies hold below one comparison."""
    return cookie_name(settings).replace("__Host-", "__Secure-") + "-link"


class Guard:
    """Around the whole application: hosts, other sites, headers."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self.settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                if self.settings.secure:
                    headers.setdefault("strict-transport-security", "max-age=31536000")
                self._note(scope, message["status"])
            await send(message)

        refused = self._refused(scope["method"], Headers(scope=scope))
        await (refused or self.app)(scope, receive, send_with_headers)

    def _refused(self, method: str, headers: Headers) -> Response | None:
        if headers.get("host", "").lower() not in self.settings.hosts:
            return PlainTextResponse(
                "This address is not one of this server. Open the address that it was started"
                " with.\n",
                HTTPStatus.MISDIRECTED_REQUEST,
            )
        if method in _SAFE:
            return None
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        same = f"{self.settings.address.partition(':')[0]}://{headers['host'].lower()}"
        if origin not in (None, same) or site not in (None, "same-origin"):
            return PlainTextResponse(
                "Another page tried to change something here; it was stopped. If it was you, open"
                " this page of gnomon anew and try again.\n",
                HTTPStatus.FORBIDDEN,
            )
        return None

    def _note(self, scope: Scope, status: int) -> None:
        """Of each request its method, kind of page and status: nothing that is secret."""
        page = scope.get("gnomon.page", "-")
        level = logging.WARNING if status >= HTTPStatus.INTERNAL_SERVER_ERROR else logging.DEBUG
        _log.log(level, "%s %s %d", scope["method"], page, status)


def guarded(
    page: Page, settings: Settings, access: Access
) -> Callable[[Request], Awaitable[Response]]:
    """The endpoint of a page: who may see it, how much it takes, and what its errors say."""
    largest = settings.limits.upload + _FORM if page.upload else _FORM

    async def endpoint(request: Request) -> Response:
        request.scope["gnomon.page"] = page.path
        request.state.settings = settings
        request.state.access = access
        request.state.user = user_of(request)
        if page.of != "public":
            refused = _identified(request)
            if refused is not None:
                return refused
            await _permit(page, request)
        if request.method not in _SAFE:
            _check_source(request)
        asked = Request(request.scope, _Body(request, largest).receive)
        if page.of != "study" or page.upload:
            return await _answer(page, asked)
        async with _turn_of(request.state.user):
            return await _answer(page, asked)

    return endpoint


async def _answer(page: Page, request: Request) -> Response:
    """The answer of a page, or a problem where that failed."""
    try:
        shown = await page.handler(request)
        if not isinstance(shown, Shown):
            return shown
        return await run_in_threadpool(
            render, request, shown.template, status=shown.status, **shown.values
        )
    except GnomonError as error:
        raise problem_of(error) from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise no_room() from error
        if page.of == "study" and not request.state.study.folder.is_dir():
            raise NotFound from error  # it was deleted meanwhile
        raise


def _turn_of(user: User) -> anyio.Semaphore:
    """The semaphore that limits how much is made at once for somebody."""
    key = user.link.id if user.link is not None else user.id
    return _turns.setdefault(key, anyio.Semaphore(_AT_ONCE))


def user_of(request: Request) -> User | None:
    """Who asks: by a bearer token, or by a cookie."""
    access: Access = request.state.access
    given = request.headers.get("authorization", "")
    if given:
        kind, _, token = given.partition(" ")
        return access.user_of_token(token.strip()) if kind.lower() == "bearer" else None
    # a link's cookie holds below its comparison alone, where it comes first
    users = [access.user_of_session(cookie) for cookie in _cookies(request)]
    return next((user for user in users if user and not user.link), None) or next(
        (user for user in users if user), None
    )


def _cookies(request: Request) -> list[str]:
    """All cookies of sessions: there may be one for the server and one for a comparison."""
    settings = request.state.settings
    names = (cookie_name(settings), link_cookie_name(settings))
    pairs = [
        pair.strip().partition("=")
        for line in request.headers.getlist("cookie")
        for pair in line.split(";")
    ]
    return [value for key, _, value in pairs if key in names]


def _identified(request: Request) -> Response | None:
    """Nothing where the person is known; else why not, or a second try from a page of our own."""
    if request.state.user is not None:
        return None
    if request.headers.get("sec-fetch-site") == "cross-site" and request.method == "GET":
        return HTMLResponse(ASK_AGAIN)  # cookies for this site alone are not sent from elsewhere
    raise WebProblem(
        HTTPStatus.UNAUTHORIZED,
        "You are not signed in",
        "gnomon knows you by the link that it was started with, or by one that the owner of this"
        " server gave you.",
        remedy="Open that link again.",
    )


async def _permit(page: Page, request: Request) -> None:
    """Nothing, where this person may do this here; nobody learns what others have."""
    user = cast("User", request.state.user)
    if page.of == "workspace":
        if user.link is not None or not user.is_at_least(page.needs):
            raise NotFound
        return
    id = request.path_params["id"]  # noqa: A001  # as it is called everywhere
    study = await run_in_threadpool(request.app.state.study_of, id)
    access: Access = request.state.access
    may = access.rights(user, study)
    refused = (
        may is None
        or (page.needs != "reader" and may != "change")
        or (page.needs == "owner" and user.role != "owner")
        or (page.texts and not user.texts)
        or (user.link is not None and request.method not in _SAFE)
    )
    if refused:
        raise NotFound
    if not page.deletes:
        refuse_closed(study)
    request.state.study = study


def refuse_closed(study: Any) -> None:
    """Show nothing of a folder that holds links to elsewhere."""
    if study.closed:
        raise WebProblem(
            HTTPStatus.CONFLICT,
            "This cannot be opened",
            f"In its folder, {word_error(study.closed)}.",
            remedy="Whoever runs this server can do that, or delete it.",
        )


def _check_source(request: Request) -> None:
    """A browser says where a form came from; what says nothing is a program with a token."""
    said = "origin" in request.headers or "sec-fetch-site" in request.headers
    if not said and "authorization" not in request.headers:
        raise WebProblem(
            HTTPStatus.FORBIDDEN,
            "This was not sent by a page of gnomon",
            "A program sends its token in the header Authorization: Bearer TOKEN.",
        )


class _Body:
    """A body as it comes, and how large it may grow."""

    def __init__(self, request: Request, largest: int) -> None:
        self._request, self._largest = request, largest
        said = request.headers.get("content-length", "0")
        self._announced = int(said) if said.isdecimal() else 0
        self._received = 0

    async def receive(self) -> Message:
        """The next part of it."""
        if self._announced > self._largest:
            raise _too_large(self._largest)
        message = await self._request.receive()
        self._received += len(message.get("body", b""))
        if self._received > self._largest:
            raise _too_large(self._largest)
        return message


def _too_large(largest: int) -> WebProblem:
    from gnomon.serve.pages import format_megabytes

    return WebProblem(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        "This is too much at once",
        f"This server takes {format_megabytes(largest)} at once.",
        remedy="Send fewer or shorter files.",
    )
