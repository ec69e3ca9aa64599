"""Errors that raters marked under MQM, in the public TSV files.

One row per error, fields between tabs without quoting::

    system doc doc_id seg_id rater source target category severity [comment]

The error stands between ``<v>`` and ``</v>`` in the target, or in the source. A segment without an
error has one row ``No-error``. MQM Viewer's columns (``doc_seg_id``, ``global_seg_id``,
``metadata``) are read alike. Rows that do not fit are left out, and that is said; an error whose
marks do not pair up counts, and has no place. So are bio-MQM's JSON files, a folder of which is a
test set with its human translations as references.

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

from gnomon.core.errors import DataError, FormatError, UnknownNameError, UsageError
from gnomon.core.spans import ErrorSpan, Span
from gnomon.core.testset import SystemInfo
from gnomon.data.formats._files import LOGGER
from gnomon.data.formats._judged_file import (
    AnnotatedOutput,
    JudgedFile,
    JudgementOptions,
    say_count,
)
from gnomon.data.formats._matching import pair_of
from gnomon.data.formats._mqm_json import (
    is_mqm_json,
    mqm_json_files,
    pair_of_locales,
    read_mqm_json,
)
from gnomon.data.formats._passages import Choices, Collected, Passages, SegmentId, assemble
from gnomon.data.formats._registry import FoundSet, JudgementFormat, SetFormat
from gnomon.data.formats.error_marks import (
    MarkedText,
    realign,
    remove_whitespace,
    strip_doubled_quotes,
    strip_marks,
    strip_quotes,
    unmark,
)
from gnomon.data.formats.rows import OddRows, head_of, read_tsv, whole_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from os import PathLike

    from gnomon.core.human import Judgements
    from gnomon.core.testset import TestSet
    from gnomon.data.formats._passages import Incomplete
    from gnomon.data.formats.rows import FileHead, FileRecord, TextTable


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

    def penalty(self, severity: str, category: str) -> float:
        """The penalty of an error; the most specific weight counts, then the severity's own."""
        key = (severity, category)
        if key not in self._known:
            self._known[key] = self._find(severity, category)
        return self._known[key]

    def _find(self, severity: str, category: str) -> float:
        parts = _norm(category).split("/") if category else []
        for length in range(len(parts), -1, -1):
            for level in (_norm(severity), "*"):
                weight = self._table.get("/".join([level, *parts[:length]]))
                if weight is not None:
                    return weight
        raise DataError(
            f"there is no MQM weight for the severity {severity!r} (category {category!r}); there"
            f" are: {', '.join(self._table)}; pass weights={{{severity.lower()!r}: PENALTY}}"
        )

    def cost(self, row: FileRecord, severity: str, category: str) -> float:
        """The penalty of an error in a row."""
        try:
            return self.penalty(severity, category)
        except DataError as error:
            raise row.error(str(error)) from error


#: of bio-MQM, whose raters had one more severity
_BIO_WEIGHTS = {"critical": 5.0}


def is_error(severity: str, category: str) -> bool:
    """True if a row marks an error at all, rather than says that there is none."""
    return "no-error" not in (_norm(severity), _norm(category))


def _norm(name: str) -> str:
    parts = (level.strip().rstrip("!") for level in name.lower().split("/"))
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


def read_mqm(file: JudgedFile) -> Judgements:
    """Read an MQM file: segment scores (mean and each rater) and error spans."""
    table, _ = _read_rows(file.path)
    if _is_json(file.path):
        file.weights = {**_BIO_WEIGHTS, **(file.weights or {})}
    return _judgements(file, table)


def _read_rows(path: str | PathLike[str]) -> tuple[TextTable, int]:
    """The rows that judge an output, and how many rows are odd: of other lengths, or no number."""
    odd = OddRows()
    table = read_mqm_json(Path(path)) if _is_json(path) else read_tsv(path, odd)
    column, rows = columns_of(table)["seg_id"], []
    planted = 0
    for row in table:
        if row["severity"].lower().startswith(NOT_RATED):
            planted += 1
        elif whole_number(row[column]) < 0:
            odd.add(row.error(f"{column} is {row[column]!r}; a whole number is expected"))
        else:
            rows.append(row)
    say_count(planted, table.path, "rows test the raters (HOTW) and are left out")
    return replace(table, rows=tuple(rows)), odd.report(len(rows))


def _is_json(path: str | PathLike[str]) -> bool:
    return Path(path).is_dir() or is_mqm_json(head_of(Path(path)))


class _PlacedRow(NamedTuple):
    """A row, the output that it judges, and its texts without their marks."""

    row: FileRecord
    system: str
    segment: int
    source: MarkedText | None
    target: MarkedText


def _judgements(
    file: JudgedFile, table: TextTable, numbered: Mapping[tuple[str, str], int] | None = None
) -> Judgements:
    """The judgements in rows, whose segments are those of their texts, or as they are numbered."""
    costs = MqmWeights(file.weights)
    elsewhere: list[int] = []
    unpaired: list[int] = []
    penalties: dict[tuple[str | None, str, int], float] = {}
    for row, system, segment, source, target in _locate_rows(file, table, numbered):
        severity, category = row["severity"], row["category"]
        rater = row["rater"] or None
        cost = costs.cost(row, severity, category)
        rating = (rater, system, segment)
        penalties[rating] = penalties.get(rating, 0.0) + cost
        if not is_error(severity, category):
            continue
        side, marked = "candidate", target
        if target.span is None and source is not None and source.span is not None:
            side, marked = "source", source
        elif target.span is None and _has_marks(row):
            unpaired.append(row.line)
        own_text = file.text(side, system, segment)
        span: Span | None = marked.span or Span(len(marked.text), len(marked.text))
        if span and own_text is not None:
            span = realign(span, marked.text, own_text)
        if span is None:
            elsewhere.append(row.line)
            span = Span(len(own_text or ""), len(own_text or ""))
        file.errors.append(
            ErrorSpan(system, segment, side, *span, category, severity, rater, file.kind, cost)
        )
    for rating, penalty in penalties.items():
        file.outputs[rating] = AnnotatedOutput(file.kind, *rating, file.minus(penalty), ())
    judgements = file.judgements()
    _say_unplaced(file, elsewhere, "errors are marked in a text that is not the test set's")
    _say_unplaced(file, unpaired, "errors have marks that do not pair up")
    return judgements


def _locate_rows(
    file: JudgedFile, table: TextTable, numbered: Mapping[tuple[str, str], int] | None
) -> Iterator[_PlacedRow]:
    """The rows whose segment the test set has; others are odd."""
    columns, unquoting, odd, kept = columns_of(table), _Unquoting(file.testset), OddRows(), 0
    for row in table:
        source = _unmark(unquoting.unquote(row["source"])) if "source" in columns else None
        target = _unmark(unquoting.unquote(row["target"]))
        system, number = file.names.match(row["system"]), row[columns["seg_id"]]
        if numbered is not None:
            segment = numbered.get((row.get("doc"), number))
        else:
            text = None if source is None else source.text
            try:
                segment = file.segment_of_texts(row, number, text, {system: target.text})
            except FormatError as error:
                odd.add(error)
                continue
        if segment is not None:
            kept += 1
            yield _PlacedRow(row, system, segment, source, target)
    odd.report(kept)


def _has_marks(row: FileRecord) -> bool:
    texts = row["target"] + row.get("source")
    return strip_marks(texts) != texts


def _say_unplaced(file: JudgedFile, lines: Sequence[int], what: str) -> None:
    if lines:
        LOGGER.warning(
            "%s: %d %s; they count, but have no place; the first is in line %d",
            file.path,
            len(lines),
            what,
            lines[0],
        )


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


def _unmark(text: str) -> MarkedText:
    """A text without its marks; without a span where these do not pair up."""
    return unmark(text) or MarkedText(strip_marks(text), None)


class _Unquoting:
    """Some published files quote fields as spreadsheets do; the rated text shows which."""

    def __init__(self, testset: TestSet) -> None:
        self._known = {
            "".join(text.split())
            for texts in (*testset.systems.values(), testset.sources or ())
            for text in texts
            if '"' in text
        }

    def unquote(self, text: str) -> str:
        if not text.startswith('"'):
            return text
        marks = text.replace("<v>", "").replace("</v>", "")
        return text if "".join(marks.split()) in self._known else strip_quotes(text)


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
    table, odd = _read_rows(path)
    table.require(*sorted(KNOWN_BY))
    collected = _collect(table)
    weights = None
    if _is_json(path):
        weights, language_pair = _BIO_WEIGHTS, language_pair or pair_of_locales(Path(path))
        outputs = [passages.name for passages in collected.select("system")]
        references = references or [name for name in outputs if name.startswith("reference")]
    _take_references(collected, references)
    _leave_out_torn(collected, odd)
    testset = assemble(
        collected,
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
    places = {(p.document, p.number): i for i, p in enumerate(collected.parts[0].texts)}
    file = JudgedFile(path, testset, JudgementOptions("mqm", weights=weights))
    return testset.with_human(_judgements(file, table, places))


def pair_in_mqm(path: Path) -> str | None:
    """The language pair, from the name of the file or of its folder."""
    glued = _GLUED.findall(path.name)
    return "-".join(glued[-1]) if glued else pair_of(path)


def _take_references(collected: Collected, references: Sequence[str]) -> None:
    outputs = {passages.name: passages for passages in collected.select("system")}
    for name in references:
        if name not in outputs:
            raise UnknownNameError("system to take as a reference", name, outputs)
        passages = outputs[name]
        if len(passages.texts) < len(collected.parts[0].texts):
            collected.parts.remove(passages)
        collected.parts.append(replace(passages, role="reference"))


def _leave_out_torn(collected: Collected, odd: int) -> None:
    """Leave out the segments whose output stood in an odd row, if these explain all that lack."""
    outputs, texts = collected.select("system"), collected.parts[0].texts
    torn = [segment for segment in texts if any(segment not in o.texts for o in outputs)]
    if not 0 < len(torn) <= odd:
        return
    for passages in collected.parts:
        for segment in torn:
            passages.texts.pop(segment, None)
    LOGGER.warning(
        "%s: %d segments are left out, as odd rows hold an output of theirs; the first is segment"
        " %s of document %r",
        collected.parts[0].path,
        len(torn),
        torn[0].number,
        torn[0].document,
    )


def _collect(table: TextTable) -> Collected:
    """Sources first, then each system, in the order of the segments."""
    column = columns_of(table)["seg_id"]
    sources = Passages("source", "", table.path)
    outputs: dict[str, Passages] = {}
    differing: list[int] = []
    for row in table:
        segment = SegmentId(row.get("doc"), row[column])
        output = outputs.setdefault(row["system"], Passages("system", row["system"], table.path))
        same = [
            _note_text(sources, segment, row, "source"),
            _note_text(output, segment, row, "target"),
        ]
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
    facts: dict[str, dict[str, str]] = {segment.document: {} for segment in sources.texts}
    name = Path(table.path).name.removesuffix(".gz").removesuffix(".tsv")
    return Collected(name, [sources, *outputs.values()], facts)


def _note_text(passages: Passages, segment: SegmentId, row: FileRecord, column: str) -> bool:
    """Note the text of a row without its marks; whether it agrees with what is known of it."""
    text = strip_marks(strip_doubled_quotes(row[column]))
    if segment not in passages.texts:
        passages.add(segment, text, row.line)
        return True
    return remove_whitespace(passages.texts[segment]) == remove_whitespace(text)


def _order(sources: Passages) -> None:
    """Sort by number, if each number is of one segment; else keep the order of the file."""
    numbers = [int(segment.number) for segment in sources.texts]
    if len(set(numbers)) == len(numbers):
        ordered = sorted(sources.texts.items(), key=lambda item: int(item[0].number))
        sources.texts = dict(ordered)


def _json_in_folder(folder: Path) -> list[FoundSet]:
    files = mqm_json_files(folder)
    return [FoundSet(folder, partial(read_mqm_set, folder), files=files)] if files else []


def _set_of_file(head: FileHead) -> FoundSet | None:
    if not (head.columns >= KNOWN_BY or is_mqm_json(head)):
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
        " severity; bio-MQM's JSON",
        of_file=_set_of_file,
        in_folder=_json_in_folder,
        suffixes=(".tsv",),
        judgements_too=True,
        read=_read_named,
        after=("realsumm",),
    ),
    JudgementFormat(
        name="mqm",
        title="MQM errors, TSV: system doc doc_id seg_id rater source target category severity;"
        " bio-MQM's JSON",
        recognise=lambda head: (
            {"system", "target", "category", "severity"} <= head.column_names or is_mqm_json(head)
        ),
        defaults={"kind": "mqm", "rename": None, "weights": None, "first_segment": 1},
        read=read_mqm,
        after=("appraise",),
    ),
)
