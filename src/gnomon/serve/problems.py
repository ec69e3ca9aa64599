"""Problems, worded for the person at the browser without paths, versions or traces."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta

from gnomon.core.errors import (
    FormatError,
    GnomonError,
    MissingDependencyError,
    MissingFileError,
    OutputError,
    ScoringError,
)
from gnomon.messages import Level  # noqa: TC001  # msgspec reads it
from gnomon.messages.audiences import Written

if TYPE_CHECKING:
    from gnomon.messages import Message

__all__ = [
    "MessageData",
    "NotFound",
    "ProblemData",
    "WebProblem",
    "message_of",
    "no_room",
    "problem_of",
    "word_error",
]

#: a path of this machine in a message: what follows a space, a quote or a bracket
_PATH = re.compile(r"(?<![\w:/.])(?:[A-Za-z]:)?[/\\](?:[^\s'\"(),;:]+[/\\])+([^\s'\"(),;:/\\]*)")


class MessageData(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A message: a sentence, and what it says as data."""

    text: str
    level: Annotated[Level, Meta(description="What it is; undecided: the data do not decide.")]
    code: Annotated[str, Meta(description="Its kind, as compare.better.")]
    params: Annotated[dict[str, Any], Meta(description="The numbers and names in it.")] = {}
    subjects: Annotated[
        dict[str, list[str]], Meta(description="What it is about: systems, metrics, files.")
    ] = {}
    remedies: Annotated[
        list[dict[str, str]],
        Meta(description="What to do: an action (install, add_option, use_format), with what."),
    ] = []


class ProblemData(msgspec.Struct, omit_defaults=True):
    """A problem as ``application/problem+json`` (RFC 9457), with what gnomon adds."""

    title: str
    status: int
    detail: str = ""
    file: str | None = None
    line: int | None = None
    field: str | None = None
    remedy: str | None = None
    messages: list[MessageData] = []


class WebProblem(Exception):  # noqa: N818  # a problem is what RFC 9457 calls it
    """The problem that a page or the API shows instead of an answer.

    Args:
        status: of HTTP.
        title: what went wrong, as a heading.
        detail: a sentence or two on it.
        file: the user's name of the file that it sits in.
        line: 1-based, in that file.
        field: the name of the field of a form beside which it is shown.
        remedy: what to do.
        error: the error of gnomon that it comes from.
    """

    def __init__(
        self,
        status: int,
        title: str,
        detail: str = "",
        *,
        file: str | None = None,
        line: int | None = None,
        field: str | None = None,
        remedy: str | None = None,
        error: GnomonError | None = None,
    ) -> None:
        super().__init__(title)
        self.status = status
        told = [] if error is None else list(map(message_of, error.messages))
        self.data = ProblemData(title, status, detail, file, line, field, remedy, told)


class NotFound(WebProblem):
    """There is nothing here, or nothing that this person may see: nobody learns which."""

    def __init__(self) -> None:
        super().__init__(
            HTTPStatus.NOT_FOUND,
            "There is nothing here",
            "The address may be mistyped, or what stood here was deleted, or it is not shared"
            " with you.",
            remedy="Go to the list of your comparisons.",
        )


def no_room() -> WebProblem:
    """Nothing more can be kept: the quota is used up, or the disk is full."""
    return WebProblem(
        HTTPStatus.INSUFFICIENT_STORAGE,
        "This server has no more room",
        "All comparisons together fill the space that it was given.",
        remedy="Delete comparisons that you no longer need, or ask whoever runs this server.",
    )


def word_error(said: Written | str) -> str:
    """Word an error for a page: files by their names alone.

    Errors of other packages and of the system hold paths, too, so that the text is searched for
    them: nobody at a browser learns where things lie on this machine.
    """
    text = said.written("page") if isinstance(said, Written) else said
    return _PATH.sub(lambda path: path[1] or "a folder", text)


#: errors of gnomon, and what they are to a browser
_STATUS = (
    (MissingFileError, HTTPStatus.UNPROCESSABLE_ENTITY),
    (MissingDependencyError, HTTPStatus.NOT_IMPLEMENTED),
    (OutputError, HTTPStatus.INSUFFICIENT_STORAGE),
    (ScoringError, HTTPStatus.INTERNAL_SERVER_ERROR),
)


def problem_of(error: GnomonError) -> WebProblem:
    """An error of gnomon as a problem: what it says, without paths of the server."""
    status = next((s for kind, s in _STATUS if isinstance(error, kind)), 422)
    line = error.line if isinstance(error, FormatError) else None
    file = None if error.path is None else PurePath(error.path).name
    title = "This cannot be used" if status < HTTPStatus.INTERNAL_SERVER_ERROR else "This failed"
    return WebProblem(status, title, word_error(error), file=file, line=line, error=error)


def message_of(said: Message) -> MessageData:
    """A message as the API gives it, without paths of the server."""
    from gnomon.report.rendering import message_data

    return msgspec.convert(_strip_paths(message_data(said, "page")), MessageData)


def _strip_paths(value: object) -> object:
    if isinstance(value, str):
        return word_error(value)
    if isinstance(value, Mapping):
        return {name: _strip_paths(of) for name, of in value.items()}
    return list(map(_strip_paths, value)) if isinstance(value, Sequence) else value
