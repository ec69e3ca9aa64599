"""Direct assessment as WMT publishes it (WMT 2016 to 2021).

===============  ==================================================================
format           columns, between white space
===============  ==================================================================
``wmt-da``       ``HITId WorkerId Input.src Input.trg Input.item hit sys_id rid type
                 sid score time``: ``ad-good-raw.csv``, ``ad-LP-good-stnd.csv``
``wmt-da-seg``   ``SYS SID RAW.SCR Z.SCR N``: ``ad-seg-scores-LP.csv``, or ``SRC TRG
                 HIT N.raw N.z SID SYS RAW.SCR Z.SCR``: ``ad-seg-scores.csv``;
                 ``LP DATA SYSTEM SID HUMAN``, standardised: ``DA-seglevel.csv``
``wmt-da-sys``   no header, ``RAW Z ASSESSED N SYSTEM``: ``ad-sys-ranking-LP-z.csv``;
                 ``LP HUMAN SYSTEM``: ``DA-syslevel.csv``
===============  ==================================================================

The z-scores of a rater are (score - mean) / standard deviation over all that the rater judged,
the controls included (Graham et al. 2017, "Can machine translation systems be evaluated by the
crowd alone"); a segment's score is the mean over its judgements, repetitions included.

What Appraise exports (WMT 2019 to 2024): a comma-separated file without a header::

    user, system, item, type, source language, target language, score[, document, whole document
    ][, error spans], start, end

9 fields: scores alone; 11: with documents; 12: with error spans in JSON (ESA). ``TGT`` is an
output; controls (``BAD``, ``REF``, ``CHK``), tutorials and repeated or incomplete documents
(``...#bad``, ``#dup``, ``#incomplete``) are left out, and so are scores of whole documents.
"""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from gnomon.errors import DataError, FormatError, UsageError
from gnomon.formats._esa import Annotations, esa_objects
from gnomon.formats._files import LOGGER
from gnomon.formats._judgements import (
    ScoreTable,
    SystemNames,
    in_scale,
    of_pair,
    pair,
    rated_kind,
    refuse_second,
    say_count,
    segment_number,
    system_level,
)
from gnomon.formats._lines import read_lines, shown, write_lines
from gnomon.formats._registry import JudgementFormat
from gnomon.formats._rows import (
    FileRecord,
    fields,
    parse_number,
    print_number,
    read_csv_rows,
    read_spaced,
    whole_number,
)
from gnomon.human import Judgements

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from gnomon.formats._error_marks import SpanEnds
    from gnomon.formats._rows import FileHead, TextTable
    from gnomon.human import HumanScores
    from gnomon.testset import TestSet

    Transform = Callable[[NDArray[np.float64]], NDArray[np.float64]]


_RANKING = ("RAW", "Z", "ASSESSED", "N", "SYSTEM")
_MEANS = {"RAW.SCR": "raw", "Z.SCR": "z"}
_PACKAGED = {"HUMAN": "z"}
_COUNTED = ("SYSTEM", "REPEAT")
_CONTROLS = ("REF", "BAD_REF")
_FAR = 25.0  # that far from a rater's mean lies one of 600 judgements at most


def read_hits(
    path: str | PathLike[str],
    testset: TestSet,
    *,
    kind: str = "da",
    rename: Mapping[str, str] | None = None,
    language_pair: str | None = None,
    first_segment: int = 1,
) -> Judgements:
    """Read single judgements (format ``wmt-da``), raw or standardised already.

    Raw scores become the kinds ``da-raw`` and ``da-z``; scores below 0 say that the file is
    standardised, and give ``da-z``. Outputs (``SYSTEM``) and their repetitions (``REPEAT``) count;
    controls (``REF``, ``BAD_REF``) only enter a rater's mean and standard deviation.
    """
    table = read_spaced(path)
    table.require("WorkerId", "Input.src", "Input.trg", "sys_id", "type", "sid", "score")
    rows = of_pair(
        list(table),
        lambda row: pair(row["Input.src"], row["Input.trg"]),
        language_pair or testset.language_pair,
        table.path,
    )
    names = SystemNames(testset, rename)
    judged = Assessments(table.path, testset.segments)
    for row, score in zip(rows, _scores(rows, kind), strict=True):
        if not _counts(row):
            judged.add_control(row["WorkerId"], score)
            continue
        segment = segment_number(row["sid"], first_segment, testset.segments, row.path, row.line)
        judged.add(row["WorkerId"], names.all_of(row["sys_id"]), segment, score)
    names.report(table.path)
    return judged.judgements(kind, names)


def _scores(rows: Sequence[FileRecord], kind: str) -> list[float]:
    """Scores that are all raw, or all standardised."""
    scores = [row.number("score") for row in rows]
    below = next((i for i, score in enumerate(scores) if score < 0), None)
    above = next((i for i, score in enumerate(scores) if score > _FAR), None)
    if below is not None and above is not None:
        raise rows[below].error(
            f"score is {scores[below]:g}, and in line {rows[above].line} it is {scores[above]:g}:"
            " raw scores lie between 0 and 100, standardised ones a few units around 0; correct"
            " the one that is wrong"
        )
    name = f"{kind}-{'raw' if below is None else 'z'}"
    return [in_scale(name, s, row.path, row.line) for s, row in zip(scores, rows, strict=True)]


def read_segment_means(
    path: str | PathLike[str],
    testset: TestSet,
    *,
    kind: str = "da",
    rename: Mapping[str, str] | None = None,
    language_pair: str | None = None,
    first_segment: int = 1,
) -> Judgements:
    """Read segment scores (format ``wmt-da-seg``): ``da-raw`` and ``da-z``, or ``da-z`` alone.

    Arguments and errors are those of :func:`read_hits`.
    """
    table = read_spaced(path)
    packaged = "HUMAN" in table.columns
    system, columns = ("SYSTEM", _PACKAGED) if packaged else ("SYS", _MEANS)
    table.require(system, "SID", *columns, *(["LP"] if packaged else []))
    wanted = language_pair or testset.language_pair
    rows = _of_wanted(table, wanted)
    names = SystemNames(testset, rename)
    seen: dict[tuple[str, int], int] = {}
    tables = {name: ScoreTable(table.path, testset.segments) for name in columns.values()}
    for row in rows:
        segment = segment_number(row["SID"], first_segment, testset.segments, row.path, row.line)
        for one in names.all_of(row[system]):
            refuse_second(seen, (one, segment), row)
            for column, name in columns.items():
                tables[name].add(None, one, segment, _mean(row, column, kind, name))
    names.report(table.path)
    found = [s for name, one in tables.items() for s in one.scores(f"{kind}-{name}", names)]
    return Judgements(tuple(found))


def _mean(row: FileRecord, column: str, kind: str, name: str) -> float:
    return in_scale(f"{kind}-{name}", row.number(column), row.path, row.line)


def _of_wanted(table: TextTable, wanted: str | None) -> list[FileRecord]:
    if "LP" in table.columns:
        return of_pair(list(table), lambda row: row["LP"], wanted, table.path)
    if {"SRC", "TRG"} <= set(table.columns):
        return of_pair(list(table), lambda row: pair(row["SRC"], row["TRG"]), wanted, table.path)
    return list(table)


def read_system_means(
    path: str | PathLike[str],
    testset: TestSet,
    *,
    kind: str = "da",
    rename: Mapping[str, str] | None = None,
    language_pair: str | None = None,
) -> Judgements:
    """Read system scores (format ``wmt-da-sys``): ``da-raw`` and ``da-z``, or ``da-z`` alone.

    Arguments and errors are those of :func:`read_hits`.
    """
    first = fields((read_lines(path) or [""])[0])
    header = "SYSTEM" in first
    table = read_spaced(path, columns=None if header else _RANKING)
    columns = {"HUMAN": "z"} if header else {"RAW": "raw", "Z": "z"}
    table.require("SYSTEM", *columns)
    rows = list(table)
    if "LP" in table.columns:
        wanted = language_pair or testset.language_pair
        rows = of_pair(rows, lambda row: row["LP"], wanted, table.path)
    names = SystemNames(testset, rename)
    values: dict[str, dict[str, float]] = {name: {} for name in columns.values()}
    seen: dict[str, int] = {}
    for row in rows:
        for system in names.all_of(row["SYSTEM"]):
            refuse_second(seen, system, row)
            for column, name in columns.items():
                values[name][system] = _mean(row, column, kind, name)
    names.report(table.path)
    found = [s for name, one in values.items() for s in system_level(f"{kind}-{name}", one, names)]
    return Judgements(tuple(found))


class Assessments:
    """Single judgements of raters who may have to be standardised."""

    def __init__(self, path: str, segments: int) -> None:
        self.path = path
        self.segments = segments
        self._raters: dict[str, list[tuple[Sequence[str], int, float]]] = {}

    def add(self, rater: str, systems: Sequence[str], segment: int, score: float) -> None:
        """Take a judgement in (of two systems, if they gave the same output)."""
        self._raters.setdefault(rater, []).append((systems, segment, score))

    def add_control(self, rater: str, score: float) -> None:
        """Take in a judgement that counts for the rater's mean and deviation alone."""
        self._raters.setdefault(rater, []).append(((), 0, score))

    def judgements(self, kind: str, names: SystemNames) -> Judgements:
        """Scores of the kinds ``KIND-raw`` and ``KIND-z``; the latter alone if standardised."""
        every = [score for judged in self._raters.values() for *_, score in judged]
        if any(score < 0 for score in every):
            return Judgements(self._scores(f"{kind}-z", names, lambda values: values))
        raw = self._scores(f"{kind}-raw", names, lambda values: values)
        flat = [rater for rater, judged in self._raters.items() if _is_flat(judged)]
        if flat:
            LOGGER.warning(
                "%s: %d rater(s) gave one score only or always the same; they have no z-scores: %s",
                self.path,
                len(flat),
                ", ".join(flat),
            )
        controls = sum(not systems for judged in self._raters.values() for systems, *_ in judged)
        say_count(controls, self.path, "judgements of controls count for the raters' means alone")
        return Judgements(raw + self._scores(f"{kind}-z", names, standardised))

    def _scores(
        self, kind: str, names: SystemNames, transform: Transform
    ) -> tuple[HumanScores, ...]:
        table = ScoreTable(self.path, self.segments)
        for rater, judged in self._raters.items():
            values = transform(np.array([score for *_, score in judged], dtype=np.float64))
            for (systems, segment, _), value in zip(judged, values, strict=True):
                for system in systems:
                    table.add(rater, system, segment, float(value))
        if kind.endswith("-raw"):
            say_count(table.repeated(), self.path, "outputs were judged several times by one rater")
        return table.scores(kind, names)


def standardised(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """z-scores of one rater: (score - mean) / sample standard deviation; NaN if that is 0."""
    there = values[np.isfinite(values)]
    if there.size < 2 or np.ptp(there) == 0:
        return np.full(values.shape, np.nan)
    result: NDArray[np.float64] = (values - np.mean(there)) / np.std(there, ddof=1)
    return result


def _is_flat(judged: Iterable[tuple[Sequence[str], int, float]]) -> bool:
    return len({score for *_, score in judged if np.isfinite(score)}) < 2


def _counts(row: FileRecord) -> bool:
    if row["type"] not in (*_COUNTED, *_CONTROLS):
        raise FormatError(
            f"type is {row['type']!r}; one of {', '.join((*_COUNTED, *_CONTROLS))} is expected",
            path=row.path,
            line=row.line,
        )
    return row["type"] in _COUNTED


# What Appraise exports (WMT 2019 to 2024): a comma-separated file without a header.


LENGTHS = (9, 11, 12)
TYPES = ("TGT", "BAD", "REF", "CHK", "BAD.REF")
_CONTROL_DOCUMENTS = ("#bad", "#dup", "#incomplete")


class _Row(NamedTuple):
    line: int
    user: str
    system: str
    item: str
    pair: str
    score: float
    document: str | None
    spans: str | None


def read_appraise(
    path: str | PathLike[str],
    testset: TestSet,
    *,
    kind: str | None = None,
    rename: Mapping[str, str] | None = None,
    language_pair: str | None = None,
    first_segment: int | None = None,
    ends: SpanEnds = "last",
) -> Judgements:
    """Read an export of Appraise.

    With error spans: the kind ``esa``, the mean and each person, and the spans. Without: ``da-raw``
    and ``da-z``, standardised per person.
    """
    name = shown(path)
    wanted = language_pair or testset.language_pair
    rows = of_pair(_rows(path), lambda row: row.pair, wanted, name)
    first = _first(rows, testset, name) if first_segment is None else first_segment
    if any(row.spans is not None for row in rows):
        return _annotations(name, rows, testset, kind or "esa", rename, first, ends)
    names = SystemNames(testset, rename)
    judged = Assessments(name, testset.segments)
    for row in rows:
        segment = segment_number(row.item, first, testset.segments, name, row.line)
        score = in_scale(f"{kind or 'da'}-raw", row.score, name, row.line)
        judged.add(row.user, names.all_of(row.system), segment, score)
    names.report(name)
    return judged.judgements(kind or "da", names)


def _annotations(
    name: str,
    rows: Sequence[_Row],
    testset: TestSet,
    kind: str,
    rename: Mapping[str, str] | None,
    first: int,
    ends: SpanEnds,
) -> Judgements:
    found = Annotations(name, testset, kind, rename, ends=ends)
    for row in rows:
        record = FileRecord(name, row.line, {})
        segment = segment_number(row.item, first, testset.segments, name, row.line)
        spans = _spans(record, row.spans)
        found.add(record, row.user, found.names.of(row.system), segment, row.score, spans)
    return found.judgements()


def _rows(path: str | PathLike[str]) -> list[_Row]:
    name = shown(path)
    rows = [_row(name, line, row) for line, row in read_csv_rows(path)]
    kept = [row for row in rows if row is not None]
    say_count(
        len(rows) - len(kept), name, "rows are controls, tutorials or whole documents; left out"
    )
    return kept


def _row(name: str, line: int, row: Sequence[str]) -> _Row | None:
    if len(row) not in LENGTHS:
        raise FormatError(
            f"{len(row)} comma-separated fields; {', '.join(map(str, LENGTHS))} are expected: user,"
            " system, item, type, two languages, score, [document, whole document,] [error spans,]"
            " start, end",
            path=name,
            line=line,
        )
    user, system, item, kind, source, target, score, *rest = row
    if kind not in TYPES:
        raise FormatError(
            f"type is {kind!r}; one of {', '.join(TYPES)} is expected", path=name, line=line
        )
    document = rest[0] if len(row) > LENGTHS[0] else None
    whole = document is not None and rest[1].lower() == "true"
    if kind != "TGT" or whole or _is_control(document):
        return None
    value = parse_number(score, name, line)
    spans = rest[2] if len(row) == LENGTHS[2] else None
    return _Row(line, user, system, item, pair(source, target), value, document, spans)


def _is_control(document: str | None) -> bool:
    if document is None:
        return False
    return "-tutorial" in document or any(mark in document for mark in _CONTROL_DOCUMENTS)


def _first(rows: Sequence[_Row], testset: TestSet, name: str) -> int:
    """Whether segments count from 0 or from 1, by the documents that they are said to be of."""
    documents = testset.documents
    fitting = [
        first
        for first in (0, 1)
        if documents is not None and all(_fits(row, documents, first) for row in rows)
    ]
    if len(fitting) != 1:
        raise UsageError(
            f"{name}: nothing tells whether its segments count from 0 or from 1 (the documents of"
            " the test set, if it has any, do not match either); say which (--first-segment 0 or 1;"
            " first_segment=0 or 1)"
        )
    LOGGER.info("%s: segments count from %d, as its documents show", name, fitting[0])
    return fitting[0]


def _fits(row: _Row, documents: Sequence[str], first: int) -> bool:
    place = whole_number(row.item) - first
    document = (row.document or "").partition("#")[0]
    return 0 <= place < len(documents) and documents[place] == document


def _spans(record: FileRecord, text: str | None) -> object:
    if not text:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise record.error(
            f"the error spans are not JSON ({error}); [] if there are none"
        ) from error


def write_appraise(path: str | PathLike[str], testset: TestSet, kind: str) -> None:
    """Write scores and error spans of a kind as Appraise exports them; segments count from 0."""
    source, _, target = (testset.language_pair or "").partition("-")
    if not target:
        raise DataError(
            "Appraise's rows name both languages, and the test set has no language pair; name it"
            " (-l de-en; language_pair='de-en')"
        )
    lines = []
    for output in esa_objects(testset, kind):
        if output["annotator"] is None:
            raise DataError(
                f"Appraise's rows name their annotators, and the scores {kind!r} do not say who"
                " gave them; write format 'esa' or 'table'"
            )
        if output["esa_score"] is None:
            raise DataError(
                f"Appraise's rows hold a score each, and some outputs have error spans {kind!r} or"
                " were found without any, and have no score; write format 'spans' or 'esa'"
            )
        segment = cast("int", output["line_id"])
        document = testset.name if testset.documents is None else testset.documents[segment]
        spans = json.dumps(output["esa_spans"], ensure_ascii=False)
        row = io.StringIO()
        csv.writer(row, lineterminator="").writerow(
            (
                output["annotator"],
                output["system"],
                segment,
                "TGT",
                source,
                target,
                print_number(cast("float", output["esa_score"]), ""),
                document,
                False,
                spans,
                0.0,
                0.0,
            )
        )
        lines.append(row.getvalue())
    write_lines(path, lines)


def _write_appraise_file(
    path: str | PathLike[str], testset: TestSet, kind: str | None, _level: str
) -> None:
    write_appraise(path, testset, rated_kind(testset, kind))


def _is_appraise(head: FileHead) -> bool:
    parts = head.first_line.split(",")
    return len(parts) >= 9 and parts[3] in ("TGT", "BAD", "REF", "CHK", "BAD.REF")


def _is_segment_means(head: FileHead) -> bool:
    names = head.column_names
    return {"sys", "sid", "raw.scr"} <= names or {"lp", "system", "sid", "human"} <= names


def _is_system_means(head: FileHead) -> bool:
    """A header, or the ranking of WMT that has none."""
    if {"human", "system", "lp"} <= head.column_names:
        return True
    return len(head.loose_columns) == 5 and all(map(_is_number, head.loose_columns[:4]))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


FORMATS = (
    JudgementFormat(
        name="appraise",
        title="Appraise exports, CSV without a header: direct assessment or ESA",
        recognise=_is_appraise,
        read=read_appraise,
        write=_write_appraise_file,
        after=("mt-metrics-eval", "ratings", "ratings-json"),
    ),
    JudgementFormat(
        name="wmt-da",
        title="WMT direct assessments: HITId WorkerId ... sys_id rid type sid score time",
        recognise=lambda head: {"hitid", "workerid", "sys_id"} <= head.column_names,
        read=read_hits,
        after=("mqm", "darr", "rr"),
    ),
    JudgementFormat(
        name="wmt-da-seg",
        title="WMT segment scores: SYS SID RAW.SCR Z.SCR N, or LP DATA SYSTEM SID HUMAN",
        recognise=_is_segment_means,
        read=read_segment_means,
    ),
    JudgementFormat(
        name="wmt-da-sys",
        title="WMT system scores: RAW Z ASSESSED N SYSTEM without a header, or LP HUMAN SYSTEM",
        recognise=_is_system_means,
        read=read_system_means,
    ),
)
