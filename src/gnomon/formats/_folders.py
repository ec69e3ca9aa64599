"""Finding things in the folders of a test set."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, TypeVar

from gnomon.errors import DataError, FormatError, UnknownNameError, UsageError
from gnomon.formats._files import require_directory

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

T = TypeVar("T")

_TEXT = re.compile(r"(?P<name>.+)\.txt(?:\.gz)?", re.DOTALL)
_PAIR = re.compile(
    r"[a-z]{2}(_[A-Za-z]{2,4})?-[a-z]{2}(_[A-Za-z]{2,4})?"
    r"|[a-z]{3}(_[A-Za-z]{2,4})?-[a-z]{3}(_[A-Za-z]{2,4})?"
)


def is_pair(name: str) -> bool:
    """Whether a name looks like a language pair.

    >>> is_pair("de-en"), is_pair("en-zh_TW"), is_pair("my-set")
    (True, True, False)
    """
    return _PAIR.fullmatch(name) is not None


def find(folder: Path, name: str) -> Path | None:
    """A file of this name, plain or compressed; whatever bears the name, the reader judges it.

    Raises:
        FormatError: both are there.
    """
    files = [file for file in (folder / name, folder / f"{name}.gz") if os.path.lexists(file)]
    if len(files) > 1:
        raise FormatError(f"{files[1].name} lies beside it; keep one of the two", path=files[0])
    return files[0] if files else None


def entries(folder: Path) -> list[Path]:
    """What lies in a folder, sorted; nothing where there is none.

    Raises:
        MissingFileError: its name is that of a pipe, or of a link that leads nowhere.
    """
    if os.path.lexists(folder) and not folder.is_file():
        require_directory(folder)
    return sorted(folder.iterdir()) if folder.is_dir() else []


def bears_file(path: Path) -> bool:
    """Whether a name in a folder is that of a file, or of what stands in its place.

    A pipe or a link that leads nowhere is no file, but leaving it out would change what is read:
    the reader refuses it. Hidden ones are nobody's data.
    """
    return path.is_file() or not (path.is_dir() or path.name.startswith("."))


def text_files(folder: Path) -> dict[str, Path]:
    """Name -> file of the ``NAME.txt`` and ``NAME.txt.gz`` in a folder, in natural order.

    Raises:
        DataError: two files have the same name.
    """
    named: dict[str, Path] = {}
    for file in entries(folder):
        match = _TEXT.fullmatch(file.name)
        if file.name.startswith(".") or not match:
            continue
        name = match["name"]
        if name in named:
            raise DataError(f"two files are called {name!r}: {named[name]} and {file}; keep one")
        named[name] = file
    return {name: named[name] for name in sorted(named, key=natural)}


def natural(name: str) -> list[tuple[int, int, str]]:
    """Sort key by which ``sys10`` comes after ``sys9``."""
    parts = re.split(r"([0-9]+)", name)
    return [(0, int(p), p) if p.isascii() and p.isdigit() else (1, 0, p) for p in parts]


def choose(kind: str, wanted: Sequence[str] | None, there: Mapping[str, T]) -> dict[str, T]:
    """The wanted ones in the order wanted; all by default.

    Raises:
        UnknownNameError: a wanted one is not there.
    """
    for name in wanted or ():
        if name not in there:
            raise UnknownNameError(kind, name, there)
    return {name: there[name] for name in wanted or there}


def agree(known: str | None, given: str | None, path: Path) -> str | None:
    """The language pair, from what the directory says and what the user says.

    Raises:
        UsageError: the two contradict each other.
    """
    if known is None or given is None or given in (known, known.split("-")[-1]):
        return known or given
    raise UsageError(f"{path} is a test set for {known}; {given} was asked for")


def references_in(path: Path) -> dict[str, Path]:
    """Name -> file of the ``ref.NAME.txt`` in a folder, which may be missing."""
    named = text_files(path)
    return {n.removeprefix("ref."): file for n, file in named.items() if re.match(r"ref\..", n)}
