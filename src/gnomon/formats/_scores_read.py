"""Reading score files, our own and those of other tools."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.errors import DataError, FormatError, UnknownNameError
from gnomon.formats._lines import read_lines, shown
from gnomon.formats._mt_metrics_eval import UNKNOWN, read_blocks
from gnomon.formats._records import form_of, read_records
from gnomon.formats._scores import FORMATS, SUFFIXES
from gnomon.formats._tsv import parse_number, whole_number

if TYPE_CHECKING:
    from os import PathLike

    from gnomon.formats._records import Record

_BLOCKS = re.compile(r"(?P<metric>.+?)(?:-[^-]+)?\.(?P<level>sys|seg)\.score(?:\.gz)?", re.DOTALL)


def read_scores(
    path: str | PathLike[str],
    *,
    format: str | None = None,  # noqa: A002  # the word that users know from every command
    column: str = "score",
    language_pair: str | None = None,
    test_set: str | None = None,
    segments: int | None = None,
) -> dict[str, dict[tuple[str, int | None], float]]:
    """Read the scores that some metrics gave to systems or segments.

    Args:
        path: a score file of any format that :func:`write_segment_scores` writes. WMT lines may
            stand between any white space. In TSV and JSONL ``segment`` may be called ``seg``, and
            ``metric`` may be missing. The metric of a ``.score`` file is in its name.
        format: "tsv", "jsonl", "wmt" or "mt-metrics-eval"; by default, the suffix tells.
        column: the column of the scores, in TSV and JSONL.
        language_pair: which pair, where WMT lines hold several.
        test_set: which test set, where WMT lines hold several.
        segments: how many segments there are, if scores of further ones shall be refused.

    Returns:
        metric ("" where the file names none) -> (system, segment) -> score. Segments count from
        1, None is the system as a whole. NaN where the file says that a score is undefined.

    Raises:
        MissingFileError: the file is missing.
        FormatError: a line is not what the format asks for, repeats a score, or scores a segment
            that is not there; or there is no score at all.
        DataError: the file holds several language pairs or test sets, and none was named.
        UnknownNameError: the format is unknown, or the named pair or test set is not there.
    """
    form = format or form_of(path, SUFFIXES, "score file suffix")
    if form not in FORMATS:
        raise UnknownNameError("score file format", form, FORMATS)
    table = _Table(shown(path), segments)
    if form == "mt-metrics-eval":
        table.scores = _read_blocks(Path(path), segments)
    elif form == "wmt":
        _read_wmt(path, language_pair, test_set, table)
    else:
        for record in read_records(path, form):
            table.add(
                record.line,
                str(record.values.get("metric", "")),
                record.name("system"),
                _segment(record),
                _score(record, column),
            )
    if not any(table.scores.values()):
        raise FormatError("holds no scores", path=table.path)
    return table.scores


class _Table:
    """Scores as they come in; a repeated one, or one of a segment too many, is refused."""

    def __init__(self, path: str, segments: int | None) -> None:
        self.path = path
        self.segments = segments
        self.scores: dict[str, dict[tuple[str, int | None], float]] = {}

    def add(self, line: int, metric: str, system: str, segment: int | None, score: float) -> None:
        if not system:
            raise FormatError("a score of no system: its name is empty", path=self.path, line=line)
        known = self.scores.setdefault(metric, {})
        if (system, segment) in known:
            place = system if segment is None else f"{system}, segment {segment}"
            raise FormatError(f"a second score of {place}", path=self.path, line=line)
        if self.segments is not None and (segment or 0) > self.segments:
            raise FormatError(
                f"a score of segment {segment}; there are {self.segments} segments, counted from 1",
                path=self.path,
                line=line,
            )
        known[system, segment] = score


def _segment(record: Record) -> int | None:
    for key in ("segment", "seg"):
        if key in record.values:
            return _number(record.name(key), record.path, record.line)
    return None


def _number(text: str, path: str, line: int) -> int:
    if whole_number(text) < 1:
        raise FormatError(
            f"segment is {text!r}; a whole number from 1 is expected", path=path, line=line
        )
    return int(text)


def _score(record: Record, column: str) -> float:
    value = record.value(column)
    if value is None:
        return float("nan")
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise record.error(f"{column} is {value!r}; a number is expected, or null")
    return parse_number(str(value), record.path, record.line, column)


def _read_blocks(
    file: Path, segments: int | None
) -> dict[str, dict[tuple[str, int | None], float]]:
    match = _BLOCKS.fullmatch(file.name)
    if not match:
        raise FormatError(
            "the name does not tell the metric and the level; METRIC-REF.seg.score or"
            " METRIC-REF.sys.score is expected",
            path=file,
        )
    if match["level"] == "sys":
        _, blocks = read_blocks(file, "system", 1)
        return {str(match["metric"]): {(name, None): row[0] for name, row in blocks.items()}}
    _, blocks = read_blocks(file, "segment", segments)
    scores: dict[tuple[str, int | None], float] = {
        (name, number): value
        for name, values in blocks.items()
        for number, value in enumerate(values, start=1)
    }
    return {match["metric"]: scores}


def _read_wmt(
    path: str | PathLike[str], language_pair: str | None, test_set: str | None, table: _Table
) -> None:
    rows = _wmt_rows(path)
    for index, kind, wanted in ((1, "language pair", language_pair), (2, "test set", test_set)):
        rows = _only(rows, index, kind, wanted, table.path)
    for line, row in rows:
        segment = _number(row[4], table.path, line) if _level(row) == "segment" else None
        table.add(line, row[0], row[3], segment, parse_number(row[-1], table.path, line))


def _wmt_rows(path: str | PathLike[str]) -> list[tuple[int, list[str]]]:
    """Line numbers and fields; a line that lost a field would be a score of something else."""
    lines = read_lines(path)
    tabs = bool(lines) and lines[0].count("\t") in (4, 5)
    rows = [(i, line.split("\t") if tabs else line.split()) for i, line in enumerate(lines, 1)]
    for number, row in rows:
        if len(row) not in (5, 6):
            problem = f"{len(row)} fields"
        elif not all((*row[:4], row[-1])):
            problem = f"an empty field (a missing score is {UNKNOWN})"
        elif _level(row) != _level(rows[0][1]):
            problem = f"the score of a {_level(row)}, where line 1 has that of a"
            problem += f" {_level(rows[0][1])}; a file holds scores of one level"
        else:
            continue
        raise FormatError(
            f"{problem}; METRIC LP TESTSET SYSTEM [SEGMENT] SCORE is expected",
            path=shown(path),
            line=number,
        )
    return rows


def _level(row: list[str]) -> str:
    # published files of system scores may have the column of segments and leave it empty
    return "segment" if len(row) == 6 and row[4] else "system"


def _only(
    rows: list[tuple[int, list[str]]], index: int, kind: str, wanted: str | None, path: str
) -> list[tuple[int, list[str]]]:
    there = list(dict.fromkeys(row[index] for _, row in rows))
    if wanted is not None:
        if wanted not in there:
            raise UnknownNameError(f"{kind} of {path}", wanted, there)
        return [(number, row) for number, row in rows if row[index] == wanted]
    if len(there) > 1:
        raise DataError(f"{path} holds scores of several {kind}s, name one: {', '.join(there)}")
    return rows
