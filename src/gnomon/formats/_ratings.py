"""Error spans as mt-metrics-eval keeps them.

==============  =========================================================================
format          one record
==============  =========================================================================
``ratings``     ``SYSTEM JSON [RATER]`` between tabs, a block per system in the order of
                the segments, ``None`` = not rated: ``LP.NAME.seg.rating``
``ratings-json``  an object with ``source, hypothesis, errors, segment_id`` (from 0),
                ``system_id, rater_id`` and more: what its converters call standalone
==============  =========================================================================

JSON is ``{"errors": [{"start", "end", "category", "severity", "score", "is_source_error"}]}`` with
half-open spans. The score of a segment is minus the sum of its errors' scores; errors without a
score are weighted as under MQM.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, cast

from gnomon.errors import DataError, FormatError
from gnomon.formats._files import plain_name
from gnomon.formats._judged import ScoreTable, SystemNames, in_scale
from gnomon.formats._lines import read_lines, shown, write_lines
from gnomon.formats._mqm_weights import Weights, is_error
from gnomon.formats._mt_metrics_eval import UNKNOWN
from gnomon.formats._mt_metrics_eval_write import check_word
from gnomon.formats._placing import Places, placed
from gnomon.formats._records import Record, finite, parse_object, read_records
from gnomon.human import ErrorSpan, Judgements
from gnomon.spans import Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from os import PathLike

    from gnomon.testset import TestSet

_FILE = re.compile(r"(?:(?P<pair>[^.]+-[^.]+)\.)?(?P<kind>.+?)(?:\.seg)?\.rating", re.DOTALL)


def read_ratings(
    path: str | PathLike[str],
    testset: TestSet,
    *,
    kind: str | None = None,
    weights: Mapping[str, float] | None = None,
    rename: Mapping[str, str] | None = None,
    others: Iterable[str] = (),
) -> Judgements:
    """Read a rating file: segment scores and error spans.

    Args:
        path: the file.
        testset: whose outputs were rated.
        kind: what to call them; the NAME in the file's name by default.
        weights: changes to :data:`gnomon.formats.MQM_WEIGHTS`, for errors without a score.
        rename: name in the file -> name in the test set.
        others: systems that have a text, but were not asked for.

    Raises:
        FormatError: a line is not what it should be, a system has another number of lines than
            the test set has segments, or a span does not fit its text.
        DataError: no system of the file is in the test set.
    """
    name = shown(path)
    match = _FILE.fullmatch(Path(name).name.removesuffix(".gz"))
    label = kind or (match["kind"] if match else "ratings")
    reader = _Reader(name, testset, label, weights, SystemNames(testset, rename, others))
    counts: dict[str, int] = {}
    for line, text in enumerate(read_lines(path), start=1):
        fields = text.split("\t")
        if len(fields) not in (2, 3):
            raise FormatError(
                f"{len(fields)} tab-separated fields; SYSTEM, JSON (or {UNKNOWN}) and, optionally,"
                " RATER are expected",
                path=name,
                line=line,
            )
        system = reader.names.of(fields[0])
        segment = counts.setdefault(system, 0)
        counts[system] += 1
        if segment < testset.segments and fields[1] != UNKNOWN:
            rater = fields[2] if len(fields) == 3 and fields[2] != UNKNOWN else None
            reader.add(parse_object(name, line, fields[1]), system, segment, rater)
    for system, count in counts.items():
        if count != testset.segments:
            raise FormatError(
                f"system {system!r} has {count} lines; {testset.segments} are expected, one per"
                f" segment, with {UNKNOWN} where it was not rated",
                path=name,
            )
    return reader.judgements()


def read_standalone(
    path: str | PathLike[str],
    testset: TestSet,
    *,
    kind: str | None = None,
    weights: Mapping[str, float] | None = None,
    rename: Mapping[str, str] | None = None,
    first_segment: int = 0,
) -> Judgements:
    """Read mt-metrics-eval's standalone ratings; arguments as for :func:`read_ratings`.

    Raises:
        FormatError: an object lacks a key, or is of no segment of the test set.
        DataError: no system of the file is in the test set.
    """
    names = SystemNames(testset, rename)
    reader = _Reader(shown(path), testset, kind or _plain(path), weights, names)
    places = Places(testset, shown(path))
    for record in read_records(path, "jsonl"):
        system = reader.names.of(record.text("system_id"))
        number = record.name("segment_id")
        segment = places.of(
            placed(number, first_segment),
            record.text("source"),
            {system: record.text("hypothesis")},
            record.line,
        )
        rater = record.values.get("rater_id")
        reader.add(record, system, segment, None if rater is None else str(rater))
    places.report()
    return reader.judgements()


def write_ratings(path: str | PathLike[str], testset: TestSet, kind: str) -> None:
    """Write error spans of a kind as one rating file.

    A segment without an error is written as rated if it has a score of this kind.

    Raises:
        DataError: there are none, two raters marked the same output (one file holds one rater per
            output), or a name cannot be held.
        OutputError: the file cannot be written.
    """
    write_lines(path, rating_lines(testset, kind))


def rating_lines(testset: TestSet, kind: str) -> Iterator[str]:
    """The lines of a rating file: see :func:`write_ratings`."""
    raters = _raters(testset, kind)
    errors: dict[tuple[str, int], list[ErrorSpan]] = {}
    for error in testset.errors:
        if error.kind == kind:
            errors.setdefault((error.system, error.segment), []).append(error)
    if not raters:
        raise DataError(f"there are no error spans or segment scores of the kind {kind!r}")
    for system in dict.fromkeys(name for name, _ in raters):
        check_word("system", system)
        for segment in range(testset.segments):
            if (system, segment) not in raters:
                yield f"{system}\t{UNKNOWN}"
                continue
            found = [_error_object(error) for error in errors.get((system, segment), ())]
            rater = raters[system, segment]
            text = json.dumps({"errors": found}, ensure_ascii=False)
            yield f"{system}\t{text}" + (f"\t{rater}" if rater else "")


class _Reader:
    """Ratings as they come in."""

    def __init__(
        self,
        path: str,
        testset: TestSet,
        kind: str,
        weights: Mapping[str, float] | None,
        names: SystemNames,
    ) -> None:
        self.names = names
        self._path = path
        self._testset = testset
        self._kind = kind
        self._weights = Weights(weights)
        self._scores = ScoreTable(path, testset.segments)
        self._errors: list[ErrorSpan] = []
        self._seen: dict[tuple[str | None, str, int], int] = {}

    def add(self, record: Record, system: str, segment: int, rater: str | None) -> None:
        place = (rater, system, segment)
        if place in self._seen:
            raise record.error(
                f"a second rating of segment {segment + 1} of {system} by the same rater; line"
                f" {self._seen[place]} has the first"
            )
        self._seen[place] = record.line
        errors = record.value("errors")
        if not isinstance(errors, list) or not all(isinstance(error, dict) for error in errors):
            raise record.error("errors must be a list of objects, empty if there are none")
        found = [self._error(record, cast("dict[str, object]", e), place) for e in errors]
        self._errors += found
        self._scores.add(rater, system, segment, 0.0 - sum(e.score or 0.0 for e in found))

    def _error(
        self, record: Record, error: dict[str, object], place: tuple[str | None, str, int]
    ) -> ErrorSpan:
        rater, system, segment = place
        side = "source" if error.get("is_source_error") else "candidate"
        category, severity = (str(error.get(key) or "") for key in ("category", "severity"))
        span = _span(record, error, self._text(side, system, segment))
        score = error.get("score")
        if score is None:
            cost = self._cost(record, severity, category)
        else:
            cost = finite(record, "the score of an error", score)
            in_scale("", cost, record.path, record.line)
        return ErrorSpan(system, segment, side, *span, category, severity, rater, self._kind, cost)

    def _text(self, side: str, system: str, segment: int) -> str | None:
        texts = self._testset.sources if side == "source" else self._testset.systems.get(system)
        return None if texts is None else texts[segment]

    def _cost(self, record: Record, severity: str, category: str) -> float:
        if not is_error(severity, category):
            return 0.0
        try:
            return self._weights.of(severity, category)
        except DataError as error:
            raise record.error(str(error)) from error

    def judgements(self) -> Judgements:
        self.names.report(self._path)
        scores = self._scores.scores(self._kind, self.names)
        return Judgements(scores, errors=tuple(self._errors))


def _span(record: Record, error: Mapping[str, object], text: str | None) -> Span:
    start, end = error.get("start"), error.get("end")
    high = float("inf") if text is None else len(text)
    if type(start) is not int or type(end) is not int or not 0 <= start <= end <= high:
        of = "" if text is None else f", the text has {len(text)} characters"
        raise record.error(
            f"an error spans {start!r} to {end!r}{of}; whole numbers 0 <= start <= end are"
            " expected, in characters, end not included"
        )
    return Span(start, end)


def _error_object(error: ErrorSpan) -> dict[str, object]:
    return {
        "start": error.start,
        "end": error.end,
        "category": error.category or None,
        "severity": error.severity or None,
        "score": error.score,
        "is_source_error": error.side == "source",
    }


def _raters(testset: TestSet, kind: str) -> dict[tuple[str, int], str]:
    """Who rated each output, in the order of systems."""
    rated: dict[tuple[str, int], str] = {}

    def note(rater: str | None, place: tuple[str, int]) -> None:
        if rated.get(place) not in (None, "", rater or ""):
            raise DataError(
                f"segment {place[1] + 1} of {place[0]} has ratings by {rated[place]} and {rater};"
                " a rating file holds one rater per output: write the MQM format instead"
            )
        rated[place] = rater or ""

    scored = [h for h in testset.human if h.level == "segment"]
    humans = [h for h in scored if h.kind == kind] or [
        h for h in scored if h.kind == kind.partition(".")[0]
    ]
    named = [h for h in humans if h.rater is not None]
    for human in named or humans:
        for system, values in zip(human.systems, human.values, strict=True):
            for segment, value in enumerate(values):
                if value == value:  # noqa: PLR0124  # NaN alone differs from itself
                    note(human.rater, (system, segment))
    for error in testset.errors:
        if error.kind == kind:
            note(error.rater, (error.system, error.segment))
    return rated


def _plain(path: str | PathLike[str]) -> str:
    return plain_name(shown(path)).removesuffix(".jsonl").removesuffix(".ndjson")


def kind_of(name: str, pair: str) -> str | None:
    """The NAME in ``LP.NAME.seg.rating``, if a file is called so."""
    match = _FILE.fullmatch(name.removesuffix(".gz"))
    return match["kind"] if match and match["pair"] == pair else None
