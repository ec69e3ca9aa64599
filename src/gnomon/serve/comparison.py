"""A comparison: the user's choices, and the study of it that ``gnomon run`` runs.

A comparison is a folder: ``names.json`` (:class:`ComparisonRecord`), ``study.toml``, ``uploads/``
until ``texts/`` is made of them, and ``store/``. Each file is replaced
as a whole. Names that users give are data in these files, and never names of files.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path  # noqa: TC003  # records are read by their types
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta

from gnomon.core.registry import find
from gnomon.serve.job_table import Job, StepState

__all__ = [
    "ComparisonChoices",
    "ComparisonRecord",
    "FileChoice",
    "GateRequest",
    "StepChoice",
    "default_steps",
    "flush_folder",
    "locked",
    "new_job",
    "now",
    "read_record",
    "study_text",
    "write_record",
    "write_whole",
]


T = TypeVar("T")

NAMES, STUDY, TEXTS, STORE, UPLOADS, LOG = (
    "names.json", "study.toml", "texts", "store", "uploads", "log.txt",
)  # fmt: skip

#: metrics of a comparison, and the method that tells kinds of words apart
USUAL_METRICS, WORD_METHOD = ("bleu", "chrf"), "muler"

Role = Literal["source", "reference", "output", "set", "ignored"]
Name = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"^\S(.*\S)?$")]
Spec = Annotated[str, Meta(min_length=1, max_length=1000)]
Value = str | int | float | bool | Sequence[str | int | float] | dict[str, str | list[str]]


class FileChoice(msgspec.Struct, kw_only=True):
    """A file as the user confirmed it.

    Attributes:
        file: its number: ``uploads/NUMBER``.
        name: what it was called when it was uploaded.
        role: what it is; "set" for a file that is a test set of its own.
        title: what the system or the reference is called in results.
        encoding: how its bytes are read.
        kind: "text": one segment per line; else what :func:`gnomon.serve.inspect.inspect` said.
        added: it was added to a comparison that rested.
    """

    file: int
    name: str
    role: Role
    title: str = ""
    encoding: str = "utf-8"
    kind: str = "text"
    added: bool = False


class StepChoice(msgspec.Struct, kw_only=True):
    """A method with its options, as a study has them."""

    method: str
    options: dict[str, Value] = {}
    metrics: list[str] | None = None


class GateRequest(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """When a comparison counts as failed: an output is significantly worse than the baseline."""

    baseline: Annotated[
        Name | None,
        Meta(description="The system that no other may be worse than; needed for three or more."),
    ] = None
    metrics: Annotated[
        list[Spec],
        Meta(description="The metrics that decide; all of the request by default."),
    ] = []
    min_drop: Annotated[
        float, Meta(ge=0, description="Smallest drop that fails, in units of the metric.")
    ] = 0.0


class ComparisonChoices(msgspec.Struct, kw_only=True):
    """The user's choices: files, languages, metrics and methods.

    Attributes:
        files: the files with their roles.
        title: what to call the comparison.
        language_pair: "de-en", or "en" where the source's language is not known.
        metrics: specs, for all methods that name none of their own.
        steps: the methods, in the order in which they run; by default those of
            :func:`default_steps`.
        gate: when the comparison counts as failed.
    """

    files: list[FileChoice] = []
    title: str = ""
    language_pair: str | None = None
    metrics: list[str] = msgspec.field(default_factory=lambda: [*USUAL_METRICS])
    steps: list[StepChoice] = []
    gate: GateRequest | None = None


class ComparisonRecord(msgspec.Struct, kw_only=True):
    """Whose a comparison is, and what it consists of.

    Attributes:
        owner: who made it.
        made: when, UTC.
        choices: what was chosen.
        segments: of its files; 0 where that is not known yet.
    """

    owner: str
    made: str
    choices: ComparisonChoices
    segments: int = 0

    @property
    def title(self) -> str:
        """Its name; that of its systems until somebody gives it one."""
        return self.choices.title or default_title(self.choices.files)


def now() -> str:
    """The time in UTC, as records have it."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds")


def default_steps(outputs: int) -> list[StepChoice]:
    """Default steps for one output, or for several: first the answer, then where it lies."""
    first = "compare" if outputs > 1 else "score"
    return [StepChoice(method=first), StepChoice(method=WORD_METHOD)]


def default_title(files: list[FileChoice]) -> str:
    """Title of a comparison that nobody named."""
    titles = [file.title or file.name for file in files if file.role in ("output", "set")]
    more = f" and {len(titles) - 3} more" if len(titles) > 3 else ""
    return ", ".join(titles[:3]) + more or "Comparison"


def new_job(about: ComparisonRecord) -> Job:
    """A job that waits for its turn."""
    return Job([StepState(step.method, about.owner, now()) for step in about.choices.steps])


# Files that appear whole, and belong to the user alone.


def write_record(file: Path, record: object, *, durable: bool = True) -> None:
    """Replace a JSON file; with ``durable``, on disk when this returns."""
    write_whole(file, msgspec.json.format(msgspec.json.encode(record), indent=1), durable=durable)


def write_whole(file: Path, data: bytes, *, durable: bool = True) -> None:
    """Replace a file as a whole."""
    scratch = file.with_name(f".{os.urandom(8).hex()}.tmp")
    try:
        descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "wb") as stream:  # noqa: PTH123  # of a descriptor
            stream.write(data)
            if durable:
                stream.flush()
                os.fsync(descriptor)
        scratch.replace(file)
    finally:
        scratch.unlink(missing_ok=True)
    if durable:
        flush_folder(file.parent)


def flush_folder(folder: Path) -> None:
    """Make sure that names in a folder are on disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_record(file: Path, kind: type[T]) -> T | None:
    """Read a record from a file; None where it is missing, or damaged."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=kind)
    except (OSError, ValueError, RecursionError):
        return None


@contextmanager
def locked(file: Path, *, wait: bool = False) -> Iterator[bool]:
    """True if nobody else holds this lock; held to the end of the block, or of the process."""
    with file.open("ab") as opened:
        try:
            import fcntl

            fcntl.flock(opened, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:  # pragma: no cover  # no such locks on this system
            pass
        except BlockingIOError:
            yield False
            return
        yield True


# The study of a comparison, as a file for ``gnomon run``.


def study_text(about: ComparisonRecord, steps: list[StepChoice] | None = None) -> str:
    """The study file: the same as a command."""
    choices = about.choices
    lines = [
        f"# {_escape_comment(about.title)}: gnomon run study.toml",
        f"name = {toml_value(about.title)}",
        f"store = {toml_value(STORE)}",
        f"metrics = {toml_value(choices.metrics)}",
        "",
        "[[testsets]]",
        f"path = {toml_value(TEXTS)}",
    ]
    if choices.language_pair:
        lines.append(f"language_pair = {toml_value(choices.language_pair)}")
    for step in choices.steps if steps is None else steps:
        several = sum(other.method == step.method for other in choices.steps) > 1
        head = f"methods.{step.method}"
        lines += ["", f"[[{head}]]" if several else f"[{head}]"]
        lines += [f"{toml_key(key)} = {toml_value(value)}" for key, value in _options(step)]
    return "\n".join(lines) + "\n"


def _options(step: StepChoice) -> list[tuple[str, Value]]:
    method = find(step.method)
    given: dict[str, Value] = {}
    if step.metrics is not None and method.metrics != "none":
        given["metrics"] = step.metrics
    if method.by_system:
        given["together"] = True  # else nothing is said of several translations
    return [*(given | step.options).items()]


_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_value(value: Value) -> str:
    r"""A value as TOML.

    >>> toml_value(["a\"b", "c\x7f"])
    '["a\\"b", "c\\u007f"]'
    """
    if isinstance(value, dict):
        pairs = (f"{toml_key(key)} = {toml_value(inner)}" for key, inner in value.items())
        return f"{{ {', '.join(pairs)} }}"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_key(key: str) -> str:
    """A key as TOML."""
    return key if _BARE.fullmatch(key) else toml_value(key)


def _escape_comment(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)
