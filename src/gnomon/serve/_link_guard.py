"""Refusal of links in folders that may come from elsewhere, such as unpacked archives.

A symbolic link, or a second name of a file of somebody else, would let pages read, send or write
what lies outside the folder that was served.
"""

from __future__ import annotations

import os
import stat
import time
from typing import TYPE_CHECKING

from gnomon.core.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

#: folders that were looked at, with their state then and the folders in them
_checked: dict[str, tuple[tuple[int, int], list[str]]] = {}
_MOST = 20_000
#: nanoseconds within which a clock may miss a second change of a folder
_TICK = 100_000_000


def refuse_links(folder: Path) -> None:
    """Check a folder with all that it holds; only folders that changed are read again."""
    pending = [os.fspath(folder)]
    while pending:
        path = pending.pop()
        try:
            said = os.lstat(path)
            _check(path, said)
            state = (said.st_ino, said.st_ctime_ns)
            if path not in _checked or _checked[path][0] != state:
                rested = time.time_ns() - said.st_ctime_ns > _TICK
                _checked[path] = (state if rested else (0, 0), _folders_in(path))
            pending += _checked[path][1]
        except FileNotFoundError:  # a process that works in the folder took it away
            _checked.pop(path, None)
    if len(_checked) > _MOST:
        _checked.clear()


def refuse_link(file: Path) -> None:
    """Check a file or folder, which need not be there."""
    try:
        _check(os.fspath(file), os.lstat(file))
    except FileNotFoundError:
        return


def _folders_in(path: str) -> list[str]:
    folders = []
    with os.scandir(path) as entries:
        for entry in entries:
            try:
                said = os.lstat(entry.path)  # on Windows the entry's own says nothing of names
            except FileNotFoundError:
                continue
            _check(entry.path, said)
            if stat.S_ISDIR(said.st_mode):
                folders.append(entry.path)
    return folders


def _check(path: str, said: os.stat_result) -> None:
    second_name = not stat.S_ISDIR(said.st_mode) and said.st_nlink > 1
    if stat.S_ISLNK(said.st_mode) or second_name:
        raise DataError(
            f"{path} is a link, or a file with a second name elsewhere; what lies outside its"
            " folder is neither read nor changed: put a copy of it in its place"
        )
