"""What files are before anything is made of them: encoding, counts, roles, languages, problems."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

import msgspec

from gnomon.core.errors import FormatError
from gnomon.data.formats import plain_name
from gnomon.serve._comparison import FileChoice
from gnomon.serve._texts import lines_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Guess = Literal["source", "reference", "output", "set", "unknown"]


class FileRemedy(msgspec.Struct, kw_only=True):
    """A way on with a file.

    ``id`` is "encoding" (read it as ``encoding``; ``lines`` are its first ones so), "save" (as
    plain text), "unpack", "leave" (it out), "first" or "look" (at ``line``).
    """

    id: Literal["encoding", "save", "unpack", "leave", "look"]
    text: str
    encoding: str | None = None
    lines: list[str] = []
    line: int | None = None


class FileProblem(msgspec.Struct, kw_only=True):
    """What is wrong with a file, in words, and what can be done."""

    text: str
    stops: bool = True
    remedies: list[FileRemedy] = []
    line: int | None = None


class InspectedFile(msgspec.Struct, kw_only=True):
    """A file as it was found.

    Attributes:
        file: its number in the draft.
        name: what it was called.
        size: in bytes.
        kind: "text": one segment per line; the name of a format of test sets; or "unreadable".
        encoding: in which it can be read for certain; None where that is to be confirmed.
        segments: how many it has; None where it could not be read.
        first: its first three segments.
        last: its last three.
        role: what it probably is.
        why: why so.
        title: what its system or reference is called.
        language: what it is probably written in.
        systems: of a test set, the names of its systems.
        problems: what is wrong with it.
    """

    file: int
    name: str
    size: int
    kind: str = "text"
    encoding: str | None = None
    segments: int | None = None
    first: list[str] = []
    last: list[str] = []
    role: Guess = "unknown"
    why: str = ""
    title: str = ""
    language: str | None = None
    systems: list[str] = []
    problems: list[FileProblem] = []


class Drift(msgspec.Struct, kw_only=True):
    """Where a file ceases to go with another one, with the lines of both around that place.

    Attributes:
        file: number of the file.
        beside: number of the one that it is compared with.
        line: the first line, from 1, from which it is off.
        shift: by how many lines: output ``line`` fits reference ``line + shift``; 0: in no order.
        text: that in words.
        lines: its lines from ``line`` on.
        others: the lines beside them.
    """

    file: int
    beside: int
    line: int
    shift: int
    text: str
    lines: list[str] = []
    others: list[str] = []


class Inspection(msgspec.Struct, kw_only=True):
    """What was found in the files of a draft.

    Attributes:
        files: one by one.
        segments: of the test set; 0 where the files differ.
        language_pair: as far as it was recognised.
        counts_differ: the files have different numbers of segments.
        drifts: where files drift apart.
        notes: what looks wrong in the texts, in sentences.
    """

    files: list[InspectedFile]
    segments: int = 0
    language_pair: str | None = None
    counts_differ: bool = False
    drifts: list[Drift] = []
    notes: list[str] = []

    @property
    def ready(self) -> bool:
        """Whether nothing has to be confirmed or mended before a comparison."""
        return not self.counts_differ and not any(
            problem.stops for file in self.files for problem in file.problems
        )


def inspect(files: Sequence[tuple[str, Path]]) -> Inspection:
    """Look at files that were uploaded.

    Args:
        files: what each was called, and where it is.
    """
    inspected = [_file(number, *file) for number, file in enumerate(files)]
    counts = {file.segments for file in inspected if file.segments is not None}
    return Inspection(
        files=inspected,
        segments=counts.pop() if len(counts) == 1 else 0,
        counts_differ=len(counts) > 1,
    )


_SHOWN = 3


def _file(number: int, name: str, path: Path) -> InspectedFile:
    size = path.stat().st_size
    file = InspectedFile(file=number, name=name, size=size, title=plain_name(name))
    file.role, file.why = role_of_name(file.title)
    try:
        lines = lines_of(path, FileChoice(file=number, name=name, role="output"))
    except FormatError as error:
        file.kind = "unreadable"
        file.problems = [FileProblem(text=str(error))]
        return file
    file.encoding, file.segments = "utf-8", len(lines)
    file.first, file.last = lines[:_SHOWN], lines[_SHOWN:][-_SHOWN:]
    if not lines:
        file.problems = [FileProblem(text=f"{name} is empty.")]
    return file


_WORDS: dict[Guess, frozenset[str]] = {
    "source": frozenset({"src", "source", "sources", "input", "orig", "original"}),
    "reference": frozenset({"ref", "reference", "references", "gold", "human", "refa", "refb"}),
}


def role_of_name(name: str) -> tuple[Guess, str]:
    """What a file probably is by its name, and why.

    >>> role_of_name("newstest.ref.de")[0], role_of_name("online-A")[0]
    ('reference', 'output')
    """
    words = re.findall(r"[a-z]+", name.casefold())
    for role, names in _WORDS.items():
        if names & set(words):
            return role, f"its name says {role}"
    return "output", "its name says neither source nor reference"
