"""The full report of a study, shown apart from everything else that this server has.

Its pages run scripts of their own, so that they are sandboxed: to the browser they are of nobody,
get no cookie and reach nothing here. What lets them load their data is a key in their address,
which is worth no more than the session that it was made for, and ends with it.
"""

from __future__ import annotations

import re
import secrets
import threading
from collections import OrderedDict
from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.responses import FileResponse, RedirectResponse, Response

from gnomon.serve._guard import refuse_closed
from gnomon.serve._pages import Page
from gnomon.serve._problems import NotFound

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.requests import Request

_MOST = 1000
_NAME = re.compile(r"[A-Za-z0-9-]{1,80}\.js")
#: key -> the study that it opens, and the session that it was made for
_keys: OrderedDict[str, tuple[str, str]] = OrderedDict()
_lock = threading.Lock()


async def _open(request: Request) -> Response:
    """Go to the report, by a key of this session."""
    study = request.state.study
    file = study.folder / "report" / "index.html"
    if not await run_in_threadpool(file.is_file):
        return RedirectResponse(f"/studies/{study.id}/made/report", HTTPStatus.SEE_OTHER)
    access, session = request.state.access, request.state.user.session
    users = ((cookie, access.user_of_session(cookie)) for cookie in request.cookies.values())
    cookie = next((cookie for cookie, user in users if user and user.session == session), None)
    if cookie is None:  # a program has no session; it takes the data themselves
        raise NotFound
    key = secrets.token_urlsafe(24)
    with _lock:
        _keys[key] = (study.id, cookie)
        while len(_keys) > _MOST:
            _keys.popitem(last=False)
    return RedirectResponse(f"/reports/{key}/index.html", HTTPStatus.SEE_OTHER)


def _folder(request: Request) -> Path:
    """The folder of the report that a key opens, where its session may still read it."""
    with _lock:
        study_id, session = _keys.get(request.path_params["key"], ("", ""))
    if not study_id:
        raise NotFound
    access = request.state.access
    user = access.user_of_session(session)
    study = request.app.state.study_of(study_id)
    if user is None or not user.texts or access.rights(user, study) is None:
        raise NotFound
    refuse_closed(study)
    folder: Path = study.folder / "report"
    return folder


async def _index(request: Request) -> Response:
    file = (await run_in_threadpool(_folder, request)) / "index.html"
    if request.path_params["file"] != "index.html" or not await run_in_threadpool(file.is_file):
        raise NotFound
    address = request.state.settings.address
    policy = (
        "sandbox allow-scripts allow-downloads allow-popups; default-src 'none';"
        f" script-src 'unsafe-inline' {address}; style-src 'unsafe-inline'; base-uri 'none';"
        " form-action 'none'; frame-ancestors 'none'"
    )
    return FileResponse(file, headers={"content-security-policy": policy})


async def _data(request: Request) -> Response:
    name = request.path_params["file"]
    file = (await run_in_threadpool(_folder, request)) / "data" / name
    if not _NAME.fullmatch(name) or not await run_in_threadpool(file.is_file):
        raise NotFound
    # a sandboxed page is of no origin: what it loads is from elsewhere
    return FileResponse(
        file,
        media_type="text/javascript",
        headers={"cross-origin-resource-policy": "cross-origin"},
    )


PAGES = (
    Page("/studies/{id}/report", ("GET",), _open, "reader", "study", json=False, texts=True),
    Page("/reports/{key}/{file}", ("GET",), _index, "reader", "public", json=False),
    Page("/reports/{key}/data/{file}", ("GET",), _data, "reader", "public", json=False),
)
