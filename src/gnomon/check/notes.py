"""Findings for editors: a table, or notes in the file of a translation tool."""

from __future__ import annotations

import csv
from collections import defaultdict
from typing import TYPE_CHECKING

from gnomon.check.figures import HitRow
from gnomon.core.errors import UsageError
from gnomon.core.records import column_names
from gnomon.data.formats import atomic_write, unit_format, write_unit_notes
from gnomon.messages.audiences import parameter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from gnomon.core.testset import TestSet

__all__ = ["annotated_systems", "write_notes"]

#: stands for each system in a file's name
_SYSTEM = "{system}"


def annotated_systems(path: str | PathLike[str], testset: TestSet) -> Mapping[str, str]:
    """The systems whose files are written with notes, each with what its file is called.

    Raises:
        UsageError: no system was read from an XLIFF file, or several were, and the file's name
            does not tell them apart.
    """
    if unit_format(path) != "xliff":
        return {}
    systems = [
        name for name, files in testset.units.items() if set(map(unit_format, files)) == {"xliff"}
    ]
    if not systems:
        raise UsageError(
            parameter("notes"),
            f" {path} takes the units of an XLIFF file of outputs, and none was read; give the"
            " outputs as XLIFF, or write a table (.csv)",
        )
    if len(systems) > 1 and _SYSTEM not in str(path):
        raise UsageError(
            parameter("notes"),
            f" {path} holds the notes on one system, and {len(systems)} were read from XLIFF"
            f" files; write {_SYSTEM} into the name, which stands for each",
        )
    return {name: str(path).replace(_SYSTEM, name) for name in systems}


def write_notes(
    path: str | PathLike[str],
    testset: TestSet,
    systems: Mapping[str, str],
    hits: Sequence[HitRow],
) -> None:
    """Write findings: a table, or, of systems that were read from XLIFF files, these with notes."""
    for system, target in systems.items():
        ((file, ids),) = testset.units[system].items()
        notes = defaultdict(list)
        for hit in hits:
            if hit.system == system:
                notes[ids[hit.segment - 1]].append(_note(hit))
        write_unit_notes(file, target, notes)
    if not systems:
        with atomic_write(path) as table:
            writer = csv.DictWriter(table, column_names(HitRow))
            writer.writeheader()
            writer.writerows(hit.cells() for hit in hits)


def _note(hit: HitRow) -> str:
    of_source = hit.start is None and hit.source_start is not None
    text = f": {hit.text}{' (in the source)' * of_source}" * bool(hit.text)
    return f"{hit.kind}{text}{f'; expected: {hit.expected}' * bool(hit.expected)}"
