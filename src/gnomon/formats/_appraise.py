"""What Appraise exports (WMT 2019 to 2024): a comma-separated file without a header.

::

    user, system, item, type, source language, target language, score[, document, whole document
    ][, error spans], start, end

9 fields: scores alone; 11: with documents; 12: with error spans in JSON (ESA). ``TGT`` is an
output; controls (``BAD``, ``REF``, ``CHK``), tutorials and repeated or incomplete documents
(``...#bad``, ``#dup``, ``#incomplete``) are left out, and so are scores of whole documents.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from gnomon.errors import FormatError, UsageError
from gnomon.formats._delimited import read_csv_rows
from gnomon.formats._direct_assessment import Judged
from gnomon.formats._esa_record import Annotations
from gnomon.formats._files import LOGGER
from gnomon.formats._judged import SystemNames, in_scale, said, segment_number
from gnomon.formats._language_rows import of_pair, pair
from gnomon.formats._lines import shown
from gnomon.formats._records import Record
from gnomon.formats._tsv import parse_number, whole_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from gnomon.human import Judgements
    from gnomon.testset import TestSet

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
) -> Judgements:
    """Read an export of Appraise.

    With error spans: the kind ``esa``, the mean and each person, and the spans. Without: ``da-raw``
    and ``da-z``, standardised per person.

    Args:
        path: the file.
        testset: whose outputs were judged.
        kind: what to call it in place of ``esa`` or ``da``.
        rename: name in the file -> name in the test set.
        language_pair: which pair, where the file holds several; the test set's by default.
        first_segment: the number of the first segment. Campaigns differ; the documents of the test
            set tell which it is, if it has any.

    Raises:
        FormatError: a row is not what it should be.
        UsageError: nothing tells whether segments count from 0 or from 1.
        DataError: no system of the file is in the test set.
        UnknownNameError: the file has no rows of the language pair.
    """
    name = shown(path)
    wanted = language_pair or testset.language_pair
    rows = of_pair(_rows(path), lambda row: row.pair, wanted, name)
    first = _first(rows, testset, name) if first_segment is None else first_segment
    if any(row.spans is not None for row in rows):
        return _annotations(name, rows, testset, kind or "esa", rename, first)
    names = SystemNames(testset, rename)
    judged = Judged(name, testset.segments)
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
) -> Judgements:
    found = Annotations(name, testset, kind, rename)
    for row in rows:
        record = Record(name, row.line, {})
        segment = segment_number(row.item, first, testset.segments, name, row.line)
        spans = _spans(record, row.spans)
        found.add(record, row.user, found.names.of(row.system), segment, row.score, spans)
    return found.judgements()


def _rows(path: str | PathLike[str]) -> list[_Row]:
    name = shown(path)
    rows = [_row(name, line, row) for line, row in read_csv_rows(path)]
    kept = [row for row in rows if row is not None]
    said(len(rows) - len(kept), name, "rows are controls, tutorials or whole documents; left out")
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
            " the test set, if it has any, do not match either); pass first_segment=0 or"
            " first_segment=1"
        )
    LOGGER.info("%s: segments count from %d, as its documents show", name, fitting[0])
    return fitting[0]


def _fits(row: _Row, documents: Sequence[str], first: int) -> bool:
    place = whole_number(row.item) - first
    document = (row.document or "").partition("#")[0]
    return 0 <= place < len(documents) and documents[place] == document


def _spans(record: Record, text: str | None) -> object:
    if not text:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise record.error(
            f"the error spans are not JSON ({error}); [] if there are none"
        ) from error
