"""What an archive's members may be called, and writing them."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING

from gnomon.errors import FormatError

if TYPE_CHECKING:
    from gnomon.official._limits import Budget

__all__ = ["is_rubbish", "safe_path", "write_member"]

_DRIVE = re.compile(r"[A-Za-z]:")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_WINDOWS = re.compile(r'[<>:"|?*]')
_LONGEST = 255  # bytes of one name, on the usual file systems
_DEEPEST = 40
_CHUNK = 1 << 20
_RUBBISH = ("__MACOSX", ".DS_Store")


def safe_path(name: str, archive: Path) -> PurePosixPath:
    """A member's path, which leads into the folder and nowhere else.

    Raises:
        FormatError: it is absolute, leads upwards, or is no name that a file can have.
    """
    problem = _problem(name)
    if problem:
        raise FormatError(
            f"member {name[:200]!r} {problem}; an honest archive has none such, and nothing of this"
            " one was kept",
            path=archive,
        )
    return PurePosixPath(name)


def _problem(name: str) -> str:
    parts = PurePosixPath(name).parts
    if name.startswith(("/", "\\")) or _DRIVE.match(name):
        return "has an absolute path"
    if ".." in parts or ".." in name.split("\\"):
        return "leads out of the folder (..)"
    if _CONTROL.search(name) or "\\" in name or (os.name == "nt" and _WINDOWS.search(name)):
        return "has a character that a file name must not have"
    if len(parts) > _DEEPEST or any(len(part.encode()) > _LONGEST for part in parts):
        return "has a path that is too long"
    return ""


def is_rubbish(path: PurePosixPath) -> bool:
    """Whether a member is what file managers leave behind."""
    return any(part in _RUBBISH or part.startswith("._") for part in path.parts)


def _make_folder(folder: Path, path: PurePosixPath, archive: Path) -> None:
    """The folder of a member."""
    try:
        (folder / path).mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise _twice(path, archive) from error


def write_member(
    stream: IO[bytes], folder: Path, path: PurePosixPath, archive: Path, budget: Budget | None
) -> None:
    """Write a member that is a file; its times and its permissions are not taken over.

    Args:
        stream: its bytes.
        folder: into which it goes.
        path: where there.
        archive: for messages.
        budget: counts the bytes, unless that is done already.

    Raises:
        FormatError: there is a member of this name, or the archive holds too much.
    """
    _make_folder(folder, path.parent, archive)
    try:
        file = (folder / path).open("xb")
    except (FileExistsError, IsADirectoryError) as error:
        raise _twice(path, archive) from error
    with file:
        while chunk := stream.read(_CHUNK):
            if budget is not None:
                budget.take(len(chunk))
            file.write(chunk)


def _twice(path: PurePosixPath, archive: Path) -> FormatError:
    return FormatError(
        f"two members would be the same file {str(path)!r}; nothing of the archive was kept",
        path=archive,
    )
