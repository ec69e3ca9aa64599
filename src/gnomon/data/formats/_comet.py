"""COMET's JSON: objects with ``src``, ``mt`` and ``ref``, and the output of its ``--to_json``.

::

    [{"src": "...", "mt": "...", "ref": "..."}, ...]                       what COMET is given
    {"sysA.txt": [{"src": ..., "mt": ..., "ref": ..., "COMET": 0.81}, ...], ...}   what it says

The former may be JSONL, too. References may be missing. A system is called as its file, without
``.txt``; where there are no files, there is one system, ``mt``. A folder of such files is one test
set: a file that names no system is one, called as the file without ``.json``. Numbers under other
keys are scores of segments, by the name of the key; null is a missing one. What only numbers
segments or documents (``id``, ``seg_id``, or 1, 2, 3, ... from row to row) is no score. xCOMET adds
``errors``, a list of ``{"text", "confidence", "severity", "start", "end"}`` in half-open code
points of ``mt``.
"""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.core.errors import DataError, FormatError, RowNumber
from gnomon.core.testset import TestSet
from gnomon.data.formats._files import bears_file, plain_name
from gnomon.data.formats._judged_file import (
    AnnotatedOutput,
)
from gnomon.data.formats._lines import read_lines, read_text, report_empty, shown
from gnomon.data.formats._records import objects_of, parse_json, parse_object
from gnomon.data.formats._registry import FoundSet, JudgementFormat, ScoreFormat, SetFormat
from gnomon.data.formats.rows import FileRecord, head_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from gnomon.core.human import Judgements
    from gnomon.data.formats._judged_file import JudgedFile
    from gnomon.data.formats.rows import FileHead

_TEXTS = ("src", "mt", "ref")
_SINGLE = "mt"
#: keys that COMET writes beside its scores
_NO_SCORES = ("variance",)
_SUFFIXES = (".json", ".jsonl", ".ndjson")

#: names of keys whose whole numbers name something
_NUMBERED = re.compile(
    r"(?:^|[^a-z])(?i:id|idx|index|nr|no|num|number|line|row|sid|seg|segment|doc|document)$"
    r"|[a-z]I[dD]$"
)

_BySystem = dict[str, list[FileRecord]]


def is_comet(head: FileHead) -> bool:
    """True if a file begins with an object of COMET's, or with a list of them."""
    if not head.name.endswith(_SUFFIXES):
        return False
    start = head.text.find("{")
    listed = head.text.find("[", start)
    keys = _keys_at(head.text, start)
    if "mt" not in keys and listed >= 0:  # in the list of the first file
        keys = _keys_at(head.text, head.text.find("{", listed))
    return "mt" in keys and bool({"src", "ref"} & keys) and "system" not in keys


def _keys_at(text: str, start: int) -> frozenset[str]:
    """The keys of the JSON object that begins there; none if there is no whole one."""
    try:
        value, _ = json.JSONDecoder().raw_decode(text, max(start, 0))
    except (ValueError, RecursionError):
        return frozenset()
    return frozenset(value) if isinstance(value, dict) else frozenset()


def _read(path: str | PathLike[str]) -> _BySystem:
    name = shown(path)
    if name.removesuffix(".gz").endswith((".jsonl", ".ndjson")):
        lines = enumerate(read_lines(path), start=1)
        return {_SINGLE: [parse_object(name, i, line) for i, line in lines if line.strip()]}
    text = read_text(path)
    if text.lstrip()[:1] == "[":
        start = len(text) - len(text.lstrip())
        return {
            _SINGLE: [FileRecord(name, i, values) for i, values in objects_of(name, text, start)]
        }
    rows_by_system: _BySystem = {}
    whole = parse_json(name, text)
    for file, rows in whole.items() if isinstance(whole, dict) else ():
        system = plain_name(str(file))
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise FormatError(
                f"{file!r} has no list of objects with src, mt, ref; COMET writes"
                ' {"FILE": [{"src": ..., "mt": ..., "ref": ..., "COMET": ...}, ...]}',
                path=name,
            )
        if system in rows_by_system:
            raise FormatError(f"two files of a system {system!r}; rename one", path=name)
        rows_by_system[system] = [
            FileRecord(name, RowNumber(i), row) for i, row in enumerate(rows, start=1)
        ]
    return rows_by_system


def read_comet_set(path: str | PathLike[str]) -> TestSet:
    """Read the texts of COMET's JSON as a test set."""
    return _test_set(_read(path), shown(path))


def _read_folder(files: Sequence[Path], folder: Path) -> TestSet:
    """The outputs of all files as one test set."""
    rows_by_system: _BySystem = {}
    for file in files:
        for system, rows in _read(file).items():
            name = _stem(file) if system == _SINGLE else system
            if name in rows_by_system:
                raise DataError(f"{shown(file)}: another file has a system {name!r}, too")
            rows_by_system[name] = rows
    return _test_set(rows_by_system, shown(folder))


def _stem(file: Path) -> str:
    """The name of a file without what it ends in: sys.v2 of sys.v2.json.gz."""
    return Path(file.name.removesuffix(".gz")).stem


def _test_set(rows_by_system: _BySystem, name: str) -> TestSet:
    counts = {system: len(rows) for system, rows in rows_by_system.items()}
    if not sum(counts.values()):
        raise DataError(f"{name} holds no segments: there is nothing to score")
    first, rows = next(iter(rows_by_system.items()))
    for system, count in counts.items():
        if count != len(rows):
            raise DataError(
                f"{name}: {first} has {len(rows)} segments, {system} has {count}; every"
                " system needs all segments"
            )
    shared = [key for key in ("src", "ref") if key in rows[0].values]
    for system, others in rows_by_system.items():
        for number, (mine, theirs) in enumerate(zip(rows, others, strict=True), start=1):
            for key in shared:
                if mine.value(key) != theirs.value(key):
                    raise theirs.error(
                        f"{key} of segment {number} differs between {first} and {system}; they"
                        " are outputs of different test sets"
                    )
    texts = {system: [row.text("mt") for row in those] for system, those in rows_by_system.items()}
    references = {"ref": [_reference(row) for row in rows]} if "ref" in shared else {}
    for kind, parts in (("reference", references), ("candidate", texts)):
        for part_name, lines in parts.items():
            report_empty(f"{name}, {part_name}", kind, lines)
    return TestSet(
        name=Path(plain_name(name)).stem,
        references=references,
        systems=texts,
        sources=[row.text("src") for row in rows] if "src" in shared else None,
        path=name,
    )


def _reference(row: FileRecord) -> str | None:
    return None if row.value("ref") is None else row.text("ref")


def _set_of(head: FileHead) -> FoundSet | None:
    return FoundSet(head.path, partial(read_comet_set, head.path)) if is_comet(head) else None


def _set_in_folder(folder: Path) -> list[FoundSet]:
    """The set of a folder all of whose JSON files are COMET's."""
    files = sorted(
        file
        for file in folder.iterdir()
        if file.name.removesuffix(".gz").endswith(_SUFFIXES) and bears_file(file)
    )
    if not files or not all(is_comet(head_of(file)) for file in files):
        return []
    return [FoundSet(folder, partial(_read_folder, files, folder), files=tuple(files))]


def _read_scores(
    path: str | PathLike[str], *, segments: int | None = None
) -> dict[str, dict[tuple[str, int | None], float]]:
    scores: dict[str, dict[tuple[str, int | None], float]] = {}
    rows_by_system = _read(path)
    keys = _score_keys(list(rows_by_system.values()))
    for system, rows in rows_by_system.items():
        if segments is not None and len(rows) != segments:
            raise FormatError(
                f"has {len(rows)} segments of {system}; there are {segments}", path=shown(path)
            )
        for number, row in enumerate(rows, start=1):
            for key in keys:
                value = row.values.get(key)
                score = float("nan") if value is None else row.finite(key, value)
                scores.setdefault(key, {})[system, number] = score
    return scores


def _score_keys(systems: Sequence[Sequence[FileRecord]]) -> list[str]:
    """The keys that hold scores, in the order in which they first occur."""
    keys = dict.fromkeys(key for rows in systems for row in rows for key in row.values)
    return [
        key
        for key in keys
        if key not in (*_TEXTS, *_NO_SCORES)
        and _is_score(key, [[row.values.get(key) for row in rows] for rows in systems])
    ]


def _is_score(key: str, columns: Sequence[Sequence[object]]) -> bool:
    """True if numbers are scores: labels (true, false), texts and what numbers rows are none."""
    types = {type(value) for values in columns for value in values} - {type(None)}
    if types != {int}:
        return float in types
    in_order = all(
        any(list(values) == list(range(first, first + len(values))) for first in (0, 1))
        for values in columns
    )
    return not (_NUMBERED.search(key) or in_order)


# The errors that xCOMET marks, which stand beside its scores.


def read_comet_errors(file: JudgedFile) -> Judgements:
    """Read the error spans of what xCOMET's ``--to_json`` writes."""
    rows_by_system, systems = _read(file.path), file.testset.systems
    if list(rows_by_system) == [_SINGLE] and _SINGLE not in file.names.known and len(systems) == 1:
        rows_by_system = {next(iter(systems)): rows_by_system[_SINGLE]}
    for name, rows in rows_by_system.items():
        system = file.names.match(name)
        for row in rows:
            source = row.values.get("src")
            segment = file.segment_of_texts(
                row,
                str(row.line - 1),
                source if isinstance(source, str) else None,
                {system: row.text("mt")},
            )
            key = (file.kind, file.kind, system, segment)
            errors = file.read_errors(row, key, "metric", row.text("mt"))
            file.outputs[len(file.outputs)] = AnnotatedOutput(*key, None, errors)
    return file.judgements(looked_at=True)


FORMATS = (
    JudgementFormat(
        name="xcomet",
        title="what xCOMET's --to_json writes: errors beside src, mt, ref",
        recognise=lambda head: is_comet(head) and '"errors"' in head.text,
        defaults={"kind": "xcomet", "rename": None},
        read=read_comet_errors,
        after=("appraise", "mqm", "darr", "rr"),
    ),
    SetFormat(
        name="comet",
        title="COMET's JSON: objects with src, mt, ref, or a list of them for each system's file",
        of_file=_set_of,
        in_folder=_set_in_folder,
    ),
    ScoreFormat(
        name="comet",
        title="what COMET's --to_json writes: scores beside src, mt, ref",
        suffixes=(".json",),
        recognise=is_comet,
        read=_read_scores,
    ),
)
