"""Error spans as metrics, judges and shared tasks list them, one output per line or row.

================  ==================================================================
format            what is in it
================  ==================================================================
``spans``         JSONL, one output per line: ``system, segment`` (from 1) and
                  ``errors``, a list of ``{"start", "end", "severity", "category",
                  "side", "confidence", "penalty"}`` in half-open code points; and, if
                  they are known, ``rater, by`` (person, metric or judge), ``score``
``wmt-qe-spans``  TSV of WMT's tasks of error span detection, one output per row:
                  ``system_id`` (or ``mt_model``), the source and the output, and
                  starts, ends and severities in three cells between spaces; ``-1`` (WMT
                  2023) or an empty cell and ``no-error`` (WMT 2024 and 2025) where
                  there is none
================  ==================================================================

An output without errors has a line, too: it was looked at. Where every line has an error, the file
does not tell which outputs were looked at. Scores of a ``wmt-qe-spans`` file are
minus MQM's penalties of its errors, as in files of MQM, which say which outputs were looked at.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from gnomon.core.human import clean_outputs
from gnomon.core.spans import ErrorSpan, Span
from gnomon.data.formats._judged_file import (
    AnnotatedOutput,
    check_scale,
    errors_of,
    marker_of,
    rated_kind,
    scores_of_raters,
)
from gnomon.data.formats._lines import write_lines
from gnomon.data.formats._mqm import MqmWeights, is_error
from gnomon.data.formats._records import read_records
from gnomon.data.formats._registry import JudgementFormat
from gnomon.data.formats.rows import read_tsv, whole_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from os import PathLike

    from gnomon.core.human import Judgements
    from gnomon.core.testset import TestSet
    from gnomon.data.formats._judged_file import JudgedFile
    from gnomon.data.formats.error_marks import SpanEnds
    from gnomon.data.formats.rows import FileHead, FileRecord


# JSONL of an output per line, in code points.


def read_span_lines(file: JudgedFile) -> Judgements:
    """Read error spans, and scores where lines have some."""
    for record in read_records(file.path, "jsonl"):
        system, segment = file.names.match(record.text("system")), _segment(record, file.testset)
        rater = record.optional("rater")
        kind = file.kind or str(record.values.get("kind") or "errors")
        key = (kind, rater, system, segment)
        score = None
        if record.values.get("score") is not None:
            score = check_scale(kind, record.finite("the score", record.value("score")), record)
        by = marker_of(record, record.values)
        errors = file.read_errors(record, key, by)
        file.add_once(record, AnnotatedOutput(*key, score, errors, record.line))
    # outputs without errors may have been left out
    every = all(output.errors for output in file.outputs.values())
    return file.judgements(looked_at=not every)


def _segment(record: FileRecord, testset: TestSet) -> int:
    number = record.value("segment")
    if type(number) is not int or not 1 <= number <= testset.segments:
        raise record.error(
            f"segment is {number!r}; a whole number from 1 to {testset.segments} is expected"
        )
    return number - 1


def write_span_lines(
    path: str | PathLike[str], testset: TestSet, kind: str | None, _level: str
) -> None:
    """Write error spans of a kind, and the segment scores of the same kind."""
    lines = _lines(testset, rated_kind(testset, kind))
    write_lines(path, [json.dumps(line, ensure_ascii=False) for line in lines])


def _lines(testset: TestSet, kind: str) -> Iterator[dict[str, object]]:
    rows = errors_of(testset, kind, lambda e: (e.system, e.segment, e.rater, str(e.by)))
    scores = _scores(testset, kind)
    marked = {key[:3] for key in rows}
    clean = [
        (output.system, output.segment, output.rater) for output in clean_outputs(testset, kind)
    ]
    rows |= {(*key, "person"): [] for key in (*scores, *clean) if key not in marked}
    for (system, segment, rater, by), errors in rows.items():
        line: dict[str, object] = {"system": system, "segment": segment + 1, "kind": kind}
        line |= {} if rater is None else {"rater": rater}
        line |= {} if by == "person" else {"by": by}
        if (system, segment, rater) in scores:
            line["score"] = scores[system, segment, rater]
        yield {**line, "errors": [_error_object(error) for error in errors]}


def _scores(testset: TestSet, kind: str) -> dict[tuple[str, int, str | None], float]:
    """Scores by system, segment and rater; the means over raters where nobody is named."""
    return {
        (system, segment, human.rater): value
        for human in scores_of_raters(testset, kind)
        for system, values in zip(human.systems, human.values.tolist(), strict=True)
        for segment, value in enumerate(values)
        if value == value  # noqa: PLR0124  # NaN alone differs from itself
    }


def _error_object(error: ErrorSpan) -> dict[str, object]:
    values: dict[str, object] = {"start": error.start, "end": error.end}
    values |= {} if error.side == "candidate" else {"side": error.side}
    values["severity"] = error.severity
    values |= {"category": error.category} if error.category else {}
    values |= {} if error.score is None else {"penalty": error.score}
    return values | ({} if error.confidence is None else {"confidence": error.confidence})


# The tables of WMT's tasks of error span detection.


_SYSTEM = ("system_id", "mt_model")
_SOURCE = ("source_segment", "source")
_OUTPUT = ("hypothesis_segment", "target")
_NUMBER = ("segment_id", "seg_id")
_CELLS = (
    ("start_indices", "end_indices", "error_types"),
    ("error start id", "error end id", "error type"),
    ("error_start", "error_end", "error_type"),
)
_NONE = ("", "-1", "no-error")


def read_task_spans(file: JudgedFile) -> Judgements:
    """Read a table of a task of error span detection, of people or of a participant.

    Segments are found by their texts. Scores are minus the penalties of the errors, 0 where there
    is none: they say which outputs were looked at.
    """
    table = read_tsv(file.path)
    there = [names for names in _CELLS if set(names) <= set(table.columns)]
    cells = there[0] if there else _CELLS[0]
    table.require(*cells)
    system, output, source, number = (
        next((name for name in names if name in table.columns), None)
        for names in (_SYSTEM, _OUTPUT, _SOURCE, _NUMBER)
    )
    if system is None or output is None:
        table.require(_SYSTEM[0] if system is None else _OUTPUT[0])
    rows: Iterable[FileRecord] = table
    if {"source_lang", "target_lang"} <= set(table.columns):
        rows = file.select_pair(table, lambda row: f"{row['source_lang']}-{row['target_lang']}")
    costs = MqmWeights({"critical": 5.0, **(file.weights or {})})
    for row in rows:
        name, text = file.names.match(row[system or ""]), row[output or ""]
        segment = file.segment_of_texts(
            row, row[number] if number else None, row[source] if source else None, {name: text}
        )
        own_text, errors = file.text("candidate", name, segment), []
        for span, severity in _cells(row, cells, len(text), file.ends):
            errors.append(
                ErrorSpan(
                    name,
                    segment,
                    "candidate",
                    *(span if own_text is None else file.span_in(span, text, own_text)),
                    "",
                    severity,
                    None,
                    file.kind,
                    0.0 if severity == "undecided" else costs.cost(row, severity, ""),
                    by="person" if file.kind in ("esa", "mqm") else "metric",
                )
            )
        score = file.minus(sum(error.score or 0.0 for error in errors))
        file.outputs[row.line] = AnnotatedOutput(file.kind, None, name, segment, score, errors)
    return file.judgements()


def _cells(
    row: FileRecord, cells: Sequence[str], length: int, ends: SpanEnds
) -> Iterator[tuple[Span, str]]:
    starts, stops, severities = (re.split("[ ,]+", row[name].strip()) for name in cells)
    if starts[0] in _NONE and severities[0].lower() in _NONE:
        return
    if not len(starts) == len(stops) == len(severities):
        raise row.error(
            f"{cells[0]}, {cells[1]} and {cells[2]} hold {len(starts)}, {len(stops)} and"
            f" {len(severities)} values between spaces; one of each is expected per error"
        )
    for start, end, severity in zip(starts, stops, severities, strict=True):
        if start == "missing":
            yield Span(length, length), severity
            continue
        first, last = whole_number(start), whole_number(end)
        if not 0 <= first <= last:
            raise row.error(f"an error spans {start!r} to {end!r}; 0 <= start <= end is expected")
        if is_error(severity, ""):
            behind = last + (ends == "last")
            yield Span(min(first, length), min(behind, length)), severity


def _is_task_table(head: FileHead) -> bool:
    return any(set(names) <= head.columns for names in _CELLS) and bool(set(_SYSTEM) & head.columns)


FORMATS = (
    JudgementFormat(
        name="spans",
        title="error spans of people, metrics and judges, JSONL: system, segment, errors",
        recognise=lambda head: {"system", "segment", "errors"} <= head.keys,
        defaults={"kind": "", "rename": None},
        read=read_span_lines,
        write=write_span_lines,
        suffix=".jsonl",
    ),
    JudgementFormat(
        name="wmt-qe-spans",
        title="WMT 2023 to 2025 error span detection, TSV: start_indices end_indices error_types",
        recognise=_is_task_table,
        defaults={
            "kind": "spans",
            "rename": None,
            "language_pair": None,
            "weights": None,
            "ends": "behind",
        },
        read=read_task_spans,
        after=("mqm",),
    ),
)
