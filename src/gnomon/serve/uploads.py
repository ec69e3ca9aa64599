"""Files that people send: streamed to disk, counted, and never held in memory."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import IO, TYPE_CHECKING

from starlette.concurrency import run_in_threadpool

from gnomon.serve.pages import format_megabytes
from gnomon.serve.problems import WebProblem, no_room

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.requests import Request

    from gnomon.serve.settings import ServerLimits
    from gnomon.serve.workspace import Workspace

__all__ = ["PASTED", "Upload", "fields_of", "file_title", "receive"]

#: form fields whose texts become files, by how their names begin
PASTED = "text"
#: of other fields together, in bytes
_FIELDS = 500_000
#: of the lines above each field
_HEADERS = 8000
#: fields and files of a form
_PARTS = 2000
_NAME = 200


@dataclass
class Upload:
    """The contents of a form that was sent.

    Attributes:
        draft: the draft that has its files; "" where it sent none.
        names: what each file was called.
        parts: the form field of each file.
        fields: the other fields.
    """

    draft: str
    names: list[str] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    fields: dict[str, list[str]] = field(default_factory=dict)


async def receive(request: Request) -> Upload:
    """Stream a form to a draft.

    Parts with a file name, and texts of fields whose names begin with ``text``, become files.
    """
    from python_multipart import multipart
    from python_multipart.exceptions import FormParserError

    kind, options = multipart.parse_options_header(request.headers.get("content-type", ""))
    boundary = options.get(b"boundary")
    if kind != b"multipart/form-data" or not boundary:
        raise _malformed()
    workspace: Workspace = request.app.state.workspace
    limits = request.state.settings.limits
    most = workspace.received + limits.quota  # others send meanwhile
    most -= await run_in_threadpool(workspace.bytes_used)
    if most <= workspace.received:
        raise no_room()
    draft, folder = await run_in_threadpool(workspace.new_draft, request.state.user.id)
    form = _Form(folder, workspace, limits, most)
    try:
        parser = multipart.MultipartParser(boundary, form.callbacks())  # type: ignore[arg-type]  # typed as one dict of all parsers
        with contextlib.closing(form):
            async for piece in request.stream():
                parser.write(piece)
            parser.finalize()
        if not form.whole:
            raise _malformed()
        form.upload.draft = draft if form.upload.names else ""
        if form.upload.names:
            await run_in_threadpool(workspace.name_files, draft, form.upload.names)
    except FormParserError as error:
        raise _malformed() from error
    except OSError as error:
        raise no_room() from error
    finally:
        if not form.upload.draft:  # also where the sender went away
            workspace.delete_draft(draft)
    return form.upload


async def fields_of(request: Request) -> dict[str, list[str]]:
    """The fields of a form without files."""
    form = await request.form(max_files=0, max_fields=_PARTS, max_part_size=_FIELDS)
    fields: dict[str, list[str]] = {}
    for name, value in form.multi_items():
        if isinstance(value, str):
            fields.setdefault(name, []).append(value)
    return fields


class _Form:
    """Takes what the parser finds: files to disk, the rest to memory, all of it counted."""

    def __init__(self, folder: Path, workspace: Workspace, limits: ServerLimits, most: int) -> None:
        self.folder, self.workspace, self.limits, self.most = folder, workspace, limits, most
        self.upload = Upload("")
        self.whole = False
        self._total = self._plain = self._parts = 0
        self._header = self._value = b""
        self._headers: dict[str, bytes] = {}
        self._name = self._title = ""
        self._file: IO[bytes] | None = None
        self._as_file = self._named = False
        self._text = bytearray()
        self._size = 0

    def callbacks(self) -> dict[str, object]:
        """Callbacks by the parser's names."""
        return {
            "on_part_begin": self._begin,
            "on_header_field": self._receive_field,
            "on_header_value": self._receive_value,
            "on_header_end": self._end_header,
            "on_headers_finished": self._start,
            "on_part_data": self._data,
            "on_part_end": self._end,
            "on_end": self._finish,
        }

    def close(self) -> None:
        """Let go of a file that was being written."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _begin(self) -> None:
        self._parts += 1
        if self._parts > _PARTS:
            raise _malformed()
        self._headers = {}
        self._header = self._value = b""

    def _receive_field(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]
        self._check_header()

    def _receive_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]
        self._check_header()

    def _check_header(self) -> None:
        if len(self._header) + len(self._value) > _HEADERS or len(self._headers) > 20:
            raise _malformed()

    def _end_header(self) -> None:
        self._headers[self._header.decode("latin-1").lower()] = self._value
        self._header = self._value = b""

    def _start(self) -> None:
        from python_multipart.multipart import parse_options_header

        _, options = parse_options_header(self._headers.get("content-disposition", b""))
        self._name = _text(options.get(b"name", b""))
        given = options.get(b"filename")
        self._as_file = given is not None or self._name.startswith(PASTED)
        self._title = file_title(_text(given)) if given is not None else ""
        self._named = bool(given)
        self._text = bytearray()
        self._size = 0

    def _data(self, data: bytes, start: int, end: int) -> None:
        size = end - start
        self._size += size
        if not self._as_file:
            self._plain += size
            if self._plain > _FIELDS:
                raise _malformed()
            self._text += data[start:end]
            return
        self._total += size
        if self._size > self.limits.file:
            raise _too_large(self._title, self.limits)
        if self._total > self.limits.upload:
            raise _too_large("", self.limits)
        self.workspace.received += size
        if self.workspace.received > self.most:
            raise no_room()
        if self._file is None:
            self._file = self._open()
        self._file.write(data[start:end])

    def _open(self) -> IO[bytes]:
        number = len(self.upload.names)
        if number >= self.limits.files:
            raise WebProblem(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                "These are too many files",
                f"This server takes {self.limits.files} files for one comparison.",
                field="files",
            )
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        return open(os.open(self.folder / str(number), flags, 0o600), "wb")  # noqa: PTH123  # of a descriptor

    def _end(self) -> None:
        if self._file is None and self._named:
            self._file = self._open()  # an empty file is one, and is said to be empty
        if self._file is not None:  # nothing is made of an empty box
            self.close()
            self.upload.names.append(self._title or self._pasted())
            self.upload.parts.append(self._name)
        elif not self._as_file:
            text = self._text.decode("utf-8", "replace")
            self.upload.fields.setdefault(self._name, []).append(text)

    def _pasted(self) -> str:
        """Name of a pasted text."""
        kind = self._name.removeprefix(PASTED).strip("-")
        count = self.upload.parts.count(self._name) + 1
        if kind in ("reference", "source"):
            return f"pasted {kind}" + (f" {count}" if count > 1 else "")
        return f"pasted translation {count}"

    def _finish(self) -> None:
        self.whole = True


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def file_title(given: str) -> str:
    """The name of a file as its owner knows it, without folders."""
    name = given.replace("\\", "/").rpartition("/")[2].strip()
    return name[:_NAME] or "file"


def _malformed() -> WebProblem:
    return WebProblem(
        HTTPStatus.BAD_REQUEST,
        "This form did not arrive whole",
        remedy="Go back and send it again.",
    )


def _too_large(name: str, limits: ServerLimits) -> WebProblem:
    one, all_ = format_megabytes(limits.file), format_megabytes(limits.upload)
    return WebProblem(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        "This file is too large" if name else "These files are too large",
        f"This server takes {one} a file, and {all_} together.",
        file=name or None,
        field="files",
        remedy="Send a part of it: some thousand segments are enough to compare systems.",
    )
