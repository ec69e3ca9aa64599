"""Errors that raters marked under MQM, in the public TSV files.

One row per error, fields between tabs without quoting::

    system doc doc_id seg_id rater source target category severity [comment]

The error stands between ``<v>`` and ``</v>`` in the target, or in the source. A segment without an
error has one row ``No-error``. MQM Viewer's columns (``doc_seg_id``, ``global_seg_id``,
``metadata``) are read alike.

The score of a segment is minus the sum of its penalties, averaged over its raters (Freitag et al.
2021, "Experts, Errors, and Context").
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from gnomon.errors import DataError, FormatError, UnknownNameError, UsageError
from gnomon.formats._error_marks import MarkedText, mark, moved, solid, unmark, unquoted
from gnomon.formats._files import LOGGER
from gnomon.formats._judgements import (
    ScoreTable,
    SegmentFinder,
    SystemNames,
    judged_by_penalties,
    rated_kind,
    require_spans,
    say_count,
)
from gnomon.formats._passages import Choices, Collected, PassagePlace, Passages, assemble
from gnomon.formats._quality_estimation import pair_of
from gnomon.formats._registry import FoundSet, JudgementFormat, SetFormat
from gnomon.formats._rows import read_tsv, whole_number, write_tsv
from gnomon.human import Judgements, clean_outputs, marked_kinds, scale_of
from gnomon.spans import ErrorSpan, Span
from gnomon.testset import SystemInfo

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from os import PathLike

    from gnomon.formats._passages import Incomplete
    from gnomon.formats._rows import FileHead, FileRecord, TextTable
    from gnomon.human import HumanScores
    from gnomon.testset import TestSet


# What an error costs under MQM.


MQM_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "major": 5.0,
        "minor": 1.0,
        "minor/fluency/punctuation": 0.1,
        "minor/linguistic conventions/punctuation": 0.1,
        "*/non-translation": 25.0,
        "neutral": 0.0,
        "no-error": 0.0,
    }
)
"""Freitag et al. (2021), section 3.2: ``SEVERITY[/CATEGORY[/SUBCATEGORY]]`` -> penalty."""


_MOST = 1e6  # so that sums are numbers


class MqmWeights:
    """Penalties by severity and category, upper and lower case alike."""

    def __init__(self, changes: Mapping[str, float] | None = None) -> None:
        """Change some of the usual weights."""
        for name, weight in (changes or {}).items():
            if not 0 <= weight <= _MOST:
                raise UsageError(
                    f"the MQM weight of {name!r} is {weight!r}; a penalty from 0 to {_MOST:g} is"
                    " expected"
                )
        self._known: dict[tuple[str, str], float] = {}
        self._table = {_norm(n): float(w) for n, w in {**MQM_WEIGHTS, **(changes or {})}.items()}

    def of(self, severity: str, category: str) -> float:
        """The penalty of an error; the most specific weight counts, then the severity's own."""
        key = (severity, category)
        if key not in self._known:
            self._known[key] = self._find(severity, category)
        return self._known[key]

    def _find(self, severity: str, category: str) -> float:
        parts = _norm(category).split("/") if category else []
        for length in range(len(parts), -1, -1):
            for level in (_norm(severity), "*"):
                found = self._table.get("/".join([level, *parts[:length]]))
                if found is not None:
                    return found
        raise DataError(
            f"there is no MQM weight for the severity {severity!r} (category {category!r}); there"
            f" are: {', '.join(self._table)}; pass weights={{{severity.lower()!r}: PENALTY}}"
        )


def is_error(severity: str, category: str) -> bool:
    """Whether a row marks an error at all, rather than says that there is none."""
    return "no-error" not in (_norm(severity), _norm(category))


def _norm(name: str) -> str:
    parts = (part.strip().rstrip("!") for part in name.lower().split("/"))
    return "/".join(parts).replace("no error", "no-error")


COLUMNS = (
    "system",
    "doc",
    "doc_id",
    "seg_id",
    "rater",
    "source",
    "target",
    "category",
    "severity",
)
_ALIASES = {
    "seg_id": ("seg_id", "global_seg_id", "globalSegId"),
    "doc_id": ("doc_id", "doc_seg_id", "docSegId"),
}
NOT_RATED = "hotw"  # errors that the organisers put in to see whether raters find them


class _Rated(NamedTuple):
    """One row, placed in the test set."""

    system: str
    segment: int
    rater: str
    side: str
    marked: MarkedText


def read_mqm(
    path: str | PathLike[str],
    testset: TestSet,
    *,
    kind: str = "mqm",
    weights: Mapping[str, float] | None = None,
    rename: Mapping[str, str] | None = None,
    first_segment: int = 1,
    places: Mapping[tuple[str, str], int] | None = None,
) -> Judgements:
    """Read an MQM file: segment scores (mean and each rater) and error spans."""
    table = read_tsv(path)
    columns = columns_of(table)
    costs = MqmWeights(weights)
    reader = _MqmRows(table, testset, rename, first_segment, columns, places)
    scores = ScoreTable(table.path, testset.segments)
    sums: dict[tuple[str, str, int], float] = {}
    errors: list[ErrorSpan] = []
    for row in table:
        severity, category = row["severity"], row["category"]
        if severity.lower().startswith(NOT_RATED):
            reader.skipped += 1
            continue
        rated = reader.place(row)
        cost = _cost(costs, row)
        key = (rated.rater, rated.system, rated.segment)
        sums[key] = sums.get(key, 0.0) + cost
        if is_error(severity, category):
            errors.append(reader.error(row, rated, kind, cost))
    for (rater, system, segment), total in sums.items():
        scores.add(rater or None, system, segment, 0.0 - total)
    reader.report()
    return judged_by_penalties(kind, scores, errors, reader.names)


def columns_of(table: TextTable) -> dict[str, str]:
    """The table's own names of the columns."""
    names = {}
    for name in COLUMNS:
        there = [alias for alias in _ALIASES.get(name, (name,)) if alias in table.columns]
        if there:
            names[name] = there[0]
        elif name not in ("doc", "doc_id", "source"):
            table.require(name)
    return names


def _cost(costs: MqmWeights, row: FileRecord) -> float:
    try:
        return costs.of(row["severity"], row["category"])
    except DataError as error:
        raise row.error(str(error)) from error


class _MqmRows:
    """What the rows of one file are placed with, and what is said of them at the end."""

    def __init__(
        self,
        table: TextTable,
        testset: TestSet,
        rename: Mapping[str, str] | None,
        first: int,
        columns: Mapping[str, str],
        known: Mapping[tuple[str, str], int] | None,
    ) -> None:
        self.path = table.path
        self.testset = testset
        self.names = SystemNames(testset, rename)
        self.places = SegmentFinder(testset, table.path)
        self.columns = columns
        self.first = first
        self.known = known
        self.skipped = 0
        self.other_texts: list[int] = []
        self._texts = _Unquoting(testset)

    def place(self, row: FileRecord) -> _Rated:
        system = self.names.of(row["system"])
        source = self._unmarked(row, "source") if "source" in self.columns else None
        target = self._unmarked(row, "target")
        number = row[self.columns["seg_id"]]
        if whole_number(number) < 0:
            raise row.error(f"{self.columns['seg_id']} is {number!r}; a whole number is expected")
        if self.known is not None:
            segment = self.known[row.get("doc"), number]
        else:
            segment = self.places.of(
                int(number) - self.first,
                None if source is None else source.text,
                {system: target.text},
                row.line,
            )
        in_source = target.span is None and source is not None and source.span is not None
        side, marked = ("source", source) if in_source else ("candidate", target)
        return _Rated(system, segment, row["rater"], side, marked or target)

    def _unmarked(self, row: FileRecord, column: str) -> MarkedText:
        text = self._texts.of(row[column])
        found = unmark(text)
        if found is None:
            raise row.error(
                f"the marks in {column} do not pair up: {text[:80]!r}; an error stands between <v>"
                " and </v>"
            )
        return found

    def error(self, row: FileRecord, rated: _Rated, kind: str, cost: float) -> ErrorSpan:
        text, span = rated.marked
        mine = self._text_of(rated)
        place = Span(len(text), len(text)) if span is None else span
        if mine is not None:
            found = moved(place, text, mine)
            if found is None:
                self.other_texts.append(row.line)
            place = found or Span(len(mine), len(mine))
        return ErrorSpan(
            rated.system,
            rated.segment,
            rated.side,
            place.start,
            place.end,
            row["category"],
            row["severity"],
            rated.rater or None,
            kind,
            cost,
        )

    def _text_of(self, rated: _Rated) -> str | None:
        if rated.side == "source":
            return None if self.testset.sources is None else self.testset.sources[rated.segment]
        texts = self.testset.systems.get(rated.system)
        return None if texts is None else texts[rated.segment]

    def report(self) -> None:
        self.names.report(self.path)
        self.places.report()
        say_count(self.skipped, self.path, "rows test the raters (HOTW) and are left out")
        if self.other_texts:
            LOGGER.warning(
                "%s: %d errors are marked in a text that is not the test set's; they count, but"
                " have no place; the first is in line %d",
                self.path,
                len(self.other_texts),
                self.other_texts[0],
            )


class _Unquoting:
    """Some published files quote fields as spreadsheets do; told by the text that is rated."""

    def __init__(self, testset: TestSet) -> None:
        self._known = {
            "".join(text.split())
            for texts in (*testset.systems.values(), testset.sources or ())
            for text in texts
            if '"' in text
        }

    def of(self, text: str) -> str:
        if not text.startswith('"'):
            return text
        marks = text.replace("<v>", "").replace("</v>", "")
        return text if "".join(marks.split()) in self._known else unquoted(text)


# A test set from an MQM file alone: the rows carry the sources and the outputs that were rated.


KNOWN_BY = frozenset({"system", "rater", "source", "target", "category", "severity"})
_HUMAN = re.compile(r"(ref|reference|human)([-._ ]?[A-Z0-9])?(\.\d+)?", re.IGNORECASE)
_GLUED = re.compile(r"_([a-z]{2})([a-z]{2})(?=[._]|$)")


def read_mqm_set(
    path: str | PathLike[str],
    *,
    language_pair: str | None = None,
    references: Sequence[str] = (),
    incomplete: Incomplete = "refuse",
) -> TestSet:
    """Read the texts and the judgements of an MQM file that has both.

    The segments are those that were rated: by their numbers where these count through the set, else
    in the order of the file.

    Args:
        path: the file (``.gz`` allowed), in the columns of the public MQM files.
        language_pair: if the name of the file does not tell (``mqm_ted_ende.tsv``).
        references: human translations among the "systems", which become references; one that was
            rated throughout stays a system, too.
        incomplete: what becomes of a system of which not all segments were rated: "refuse" the
            file, "empty" texts there, or "drop" the system.

    Raises:
        FormatError: a column is missing, or a row is damaged.
        DataError: a system lacks segments.
        UnknownNameError: a reference is no system of the file.
    """
    table = read_tsv(path)
    table.require(*sorted(KNOWN_BY))
    found = _collected(table)
    _take_references(found, references)
    testset = assemble(
        found,
        path=table.path,
        language_pair=language_pair or pair_in_mqm(Path(path)),
        choices=Choices(("unreferenced",), incomplete),
    )
    human = [name for name in testset.systems if _HUMAN.fullmatch(name) or name in references]
    if human and not references:
        LOGGER.info(
            "%s: %s look like human translations; they can be made references",
            table.path,
            ", ".join(human),
        )
    testset = replace(testset, info={name: SystemInfo(human=True) for name in human})
    places = {(p.document, p.number): i for i, p in enumerate(found.parts[0].texts)}
    return testset.with_human(read_mqm(path, testset, places=places))


def pair_in_mqm(path: Path) -> str | None:
    """The language pair, from the name of the file or of its folder."""
    glued = _GLUED.findall(path.name)
    return "-".join(glued[-1]) if glued else pair_of(path)


def _take_references(found: Collected, references: Sequence[str]) -> None:
    outputs = {part.name: part for part in found.of("system")}
    for name in references:
        if name not in outputs:
            raise UnknownNameError("system to take as a reference", name, outputs)
        part = outputs[name]
        if len(part.texts) < len(found.parts[0].texts):
            found.parts.remove(part)
        found.parts.append(replace(part, role="reference"))


def _collected(table: TextTable) -> Collected:
    """Sources first, then each system, in the order of the segments."""
    column = columns_of(table)["seg_id"]
    sources = Passages("source", "", table.path)
    outputs: dict[str, Passages] = {}
    differing: list[int] = []
    for row in table:
        if row["severity"].lower().startswith(NOT_RATED):
            continue
        place = PassagePlace(row.get("doc"), row[column])
        if whole_number(place.number) < 0:
            raise row.error(f"{column} is {place.number!r}; a whole number is expected")
        part = outputs.setdefault(row["system"], Passages("system", row["system"], table.path))
        same = [_noted(sources, place, row, "source"), _noted(part, place, row, "target")]
        differing += [] if all(same) else [row.line]
    if not sources.texts:
        raise FormatError("has no rated segments below its header", path=table.path)
    if differing:
        LOGGER.warning(
            "%s: %d rows have another text than an earlier row of the same segment, whose text is"
            " taken; the first is line %d",
            table.path,
            len(differing),
            differing[0],
        )
    _order(sources)
    facts: dict[str, dict[str, str]] = {place.document: {} for place in sources.texts}
    return Collected(_name_of(table.path), [sources, *outputs.values()], facts)


def _noted(part: Passages, place: PassagePlace, row: FileRecord, column: str) -> bool:
    """Note the text of a row without its marks; whether it agrees with what is known of it."""
    found = unmark(_meant(row[column]))
    if found is None:
        raise row.error(
            f"the marks in {column} do not pair up: {row[column][:80]!r}; an error stands between"
            " <v> and </v>"
        )
    if place not in part.texts:
        part.add(place, found.text, row.line)
        return True
    return solid(part.texts[place]) == solid(found.text)


def _meant(field: str) -> str:
    """A field without a spreadsheet's quotation marks, which double those inside."""
    return unquoted(field) if '""' in field[1:-1] else field


def _order(sources: Passages) -> None:
    """By number, if each number is of one segment; else as the file has them."""
    numbers = [int(place.number) for place in sources.texts]
    if len(set(numbers)) == len(numbers):
        ordered = sorted(sources.texts.items(), key=lambda item: int(item[0].number))
        sources.texts = dict(ordered)


def _name_of(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2].removesuffix(".gz").removesuffix(".tsv")


# Writing errors that raters marked, in the columns of the public MQM files.


def write_mqm(path: str | PathLike[str], testset: TestSet, kind: str) -> None:
    """Write error spans and unmarred segments of a kind as an MQM file."""
    write_tsv(path, COLUMNS, list(_rows(testset, kind)))


def _rows(testset: TestSet, kind: str) -> Iterable[Sequence[str]]:
    scores = _of_raters(testset, kind)
    errors: dict[tuple[str | None, str, int], list[ErrorSpan]] = {}
    for error in testset.errors:
        if error.kind == kind:
            errors.setdefault((error.rater, error.system, error.segment), []).append(error)
    if not scores and kind not in marked_kinds(testset):
        raise DataError(f"there are no segment scores or error spans of the kind {kind!r}")
    rated, penalties = dict.fromkeys(errors), scale_of(kind)[0] < 0
    for human in scores:
        for system, values in zip(human.systems, human.values, strict=True):
            # 0 is no penalty; on a scale without scores below 0, none tells of errors
            clean = (i for i, v in enumerate(values) if v == 0 or (v > 0 and not penalties))
            rated |= dict.fromkeys((human.rater, system, i) for i in clean)
    clean_ones = clean_outputs(testset, kind)
    rated |= dict.fromkeys((one.rater, one.system, one.segment) for one in clean_ones)
    for rater, system, segment in sorted(rated, key=lambda key: (key[1], key[2], key[0] or "")):
        found = errors.get((rater, system, segment), ())
        for one in found or (None,):
            yield _row(testset, system, segment, rater, one)


def _of_raters(testset: TestSet, kind: str) -> list[HumanScores]:
    fitting = [h for h in testset.human if (h.kind, h.level) == (kind, "segment")]
    return [h for h in fitting if h.rater is not None] or fitting


def _row(
    testset: TestSet, system: str, segment: int, rater: str | None, error: ErrorSpan | None
) -> Sequence[str]:
    target = testset.systems[system][segment] if system in testset.systems else ""
    source = "" if testset.sources is None else testset.sources[segment]
    span = None if error is None else Span(error.start, error.end)
    for text in (source, target):
        if "<v>" in text or "</v>" in text:
            raise DataError(
                f"segment {segment + 1} of {system} holds the marks of errors, <v>, in its text"
                f" {text[:60]!r}, so that nobody could tell these apart; write format 'spans'"
            )
    if error is not None and error.side == "source":
        source = mark(source, span)
    elif error is not None:
        target = mark(target, span)
    document, number = _document(testset, segment)
    return (
        system,
        document,
        str(number),
        str(segment + 1),
        rater or "",
        source,
        target,
        "No-error" if error is None else error.category,
        "No-error" if error is None else error.severity,
    )


def _document(testset: TestSet, segment: int) -> tuple[str, int]:
    if testset.documents is None:
        return testset.name, segment + 1
    name = testset.documents[segment]
    return name, testset.documents[: segment + 1].count(name)


def _write_mqm_file(
    path: str | PathLike[str], testset: TestSet, kind: str | None, _level: str
) -> None:
    name = rated_kind(testset, kind)
    require_spans(testset, name, "mqm")
    write_mqm(path, testset, name)


def _set_of_file(head: FileHead) -> FoundSet | None:
    if not head.columns >= KNOWN_BY:
        return None
    return FoundSet(head.path, partial(read_mqm_set, head.path), pair_in_mqm(head.path))


def _read_named(
    files: Sequence[str | PathLike[str]],
    *,
    language_pair: str | None = None,
    references: Sequence[str] = (),
    incomplete: Incomplete = "refuse",
) -> TestSet:
    return read_mqm_set(
        files[0], language_pair=language_pair, references=references, incomplete=incomplete
    )


FORMATS = (
    SetFormat(
        name="wmt-mqm",
        title="MQM with its texts, TSV: system doc doc_id seg_id rater source target category"
        " severity",
        of_file=_set_of_file,
        suffixes=(".tsv",),
        judgements_too=True,
        read=_read_named,
        after=("realsumm",),
    ),
    JudgementFormat(
        name="mqm",
        title="MQM errors, TSV: system doc doc_id seg_id rater source target category severity",
        recognise=lambda head: {"system", "target", "category", "severity"} <= head.column_names,
        read=read_mqm,
        write=_write_mqm_file,
        after=("appraise",),
    ),
)
