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
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.errors import FormatError
from gnomon.formats._delimited import fields, read_spaced
from gnomon.formats._files import LOGGER
from gnomon.formats._judged import (
    ScoreTable,
    SystemNames,
    in_scale,
    refuse_second,
    said,
    segment_number,
    system_level,
)
from gnomon.formats._language_rows import of_pair, pair
from gnomon.formats._lines import read_lines
from gnomon.human import Judgements

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from gnomon.formats._tsv import Row, Rows
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

    Args:
        path: the file.
        testset: whose outputs were judged.
        kind: the first part of the kinds' names.
        rename: name in the file -> name in the test set.
        language_pair: which pair, where the file holds several; the test set's by default.
        first_segment: the number of the first segment.

    Raises:
        FormatError: a column is missing, a cell is not what it should be, or a score lies beyond
            its scale.
        DataError: no system of the file is in the test set.
        UnknownNameError: the file has no rows of the language pair.
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
    judged = Judged(table.path, testset.segments)
    for row, score in zip(rows, _scores(rows, kind), strict=True):
        if not _counts(row):
            judged.add_control(row["WorkerId"], score)
            continue
        segment = segment_number(row["sid"], first_segment, testset.segments, row.path, row.line)
        judged.add(row["WorkerId"], names.all_of(row["sys_id"]), segment, score)
    names.report(table.path)
    return judged.judgements(kind, names)


def _scores(rows: Sequence[Row], kind: str) -> list[float]:
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


def _mean(row: Row, column: str, kind: str, name: str) -> float:
    return in_scale(f"{kind}-{name}", row.number(column), row.path, row.line)


def _of_wanted(table: Rows, wanted: str | None) -> list[Row]:
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


class Judged:
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
        said(controls, self.path, "judgements of controls count for the raters' means alone")
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
            said(table.repeated(), self.path, "outputs were judged several times by one rater")
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


def _counts(row: Row) -> bool:
    if row["type"] not in (*_COUNTED, *_CONTROLS):
        raise FormatError(
            f"type is {row['type']!r}; one of {', '.join((*_COUNTED, *_CONTROLS))} is expected",
            path=row.path,
            line=row.line,
        )
    return row["type"] in _COUNTED
