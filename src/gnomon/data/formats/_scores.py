"""Score files: scores of a metric, for other tools and for later.

======================  ========================================================  =========
format                  one record                                                undefined
======================  ========================================================  =========
``tsv``                 header; ``system, segment, metric, score``                empty
``csv``                 the same between commas, quoted as RFC 4180 has it        empty
``jsonl``               an object with the same keys                              ``null``
``json``, ``parquet``   the same, a list of objects or rows; read, not written    null
``comet``               what COMET's ``--to_json`` writes beside texts; read alone ``null``
``wmt``                 ``METRIC LP TESTSET SYSTEM [SEGMENT] SCORE``; read alone  ``None``
``mt-metrics-eval``     ``SYSTEM SCORE`` in blocks per system                     ``None``
======================  ========================================================  =========

Fields stand between tabs; numbers are unrounded. A name that holds a tab or a line end is refused.
"""

from __future__ import annotations

import csv
import json
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.core.errors import (
    DataError,
    FormatError,
    LengthMismatchError,
    UnknownNameError,
    UsageError,
)
from gnomon.core.lazy import checked
from gnomon.data.formats._files import atomic_write
from gnomon.data.formats._lines import read_lines, shown, write_lines
from gnomon.data.formats._mt_metrics_eval import (
    UNKNOWN,
    check_word,
    read_blocks,
    require_pair,
    score_lines,
)
from gnomon.data.formats._records import read_records
from gnomon.data.formats._registry import ScoreFormat, format_of_name, formats_of
from gnomon.data.formats.rows import (
    FileRecord,
    first_line_of,
    form_of,
    write_tsv,
)
from gnomon.data.formats.unreadable_files import explain_failure

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike

    from gnomon.core.scores import Scores
    from gnomon.core.testset import TestSet
    from gnomon.data.formats.rows import FileHead

#: metric -> (system, segment from 1 or None) -> score
ScoresByMetric = dict[str, dict[tuple[str, int | None], float]]


@checked
def write_segment_scores(
    path: str | PathLike[str],
    scores: Sequence[Scores],
    testset: TestSet,
    *,
    format: str | None = None,  # noqa: A002  # the word that users know from every command
) -> None:
    """Write the segment scores of some metrics.

    Args:
        path: a file; in mt-metrics-eval's format a ``.score`` file for one metric, or else the
            top directory, in which ``metric-scores/LP/METRIC-REF.seg.score`` are made.
        scores: one per metric.
        testset: the test set that was scored.
        format: "tsv", "csv", "jsonl" or "mt-metrics-eval"; by default, the suffix tells (``.tsv``,
            ``.csv``, ``.jsonl``, ``.score``; a directory is mt-metrics-eval's).

    Raises:
        OutputError: the file cannot be written.
        UnknownNameError: the format or the suffix is unknown.
        UsageError: the format needs a language pair, or one metric only.
        LengthMismatchError: the scores are of another number of segments.
        DataError: a name cannot be held by the format.
    """
    for metric_scores in scores:
        expected = (len(metric_scores.systems), testset.segments)
        if metric_scores.segments.shape != expected:
            raise LengthMismatchError(
                f"segment scores of {metric_scores.metric} have shape"
                f" {metric_scores.segments.shape}; expected {expected}: systems x segments of the"
                " test set"
            )
    file = Path(path)
    if format is None:
        format = "mt-metrics-eval" if file.is_dir() else _detect_format(file, written=True)  # noqa: A001  # likewise
    form = format_of_name(ScoreFormat, format, "score file format", written=True)
    form.write(file, scores, testset)


def _detect_format(path: str | PathLike[str], *, written: bool = False) -> str:
    """The format that a suffix stands for; where several are read from it, how the file begins."""
    suffixes: dict[str, str] = {}
    for form in formats_of(ScoreFormat):
        if form.is_written if written else form.is_read:
            suffixes |= {end: form.name for end in form.suffixes if end not in suffixes}
    name = form_of(path, suffixes, "score file suffix")
    if written:
        return name
    suffix = next(end for end, form in suffixes.items() if form == name)
    for form in formats_of(ScoreFormat):
        sure = form.recognise is None or form.recognise(first_line_of(path))
        if suffix in form.suffixes and form.is_read and sure:
            return form.name
    return name


def _write_tsv(path: Path, scores: Sequence[Scores], _testset: TestSet) -> None:
    columns, rows = _records(scores)
    write_tsv(path, columns, [[_cell(value) for value in row] for row in rows])


def _write_csv(path: Path, scores: Sequence[Scores], _testset: TestSet) -> None:
    columns, rows = _records(scores)
    with atomic_write(path) as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerows([columns, *([_cell(value) for value in row] for row in rows)])


def _write_jsonl(path: Path, scores: Sequence[Scores], _testset: TestSet) -> None:
    columns, rows = _records(scores)
    write_lines(path, [json.dumps(dict(zip(columns, row, strict=True))) for row in rows])


def _records(scores: Sequence[Scores]) -> tuple[list[str], list[list[object]]]:
    """Scores of segments, and what metrics say of outputs in words (judges: reason, answer)."""
    columns = ["system", "segment", "metric", "score"]
    said = [words for one in scores for words in one.remarks.values()]
    named = list(dict.fromkeys(name for words in said for name in words))
    rows: list[list[object]] = []
    for one in scores:
        numbers = {name: k for k, name in enumerate(one.systems)}
        for row in one.segment_rows():
            cell = (numbers[str(row["system"])], int(row["segment"] or 0) - 1)
            words = one.remarks.get(cell, {})
            texts = (" ".join(words.get(name, "").split()) for name in named)
            rows.append([*(row[column] for column in columns), *texts])
    return [*columns, *named], rows


def _cell(value: object) -> str:
    if value is None:
        return ""
    return repr(value) if isinstance(value, float) else str(value)


def _write_blocks(path: Path, scores: Sequence[Scores], testset: TestSet) -> None:
    if path.name.removesuffix(".gz").endswith(".score"):
        if len(scores) != 1:
            raise UsageError(
                f"a .score file holds one metric, there are {len(scores)}; name a directory, and"
                " one file is made for each"
            )
        write_lines(path, _block_lines(scores[0], testset))
        return
    folder = path / "metric-scores" / require_pair(testset)
    judges = ".".join(testset.references) or "src"
    for metric_scores in scores:
        check_word("metric", metric_scores.metric)
        check_word("reference", judges)
    with explain_failure(folder):
        folder.mkdir(parents=True, exist_ok=True)
    for metric_scores in scores:
        file = folder / f"{metric_scores.metric}-{judges}.seg.score"
        write_lines(file, _block_lines(metric_scores, testset))


def _block_lines(scores: Scores, testset: TestSet) -> Iterable[str]:
    """A block per system; references do not judge themselves."""
    judged = [i for i, system in enumerate(scores.systems) if system not in testset.references]
    return score_lines([scores.systems[i] for i in judged], scores.segments[judged])


# Reading score files, our own and those of other tools.


_BLOCKS = re.compile(r"(?P<metric>.+?)(?:-[^-]+)?\.(?P<level>sys|seg)\.score(?:\.gz)?", re.DOTALL)


def read_scores(
    path: str | PathLike[str],
    *,
    format: str | None = None,  # noqa: A002  # the word that users know from every command
    column: str = "score",
    language_pair: str | None = None,
    test_set: str | None = None,
    segments: int | None = None,
) -> ScoresByMetric:
    """Read the scores that some metrics gave to systems or segments.

    Args:
        path: a score file of any format that :func:`write_segment_scores` writes, WMT's
            lines between any white space, what COMET's ``--to_json`` writes, or a table in JSON or
            Parquet. In tables ``segment`` may be called ``seg``, and ``metric`` may be missing.
            The metric of a ``.score`` file is in its name, that of COMET's JSON is the key.
        format: "tsv", "csv", "jsonl", "json", "parquet", "comet", "wmt" or "mt-metrics-eval"; by
            default, the suffix and how the file begins tell.
        column: the column of the scores, in tables.
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
    form = format_of_name(ScoreFormat, format or _detect_format(path), "score file format")
    options = {
        "column": column,
        "language_pair": language_pair,
        "test_set": test_set,
        "segments": segments,
    }
    taken = {name: value for name, value in options.items() if name in form.options}
    scores: ScoresByMetric = form.read(path, **taken)
    if not any(scores.values()):
        raise FormatError("holds no scores", path=shown(path))
    return scores


def _read_records(
    form: str, path: str | PathLike[str], *, column: str, segments: int | None
) -> ScoresByMetric:
    table = _Table(shown(path), segments)
    for record in read_records(path, form):
        metric = str(record.values.get("metric") or "")
        key = next((k for k in ("segment", "seg") if record.values.get(k) is not None), None)
        segment = None if key is None else record.integer(key, 1)
        table.add(record, metric, record.name("system"), segment, record.number(column))
    return table.scores


class _Table:
    """Scores as they come in; a repeated one, or one of a segment too many, is refused."""

    def __init__(self, path: str, segments: int | None) -> None:
        self.path = path
        self.segments = segments
        self.scores: ScoresByMetric = {}

    def add(
        self, row: FileRecord, metric: str, system: str, segment: int | None, score: float
    ) -> None:
        if not system:
            raise row.error("a score of no system: its name is empty")
        scores = self.scores.setdefault(metric, {})
        if (system, segment) in scores:
            output = system if segment is None else f"{system}, segment {segment}"
            raise row.error(f"a second score of {output}")
        if self.segments is not None and (segment or 0) > self.segments:
            raise row.error(
                f"a score of segment {segment}; there are {self.segments} segments, counted from 1"
            )
        scores[system, segment] = score


def _read_blocks(path: str | PathLike[str], *, segments: int | None) -> ScoresByMetric:
    file = Path(path)
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
    path: str | PathLike[str],
    *,
    language_pair: str | None,
    test_set: str | None,
    segments: int | None,
) -> ScoresByMetric:
    table = _Table(shown(path), segments)
    rows = _wmt_rows(path)
    for column, wanted in (("language pair", language_pair), ("test set", test_set)):
        rows = _only(rows, column, wanted, table.path)
    for row in rows:
        segment = row.integer("segment", 1) if _level(row) == "segment" else None
        table.add(row, row["metric"], row["system"], segment, row.number("score"))
    return table.scores


_WMT_COLUMNS = ("metric", "language pair", "test set", "system", "segment", "score")


def _wmt_rows(path: str | PathLike[str]) -> list[FileRecord]:
    """The rows; a line that lost a field would be a score of something else."""
    lines = read_lines(path)
    tabs = bool(lines) and lines[0].count("\t") in (4, 5)
    rows: list[FileRecord] = []
    for number, line in enumerate(lines, start=1):
        cells = line.split("\t") if tabs else line.split()
        if len(cells) == 5:
            cells.insert(4, "")
        row = FileRecord(shown(path), number, dict(zip(_WMT_COLUMNS, cells, strict=False)))
        rows.append(row)
        if len(cells) != 6:
            problem = f"{len(cells)} fields"
        elif not all((*cells[:4], cells[-1])):
            problem = f"an empty field (a missing score is {UNKNOWN})"
        elif _level(row) != _level(rows[0]):
            problem = f"the score of a {_level(row)}, where line 1 has that of a"
            problem += f" {_level(rows[0])}; a file holds scores of one level"
        else:
            continue
        raise row.error(f"{problem}; METRIC LP TESTSET SYSTEM [SEGMENT] SCORE is expected")
    return rows


def _level(row: FileRecord) -> str:
    # published files of system scores may have the column of segments and leave it empty
    return "segment" if row["segment"] else "system"


def _only(rows: list[FileRecord], column: str, wanted: str | None, path: str) -> list[FileRecord]:
    there = list(dict.fromkeys(row[column] for row in rows))
    if wanted is not None:
        if wanted not in there:
            raise UnknownNameError(f"{column} of {path}", wanted, there)
        return [row for row in rows if row[column] == wanted]
    if len(there) > 1:
        raise DataError(f"{path} holds scores of several {column}s, name one: {', '.join(there)}")
    return rows


# The scores of one test set in a score file, whatever its format.


_WMT = (5, 6)


def is_wmt_scores(path: str | PathLike[str]) -> bool:
    """True if a file's first line is a score line of WMT, whatever the file is called."""
    return _is_wmt(first_line_of(path))


def _is_wmt(head: FileHead) -> bool:
    first = head.first_line
    fields = first.split("\t") if first.count("\t") in (4, 5) else first.split()
    if first.startswith(("{", "[")) or len(fields) not in _WMT:
        return False
    return not {"system", "score"} & {field.lower() for field in fields}


def find_scores(
    path: str | PathLike[str],
    *,
    language_pair: str | None,
    test_set: str,
    column: str = "score",
    segments: int | None = None,
) -> ScoresByMetric:
    """The scores of a file for one test set: metric -> (system, segment or None) -> score.

    A file's first line tells WMT's format from others, whatever the file is called.

    Args:
        path: as for :func:`read_scores`, whose result this has.
        language_pair: which pair, where WMT lines hold several.
        test_set: which test set, where WMT lines hold several.
        column: the column of the scores, in TSV and JSONL.
        segments: how many segments the test set has.

    Raises:
        MissingFileError, FormatError: as for :func:`read_scores`.
        DataError: the file holds several language pairs or test sets, and not these.
        UnknownNameError: the format is unknown, or the language pair is not there.
    """
    head = first_line_of(path)
    recognisers = (
        (score_format.name, score_format.recognise) for score_format in formats_of(ScoreFormat)
    )
    form = next((name for name, is_one in recognisers if is_one is not None and is_one(head)), None)

    def read(name: str | None) -> ScoresByMetric:
        return read_scores(
            path,
            format=form,
            column=column,
            language_pair=language_pair,
            test_set=name,
            segments=segments,
        )

    try:
        return read(None)
    except UnknownNameError:
        raise
    except DataError as error:
        if form is None or isinstance(error, FormatError):
            raise
        try:  # several test sets in one file: ours may be among them
            return read(test_set)
        except UnknownNameError:
            raise error from None


FORMATS = (
    ScoreFormat(
        name="tsv",
        title="scores: a header and system, segment, metric, score",
        suffixes=(".tsv",),
        read=partial(_read_records, "tsv"),
        write=_write_tsv,
    ),
    ScoreFormat(
        name="csv",
        title="scores: a header and system, segment, metric, score, between commas or semicolons",
        suffixes=(".csv",),
        read=partial(_read_records, "csv"),
        write=_write_csv,
    ),
    ScoreFormat(
        name="json",
        title="scores: a list of JSON objects with system, segment, metric, score",
        suffixes=(".json",),
        read=partial(_read_records, "json"),
        after=("comet",),
    ),
    ScoreFormat(
        name="parquet",
        title="scores: rows with system, segment, metric, score in Parquet (gnomon[frames])",
        suffixes=(".parquet",),
        read=partial(_read_records, "parquet"),
    ),
    ScoreFormat(
        name="jsonl",
        title="scores: one JSON object per line with system, segment, metric, score",
        suffixes=(".jsonl", ".ndjson"),
        read=partial(_read_records, "jsonl"),
        write=_write_jsonl,
    ),
    ScoreFormat(
        name="wmt",
        title="METRIC LP TESTSET SYSTEM [SEGMENT] SCORE",
        suffixes=(".wmt",),
        recognise=_is_wmt,
        read=_read_wmt,
    ),
    ScoreFormat(
        name="mt-metrics-eval",
        title="score files as in google-research/mt-metrics-eval",
        suffixes=(".score",),
        read=_read_blocks,
        write=_write_blocks,
    ),
)
