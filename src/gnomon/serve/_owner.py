"""What the owner of a server alone may do: take files of its folders, install taggers and models.

Nothing of this is offered to anybody else, and nothing is reached but what the settings name.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from gnomon.serve._background import Background, begin_work
from gnomon.serve._comparison import read_record, write_record
from gnomon.serve._contained import refuse_link
from gnomon.serve._pages import Page, Shown, in_megabytes
from gnomon.serve._problems import NotFound, WebProblem, in_words
from gnomon.serve._uploads import fields_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.requests import Request

    from gnomon.serve._workspace import Workspace

#: entries of a folder that are shown
_ENTRIES = 1000
#: bytes of a log that are shown
_LOG = 20_000
#: a learned metric by its name on the hub: no path, and no option of a command
_MODEL = re.compile(r"[A-Za-z0-9][\w.-]{0,95}(?:/[A-Za-z0-9][\w.-]{0,95})?", re.ASCII)


# Files of folders that the settings name.


@dataclass(frozen=True)
class FolderEntry:
    """A file or a folder."""

    name: str
    size: int | None


@dataclass(frozen=True)
class Listed:
    """What a folder of the server holds."""

    name: str
    path: str
    folders: tuple[FolderEntry, ...]
    files: tuple[FolderEntry, ...]
    more: bool

    @property
    def parent(self) -> str | None:
        """The folder that holds this one; None at the top."""
        return self.path.rpartition("/")[0] if self.path else None


def place(folders: Mapping[str, Path], name: str, path: str) -> Path:
    """A file or folder below one that the settings name."""
    if name not in folders or "\0" in path:
        raise NotFound
    top = folders[name].resolve()
    parts = [part for part in path.split("/") if part]
    if any(part in (".", "..") or part.startswith(".") or "\\" in part for part in parts):
        raise NotFound
    target = Path(os.path.realpath(top.joinpath(*parts)))
    if not target.is_relative_to(top) or not target.exists():
        raise NotFound
    return target


def listed(folders: Mapping[str, Path], name: str, path: str) -> Listed:
    """What a folder holds: files and folders; no hidden ones, no links that lead elsewhere."""
    folder = place(folders, name, path)
    if not folder.is_dir():
        raise NotFound
    found: dict[bool, list[FolderEntry]] = {True: [], False: []}
    clean = "/".join(part for part in path.split("/") if part)
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        try:
            target = place(folders, name, f"{clean}/{entry.name}")
            said = target.stat()
        except (NotFound, OSError):
            continue
        if stat.S_ISDIR(said.st_mode):
            found[True].append(FolderEntry(entry.name, None))
        elif stat.S_ISREG(said.st_mode):
            found[False].append(FolderEntry(entry.name, said.st_size))
    both = found[True], found[False]
    cut = tuple(tuple(entries[:_ENTRIES]) for entries in both)
    more = any(len(entries) > _ENTRIES for entries in both)
    return Listed(name, clean, cut[0], cut[1], more)


async def _folders(request: Request) -> Shown:
    folders = request.state.settings.folders
    name = request.query_params.get("folder", "")
    path = request.query_params.get("path", "")
    if _workspace(request) is None:
        raise NotFound
    here = await run_in_threadpool(listed, folders, name, path) if name else None
    return Shown("folders.html.j2", {"names": tuple(folders), "here": here})


def _workspace(request: Request) -> Workspace | None:
    workspace: Workspace | None = request.app.state.workspace
    return workspace


async def _take(request: Request) -> Response:
    """Copy files to a draft, as if they had been sent."""
    fields = await fields_of(request)
    name, path = (fields.get(field, [""])[0] for field in ("folder", "path"))
    chosen = fields.get("file", [])
    workspace, settings = _workspace(request), request.state.settings
    if workspace is None:
        raise NotFound
    if not chosen:
        raise WebProblem(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "No file was chosen",
            remedy="Choose a reference and the translations, and try again.",
        )
    draft = await run_in_threadpool(
        _copied, workspace, settings, request.state.user.id, [(name, path, one) for one in chosen]
    )
    await run_in_threadpool(request.app.state.queue.inspect, draft)
    return RedirectResponse(f"/drafts/{draft}", HTTPStatus.SEE_OTHER)


def _copied(
    workspace: Workspace, settings: Any, owner: str, chosen: Sequence[tuple[str, str, str]]
) -> str:
    files = [place(settings.folders, name, f"{path}/{file}") for name, path, file in chosen]
    limits = settings.limits
    sizes = [file.stat().st_size for file in files if file.is_file()]
    if len(sizes) < len(files):
        raise NotFound
    left = limits.quota - workspace.bytes_used()
    for what, size, most in (
        ("files", len(files), limits.files),
        ("bytes in one file", max(sizes), limits.file),
        ("bytes", sum(sizes), min(limits.upload, left)),
    ):
        if size > most:
            said = f"{most:,}" if what == "files" else in_megabytes(max(0, most))
            raise WebProblem(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                "These files are too much at once",
                f"This server takes {said} {'' if what == 'bytes' else what}".strip() + ".",
                remedy="Choose fewer or shorter files.",
            )
    draft, uploads = workspace.new_draft(owner)
    try:
        for number, file in enumerate(files):
            with file.open("rb") as source, (uploads / str(number)).open("xb") as target:
                shutil.copyfileobj(source, target)
            (uploads / str(number)).chmod(0o600)
        workspace.name_files(draft, [file.name for file in files])
    except OSError as error:
        workspace.delete_draft(draft)
        raise WebProblem(
            HTTPStatus.INSUFFICIENT_STORAGE, "These files could not be copied", str(error.strerror)
        ) from error
    return draft


# Taggers and models, installed by ``gnomon setup`` in a process of its own.


class Installation(msgspec.Struct):
    """What is or was installed last, and how that went."""

    what: str = ""
    state: Literal["none", "running", "done", "failed"] = "none"
    log: str = ""
    said: str = ""


_RECORD, _OUTPUT = "install.json", "install.log"
_work = Background(__name__)


def languages() -> dict[str, str]:
    """Languages whose tagger can be installed or is there: code -> what is there."""
    from gnomon import linguistics

    states: dict[str, str] = {}
    for _, language, state in linguistics.describe_taggers():
        there = state.startswith("installed")
        if language not in states or there:
            states[language] = "installed" if there else ""
    return dict(sorted(states.items()))


def arguments_of(kind: str, name: str) -> list[str]:
    """What ``gnomon setup`` is to be given."""
    if kind == "language" and name in languages():
        return [name]
    if kind == "bertscore" and name in ("", *languages()):
        return ["bertscore", "-l", name or "en"]
    if kind == "model" and _MODEL.fullmatch(name):
        return ["model", name]
    raise WebProblem(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "This cannot be installed",
        "A language is chosen from the list; a learned metric is named as on the hub, like"
        " wmt22-comet-da or Unbabel/wmt22-comet-da.",
        field="name",
    )


def install(folder: Path, arguments: Sequence[str]) -> Installation:
    """Begin to install something, unless something is being installed."""
    refuse_link(folder)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    begun = Installation(" ".join(arguments), "running")
    if not _work.runs(folder):
        write_record(folder / _RECORD, begun)
        _work.start(folder, {"folder": str(folder.resolve()), "arguments": list(arguments)})
    return begun


def installation(folder: Path) -> Installation:
    """What is or was installed last, with the end of its log."""
    for file in (folder, folder / _RECORD, folder / _OUTPUT):
        refuse_link(file)
    record = read_record(folder / _RECORD, Installation)
    if record is None:
        return Installation()
    if record.state == "running" and not _work.runs(folder):
        record.state = "failed"
    try:
        log = (folder / _OUTPUT).read_bytes()[-_LOG:].decode("utf-8", "replace")
    except OSError:
        log = ""
    record.log = in_words(log)
    if record.state == "failed":  # what follows is for a shell
        record.said = record.log.rpartition("gnomon: error: ")[2].partition("; ")[0].strip()
    return record


def main() -> None:
    """Run ``gnomon setup``, and keep what it says; what the process runs."""
    given = begin_work()
    folder, arguments = Path(given["folder"]), given["arguments"]
    (folder / _OUTPUT).unlink(missing_ok=True)
    with (folder / _OUTPUT).open("xb") as log:
        done = subprocess.run(  # noqa: S603  # this interpreter, gnomon's own command
            [sys.executable, "-m", "gnomon", "setup", *arguments, *(
                ["--yes"] if arguments[0] != "model" else []
            )],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            check=False,
            env=os.environ | {"GNOMON_ALLOW_DOWNLOADS": "1"},  # the owner asked for it
        )  # fmt: skip
    state: Literal["done", "failed"] = "failed" if done.returncode else "done"
    write_record(folder / _RECORD, Installation(" ".join(arguments), state))


def _install_folder(request: Request) -> Path:
    workspace = _workspace(request)
    if workspace is None:
        raise NotFound
    return workspace.folder / "install"


async def _installing(request: Request) -> Shown:
    folder = _install_folder(request)

    def work() -> dict[str, Any]:
        from gnomon.metrics.judges.rubrics import LANGUAGE_NAMES

        there = languages()
        names = {code: LANGUAGE_NAMES.get(code, code) for code in there}
        return {"languages": there, "names": names, "build": installation(folder)}

    return Shown("install.html.j2", await run_in_threadpool(work), only_html=("names",))


async def _install(request: Request) -> Response:
    folder, fields = _install_folder(request), await fields_of(request)
    kind, name = (fields.get(field, [""])[0].strip() for field in ("kind", "name"))
    arguments = await run_in_threadpool(arguments_of, kind, name)
    await run_in_threadpool(install, folder, arguments)
    return RedirectResponse("/install", HTTPStatus.SEE_OTHER)


PAGES = (
    Page("/folders", ("GET",), _folders, "owner", "workspace"),
    Page("/folders", ("POST",), _take, "owner", "workspace", json=False),
    Page("/install", ("GET",), _installing, "owner", "workspace"),
    Page("/install", ("POST",), _install, "owner", "workspace", json=False),
)
