"""Error span annotation (ESA) in JSON, one object per line.

===================  =====================================================================
format               one object
===================  =====================================================================
``pearmut``          a person's answers to one document: ``user_id, item_i``, ``item`` (a
                     list of ``{"src", "tgt": {SYSTEM: TEXT}, "item_id"}``) and
                     ``annotation`` (a list of ``{SYSTEM: {"score", "error_spans"}}``)
``esa``              one output: ``system, annotator, line_id`` (from 0), ``src, tgt,
                     esa_score, esa_spans`` (WMT 2024)
``wmt-humeval``      one segment: ``src_text``, ``tgt_text`` and ``scores`` by system, of
                     ``human1, annotator1, errors1, human2, ...`` or a list of ``score``
                     (or ``human``), ``annotator, errors`` (WMT 2024 and 2025)
===================  =====================================================================

Spans are what a browser counted: UTF-16 units, the last one included (the tools colour a character
where ``start_i <= number <= end_i``), line ends apart; they become half-open code points. An error
in something that is missing becomes an empty span at the end of the output, of the category
"missing" if it has none.
"""

from __future__ import annotations

import re
from itertools import count
from typing import TYPE_CHECKING

from gnomon.core.errors import FormatError, RowNumber
from gnomon.core.human import RepeatedScore
from gnomon.core.spans import ErrorSpan, Span
from gnomon.data.formats._campaigns import segment_of_item
from gnomon.data.formats._judged_file import (
    AnnotatedOutput,
    check_scale,
    confidence_of,
    marker_of,
)
from gnomon.data.formats._lines import read_text
from gnomon.data.formats._records import parse_json, read_records
from gnomon.data.formats._registry import JudgementFormat
from gnomon.data.formats.error_marks import decode_browser_span
from gnomon.data.formats.rows import FileRecord

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gnomon.core.human import Judgements
    from gnomon.data.formats._judged_file import JudgedFile
    from gnomon.data.formats.error_marks import SpanEnds
    from gnomon.data.formats.rows import FileHead


# What the formats of error span annotation (ESA) share: a score and spans per output.


MISSING = "missing"


def annotate(
    file: JudgedFile,
    record: FileRecord,
    key: tuple[str | None, str, int],
    score: object,
    spans: object,
    text: str | None = None,
) -> None:
    """Take an annotation in; of several by one person of one output, the last counts.

    The key is the rater, the system and the segment.
    """
    rater, system, segment = key
    if rater is None and key in file.outputs:
        raise record.error(
            f"a second annotation of segment {segment + 1} of {system}, and nothing says who"
            " made either; name the annotators, or keep one"
        )
    before = file.outputs.get(key)
    if before is not None:
        file.counts["outputs were annotated again by the same person"] += 1
        if before.score is not None:
            file.repeated.append(RepeatedScore(file.kind, *key, before.score))
    value = None if score is None else record.finite("the score", score)
    if value is not None:
        check_scale(file.kind, value, record)
    errors = None
    if spans is not None:
        if not isinstance(spans, list) or not all(isinstance(span, dict) for span in spans):
            raise record.error("the error spans must be a list of objects, empty if there are none")
        errors = [_error(file, record, key, span, text) for span in spans]
    file.outputs[key] = AnnotatedOutput(file.kind, *key, value, errors, record.line)


def _error(
    file: JudgedFile,
    record: FileRecord,
    key: tuple[str | None, str, int],
    span: Mapping[str, object],
    annotated: str | None,
) -> ErrorSpan:
    rater, system, segment = key
    own_text = file.text("candidate", system, segment)
    text = annotated or "" if own_text is None else own_text
    marked = _browser_span(record, span, text if annotated is None else annotated, file.ends)
    category = str(span.get("category") or span.get("error_type") or "")
    if marked is None:
        category = category or MISSING
    elif annotated is not None and own_text is not None:
        marked = file.span_in(marked, annotated, own_text)
    start, end = marked or Span(len(text), len(text))
    return ErrorSpan(
        system,
        segment,
        "candidate",
        start,
        end,
        category,
        str(span.get("severity") or ""),
        rater,
        file.kind,
        confidence=confidence_of(record, span),
        by=marker_of(record, span),
    )


def _browser_span(
    record: FileRecord, span: Mapping[str, object], text: str, ends: SpanEnds
) -> Span | None:
    start, last = span.get("start_i"), span.get("end_i")
    if MISSING in (start, last):
        return None
    if type(start) is not int or type(last) is not int or start > last or start < 0:
        raise record.error(
            f"an error spans start_i {start!r} to end_i {last!r}; whole numbers 0 <= start_i <="
            f" end_i are expected (end_i is the last character), or {MISSING!r}"
        )
    return decode_browser_span(start, last - (ends == "behind"), text)


_CONTROLS = "annotations are tutorials or controls and are left out"
_NO_TASK = ("welcome_", "random_", "goodbye_")
_WITHDRAWN = (
    "__RESET__"  # in place of an annotation: what the person answered before does not count
)


def read_pearmut(file: JudgedFile) -> Judgements:
    """Read the answers that pearmut logs: segment scores (mean and each person) and error spans.

    The file is a log (JSONL), or what its dashboard downloads: a JSON object with the logs of
    campaigns by name. Segments are found by their texts. Tutorials, attention checks and forms are
    left out, and so are answers before a person's task was reset; of several answers of one person
    to one item, the last counts.
    """
    for record in _counted_answers(file):
        items, answers = record.values.get("item"), record.value("annotation")
        if str(record.values.get("item_i")).startswith(_NO_TASK):
            file.counts[_CONTROLS] += 1
            continue
        if not isinstance(items, list) or not isinstance(answers, list):
            raise record.error(
                "item and annotation must be lists, one element per segment; older logs of pearmut"
                " without the texts (item) cannot be placed: export them with a newer version"
            )
        if len(items) != len(answers):
            raise record.error(f"{len(items)} items, but {len(answers)} annotations")
        for item, answer in zip(items, answers, strict=True):
            _add_item(file, record, item, answer)
    return file.judgements()


def _counted_answers(file: JudgedFile) -> Iterator[FileRecord]:
    """The answers without those that were withdrawn."""
    name = file.path.removesuffix(".gz")
    campaigns = _downloaded(file.path) if name.endswith(".json") else None
    for records in campaigns or [read_records(file.path, "jsonl")]:
        resets = {
            record.optional("user_id"): number
            for number, record in enumerate(records)
            if record.values.get("annotation") == _WITHDRAWN
        }
        for number, record in enumerate(records):
            reset = resets.get(record.optional("user_id"), -1)
            if number > reset:
                yield record
            elif number < reset:
                file.counts["answers were withdrawn (the task was reset) and are left out"] += 1


def _downloaded(path: str) -> list[list[FileRecord]]:
    """The logs of campaigns in what pearmut's dashboard downloads; none if it is something else."""
    text = read_text(path)
    if _DOWNLOAD.match(text) is None:
        return []
    campaigns = parse_json(path, text)
    logs = []
    for name, log in campaigns.items() if isinstance(campaigns, dict) else ():
        whole = isinstance(log, list) and all(isinstance(answer, dict) for answer in log)
        if not whole:
            raise FormatError(
                f"the log of the campaign {name!r} must be a list of objects, one per answer",
                path=path,
            )
        logs.append([FileRecord(path, RowNumber(n), a) for n, a in enumerate(log, start=1)])
    return logs


#: how what pearmut's dashboard downloads begins
_DOWNLOAD = re.compile(r'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\[')


def _is_pearmut(head: FileHead) -> bool:
    if {"annotation", "user_id"} <= head.keys:
        return True
    some = '"annotation"' in head.text and '"item"' in head.text
    return head.name.endswith(".json") and some and _DOWNLOAD.match(head.text) is not None


def read_esa(file: JudgedFile) -> Judgements:
    """Read one annotated output per line."""
    records = read_records(file.path, "jsonl")
    if any("langs" in record.values for record in records):
        records = file.select_pair(records, lambda record: record.text("langs"))
    for record in records:
        system = file.names.match(record.text("system"))
        number, text = record.name("line_id"), record.text("tgt")
        source = record.text("src") if "src" in record.values else None
        segment = file.segment_of_texts(record, number, source, {system: text})
        rater, score = record.optional("annotator"), _number(record.value("esa_score"))
        annotate(file, record, (rater, system, segment), score, record.value("esa_spans"), text)
    return file.judgements()


def read_humeval(file: JudgedFile) -> Judgements:
    """Read one annotated segment per line."""
    records = [r for r in read_records(file.path, "jsonl") if r.value("scores")]
    if all("_#_" in record.text("doc_id") for record in records):
        pairs = [record.text("doc_id").partition("_#_")[0] for record in records]
        if all("-" in pair and "test" not in pair for pair in pairs):
            records = file.select_pair(records, lambda r: r.text("doc_id").partition("_#_")[0])
    for record in records:
        texts = _texts(record, record.value("tgt_text"), file)
        segment = file.segment_of_texts(record, None, record.text("src_text"), texts)
        scores = record.value("scores")
        if not isinstance(scores, dict):
            raise record.error("scores must be an object: system -> annotations")
        for name, given in scores.items():
            system = file.names.match(name)
            for rater, score, spans in _rounds(record, given):
                annotate(file, record, (rater, system, segment), score, spans, texts.get(system))
    return file.judgements()


def _add_item(file: JudgedFile, record: FileRecord, item: object, answer: object) -> None:
    if answer is None or not isinstance(item, dict) or "tgt" not in item or "validation" in item:
        file.counts[_CONTROLS] += 1
        return
    if not isinstance(answer, dict):
        raise record.error("an annotation must be an object: system -> score and error_spans")
    texts = _texts(record, item["tgt"], file)
    item_id = str(item.get("item_id", ""))
    source = item.get("src") if isinstance(item.get("src"), str) else None
    segment = segment_of_item(item_id)
    if segment is None or not file.has_texts(segment, source, texts):
        number = item_id.rpartition("-")[2]
        segment = file.segment_of_texts(record, number, source, texts)
    rater = record.optional("user_id")
    for name, given in answer.items():
        if not isinstance(given, dict):
            raise record.error(f"the annotation of {name!r} must be an object with a score")
        system = file.names.match(name)
        score, spans = given.get("score"), given.get("error_spans")
        annotate(file, record, (rater, system, segment), score, spans, texts.get(system))


def _texts(record: FileRecord, given: object, file: JudgedFile) -> dict[str, str]:
    if not isinstance(given, dict) or not all(isinstance(text, str) for text in given.values()):
        raise record.error("the outputs must be an object: system -> text")
    return {file.names.plain(name): text for name, text in given.items()}


def _rounds(record: FileRecord, given: object) -> Iterator[tuple[str | None, object, object]]:
    """Rater, score and spans of each annotation of one output."""
    if isinstance(given, list) and all(isinstance(annotation, dict) for annotation in given):
        for number, annotation in enumerate(given, start=1):
            rater = str(annotation.get("annotator") or f"round {number}")
            score = annotation["score"] if "score" in annotation else annotation.get("human")
            yield rater, _number(score), annotation.get("errors")
    elif isinstance(given, dict):
        for number in count(1):
            if f"human{number}" not in given:
                break
            rater = str(given.get(f"annotator{number}") or f"round {number}")
            yield rater, _number(given[f"human{number}"]), given.get(f"errors{number}")
    else:
        raise record.error("the annotations of a system must be an object or a list of objects")


def _number(value: object) -> object:
    """WMT's files write some scores as strings."""
    if isinstance(value, str) and value.replace(".", "", 1).isdigit() and value.isascii():
        return float(value) if len(value) < 20 else value
    return value


FORMATS = (
    JudgementFormat(
        name="pearmut",
        title="pearmut logs, JSONL or downloaded as JSON: user_id, item, annotation",
        recognise=_is_pearmut,
        defaults={"kind": "esa", "rename": None, "ends": "last"},
        read=read_pearmut,
        after=("mt-metrics-eval", "ratings"),
    ),
    JudgementFormat(
        name="esa",
        title="one annotated output per line, JSONL: system, tgt, esa_score, esa_spans",
        recognise=lambda head: {"esa_score", "system"} <= head.keys,
        defaults={
            "kind": "esa",
            "rename": None,
            "language_pair": None,
            "first_segment": 0,
            "ends": "last",
        },
        read=read_esa,
    ),
    JudgementFormat(
        name="wmt-humeval",
        title="WMT 2024 and 2025, JSONL: src_text, tgt_text, scores",
        recognise=lambda head: {"scores", "tgt_text"} <= head.keys,
        defaults={"kind": "esa", "rename": None, "language_pair": None, "ends": "last"},
        read=read_humeval,
    ),
)
