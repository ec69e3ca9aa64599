"""What changes when files do: path, size, times of change and inode, without reading them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gnomon.signature import content_hash

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

__all__ = ["Stamp", "stamp_of", "stamp_of_file"]

#: folders with more files than this are not looked through
_MOST = 20_000


class Stamp(NamedTuple):
    """The state of some files.

    Attributes:
        hash: another one where a file differs; "" where there are too many files to tell.
        newest: when the last of them changed, seconds since the epoch.
    """

    hash: str
    newest: float


def stamp_of_file(path: str) -> Stamp:
    """The state of one file, whatever lies beside it; there may be hundreds beside it."""
    for file, found in _stat(path):
        return Stamp(content_hash(_line(file, found)), max(found.st_mtime, found.st_ctime))
    return Stamp("", 0.0)


def stamp_of(*paths: str, beside: bool = True, without: Collection[str] = ()) -> Stamp:
    """The state of the files that reading some paths may look at.

    Args:
        paths: files, directories, or what is inside a file's directory under another name.
        beside: reading a file may look at those beside it.
        without: files that do not count.
    """
    lines: list[str] = []
    newest = 0.0
    for path in paths:
        alone = not beside and not Path(path).is_dir()
        for file, found in _stat(path) if alone else _files(Path(path)):
            if file in without:
                continue
            lines.append(_line(file, found))
            newest = max(newest, found.st_mtime, found.st_ctime)
            if len(lines) > _MOST:
                return Stamp("", newest)
    return Stamp(content_hash(*sorted(lines)) if lines else "", newest)


def _files(path: Path) -> Iterator[tuple[str, os.stat_result]]:
    """The files that reading a path may look at; those beside a file or a missing path, too."""
    if path.is_dir():
        for folder, _, names in os.walk(path, followlinks=True):
            for name in names:
                yield from _stat(os.path.join(folder, name))  # noqa: PTH118  # a path of strings
        return
    if not path.parent.is_dir():
        return
    for one in os.scandir(path.parent):
        if one.is_file():
            yield from _stat(one.path)
    if not path.exists():  # DIR/de-en, where DIR holds the pair among others
        yield from _files(path.parent)


def _stat(file: str) -> Iterator[tuple[str, os.stat_result]]:
    try:
        yield file, os.stat(file)  # noqa: PTH116  # a path of strings
    except OSError:
        return


def _line(file: str, found: os.stat_result) -> str:
    # cp -p sets the time that a file says, but not the time of its inode
    times = f"{found.st_mtime_ns} {found.st_ctime_ns}"
    return f"{file} {found.st_size} {times} {found.st_ino}"
