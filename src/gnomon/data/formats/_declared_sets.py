"""Test sets whose formats are declared: tables, and parallel files of one line per segment."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.core.errors import FormatError, LengthMismatchError, MissingFileError, RowNumber
from gnomon.core.human import HumanScores, OutputLookedAt
from gnomon.core.testset import TestSet
from gnomon.data.formats._files import LOGGER, find, plain_name
from gnomon.data.formats._judged_file import check_limits, check_scale, refuse_second, say_coverage
from gnomon.data.formats._lines import check_parallel, read_lines, read_text, report_empty
from gnomon.data.formats._matching import pair_of
from gnomon.data.formats._records import parse_json, read_records
from gnomon.data.formats._table import agreeing, group_systems
from gnomon.data.formats.error_marks import KIND, TaggedText, remove_whitespace, tagged_errors
from gnomon.data.formats.rows import FileRecord, read_separated, read_tsv

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from gnomon.core.spans import ErrorSpan
    from gnomon.data.formats._declarations import DeclaredTable, Scale

#: the system of a set that has the outputs of one, or of many without their names
SYSTEM = "mt"
_SEGMENT, _SYSTEM = "SEGMENT", "SYSTEM"


class Found(NamedTuple):
    """The columns that were read, each with its rows, which know where they stand."""

    where: str
    name: str
    pair: str | None
    rows: Mapping[str, Sequence[FileRecord]]


def read_table(path: Path, table: DeclaredTable, pair: str | None) -> TestSet:
    """Read a test set in a table."""
    name = re.sub(r"\.(tsv|csv|(aligned\.)?jsonl|json)$", "", plain_name(path))
    records = _read_records(path, table)
    if not records:
        raise FormatError("has no rows below its header", path=path)
    seen: dict[str, int] = {}
    for record in records if table.number and records[0].has(table.number) else ():
        refuse_second(seen, record[table.number], record)
    rows = {
        column: records for column in _list_columns(table) if any(r.has(column) for r in records)
    }
    rows |= dict.fromkeys(set(table.left_out) & set(records[0].values), records)
    side = find(path.parent, name + table.beside) if table.beside else None
    return _test_set(Found(str(path), name, pair, rows | _read_side(side, table, rows)), table)


def _list_columns(table: DeclaredTable) -> list[str]:
    """All columns that a test set is made of."""
    columns = [table.source, table.output, table.document, table.system, table.segment]
    scores = (column.partition("[")[0] for column in table.scores)
    return [
        name
        for name in (*columns, *table.references, *scores, *_list_beside_columns(table))
        if name
    ]


def _list_beside_columns(table: DeclaredTable) -> list[str]:
    """Columns that may stand in a table beside, or be missing."""
    return [name for tags in table.tags for name in (tags.tags, tags.tokens) if name]


def _read_records(path: Path, table: DeclaredTable) -> Sequence[FileRecord]:
    optional = {*table.optional, *(_list_beside_columns(table) if table.beside else ())}
    needed = [column for column in _list_columns(table) if column not in optional]
    if table.fields in ("tabs", "commas"):
        read = read_separated(path) if table.fields == "commas" else read_tsv(path)
        read.require(*needed)
        return read.rows
    records = (
        _nested(path, table.inside) if table.fields == "nested" else read_records(path, "jsonl")
    )
    for column in needed if records else ():
        if not any(record.has(column) for record in records):
            raise records[0].lacking(column)
    return records


def _nested(path: Path, inside: str) -> list[FileRecord]:
    """A row for each system of each segment of one object: segment -> its texts and systems."""
    name = str(path)
    whole = parse_json(name, read_text(path))
    if not isinstance(whole, dict):
        raise FormatError("one JSON object is expected, with an object per segment", path=name)
    rows: dict[tuple[str, str], FileRecord] = {}
    for segment, texts in whole.items():
        systems = texts.get(inside) if isinstance(texts, dict) else None
        if not isinstance(systems, dict):
            raise FormatError(f"{segment!r} lacks an object {inside}", path=name)
        for system, values in systems.items():
            place = segment, plain_name(str(system))
            if not isinstance(values, dict):
                raise FormatError(f"{system!r} in {segment!r} is no JSON object", path=name)
            if place in rows:
                raise FormatError(f"{segment!r} has two outputs of {place[1]!r}", path=name)
            about = dict(zip((_SEGMENT, _SYSTEM), place, strict=True))
            own = {key: value for key, value in texts.items() if key != inside}
            line = RowNumber(len(rows) + 1)
            at = f"{name}, {system!r} in {segment!r}"
            rows[place] = FileRecord(at, line, {**own, **values, **about})
    return list(rows.values())


def _read_side(
    file: Path | None, table: DeclaredTable, rows: Mapping[str, Sequence[FileRecord]]
) -> dict[str, Sequence[FileRecord]]:
    """The columns of the table beside a table or parallel files."""
    if file is None:
        return {}
    side, first = read_tsv(file), rows[table.output]
    columns = (*table.same, *table.scores, *_list_beside_columns(table))
    wanted = [column for column in columns if column[0] != "." and column not in rows]
    side.require(*wanted)
    if len(side.rows) != len(first):
        raise LengthMismatchError(
            f"{first[0].path} has {len(first)} rows, {side.path} has {len(side.rows)}; they must be"
            " of the same segments, in the same order"
        )
    for column, other in table.same.items():
        for row, theirs in zip(side, rows[other], strict=True):
            if remove_whitespace(row[column]) != remove_whitespace(theirs[other]):
                mine, given = row[column][:60], theirs[other][:60]
                raise row.error(f"the {column} is {mine!r}; {theirs.path} has {given!r}")
    return dict.fromkeys(wanted, side.rows)


# Parallel files.


class Stem(NamedTuple):
    """The files of one split."""

    name: str
    pair: str | None
    table: DeclaredTable
    files: Mapping[str, Path]


def stems_of(folder: Path, table: DeclaredTable) -> list[Stem]:
    """The splits in a folder: each has sources and outputs."""
    names = sorted(file.name for file in folder.iterdir())  # the readers judge what is no file
    plain = {name.removesuffix(".gz"): folder / name for name in names if name[0] != "."}
    source = re.escape(table.source).replace("LP", "(?P<pair>[a-z]{2}-[a-z]{2})")
    matches = [m for m in (re.fullmatch(f"(?P<stem>.+){source}", name) for name in plain) if m]
    starts = [(m["stem"], m.groupdict().get("pair")) for m in matches]
    outputs = [f"{stem}{table.output.replace('LP', pair or '')}" for stem, pair in starts]
    starts = [start for start, output in zip(starts, outputs, strict=True) if output in plain]
    stems = []
    for stem, pair in starts:
        files = _files(stem, pair, table, plain, alone=len(starts) == 1)
        if not table.one_of or table.one_of & set(files):
            told = (pair_of(file) for file in files.values())
            known = pair or next((one for one in told if one is not None), None)
            stems.append(Stem(stem, known, table, files))
    return stems


def _files(
    stem: str, pair: str | None, table: DeclaredTable, names: Mapping[str, Path], *, alone: bool
) -> dict[str, Path]:
    """Column -> file; where a folder holds one split, every file is its own."""
    mine = {name: file for name, file in names.items() if alone or name.startswith(f"{stem}.")}
    files: dict[str, Path] = {}
    beside = [table.beside] if table.beside else []
    for column in (c for c in (*_list_columns(table), *table.left_out, *beside) if c[0] == "."):
        suffix = column.replace("LP", pair or "LP")
        exact = [f"{stem}{suffix}"] if f"{stem}{suffix}" in mine else []
        fitting = exact or [name for name in mine if name.endswith(suffix)]
        if len(fitting) == 1 and mine[fitting[0]] not in files.values():
            files[column] = mine[fitting[0]]
    return files


def read_files(stem: Stem) -> TestSet:
    """Read the files of one split."""
    table = stem.table
    source = stem.files[table.source]
    for column in _list_columns(table):
        if column[0] == "." and column not in (
            *stem.files,
            *table.optional,
            *_list_beside_columns(table),
        ):
            name = f"{stem.name}{column.replace('LP', stem.pair or 'LP')}"
            raise MissingFileError(f"there is no file {name} beside {source}; it is needed")
    read = {c: f for c, f in stem.files.items() if c not in (table.beside, *table.left_out)}
    lines = {column: read_lines(file) for column, file in read.items()}
    check_parallel({str(read[column]): len(texts) for column, texts in lines.items()})
    rows: dict[str, Sequence[FileRecord]] = {
        column: [FileRecord(str(read[column]), i, {column: t}) for i, t in enumerate(texts, 1)]
        for column, texts in lines.items()
    }
    rows |= {column: () for column in table.left_out if column in stem.files}
    rows |= _read_side(stem.files.get(table.beside), table, rows)
    alone = stem.pair is None or "LP" in table.source
    name = stem.name if alone else f"{stem.pair}.{stem.name}"
    return _test_set(Found(str(source), name, stem.pair, rows), table)


# The test set of what was read.


def _test_set(found: Found, table: DeclaredTable) -> TestSet:
    for column in table.left_out:
        if column in found.rows:
            LOGGER.info("%s: %s is no judgement; left out", found.where, column)
    grid = _grid(found, table)
    several = grid.keys() != {SYSTEM}
    first = next(iter(grid.values()))

    def rows_of(column: str, rows: Sequence[FileRecord] = first) -> Sequence[FileRecord]:
        return rows if several else found.rows[column]

    texts = {
        name: [_strip_marks(row.text(table.output), table) for row in rows]
        for name, rows in grid.items()
    }
    sources = None
    if table.source in found.rows:
        sources = [row.text(table.source) for row in rows_of(table.source)]
    references: dict[str, list[str | None]] = {}
    for column, names in table.references.items():
        if column in found.rows:
            references |= _references(rows_of(column), column, names, table)
    human = tuple(
        HumanScores(
            scale if isinstance(scale, str) else scale.kind,
            "segment",
            tuple(grid),
            np.array(
                [[_score(r, column, scale) for r in rows_of(column, g)] for g in grid.values()]
            ),
        )
        for column, scale in table.scores.items()
        if column.partition("[")[0] in found.rows
    )
    _report(found.where, sources, texts, references)
    say_coverage(found.where, human)
    errors = _tagged_words(found, table)
    tagged = range(0 if errors is None else len(first))
    return TestSet(
        name=found.name,
        references=references,
        systems=texts,
        sources=sources,
        language_pair=found.pair,
        documents=[row.name(table.document) for row in first] if table.document else None,
        human=tuple(human),
        errors=tuple(errors or ()),
        looked_at=tuple(OutputLookedAt(KIND, None, SYSTEM, i) for i in tagged),
        path=found.where,
    )


def _grid(found: Found, table: DeclaredTable) -> Mapping[str, Sequence[FileRecord]]:
    """System -> its rows, which agree on what is not the system's."""
    outputs = found.rows[table.output]
    if not table.system:
        return {SYSTEM: outputs}
    grid = group_systems(outputs, table.system, table.segment, found.where)
    shared = [c for c in (table.source, table.document, *table.references) if c in found.rows]
    agreeing(grid, [column for column in shared if column not in table.may_differ])
    for column in table.may_differ:
        _say_differing(grid, column)
    return grid


def _report(
    where: str,
    sources: Sequence[str] | None,
    texts: Mapping[str, Sequence[str]],
    references: Mapping[str, Sequence[str | None]],
) -> None:
    """Say which texts are empty."""
    report_empty(where, "source", sources or ())
    for name, outputs in texts.items():
        report_empty(where if len(texts) == 1 else f"{where}, {name}", "candidate", outputs)
    for segments in references.values():
        report_empty(where, "reference", segments)


def _score(row: FileRecord, column: str, declared: str | Scale) -> float:
    """A score of which higher is better, within its scale; the mean of those in a list."""
    kind = declared if isinstance(declared, str) else declared.kind
    outer, _, inner = column.partition("[].")
    values = [row.number(column)] if not inner else _inner_scores(row, outer, inner)
    if isinstance(declared, str) or declared.low is None or declared.high is None:
        scores = [check_scale(kind, value, row) for value in values]
    else:
        what = f"{inner} in {outer}" if inner else f"{kind} score"
        scores = [check_limits(declared.low, value, declared.high, what, row) for value in values]
        if declared.lower_is_better:
            scores = [0.0 - score for score in scores]
    return sum(scores) / len(scores) if scores else float("nan")


def _inner_scores(row: FileRecord, outer: str, inner: str) -> list[float]:
    given = row.value(outer)
    if not isinstance(given, list) or not all(isinstance(item, dict) for item in given):
        raise row.error(f"{outer} must be a list of objects with {inner}")
    for item in given:
        if inner not in item:
            raise row.error(f"an object in {outer} lacks the key {inner!r}")
    return [row.finite(f"{inner} in {outer}", item[inner]) for item in given]


def _references(
    rows: Sequence[FileRecord], column: str, names: str | list[str], table: DeclaredTable
) -> dict[str, list[str | None]]:
    """The references of a column; one that holds lists gives several."""
    lists = []
    for row in rows:
        given = row.texts(column)
        texts = [given] if isinstance(given, str) else given
        if not texts:
            raise row.error(f"{column} must be a text, or a list of at least one text")
        lists.append([_strip_marks(text, table) for text in texts])
    width = max(map(len, lists))
    if isinstance(names, str):
        names = [names] if width == 1 else [str(i + 1) for i in range(width)]
    if width > len(names):
        raise FormatError(
            f"{column} holds {width} references; at most {len(names)} are read", path=rows[0].path
        )
    return {
        name: [texts[i] if i < len(texts) else None for texts in lists]
        for i, name in enumerate(names[:width])
    }


def _say_differing(grid: Mapping[str, Sequence[FileRecord]], column: str) -> None:
    """Say where rows of one segment have other texts than its first, which are taken."""
    first, *others = grid.values()
    pairs = ((a, b) for rows in others for a, b in zip(first, rows, strict=True))
    other = [b for a, b in pairs if a.value(column) != b.value(column)]
    if other:
        LOGGER.warning(
            "%s: %d rows come with other %s than the first of their segment, which are taken; the"
            " first of them is in line %d",
            other[0].path,
            len(other),
            column,
            other[0].line,
        )


def _strip_marks(text: str, table: DeclaredTable) -> str:
    """A text without its marks, and then with its white space collapsed."""
    for mark in table.marks:
        text = text.replace(mark, " ")
    return " ".join(text.split()) if table.marks else text


def _tagged_words(found: Found, table: DeclaredTable) -> list[ErrorSpan] | None:
    """The tagged words; None where there are no tags."""
    there = [tags for tags in table.tags if tags.tags in found.rows]
    errors: list[ErrorSpan] = []
    for tags in there:
        text = table.output if tags.side == "candidate" else table.source
        tokens = tags.tokens if tags.tokens in found.rows else text
        rows = zip(found.rows[tags.tags], found.rows[tokens], found.rows[text], strict=True)
        column = "" if tags.tags[0] == "." else tags.tags
        segments = [TaggedText(a[tags.tags], b[tokens], c[text], a, column) for a, b, c in rows]
        errors += tagged_errors(segments, SYSTEM, tags.side, gaps=tags.gaps)
    return errors if there else None
