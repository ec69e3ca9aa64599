"""WMT 2022's MQM ratings for quality estimation: a CSV row per system and segment.

::

    ,system,doc,doc_id,seg_id,src,mt,ref,mqm,score,zscore

``score`` is minus the sum of the penalties, ``zscore`` the same standardised; ``mqm``, which is
divided by the length, is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.errors import DataError, FormatError
from gnomon.formats._delimited import read_csv
from gnomon.formats._estimated import pair_of
from gnomon.formats._judged import in_scale, say_coverage
from gnomon.formats._lines import report_empty
from gnomon.human import HumanScores
from gnomon.testset import TestSet

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from gnomon.formats._tsv import Row, Rows

KNOWN_BY = frozenset({"system", "seg_id", "src", "mt"})
_KINDS = {"score": "mqm", "zscore": "mqm-z"}
_SHARED = ("src", "ref", "doc")


def read_rated_rows(path: Path) -> TestSet:
    """Read the outputs of all systems and their scores, ``mqm`` and ``mqm-z``.

    Raises:
        FormatError: a column is missing, a score is no number, a segment occurs twice, or its rows
            contradict each other.
        DataError: a system lacks a segment.
    """
    table = read_csv(path)
    table.require(*KNOWN_BY, *_SHARED, *_KINDS)
    if not table.rows:
        raise FormatError("has no rows below its header", path=path)
    grid = _grid(table)
    first = next(iter(grid.values())).values()
    references = [row["ref"] for row in first]
    report_empty(table.path, "source", [row["src"] for row in first])
    report_empty(table.path, "reference", references)
    human = tuple(_scores(grid, column, kind) for column, kind in _KINDS.items())
    say_coverage(table.path, human)
    for name, rows in grid.items():
        report_empty(f"{table.path}, {name}", "candidate", [row["mt"] for row in rows.values()])
    return TestSet(
        name=path.name.removesuffix(".csv"),
        references={"A": references},
        systems={name: [row["mt"] for row in rows.values()] for name, rows in grid.items()},
        sources=[row["src"] for row in first],
        language_pair=pair_of(path),
        documents=[row["doc"] for row in first],
        human=human,
        path=table.path,
    )


def _grid(table: Rows) -> dict[str, dict[str, Row]]:
    """System -> segment -> row, segments in the order of their first occurrence."""
    heads: dict[str, Row] = {}
    found: dict[str, dict[str, Row]] = {}
    for row in table:
        rows = found.setdefault(row["system"], {})
        head = heads.setdefault(row["seg_id"], row)
        if row["seg_id"] in rows:
            raise row.error(
                f"a second row for segment {row['seg_id']} of {row['system']}; line"
                f" {rows[row['seg_id']].line} has the first"
            )
        for column in _SHARED:
            if row[column] != head[column]:
                raise row.error(f"{column} differs from line {head.line}, the same segment")
        rows[row["seg_id"]] = row
    return {system: _complete(table.path, system, rows, heads) for system, rows in found.items()}


def _complete(
    path: str, system: str, rows: Mapping[str, Row], heads: Mapping[str, Row]
) -> dict[str, Row]:
    missing = [segment for segment in heads if segment not in rows]
    if missing:
        raise DataError(
            f"{path}: system {system!r} has {len(rows)} of {len(heads)} segments; segment"
            f" {missing[0]} is missing; every system needs a row for every segment"
        )
    return {segment: rows[segment] for segment in heads}


def _scores(grid: Mapping[str, Mapping[str, Row]], column: str, kind: str) -> HumanScores:
    values = [
        [in_scale(kind, row.number(column), row.path, row.line) for row in rows.values()]
        for rows in grid.values()
    ]
    return HumanScores(kind, "segment", tuple(grid), np.array(values, dtype=np.float64))
