"""One process at a time, by a lock that goes with the process."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["alone"]


@contextmanager
def alone(place: Path) -> Iterator[None]:
    """Wait until no other process works on a file or folder, and keep others waiting."""
    try:
        import fcntl
    except ImportError:  # no such locks on this system: what is written is whole all the same
        yield
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.with_name(f".{place.name}.lock").open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
