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
(``...#bad``, ``#dup``, ``#incomplete``) are left out, and so are scores of whole documents. ESA
of repeated and incomplete documents is kept apart (:class:`gnomon.core.human.RepeatedScore`).
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np

from gnomon.core.errors import UsageError
from gnomon.core.human import Judgements, RepeatedScore
from gnomon.data.formats._esa import annotate
from gnomon.data.formats._files import LOGGER
from gnomon.data.formats._judged_file import (
    JudgedScores,
    check_scale,
    say_count,
)
from gnomon.data.formats._matching import pair
from gnomon.data.formats._registry import JudgementFormat
from gnomon.data.formats.rows import (
    FileRecord,
    read_csv_rows,
    read_spaced,
    whole_number,
)
from gnomon.messages.audiences import flag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gnomon.data.formats._judged_file import JudgedFile
    from gnomon.data.formats.rows import FileHead

__all__ = ["pair_standardised", "standardised"]


_COUNTED = ("SYSTEM", "REPEAT")
_CONTROLS = ("REF", "BAD_REF")
_FAR = 25.0  # that far from a rater's mean lies one of 600 judgements at most


def read_hits(file: JudgedFile) -> Judgements:
    """Read single judgements (format ``wmt-da``), raw or standardised already.

    Raw scores become the kinds ``da-raw`` and ``da-z``; scores below 0 say that the file is
    standardised, and give ``da-z``. Outputs (``SYSTEM``) and their repetitions (``REPEAT``) count;
    controls (``REF``, ``BAD_REF``) only enter a rater's mean and standard deviation.
    """
    table = read_spaced(file.path)
    table.require("WorkerId", "Input.src", "Input.trg", "sys_id", "type", "sid", "score")
    rows = file.select_pair(table, lambda row: pair(row["Input.src"], row["Input.trg"]))
    judged = JudgedScores(file.testset.segments)
    for row, score in zip(rows, _scores(rows, file.kind), strict=True):
        systems, segment = [], 0
        if _counts(row):
            segment = file.segment(row, row["sid"])
            systems = file.names.match_all(row["sys_id"])
        judged.add(row["WorkerId"], systems, segment, score)
    return pair_standardised(file, judged, file.kind)


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
    return [check_scale(name, score, row) for score, row in zip(scores, rows, strict=True)]


def pair_standardised(file: JudgedFile, judged: JudgedScores, kind: str) -> Judgements:
    """Scores of the kinds ``KIND-raw`` and ``KIND-z``; the latter alone if standardised."""
    file.report()
    values = {rater: [v for *_, v in rows] for rater, rows in judged.raters.items()}
    if any(value < 0 for scores in values.values() for value in scores):
        return Judgements(judged.scores(f"{kind}-z", file.names))
    raw = judged.scores(f"{kind}-raw", file.names)
    say_count(judged.repeated(), file.path, "outputs were judged several times by one rater")
    flat = [str(r) for r, v in values.items() if len(set(filter(np.isfinite, v))) < 2]
    if flat:
        LOGGER.warning(
            "%s: %d rater(s) gave one score only or always the same; they have no z-scores: %s",
            file.path,
            len(flat),
            ", ".join(flat),
        )
    controls = sum(not systems for rows in judged.raters.values() for systems, *_ in rows)
    say_count(controls, file.path, "judgements of controls count for the raters' means alone")
    return Judgements(raw + judged.scores(f"{kind}-z", file.names, standardised))


def standardised(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """z-scores of one rater: (score - mean) / sample standard deviation; NaN if that is 0."""
    there = values[np.isfinite(values)]
    if there.size < 2 or np.ptp(there) == 0:
        return np.full(values.shape, np.nan)
    result: NDArray[np.float64] = (values - np.mean(there)) / np.std(there, ddof=1)
    return result


def _counts(row: FileRecord) -> bool:
    if row["type"] not in (*_COUNTED, *_CONTROLS):
        raise row.error(
            f"type is {row['type']!r}; one of {', '.join((*_COUNTED, *_CONTROLS))} is expected"
        )
    return row["type"] in _COUNTED


# What Appraise exports (WMT 2019 to 2024): a comma-separated file without a header.


LENGTHS = (9, 11, 12)
TYPES = ("TGT", "BAD", "REF", "CHK", "BAD.REF")
_CONTROL = "#bad"
_PARTIAL = ("#dup", "#incomplete")


_FIELDS = ("user", "system", "item", "type", "source", "target", "score", "document", "whole")


def read_appraise(file: JudgedFile) -> Judgements:
    """Read an export of Appraise.

    With error spans: the kind ``esa``, the mean and each person, and the spans. Without: ``da-raw``
    and ``da-z``, standardised per person.
    """
    rows = file.select_pair(_rows(file.path), lambda row: pair(row["source"], row["target"]))
    if file.first_segment is None:
        file.first_segment = _first(rows, file)
    if any("spans" in row.values for row in rows):
        file.kind = file.kind or "esa"
        for row in rows:
            segment, spans = file.segment(row, row["item"]), _spans(row)
            system, score = file.names.match(row["system"]), row.values["score"]
            if _is_partial(row["document"]):
                value = check_scale(file.kind, cast("float", score), row)
                again = RepeatedScore(file.kind, row["user"], system, segment, value)
                file.repeated += [again] if np.isfinite(value) else []
                file.counts["scores of documents shown again or in part are kept apart"] += 1
                continue
            annotate(file, row, (row["user"], system, segment), score, spans)
        return file.judgements()
    kind, judged = file.kind or "da", JudgedScores(file.testset.segments)
    for row in rows:
        if _is_partial(row.get("document")):
            continue
        segment = file.segment(row, row["item"])
        score = check_scale(f"{kind}-raw", cast("float", row.values["score"]), row)
        judged.add(row["user"], file.names.match_all(row["system"]), segment, score)
    return pair_standardised(file, judged, kind)


def _rows(path: str) -> list[FileRecord]:
    """The rows that count, their scores numbers."""
    rows = [(FileRecord(path, line, {}), cells) for line, cells in read_csv_rows(path)]
    kept = [row for row in (_row(*row) for row in rows) if row is not None]
    say_count(
        len(rows) - len(kept), path, "rows are controls, tutorials or whole documents; left out"
    )
    return kept


def _row(row: FileRecord, cells: Sequence[str]) -> FileRecord | None:
    if len(cells) not in LENGTHS:
        raise row.error(
            f"{len(cells)} comma-separated fields; {', '.join(map(str, LENGTHS))} are expected:"
            " user, system, item, type, two languages, score, [document, whole document,]"
            " [error spans,] start, end"
        )
    values: dict[str, object] = dict(zip(_FIELDS, cells[:-2], strict=False))
    if len(cells) == LENGTHS[2]:
        values["spans"] = cells[9]
    row = replace(row, values=values)
    if row["type"] not in TYPES:
        raise row.error(f"type is {row['type']!r}; one of {', '.join(TYPES)} is expected")
    whole = row.get("whole").lower() == "true"
    if row["type"] != "TGT" or whole or _is_control(row.get("document")):
        return None
    values["score"] = row.number("score")
    return row


def _is_control(document: str) -> bool:
    return "-tutorial" in document or _CONTROL in document


def _is_partial(document: str) -> bool:
    """True if a document was shown again, or in part."""
    return any(mark in document for mark in _PARTIAL)


def _first(rows: Sequence[FileRecord], file: JudgedFile) -> int:
    """Number of the first segment, 0 or 1, by the documents that the rows name."""
    documents = file.testset.documents
    fitting = [
        first
        for first in (0, 1)
        if documents is not None and all(_fits(row, documents, first) for row in rows)
    ]
    if len(fitting) != 1:
        raise UsageError(
            f"{file.path}: nothing tells whether its segments count from 0 or from 1 (the"
            " documents of the test set, if it has any, do not match either); say which (",
            flag("first_segment", "0 or 1"),
            ")",
            path=file.path,
        )
    LOGGER.info("%s: segments count from %d, as its documents show", file.path, fitting[0])
    return fitting[0]


def _fits(row: FileRecord, documents: Sequence[str], first: int) -> bool:
    index = whole_number(row["item"]) - first
    document = row.get("document").partition("#")[0]
    return 0 <= index < len(documents) and documents[index] == document


def _spans(row: FileRecord) -> object:
    if not row.get("spans"):
        return None
    try:
        return json.loads(row["spans"])
    except (ValueError, RecursionError) as error:
        raise row.error(f"the error spans are not JSON ({error}); [] if there are none") from error


def _is_appraise(head: FileHead) -> bool:
    parts = head.first_line.split(",")
    return len(parts) >= 9 and parts[3] in ("TGT", "BAD", "REF", "CHK", "BAD.REF")


FORMATS = (
    JudgementFormat(
        name="appraise",
        title="Appraise exports, CSV without a header: direct assessment or ESA",
        recognise=_is_appraise,
        defaults={
            "kind": "",
            "rename": None,
            "language_pair": None,
            "first_segment": None,
            "ends": "last",
        },
        read=read_appraise,
        after=("pearmut", "esa", "wmt-humeval"),
    ),
    JudgementFormat(
        name="wmt-da",
        title="WMT direct assessments: HITId WorkerId ... sys_id rid type sid score time",
        recognise=lambda head: {"hitid", "workerid", "sys_id"} <= head.column_names,
        defaults={"kind": "da", "rename": None, "language_pair": None, "first_segment": 1},
        read=read_hits,
        after=("mqm", "darr", "rr"),
    ),
)
