"""The records of the inspection of uploaded files."""

from __future__ import annotations

from typing import Literal

import msgspec

Guess = Literal["source", "reference", "output", "set", "unknown"]


class FileRemedy(msgspec.Struct, kw_only=True):
    """A way on with a file.

    ``id`` is "encoding" (read it as ``encoding``; ``lines`` are its first ones so), "leave" (it
    out) or "look" (at ``line``).
    """

    id: Literal["encoding", "leave", "look"]
    text: str
    encoding: str | None = None
    lines: list[str] = []
    line: int | None = None


class FileProblem(msgspec.Struct, kw_only=True):
    """A problem of a file, in words, with its remedy."""

    text: str
    stops: bool = True
    remedies: list[FileRemedy] = []
    line: int | None = None


#: kinds of files that are test sets of their own
_WHOLE = ("set", "log")


class InspectedFile(msgspec.Struct, kw_only=True):
    """A file as it was found.

    Attributes:
        file: its number in the draft.
        name: what it was called.
        kind: "text": one segment per line; a format of translation units; "set", a test set of
            its own; "log", one that is joined with others by the ids of samples; "outputs", such
            a log without references; or "unreadable".
        encoding: in which it can be read for certain; None where that is to be confirmed.
        segments: how many it has; None where it could not be read.
        first: its first three segments.
        last: its last three.
        role: what it probably is.
        why: why so.
        title: what its system or reference is called.
        language: what it is probably written in.
        systems: of a test set, the names of its systems.
        scores: specs of the scores that a log has of all outputs.
        problems: what is wrong with it.
    """

    file: int
    name: str
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
    scores: list[str] = []
    problems: list[FileProblem] = []

    @property
    def has_texts(self) -> bool:
        """True if it is one side of a test set: a text for each segment."""
        return self.kind not in (*_WHOLE, "unreadable")

    @property
    def is_of_units(self) -> bool:
        """True if its texts have ids, by which they are joined with those of others."""
        return self.has_texts and self.kind not in ("text", "subtitles")

    def unfit(self) -> FileProblem | None:
        """Why it cannot be a source, a reference or an output as it is; None where it can."""
        if self.kind not in _WHOLE:
            return next((problem for problem in self.problems if problem.stops), None)
        return FileProblem(text=f"{self.name} is not plain text, one line a segment")


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
    """The inspection of the files of a draft.

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
        """True if nothing has to be confirmed or mended before a comparison."""
        return not self.counts_differ and not any(
            problem.stops for file in self.files for problem in file.problems
        )
