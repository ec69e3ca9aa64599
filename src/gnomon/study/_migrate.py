"""Older layouts of a store, brought up to date one version at a time.

A step changes what it is given; it may meet records that are changed already, when a migration was
interrupted, and must leave these as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from gnomon.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

__all__ = ["SCHEMA", "STEPS", "check_layout", "migrated"]

#: version of the layout
SCHEMA = 2

_Record: TypeAlias = dict[str, Any]  # what JSON holds
#: takes the lines of the manifest and the plan
_Step: TypeAlias = "Callable[[list[_Record], _Record], None]"


def _one_to_two(lines: list[_Record], plan: _Record) -> None:
    """Entries say what they were made with, and when; plans say where their test sets are."""
    for line in lines:
        line.setdefault("made_with", {})
        line.setdefault("gnomon", "")
        line.setdefault("finished", "")
        line.setdefault("options", "")
    plan.setdefault("tasks", [])
    plan.setdefault("name", "")
    plan.setdefault("testsets", [])


#: version -> the step that leads to the next one
STEPS: Mapping[int, _Step] = {1: _one_to_two}


def check_layout(version: object, folder: Path | str) -> int:
    """The version of a store that can be read.

    Raises:
        DataError: it is of a later gnomon, or none.
    """
    if type(version) is int and (version == SCHEMA or version in STEPS):
        return version
    if type(version) is int and version > SCHEMA:
        raise DataError(
            f"the store {folder} has layout {version}, and this gnomon knows layouts up to"
            f" {SCHEMA}; update gnomon (pip install -U gnomon), or run the study into a new store"
        )
    raise DataError(f"the store {folder} is damaged: its layout is {version!r}")


def migrated(version: int, lines: list[_Record], plan: _Record) -> None:
    """Bring the records of an older layout up to date, in place."""
    while version < SCHEMA:
        STEPS[version](lines, plan)
        version += 1
