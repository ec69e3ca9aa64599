"""Pages of a study: results, tables, heat maps, segments, downloads, notes."""

from __future__ import annotations

from dataclasses import asdict, fields, replace
from http import HTTPStatus
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.responses import FileResponse, RedirectResponse, Response, StreamingResponse

from gnomon.core.errors import DataError, GnomonError, UnknownNameError, UsageError
from gnomon.serve import downloads as _downloads
from gnomon.serve import notes as _notes
from gnomon.serve import progress as _progress
from gnomon.serve._comparing import background_of, job_view
from gnomon.serve.pages import Page, Shown
from gnomon.serve.problems import NotFound, WebProblem
from gnomon.serve.segment_pages import SegmentQuery, segment_page
from gnomon.serve.store_pages import (
    open_store,
    sections,
    sizes_of_sets,
    study_result,
)
from gnomon.serve.uploads import fields_of
from gnomon.studies import reading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from starlette.requests import Request

    from gnomon.serve.store_pages import OpenStore
    from gnomon.serve.workers import Task

T = TypeVar("T")
#: characters of a value in an address
_LONGEST = 300
#: what is made of a study on request -> its file, in the folder of the study
MADE: dict[str, str] = {"report": "report.html", "workbook": "results.xlsx"}


# What pages have in common.


def _unreadable(store: Path) -> WebProblem:
    """Why a store cannot be read, and a way on."""
    if not reading.is_store(store):
        return WebProblem(
            HTTPStatus.CONFLICT,
            "Nothing was computed yet",
            "This study has no results so far.",
            remedy="Look again when it has begun.",
        )
    return WebProblem(
        HTTPStatus.CONFLICT,
        "These results cannot be read",
        "A file of the study is missing or damaged, or another version of gnomon wrote it.",
        remedy="Run the study again: only what is damaged is computed anew.",
    )


async def _run_work(request: Request, work: Callable[[OpenStore], T]) -> T:
    def run() -> T:
        try:
            return work(open_store(request.state.study.store, _folder(request) / "index"))
        except UnknownNameError as error:
            raise WebProblem(
                HTTPStatus.NOT_FOUND,
                "There is nothing of that name here",
                str(error),
                remedy="Go back to the study, and choose again.",
            ) from error
        except UsageError as error:
            raise WebProblem(
                HTTPStatus.UNPROCESSABLE_ENTITY,
                "This cannot be shown",
                str(error),
                remedy="Change it and try again.",
            ) from error
        except DataError as error:
            raise _unreadable(request.state.study.store) from error

    return await run_in_threadpool(run)


def query_of(request: Request, kind: type[T]) -> T:
    """Read the query of an address into a dataclass; what does not fit is a problem."""
    values: dict[str, Any] = {}
    types = {field.name: str(field.type) for field in fields(kind)}  # type: ignore[arg-type]
    for name, given in request.query_params.items():
        text = given.replace("\0", "").strip()
        if name not in types or not text:
            continue
        if len(text) > _LONGEST:
            raise WebProblem(HTTPStatus.UNPROCESSABLE_ENTITY, "This is too long", field=name)
        if types[name].startswith("int"):
            if not text.isascii() or not text.isdecimal() or len(text) > 9:
                raise WebProblem(
                    HTTPStatus.UNPROCESSABLE_ENTITY,
                    f"{name} is a number, 1 or more",
                    field=name,
                )
            values[name] = int(text)
        else:
            values[name] = text
    return kind(**values)


def _address(request: Request, query: Any) -> Callable[..., str]:
    """Makes addresses of the same page that ask for something else."""
    path, usual = request.url.path, type(query)()

    def address(**changes: Any) -> str:
        wanted = asdict(replace(query, **{"page": 1, **changes}))
        plain = asdict(usual)
        given = {k: v for k, v in wanted.items() if v != plain[k] and v}
        return quote(path) + (f"?{urlencode(given)}" if given else "")

    return address


def _common(request: Request) -> dict[str, Any]:
    """Values that all pages of a study show."""
    return page_values(request, request.state.study.title)


def page_values(request: Request, name: str) -> dict[str, Any]:
    study_id = request.state.study.id
    return {
        "id": study_id,
        "name": name,
        "base": f"/studies/{study_id}",
        "sees_texts": request.state.user.texts,
        "may_change": request.state.access.rights(request.state.user, request.state.study)
        == "change",
    }


def _folder(request: Request) -> Path:
    folder: Path = request.state.study.folder
    return folder


# The study itself.


async def _result(request: Request) -> Shown:
    study = request.state.study
    job = await run_in_threadpool(job_view, request, study)

    def work(opened: OpenStore) -> dict[str, Any]:
        result = study_result(opened, texts=request.state.user.texts)
        far = _progress.progress(opened)
        return {
            **_common(request),
            "job": job,
            "result": result,
            "progress": far,
            "partial": far.partial or (job is not None and job["active"]),
            "made": {what: _state_of(request, what) for what in _offered()},
        }

    if job is not None and not reading.is_store(study.store):  # nothing was computed yet
        return Shown("waiting.html.j2", {**page_values(request, study.about.title), "job": job})
    return Shown("result.html.j2", await _run_work(request, work))


async def _state(request: Request) -> Shown:
    study = request.state.study
    job = await run_in_threadpool(job_view, request, study)
    values = {**page_values(request, study.title), "job": job, "progress": None}
    if job is None:
        values["progress"] = await _run_work(request, _progress.progress)
    return Shown("state.html.j2", values)


async def _tables(request: Request) -> Shown:
    def work(opened: OpenStore) -> dict[str, Any]:
        return {
            **_common(request),
            "sections": sections(opened),
            "kinds": tuple(_downloads.KINDS),
        }

    return Shown("tables.html.j2", await _run_work(request, work))


# Segments and notes.


async def _segments(request: Request) -> Shown:
    query, folder = query_of(request, SegmentQuery), _folder(request)

    def begin() -> None:
        (folder / "index").mkdir(mode=0o700, exist_ok=True)
        background_of(request).start("index", folder / "index", request.state.study.store)

    def work(opened: OpenStore) -> dict[str, Any]:
        testset = query.testset or next(iter(sizes_of_sets(opened)), "")
        notes: dict[int, list[_notes.Note]] = {}
        for note in _notes.read_notes(folder):
            if note.testset == testset:
                notes.setdefault(note.segment, []).append(note)
        running = _progress.is_running(request.state.study.store)
        page = segment_page(
            opened, folder / "index", query, notes=notes, running=running, begin=begin
        )
        return {
            **_common(request),
            "page": page,
            "address": _address(request, query),
            "writes": request.state.user.link is None,
            "me": request.state.user.id,
            "owns": request.state.user.role == "owner",
        }

    return Shown("segments.html.j2", await _run_work(request, work))


async def _write_note(request: Request) -> Response:
    fields, user = await fields_of(request), request.state.user
    text, testset, number, note_id, back = (
        fields.get(name, [""])[-1] for name in ("text", "testset", "segment", "note", "back")
    )
    folder = _folder(request)

    def work(opened: OpenStore) -> _notes.Note:
        if note_id:
            return _notes.delete_note(folder, note_id, by=user.id, owner=user.role == "owner")
        segment = int(number) if number.isascii() and number.isdecimal() else 0
        if not 1 <= segment <= sizes_of_sets(opened).get(testset, 0):
            raise UsageError("there is no such segment in this study")
        return _notes.add_note(folder, testset, segment, text, by=user.id, author=user.name)

    note = await _run_work(request, work)
    shown = back[: _LONGEST * 8] or urlencode({"testset": note.testset, "segment": note.segment})
    address = f"/studies/{request.state.study.id}/segments?{shown}#segment-{note.segment}"
    return RedirectResponse(address, HTTPStatus.SEE_OTHER)


# Downloads.


def _file(parts: Iterator[bytes], name: str, media: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(parts, media_type=media, headers=headers)


async def _table_file(request: Request) -> Response:
    name, kind = request.path_params["table"], request.path_params["kind"]
    if kind not in _downloads.KINDS:
        raise NotFound

    def work(opened: OpenStore) -> tuple[Iterator[bytes], str]:
        title = _common(request)["name"]
        return _downloads.table_file(opened, name, kind), _downloads.file_name(title, name)

    parts, stem = await _run_work(request, work)
    return _file(parts, f"{stem}.{kind}", _downloads.KINDS[kind])


# What takes longer than a page may: the full report, and all tables as a workbook.


def _offered() -> list[Task]:
    """Tasks that are offered; a workbook needs a package of its own."""
    return ["report", "workbook"] if find_spec("openpyxl") else ["report"]


def _requested_task(request: Request) -> Task:
    for what in _offered():
        if what == request.path_params["what"]:
            return what
    raise NotFound


def _state_of(request: Request, what: Task) -> str:
    folder = _folder(request)
    made = background_of(request).state(what, folder)
    if made == "running" or (folder / MADE[what]).is_file():
        return "running" if made == "running" else "done"
    return "failed" if made == "ended" else "none"


async def _build(request: Request) -> Response:
    what = _requested_task(request)

    def work(opened: OpenStore) -> None:
        sizes_of_sets(opened)  # what cannot be read is said at once
        (_folder(request) / MADE[what]).unlink(missing_ok=True)
        background_of(request).start(what, _folder(request), request.state.study.store)

    await _run_work(request, work)
    address = f"/studies/{request.state.study.id}/made/{what}"
    return RedirectResponse(address, HTTPStatus.SEE_OTHER)


async def _built(request: Request) -> Shown:
    what = _requested_task(request)

    def work(_opened: OpenStore) -> dict[str, Any]:
        return {**_common(request), "what": what, "build": _state_of(request, what)}

    return Shown("made.html.j2", await _run_work(request, work))


async def _send_file(request: Request) -> Response:
    """The file to save: scripts of its own run nowhere near this server."""
    file = _folder(request) / MADE[_requested_task(request)]
    if not await run_in_threadpool(file.is_file):
        raise NotFound
    name = f"{_downloads.file_name(request.state.study.title)}{file.suffix}"
    return FileResponse(file, filename=name)


def _page(path: str, handler: Any, **more: Any) -> Page:
    return Page(f"/studies/{{id}}{path}", ("GET",), handler, "reader", "study", **more)


def _form(path: str, handler: Any) -> Page:
    return Page(f"/studies/{{id}}{path}", ("POST",), handler, "reader", "study", texts=True)


PAGES = (
    _page("", _result),
    _page("/state", _state),
    _page("/tables", _tables, texts=True),
    _page("/segments", _segments, texts=True),
    _form("/notes", _write_note),
    _page("/download/tables/{table}.{kind}", _table_file, texts=True),
    _page("/made/{what}", _built, texts=True),
    _page("/download/{what}", _send_file, texts=True),
    _form("/made/{what}", _build),
)
__all__ = ["PAGES", "GnomonError", "page_values"]
