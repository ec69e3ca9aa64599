"""What stands beside texts in gnomon's layout: scores of the outputs' logs, codes inside texts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gnomon.data.formats._files import find
from gnomon.data.formats.rows import read_tsv, write_tsv

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gnomon.core.testset import TestSet
    from gnomon.data.formats.rows import FileRecord

_LOGGED, _SCORES = "logged.tsv", ("metric", "system", "seg", "score")
_CODES, _PLACES = "codes.tsv", ("of", "name", "seg", "codes")


def write_beside(testset: TestSet, folder: Path) -> None:
    """Write both, where there are any; of texts that may hold codes the first stands there too."""
    scores = [
        [metric, system, str(number), repr(score)]
        for metric, by_system in testset.logged.items()
        for system, column in by_system.items()
        for number, score in enumerate(column, start=1)
        if not math.isnan(score)
    ]
    codes = [
        [role, name, str(number), text]
        for role, by_name in testset.codes.items()
        for name, column in by_name.items()
        for number, text in enumerate(column, start=1)
        if text or number == 1
    ]
    for file, columns, rows in ((_LOGGED, _SCORES, scores), (_CODES, _PLACES, codes)):
        if rows:
            write_tsv(folder / file, columns, rows)


def read_logged(path: Path, segments: int) -> dict[str, dict[str, list[float]]]:
    """The scores: metric -> system -> one per segment."""
    found: dict[str, dict[str, list[float]]] = {}
    for row, segment in _rows(path, _LOGGED, _SCORES, segments):
        columns = found.setdefault(row["metric"], {})
        columns.setdefault(row["system"], [math.nan] * segments)[segment] = row.number("score")
    return found


def read_codes(path: Path, segments: int) -> dict[str, dict[str, list[str]]]:
    """The codes: "sources", "references" or "systems" -> name -> one text per segment."""
    found: dict[str, dict[str, list[str]]] = {}
    for row, segment in _rows(path, _CODES, _PLACES, segments):
        columns = found.setdefault(row["of"], {})
        columns.setdefault(row["name"], [""] * segments)[segment] = row["codes"]
    return found


def _rows(
    path: Path, name: str, columns: tuple[str, ...], segments: int
) -> Iterator[tuple[FileRecord, int]]:
    file = find(path, name)
    if file is not None:
        table = read_tsv(file)
        table.require(*columns)
        for row in table:
            yield row, row.integer("seg", 1, segments) - 1
