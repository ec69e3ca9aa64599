"""Human scores in a plain table with a header: one row per score.

::

    system seg rater raw [z]
    system seg z
    system z

Fields stand between tabs, commas, semicolons or white space; JSONL, JSON and Parquet have the same
columns. Columns may have the usual other names (``sys``, ``segment``, ``annotator``, ...), in any
case. Without a column of segments, the scores are of whole systems. Several columns of scores are
several kinds. Raw scores of named raters are standardised, too, if the table has no z-scores.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.core.errors import FormatError
from gnomon.data.formats._files import plain_name
from gnomon.data.formats._judged_file import (
    JudgedScores,
    human_score,
    human_scores_of,
    refuse_second,
    score_columns,
)
from gnomon.data.formats._layout import write_scores
from gnomon.data.formats._lines import read_lines, shown
from gnomon.data.formats._records import read_records
from gnomon.data.formats._registry import JudgementFormat
from gnomon.data.formats.direct_assessment import pair_standardised
from gnomon.data.formats.rows import (
    FileRecord,
    TextTable,
    read_separated,
    read_spaced,
    read_tsv,
    whole_number,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from gnomon.core.human import Judgements
    from gnomon.core.testset import TestSet
    from gnomon.data.formats._judged_file import JudgedFile
    from gnomon.data.formats.rows import FileHead

ROLES = {
    "system": ("system", "sys", "systemid", "system_id", "model", "mt_system"),
    "seg": ("seg", "segment", "seg_id", "segid", "segment_id", "sid"),
    "rater": ("rater", "rater_id", "annotator", "annotator_id", "worker", "workerid", "user"),
}
_VALUES = ("raw", "z", "score", "human", "value", "da", "mqm", "mqm_avg_score", "esa", "sqm")
_NAMELESS = ("score", "human", "value")
_KINDS = {"mqm_avg_score": "mqm"}
_SUFFIXES = (".tsv", ".csv", ".txt", ".seg", ".sys")


def roles(columns: Sequence[str]) -> dict[str, str]:
    """Which column holds the systems, the segments, the raters."""
    lower = {column.lower(): column for column in reversed(columns)}
    column_by_role = {}
    for role, names in ROLES.items():
        there = [lower[name] for name in names if name in lower]
        if there:
            column_by_role[role] = there[0]
    return column_by_role


def read_score_table(file: JudgedFile) -> Judgements:
    """Read a table of scores, whose name may tell the kind: ``KIND.seg.tsv``."""
    stem, _, end = Path(file.path).name.removesuffix(".gz").removesuffix(".tsv").rpartition(".")
    if not file.kind and end in ("sys", "seg"):
        file.kind = stem
    table = _read(file.path)
    columns = roles(table.columns)
    if "system" not in columns:
        table.require("system")
    level = "segment" if "seg" in columns else "system"
    values = _value_columns(table, columns)
    outputs = _outputs(file, table, columns)
    several = len(values) > 1 and not {c.lower() for c in values} <= {"raw", "z"}
    raters = {"seg", "rater"} <= set(columns)
    for column in values:
        kind = _kind(file, column, alone=len(values) == 1, several=several)
        if kind in file.scores:
            raise FormatError(
                f"several columns hold scores of the kind {kind!r}, one is {column!r}; rename it",
                path=file.path,
                line=1,
            )
        if column.lower() == "raw" and raters and len(values) == 1:
            kind, raw = kind.removesuffix("-raw"), JudgedScores(file.testset.segments)
            for system, segment, rater, row in outputs:
                raw.add(rater or "", [system], segment, human_score(f"{kind}-raw", row, column))
            return pair_standardised(file, raw, kind)
        for system, segment, rater, row in outputs:
            score = human_score(kind, row, column)
            file.table(kind, level).add(rater, [system], segment, score)
    return file.judgements()


def numbered_segments(path: str) -> frozenset[int]:
    """The numbers of the segments in a table, as far as they are numbers."""
    table = _read(path)
    column = roles(table.columns).get("seg")
    if column is None:
        return frozenset()
    numbers = {whole_number(row[column]) for row in table}
    return frozenset(number for number in numbers if number > 0)


#: system, segment, rater and row of a score
_Output = tuple[str, int, "str | None", "FileRecord"]


def _read(path: str | PathLike[str]) -> TextTable:
    name = shown(path).removesuffix(".gz")
    if name.endswith((".jsonl", ".json", ".parquet")):
        return _build_table(shown(path), read_records(path))
    if name.endswith(".csv"):
        return read_separated(path)
    lines = read_lines(path)
    header = lines[0] if lines else ""
    body = lines[1] if len(lines) > 1 else header
    if "\t" in header:
        return read_tsv(path)
    # a header between spaces above rows with tabs is one of R's
    return read_separated(path) if "," in header and "\t" not in body else read_spaced(path)


def _build_table(path: str, records: Sequence[FileRecord]) -> TextTable:
    columns = tuple(dict.fromkeys(key for record in records for key in record.values))
    rows = []
    for record in records:
        for key, value in record.values.items():
            if not isinstance(value, str | int | float | None):
                raise record.error(f"{key} is {value!r:.60}; a text or a number is expected")
        cells = {c: record.values.get(c) for c in columns}
        texts = {c: "" if value is None else str(value) for c, value in cells.items()}
        rows.append(FileRecord(path, record.line, texts))
    return TextTable(path, columns, tuple(rows))


def _value_columns(table: TextTable, columns_by_role: Mapping[str, str]) -> list[str]:
    others = [column for column in table.columns if column not in columns_by_role.values()]
    named = [column for column in others if column.lower() in _VALUES]
    if len(others) == 1:
        return others
    if named and (len(named) == 1 or {c.lower() for c in named} <= {"raw", "z"}):
        return named
    numeric = score_columns(table, columns_by_role.values())
    if not numeric:
        raise FormatError(
            "the header does not tell which column holds the scores; beside"
            f" {', '.join(columns_by_role.values())} there are: {', '.join(others) or 'none'};"
            f" columns of numbers are expected, or one with one of the names {', '.join(_VALUES)}",
            path=table.path,
            line=1,
        )
    return numeric


def _outputs(file: JudgedFile, table: TextTable, columns: Mapping[str, str]) -> list[_Output]:
    outputs: list[_Output] = []
    seen: dict[tuple[str, int, str | None], int] = {}
    for row in table:
        segment = file.segment(row, row[columns["seg"]]) if "seg" in columns else 0
        rater = row[columns["rater"]] or None if "rater" in columns else None
        for system in file.names.match_all(row[columns["system"]]):
            refuse_second(seen, (system, segment, rater), row)
            outputs.append((system, segment, rater, row))
    return outputs


def _kind(file: JudgedFile, column: str, *, alone: bool, several: bool) -> str:
    kind, name = file.kind, column.lower()
    if several:
        return f"{kind}-{column}" if kind else _KINDS.get(name, column)
    if name in ("raw", "z") and not (alone and kind.endswith(("-raw", "-z"))):
        return f"{kind or 'da'}-{name}"
    if kind:
        return kind
    return _file_kind(file.path) if name in _NAMELESS else _KINDS.get(name, column)


def _file_kind(path: str) -> str:
    name = plain_name(Path(path))
    while name.endswith(_SUFFIXES):
        name = name.rpartition(".")[0]
    return name or "human"


def _is_score_table(head: FileHead) -> bool:
    if head.name.endswith(".parquet"):
        return True  # nothing else that people said comes in it
    columns = [column.strip() for column in head.loose_columns]
    if head.first_line.startswith(("{", "[")):
        columns = _KEYS.findall(head.text[:2000])
    return "system" in roles(columns)


_KEYS = re.compile(r'"(\w+)"\s*:')


def _write_table(path: str | PathLike[str], testset: TestSet, kind: str | None, level: str) -> None:
    write_scores(Path(path), human_scores_of(testset, kind, level))


FORMATS = (
    JudgementFormat(
        name="table",
        title="scores with a header: system seg [rater] raw, z or any one column",
        recognise=_is_score_table,
        defaults={"kind": "", "rename": None, "first_segment": 1},
        read=read_score_table,
        write=_write_table,
        suffix=".tsv",
        segments=numbered_segments,
        after=("gnomon",),
    ),
)
