"""Side files of gnomon's layout: scores of logs, codes inside texts, alignments."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, cast

from gnomon.core.alignments import Alignment
from gnomon.data.formats._files import find
from gnomon.data.formats.rows import read_tsv, write_tsv

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from gnomon.core.alignments import Aligner, Operation
    from gnomon.core.testset import TestSet
    from gnomon.data.formats.rows import FileRecord

_LOGGED, _SCORES = "logged.tsv", ("metric", "system", "seg", "score")
_CODES, _PLACES = "codes.tsv", ("of", "name", "seg", "codes")
_ALIGNED, _STEPS = (
    "aligned.tsv",
    (*("system", "seg", "lines", "operation", "margin", "by", "guide", "added"),),
)


def write_beside(testset: TestSet, folder: Path) -> None:
    """Write all that there is; of texts that may hold codes the first stands there too."""
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
    steps = [
        [
            system,
            str(n),
            " ".join(map(str, lines)),
            operation,
            repr(margin),
            one.by,
            one.guide,
            added,
        ]
        for system, one in testset.alignments.items()
        for n, lines, operation, margin, added in zip(
            range(1, len(one.texts) + 1),
            one.lines,
            one.operations,
            (math.inf, *one.margins),
            (json.dumps(one.added), *[""] * (len(one.texts) - 1)),
            strict=True,
        )
    ]
    tables = ((_LOGGED, _SCORES, scores), (_CODES, _PLACES, codes), (_ALIGNED, _STEPS, steps))
    for file, columns, rows in tables:
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


def read_alignments(
    path: Path, systems: Mapping[str, Sequence[str]], segments: int
) -> dict[str, Alignment]:
    """Read the alignments of those outputs that are read."""
    rows: dict[str, list[FileRecord]] = {}
    for row, _ in _rows(path, _ALIGNED, _STEPS, segments):
        rows.setdefault(row["system"], []).append(row)
    return {
        system: Alignment(
            texts=tuple(systems[system]),
            lines=tuple(tuple(map(int, row["lines"].split())) for row in some),
            operations=tuple(cast("Operation", row["operation"]) for row in some),
            margins=tuple(float(row["margin"]) for row in some[1:]),
            added={int(number): text for number, text in json.loads(some[0]["added"]).items()},
            by=cast("Aligner", some[0]["by"]),
            guide=some[0]["guide"],
        )
        for system, some in rows.items()
        if system in systems and len(some) == segments
    }


def _rows(
    path: Path, name: str, columns: tuple[str, ...], segments: int
) -> Iterator[tuple[FileRecord, int]]:
    file = find(path, name)
    if file is not None:
        table = read_tsv(file)
        table.require(*columns)
        for row in table:
            yield row, row.integer("seg", 1, segments) - 1
