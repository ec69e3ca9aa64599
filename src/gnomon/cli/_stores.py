"""Which store a command means that names none."""

from __future__ import annotations

from pathlib import Path

from gnomon.errors import UsageError

__all__ = ["the_store"]


def the_store() -> Path:
    """The only store in the current folder.

    Raises:
        UsageError: there is none, or several.
    """
    found = sorted(one.parent for one in Path().glob("*/store.json"))
    if len(found) == 1:
        return found[0]
    there = f"there are {', '.join(map(str, found))}" if found else "there is none here"
    raise UsageError(f"which store? {there}; name it: --store DIR")
