"""Where the parts of a site go: a folder with a script for each, or one file that holds all."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from gnomon.errors import OutputError
from gnomon.report.site._json import in_html, in_script

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from os import PathLike
    from typing import IO

__all__ = ["Sink", "check_place", "opened"]

_INDEX, _DATA = "index.html", "data"
#: a file that only a site of ours holds: such a folder may be replaced
_OURS = "gnomon-report.txt"
_SAID = "A report made by gnomon. Open index.html; the folder is replaced when it is made again.\n"


class Sink(Protocol):
    """Takes the parts of a site one by one, then the page itself.

    Attributes:
        inside: parts are elements of the page.
    """

    inside: bool

    def add(self, key: str, content: object) -> None:
        """A part of the data, under letters, digits and hyphens."""

    def finish(self, before: str, after: str) -> None:
        """The page: what comes before the parts that a single file holds, and what comes after."""


def opened(path: str | PathLike[str]) -> contextlib.AbstractContextManager[Sink]:
    """A sink for one file (a name that ends in .html or .htm) or a folder.

    Raises:
        OutputError: it cannot be written, or a folder holds something else.
    """
    place = Path(path)
    return _one_file(place) if _is_file(place) else _folder(place)


def check_place(path: str | PathLike[str]) -> None:
    """Refuse, before any work, a place that a report cannot be written to.

    Raises:
        OutputError: its folder is missing, or a folder of that name holds something else.
    """
    place = Path(path)
    above = place.resolve().parent
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise OutputError(
            f"cannot write {place}: its folder {place.parent} does not exist or may not be written"
            " to; make it first, or name another"
        )
    if not _is_file(place):
        _check_folder(place)
    elif place.is_dir():
        raise OutputError(f"{place} is a folder; name a file, or a folder without .html")


def _is_file(place: Path) -> bool:
    return place.suffix.lower() in {".html", ".htm"}


class _Folder:
    inside = False

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / _DATA).mkdir(parents=True)

    def add(self, key: str, content: object) -> None:
        text = in_script(key, in_html(content))
        (self.folder / _DATA / f"{key}.js").write_text(text, encoding="utf-8", newline="\n")

    def finish(self, before: str, after: str) -> None:
        (self.folder / _INDEX).write_text(before + after, encoding="utf-8", newline="\n")
        (self.folder / _OURS).write_text(_SAID, encoding="utf-8", newline="\n")


class _File:
    inside = True

    def __init__(self, parts: IO[str]) -> None:
        self.parts = parts
        self.page = ("", "")

    def add(self, key: str, content: object) -> None:
        self.parts.write(f'<script type="application/json" id="part-{key}">{in_html(content)}')
        self.parts.write("</script>\n")

    def finish(self, before: str, after: str) -> None:
        self.page = (before, after)


@contextlib.contextmanager
def _folder(place: Path) -> Generator[Sink]:
    from gnomon.formats import explain_failure

    check_place(place)
    scratch = place.resolve().with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with explain_failure(place):
            yield _Folder(scratch)
            _swap(scratch, place.resolve())
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _check_folder(place: Path) -> None:
    if not place.exists():
        return
    if not place.is_dir():
        raise OutputError(f"{place} is a file; name a folder, or a file that ends in .html")
    if any(place.iterdir()) and not (place / _OURS).is_file():
        raise OutputError(
            f"{place} holds something else; name a new or an empty folder, or one that holds a"
            " report made before"
        )


def _swap(scratch: Path, place: Path) -> None:
    old = place.with_name(f".{secrets.token_hex(8)}.old")
    if place.exists():
        place.replace(old)
    try:
        scratch.replace(place)
    except OSError:
        if old.exists():
            old.replace(place)
        raise
    shutil.rmtree(old, ignore_errors=True)


@contextlib.contextmanager
def _one_file(place: Path) -> Generator[Sink]:
    import tempfile

    from gnomon.formats import atomic_write

    with (
        atomic_write(place) as file,  # first: a place that cannot be written is told at once
        tempfile.TemporaryFile(
            "w+", encoding="utf-8", newline="\n", dir=place.resolve().parent
        ) as parts,
    ):
        sink = _File(parts)
        yield sink
        before, after = sink.page
        file.write(before)
        parts.seek(0)
        for piece in _pieces(parts):
            file.write(piece)
        file.write(after)


def _pieces(file: IO[str]) -> Iterator[str]:
    while piece := file.read(1 << 20):
        yield piece
