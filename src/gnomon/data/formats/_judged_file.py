"""Common parts of readers and writers of human judgements: the file, its scores, its errors."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from gnomon.core.errors import DataError, GnomonError, UnknownNameError
from gnomon.core.human import (
    HumanScores,
    Judgements,
    OutputLookedAt,
    marked_kinds,
    only_kind,
    scale_of,
)
from gnomon.core.scores import coverage
from gnomon.core.spans import MARKERS, SIDES, ErrorSpan, Span
from gnomon.data.formats._files import LOGGER
from gnomon.data.formats._lines import shown
from gnomon.data.formats._matching import SegmentFinder, SystemNames, same_pair
from gnomon.data.formats.error_marks import realign
from gnomon.data.formats.rows import whole_number
from gnomon.messages.audiences import Named

if TYPE_CHECKING:
    from collections.abc import (
        Callable,
        Collection,
        Generator,
        Hashable,
        Iterable,
        Mapping,
        Sequence,
    )
    from os import PathLike
    from pathlib import Path

    from numpy.typing import NDArray

    from gnomon.core.human import RepeatedScore
    from gnomon.core.spans import SpanMarker
    from gnomon.core.testset import TestSet
    from gnomon.data.formats.error_marks import SpanEnds
    from gnomon.data.formats.rows import FileRecord, TextTable

    Transform = Callable[[NDArray[np.float64]], NDArray[np.float64]]


K = TypeVar("K", bound="Hashable")
T = TypeVar("T")

# Judgements as they come in.


class JudgedScores:
    """Scores of one kind by rater, of segments or systems; several of one output are averaged."""

    def __init__(self, segments: int, level: str = "segment") -> None:
        self.level = level
        self.segments = segments
        self.raters: dict[str | None, list[tuple[Sequence[str], int, float]]] = {}

    def add(self, rater: str | None, systems: Sequence[str], segment: int, value: float) -> None:
        """Take a score in: of all systems that gave this output, of none where it is a control.

        NaN, a missing score, says only that the systems are judged.
        """
        self.raters.setdefault(rater, []).append((systems, segment, value))

    def repeated(self) -> int:
        """Outputs that one rater scored several times."""
        cells = map(self._cells, self.raters.values())
        return sum(len(values) > 1 for outputs in cells for values in outputs.values())

    def scores(
        self, kind: str, names: SystemNames, transform: Transform | None = None
    ) -> tuple[HumanScores, ...]:
        """The mean over all judgements, then that of each rater who is named."""
        raters = {rater: self._cells(judged, transform) for rater, judged in self.raters.items()}
        together: dict[tuple[str, int], list[float]] = {}
        for cells in raters.values():
            for output, values in cells.items():
                together.setdefault(output, []).extend(values)
        tables: dict[str | None, dict[tuple[str, int], list[float]]] = {None: together}
        tables |= {rater: cells for rater, cells in raters.items() if rater is not None}
        return tuple(
            self._matrix(kind, rater, cells, names) for rater, cells in tables.items() if cells
        )

    def _cells(
        self,
        judged: Sequence[tuple[Sequence[str], int, float]],
        transform: Transform | None = None,
    ) -> dict[tuple[str, int], list[float]]:
        """A rater's scores of each output, transformed together."""
        values = [value for *_, value in judged]
        if transform is not None:
            values = transform(np.array(values, dtype=np.float64)).tolist()
        cells: dict[tuple[str, int], list[float]] = {}
        for (systems, segment, _), value in zip(judged, values, strict=True):
            for system in systems:
                cell = cells.setdefault((system, segment), [])
                if value == value:  # noqa: PLR0124  # NaN alone differs from itself
                    cell.append(value)
        return cells

    def _matrix(
        self,
        kind: str,
        rater: str | None,
        cells: Mapping[tuple[str, int], list[float]],
        names: SystemNames,
    ) -> HumanScores:
        systems = names.order(system for system, _ in cells)
        index = {name: i for i, name in enumerate(systems)}
        width = 1 if self.level == "system" else self.segments
        matrix = np.full((len(systems), width), np.nan)
        for (system, segment), values in cells.items():
            if values:
                matrix[index[system], segment] = sum(values) / len(values)
        return HumanScores(kind, self.level, systems, matrix, rater=rater)


class AnnotatedOutput(NamedTuple):
    """Somebody's annotation of one output."""

    kind: str
    rater: str | None  # None: the file does not say who
    system: str
    segment: int  # 0-based
    score: float | None
    errors: Sequence[ErrorSpan] | None  # None: nobody looked for any
    line: int = 0


class JudgementOptions(NamedTuple):
    """The options for reading a file of human judgements.

    Attributes:
        kind: what to call the judgements; empty: what the format calls them.
        rename: name of a system in the file -> name in the test set.
        weights: changes to :data:`gnomon.formats.MQM_WEIGHTS`.
        language_pair: which pair, where the file holds several; the test set's by default.
        first_segment: the number of the first segment, if it is known.
        ends: what the ends of error spans are.
    """

    kind: str = ""
    rename: Mapping[str, str] | None = None
    weights: Mapping[str, float] | None = None
    language_pair: str | None = None
    first_segment: int | None = None
    ends: SpanEnds = "last"


class JudgedFile:
    """A file of what people said of a test set: what is asked of it, and what is read of it.

    Attributes:
        path: the file.
        testset: whose outputs were judged.
        kind: what to call the judgements; empty: what the format calls them.
        weights: changes to :data:`gnomon.formats.MQM_WEIGHTS`.
        language_pair: which pair, where the file holds several.
        first_segment: the number of the first segment, if it is known.
        ends: what the ends of error spans are.
        names: the systems that the file may name, and those that it does.
        scores: scores by their kind.
        outputs: annotated outputs; one with the key of an earlier one takes its place.
        errors: errors beside those of ``outputs``.
        counts: what else is said of the file at the end, with its number.
        repeated: scores beside those of ``outputs``, of the same outputs.
        unplaced: how many errors are marked in a text that is not the test set's.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        testset: TestSet,
        how: JudgementOptions | None = None,
        *,
        others: Iterable[str] = (),
    ) -> None:
        """Start with nothing read; ``others`` are further systems that the file may name."""
        self.path = shown(path)
        self.testset = testset
        how = how or JudgementOptions()
        self.kind = how.kind
        self.weights = how.weights
        self.language_pair = how.language_pair or testset.language_pair
        self.first_segment = how.first_segment
        self.ends = how.ends
        self.names = SystemNames(testset, how.rename, others)
        self.scores: dict[str, JudgedScores] = {}
        self.outputs: dict[Hashable, AnnotatedOutput] = {}
        self.errors: list[ErrorSpan] = []
        self.counts: Counter[str] = Counter()
        self.repeated: list[RepeatedScore] = []
        self.unplaced = 0
        self._segments: SegmentFinder | None = None

    def table(self, kind: str, level: str = "segment") -> JudgedScores:
        """The scores of a kind; those of a system stand in segment 0."""
        return self.scores.setdefault(kind, JudgedScores(self.testset.segments, level))

    def add_once(self, row: FileRecord, output: AnnotatedOutput) -> None:
        """Take in what a rater said of an output; a second annotation is refused."""
        key = output[:4]
        if key in self.outputs:
            by = "" if output.rater is None else f" by {output.rater}"
            raise row.error(
                f"a second annotation{by} of segment {output.segment + 1} of {output.system}; line"
                f" {self.outputs[key].line} has the first; keep one"
            )
        self.outputs[key] = output

    def segment(self, row: FileRecord, number: str) -> int:
        """The 0-based segment that a number in a row means."""
        first, count = self.first_segment or 0, self.testset.segments
        index = whole_number(number)
        if not first <= index < first + count:
            size = f"{count} segment{'' if count == 1 else 's'}"
            raise row.error(
                f"segment is {number!r}; a whole number from {first} to {first + count - 1} is"
                f" expected, as the test set has {size}, counted from {first}"
            )
        return index - first

    def segment_of_texts(
        self, row: FileRecord, number: str | None, source: str | None, outputs: Mapping[str, str]
    ) -> int:
        """The 0-based segment of a number, or of the texts, where these are not that segment's."""
        if self._segments is None:
            self._segments = SegmentFinder(self.testset, self.path)
        index = -1 if number is None else whole_number(number)
        segment = None if index < 0 else index - (self.first_segment or 0)
        return self._segments.find(segment, source, outputs, row.line)

    def has_texts(self, segment: int, source: str | None, outputs: Mapping[str, str]) -> bool:
        """True if a segment of the test set has this source, or else one of these outputs."""
        if segment >= self.testset.segments:
            return False
        if source is not None and self.testset.sources is not None:
            return self.testset.sources[segment] == source
        return any(self.text("output", name, segment) == text for name, text in outputs.items())

    def text(self, side: str, system: str, segment: int) -> str | None:
        """A source, or an output of a system, if the test set has it."""
        testset = self.testset
        texts = testset.sources if side == "source" else testset.systems.get(system)
        return None if texts is None else texts[segment]

    def span_in(self, span: Span, text: str, target: str) -> Span:
        """A span of a text in the test set's own; behind its end where the texts differ."""
        own_span = realign(span, text, target)
        self.unplaced += own_span is None
        return own_span or Span(len(target), len(target))

    def read_errors(
        self,
        record: FileRecord,
        output: tuple[str, str | None, str, int],
        by: SpanMarker = "person",
        text: str | None = None,
    ) -> list[ErrorSpan]:
        """The errors that a record lists of an output: its kind, rater, system and segment.

        They stand in the test set's own texts, or in another text of the output.
        """
        kind, rater, system, segment = output
        errors = []
        for error in listed_errors(record):
            side = "source" if error.get("is_source_error") else error.get("side") or "candidate"
            if side not in SIDES:
                raise record.error(f"side is {side!r}; candidate or source is expected")
            penalty = error.get("penalty", error.get("score"))
            if penalty is not None:
                penalty = check_scale("", record.finite("the penalty of an error", penalty), record)
            own_text = self.text(str(side), system, segment) if text is None else text
            errors.append(
                ErrorSpan(
                    system,
                    segment,
                    str(side),
                    *half_open_span(record, error, own_text),
                    str(error.get("category") or ""),
                    str(error.get("severity") or ""),
                    rater,
                    kind,
                    penalty,
                    confidence_of(record, error),
                    by,
                )
            )
        return errors

    def minus(self, penalty: float) -> float | None:
        """The score that a penalty comes to; None on scales without scores below 0 (``esa``)."""
        return 0.0 - penalty if scale_of(self.kind)[0] < 0 else None

    def select_pair(self, rows: Iterable[T], pair_of: Callable[[T], str]) -> list[T]:
        """The rows of the wanted language pair; all of them where only one pair is there."""
        pairs = [(pair_of(row), row) for row in rows]
        there, wanted = list(dict.fromkeys(pair for pair, _ in pairs)), self.language_pair
        if wanted is not None and "-" in wanted and there:
            fitting = [name for name in there if same_pair(name, wanted)]
            if not fitting:
                raise UnknownNameError(
                    f"language pair of {self.path}", wanted, there, path=self.path
                )
            kept = [row for pair, row in pairs if pair in fitting]
            others = ", ".join(name for name in there if name not in fitting)
            left_out = len(pairs) - len(kept)
            say_count(left_out, self.path, f"rows of other language pairs are left out: {others}")
            return kept
        if len(there) > 1:
            raise DataError(
                f"{self.path} holds several language pairs: {', '.join(there)}; the test set does"
                " not say which is its own; name it (",
                Named("-l de-en", "language_pair='de-en'"),
                ")",
                path=self.path,
            )
        return [row for _, row in pairs]

    def report(self) -> None:
        """Log what is worth knowing of the names, the segments and the errors."""
        self.names.report(self.path)
        if self._segments is not None:
            self._segments.report()
        for what, count in self.counts.items():
            say_count(count, self.path, what)
        if self.unplaced:
            LOGGER.warning(
                "%s: %d errors are marked in a text that is not the test set's; they have no place",
                self.path,
                self.unplaced,
            )

    def judgements(self, *, looked_at: bool | None = None) -> Judgements:
        """All that was read, reported.

        With ``looked_at`` it is kept apart which outputs were looked at for errors; by default
        where scores beside errors do not tell.
        """
        self.report()
        listed: dict[OutputLookedAt, None] = {}
        for kind, rater, system, segment, score, errors, _ in self.outputs.values():
            if score is not None:
                self.table(kind).add(rater, [system], segment, score)
            if errors is not None:
                self.errors += errors
                listed[OutputLookedAt(kind, rater, system, segment)] = None
        scores = [s for kind, table in self.scores.items() for s in table.scores(kind, self.names)]
        if looked_at is None:
            looked_at = not (scores and self.errors)
        return Judgements(
            tuple(scores),
            errors=tuple(self.errors),
            looked_at=tuple(listed) if looked_at else (),
            repeated=tuple(self.repeated),
        )


def listed_errors(record: FileRecord) -> list[dict[str, object]]:
    """The objects under the key ``errors``."""
    given = record.value("errors")
    if not isinstance(given, list) or not all(isinstance(error, dict) for error in given):
        raise record.error("errors must be a list of objects, empty if there are none")
    return given


def half_open_span(record: FileRecord, error: Mapping[str, object], text: str | None) -> Span:
    """Where an error stands in its text; None: the text is not at hand."""
    start, end = error.get("start"), error.get("end")
    limit = float("inf") if text is None else len(text)
    if type(start) is not int or type(end) is not int or not 0 <= start <= end <= limit:
        inside = "" if text is None else f" <= {limit}, the length of the text,"
        raise record.error(
            f"an error spans start {start!r} to end {end!r}; whole numbers 0 <= start <= end"
            f"{inside} are expected, half-open and in code points"
        )
    return Span(start, end)


def confidence_of(record: FileRecord, error: Mapping[str, object]) -> float | None:
    """Confidence of the marker of an error, if the file gives it."""
    confidence = error.get("confidence")
    if confidence is None:
        return None
    value = record.finite("the confidence", confidence)
    return check_limits(0.0, value, 1.0, "confidence", record)


def marker_of(record: FileRecord, error: Mapping[str, object]) -> SpanMarker:
    """Marker of an error: a person, unless the file says otherwise."""
    marker = error.get("by") or "person"
    if marker not in MARKERS:
        raise record.error(f"by is {marker!r}; one of {', '.join(MARKERS)} is expected, or nothing")
    return marker


def human_score(kind: str, row: FileRecord, column: str = "score") -> float:
    """The human score in a column, which its scale must be able to hold (NaN: there is none)."""
    return check_scale(kind, row.number(column), row)


def check_scale(kind: str, value: float, row: FileRecord) -> float:
    """A human score that its scale can hold (NaN: there is none)."""
    low, high = scale_of(kind)
    return check_limits(low, value, high, f"{kind} score", row)


def check_limits(low: float, value: float, high: float, what: str, row: FileRecord) -> float:
    """A number within limits, or NaN."""
    if low <= value <= high or value != value:  # noqa: PLR0124  # NaN alone differs from itself
        return value
    raise row.error(
        f"the {what} is {value:g}; from {low:g} to {high:g} is expected: correct it, or give"
        " judgements on another scale a kind of their own (kind=..., KIND=FILE)"
    )


def refuse_second(seen: dict[K, int], key: K, row: FileRecord) -> None:
    """Remember where a score stands."""
    if key in seen:
        raise row.error(
            f"a second score for the same place; line {seen[key]} has the first; keep one"
        )
    seen[key] = row.line


def say_unread(table: TextTable, columns: Collection[str]) -> None:
    """Warn of columns that nothing reads: one may be another's misspelt name."""
    unread = [column for column in table.columns if column not in columns]
    if unread:
        LOGGER.warning(
            "%s: columns that are not read: %s; those that are read: %s",
            table.path,
            ", ".join(unread),
            ", ".join(columns),
        )


def say_coverage(path: str, scores: Iterable[HumanScores]) -> None:
    """Say how many segments of each system have a score, where some have none."""
    for human in scores:
        scored: NDArray[np.bool_] = ~np.isnan(human.values)
        some: NDArray[np.bool_] = np.any(scored, axis=1)
        if human.level == "segment" and human.rater is None and some.any():
            names = [name for name, any_ in zip(human.systems, some, strict=True) if any_]
            text = coverage(names, scored[some])
            if text:
                LOGGER.info("%s: %s: %s", path, human.kind, text)


def score_columns(table: TextTable, others: Collection[str]) -> list[str]:
    """The columns that hold numbers: most of their cells that are not empty.

    Columns that hold something else are named in the log. A cell of a score column that is no
    number is not looked at here; whoever reads it refuses it.
    """
    numeric_columns: list[str] = []
    unread: list[str] = []
    for column in table.columns:
        if column in others:
            continue
        cells = [row[column] for row in table if row[column].strip()]
        numeric = sum(_NUMBER.fullmatch(cell) is not None for cell in cells)
        (numeric_columns if cells and 2 * numeric > len(cells) else unread).append(column)
    if numeric_columns and unread:
        LOGGER.info("%s: columns without scores: %s", table.path, ", ".join(unread))
    return numeric_columns


_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|nan|NaN|None")


# Files of judgements beside a test set, which not everybody who reads the set needs.


_readable_alone: ContextVar[bool] = ContextVar("_readable_alone", default=False)


@contextmanager
def readable_judgements() -> Generator[None]:
    """Within it, a file of judgements that cannot be read is left out of its test set."""
    before = _readable_alone.set(True)
    try:
        yield
    finally:
        _readable_alone.reset(before)


@contextmanager
def judgements_of(file: Path) -> Generator[None]:
    """A file of judgements is read within it, and left out with a warning where that is allowed."""
    try:
        yield
    except GnomonError as error:
        if not _readable_alone.get():
            raise
        where = "" if error.path else f"{file}: "
        left = "what people said there is left out, as it is not needed here"
        LOGGER.warning("%s%s; %s", where, error, left)


def say_count(count: int, path: str, what: str) -> None:
    """Say that something was left out, if anything was."""
    if count:
        LOGGER.info("%s: %d %s", path, count, what)


# Judgements of one kind, to be written.


def human_scores_of(testset: TestSet, kind: str | None, level: str) -> list[HumanScores]:
    """The scores of a kind and level: the mean over the raters, and of each."""
    there = tuple(dict.fromkeys(h.kind for h in testset.human if h.level == level))
    name = only_kind(kind, there, f"human {level} scores")
    return [h for h in testset.human if (h.kind, h.level) == (name, level)]


def scores_of_raters(testset: TestSet, kind: str) -> list[HumanScores]:
    """The segment scores of a kind, of each rater; the means where nobody is named."""
    fitting = [h for h in testset.human if (h.kind, h.level) == (kind, "segment")]
    return [h for h in fitting if h.rater is not None] or fitting


def errors_of(
    testset: TestSet, kind: str, key_of: Callable[[ErrorSpan], K]
) -> dict[K, list[ErrorSpan]]:
    """The errors of a kind by some place of theirs."""
    errors: dict[K, list[ErrorSpan]] = {}
    for error in testset.errors:
        if error.kind == kind:
            errors.setdefault(key_of(error), []).append(error)
    return errors


def rated_kind(testset: TestSet, kind: str | None) -> str:
    """The kind of segment scores or of error spans that is meant."""
    there = dict.fromkeys([h.kind for h in testset.human if h.level == "segment"])
    there |= dict.fromkeys(marked_kinds(testset))
    return only_kind(kind, tuple(there), "segment scores or error spans")
