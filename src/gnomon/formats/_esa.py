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
"""

from __future__ import annotations

import json
from itertools import count
from typing import TYPE_CHECKING, cast

from gnomon.errors import DataError
from gnomon.formats._esa_record import MISSING, Annotations
from gnomon.formats._language_rows import of_pair
from gnomon.formats._lines import shown, write_lines
from gnomon.formats._marked import to_browser
from gnomon.formats._placing import Places, placed
from gnomon.formats._records import read_records
from gnomon.spans import Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from os import PathLike

    from gnomon.formats._records import Record
    from gnomon.human import ErrorSpan, HumanScores, Judgements
    from gnomon.testset import TestSet

_NO_TASK = ("welcome_", "random_", "goodbye_")


def read_pearmut(
    path: str | PathLike[str],
    testset: TestSet,
    *,
    kind: str = "esa",
    rename: Mapping[str, str] | None = None,
) -> Judgements:
    """Read the answers that pearmut logs: segment scores (mean and each person) and error spans.

    Segments are found by their texts. Tutorials, attention checks and forms are left out; of
    several answers of one person to one item, the last counts.

    Args:
        path: the file.
        testset: whose outputs were annotated.
        kind: what to call scores and errors.
        rename: name in the file -> name in the test set.

    Raises:
        FormatError: an object is not what it should be, or is of no segment of the test set.
        DataError: no system of the file is in the test set.
    """
    found = Annotations(shown(path), testset, kind, rename)
    places = Places(testset, shown(path))
    for record in read_records(path, "jsonl"):
        items, answers = record.values.get("item"), record.value("annotation")
        if str(record.values.get("item_i")).startswith(_NO_TASK):
            found.controls += 1
            continue
        if not isinstance(items, list) or not isinstance(answers, list):
            raise record.error(
                "item and annotation must be lists, one element per segment; older logs of pearmut"
                " without the texts (item) cannot be placed: export them with a newer version"
            )
        if len(items) != len(answers):
            raise record.error(f"{len(items)} items, but {len(answers)} annotations")
        for item, answer in zip(items, answers, strict=True):
            _add_item(found, places, record, item, answer)
    places.report()
    return found.judgements()


def read_esa(
    path: str | PathLike[str],
    testset: TestSet,
    *,
    kind: str = "esa",
    rename: Mapping[str, str] | None = None,
    language_pair: str | None = None,
    first_segment: int = 0,
) -> Judgements:
    """Read one annotated output per line; arguments and errors as for :func:`read_pearmut`."""
    records = read_records(path, "jsonl")
    if any("langs" in record.values for record in records):
        wanted = language_pair or testset.language_pair
        records = of_pair(records, lambda record: record.text("langs"), wanted, shown(path))
    found = Annotations(shown(path), testset, kind, rename)
    places = Places(testset, shown(path))
    for record in records:
        system = found.names.of(record.text("system"))
        number, text = record.name("line_id"), record.text("tgt")
        segment = places.of(
            placed(number, first_segment),
            record.text("src") if "src" in record.values else None,
            {system: text},
            record.line,
        )
        rater = record.values.get("annotator")
        found.add(
            record,
            None if rater is None else str(rater),
            system,
            segment,
            _number(record.value("esa_score")),
            record.value("esa_spans"),
            text,
        )
    places.report()
    return found.judgements()


def read_humeval(
    path: str | PathLike[str],
    testset: TestSet,
    *,
    kind: str = "esa",
    rename: Mapping[str, str] | None = None,
    language_pair: str | None = None,
) -> Judgements:
    """Read one annotated segment per line; arguments and errors as for :func:`read_pearmut`."""
    records = [r for r in read_records(path, "jsonl") if r.value("scores")]
    if all("_#_" in record.text("doc_id") for record in records):
        wanted = language_pair or testset.language_pair
        pairs = {record.text("doc_id").partition("_#_")[0] for record in records}
        if all("-" in pair and "test" not in pair for pair in pairs):
            records = of_pair(
                records, lambda r: r.text("doc_id").partition("_#_")[0], wanted, shown(path)
            )
    found = Annotations(shown(path), testset, kind, rename)
    places = Places(testset, shown(path))
    for record in records:
        texts = _texts(record, record.value("tgt_text"), found)
        segment = places.of(None, record.text("src_text"), texts, record.line)
        scores = record.value("scores")
        if not isinstance(scores, dict):
            raise record.error("scores must be an object: system -> annotations")
        for name, given in scores.items():
            system = found.names.of(name)
            for rater, score, spans in _rounds(record, given):
                found.add(record, rater, system, segment, score, spans, texts.get(system))
    places.report()
    return found.judgements()


def write_esa(path: str | PathLike[str], testset: TestSet, kind: str) -> None:
    """Write scores and error spans of a kind, one annotated output per line (format ``esa``).

    Raises:
        DataError: there are no segment scores of this kind, or a system has no text.
        OutputError: the file cannot be written.
    """
    write_lines(
        path, [json.dumps(record, ensure_ascii=False) for record in _objects(testset, kind)]
    )


def _add_item(
    found: Annotations, places: Places, record: Record, item: object, answer: object
) -> None:
    if answer is None or not isinstance(item, dict) or "tgt" not in item or "validation" in item:
        found.controls += 1
        return
    if not isinstance(answer, dict):
        raise record.error("an annotation must be an object: system -> score and error_spans")
    texts = _texts(record, item["tgt"], found)
    number = str(item.get("item_id", "")).rpartition("-")[2]
    source = item.get("src")
    segment = places.of(
        placed(number, 0),
        source if isinstance(source, str) else None,
        texts,
        record.line,
    )
    user = record.values.get("user_id")
    for name, given in answer.items():
        if not isinstance(given, dict):
            raise record.error(f"the annotation of {name!r} must be an object with a score")
        system = found.names.of(name)
        rater = None if user is None else str(user)
        spans = given.get("error_spans")
        found.add(record, rater, system, segment, given.get("score"), spans, texts.get(system))


def _texts(record: Record, given: object, found: Annotations) -> dict[str, str]:
    if not isinstance(given, dict) or not all(isinstance(text, str) for text in given.values()):
        raise record.error("the outputs must be an object: system -> text")
    return {found.names.plain(name): text for name, text in cast("dict[str, str]", given).items()}


def _rounds(record: Record, given: object) -> Iterator[tuple[str | None, object, object]]:
    """Rater, score and spans of each annotation of one output."""
    if isinstance(given, list) and all(isinstance(one, dict) for one in given):
        for number, one in enumerate(given, start=1):
            score = one["score"] if "score" in one else one.get("human")
            yield str(one.get("annotator") or f"round {number}"), _number(score), one.get("errors")
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


def _objects(testset: TestSet, kind: str) -> Iterator[dict[str, object]]:
    humans = [h for h in testset.human if (h.kind, h.level) == (kind, "segment")]
    if not humans:
        raise DataError(f"there are no segment scores of the kind {kind!r}")
    errors: dict[tuple[str | None, str, int], list[ErrorSpan]] = {}
    for error in testset.errors:
        if error.kind == kind:
            errors.setdefault((error.rater, error.system, error.segment), []).append(error)
    for human in [h for h in humans if h.rater is not None] or humans:
        for system in human.systems:
            if system not in testset.systems:
                raise DataError(f"system {system!r} has no text in the test set; leave it out")
            yield from _of_system(testset, human, system, errors)


def _of_system(
    testset: TestSet,
    human: HumanScores,
    system: str,
    errors: Mapping[tuple[str | None, str, int], list[ErrorSpan]],
) -> Iterator[dict[str, object]]:
    for segment, score in enumerate(human.of(system)):
        if score != score:  # noqa: PLR0124  # NaN alone differs from itself
            continue
        text = testset.systems[system][segment]
        head: dict[str, object] = {"line_id": segment}
        if testset.language_pair and "-" in testset.language_pair:
            head["langs"] = testset.language_pair
        if testset.sources is not None:
            head["src"] = testset.sources[segment]
        spans = [_object(e, text) for e in errors.get((human.rater, system, segment), ())]
        rest = {"tgt": text, "esa_spans": spans, "esa_score": float(score), "system": system}
        yield {**head, **rest, "annotator": human.rater}


def _object(error: ErrorSpan, text: str) -> dict[str, object]:
    span = Span(error.start, error.end)
    start, last = (MISSING, MISSING) if span.start == span.end else to_browser(span, text)
    return {
        "start_i": start,
        "end_i": last,
        "severity": error.severity,
        "error_type": error.category or None,
    }
