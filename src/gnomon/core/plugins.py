"""Entry points of installed packages, found without reading all of their metadata.

Python's own search loads a parser of mail and reads every package's entry points one by one. Most
installations have no package that offers anything to gnomon, which a look for the name of the group
tells in a fraction of the time.
"""

from __future__ import annotations

import os
import re
import sys
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from importlib.metadata import EntryPoint

__all__ = ["entry_points", "version_of"]

_ABOUT = (".dist-info", ".egg-info")
_VERSION = re.compile(r"(?P<package>[\w.]+)-(?P<version>[\w.!+]+)\.dist-info", re.IGNORECASE)


def entry_points(*, group: str) -> Iterable[EntryPoint]:
    """Entry points of a group, as :func:`importlib.metadata.entry_points` finds them."""
    if not _may_be_offered(f"[{group}]".encode()):
        return ()
    from importlib.metadata import entry_points as found

    return found(group=group)


def _may_be_offered(heading: bytes) -> bool:
    """True if a package says so, or may say so where this does not look (archives)."""
    # of other finders only they themselves know what they find
    others = (finder for finder in sys.meta_path if finder is not PathFinder)
    if any(hasattr(finder, "find_distributions") for finder in others):
        return True
    for folder in sys.path:
        try:
            state = Path(folder).stat()
        except OSError:
            continue
        offers = _offered(folder or ".", state.st_dev, state.st_ino, state.st_mtime_ns)
        if offers is None or heading in offers:
            return True
    return False


@cache
def _offered(folder: str, *_state: int) -> bytes | None:
    """Offers of packages of a folder in this state; None where this cannot look."""
    try:
        names = [entry.name for entry in os.scandir(folder)]
    except NotADirectoryError:
        return None
    except OSError:
        return b""
    if any(name.endswith(".egg") for name in names):
        return None
    return b"\n".join(_entry_point_files(folder, names))


def _entry_point_files(place: str, names: Iterable[str]) -> Iterator[bytes]:
    for name in names:
        if name.endswith(_ABOUT):
            try:
                yield Path(place, name, "entry_points.txt").read_bytes()
            except OSError:  # most packages offer nothing
                continue


@cache
def version_of(package: str) -> str:
    """The version of an installed package, as :func:`importlib.metadata.version` gives it."""
    for folder in sys.path:
        try:
            names = [entry.name for entry in os.scandir(folder or ".")]
        except OSError:
            continue
        for name in names:
            said = _VERSION.fullmatch(name)
            if said and said["package"].lower() == package:
                return said["version"]
    from importlib.metadata import version

    return version(package)
