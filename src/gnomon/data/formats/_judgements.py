"""What readers and writers of human judgements share: the file, names, segments, scores."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from gnomon.core.errors import DataError, FormatError, GnomonError, UnknownNameError
from gnomon.core.human import (
    HumanScores,
    Judgements,
    OutputLookedAt,
    marked_kinds,
    only_kind,
    scale_of,
)
from gnomon.core.scores import coverage, named
from gnomon.core.spans import Span
from gnomon.data.formats._error_marks import realigned, without_whitespace
from gnomon.data.formats._files import LOGGER
from gnomon.data.formats._lines import shown
from gnomon.data.formats._rows import whole_number

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

    from gnomon.core.spans import ErrorSpan
    from gnomon.core.testset import TestSet
    from gnomon.data.formats._error_marks import SpanEnds
    from gnomon.data.formats._rows import FileRecord, TextTable

    Transform = Callable[[NDArray[np.float64]], NDArray[np.float64]]


# Whose names a file has.


K = TypeVar("K", bound="Hashable")
T = TypeVar("T")

# newstest2016.uedin-nmt.4361.cs-en, wmt23.refA
_DECORATION = re.compile(r"(?:newstest\d{4}|wmt\d\d)\.(?P<name>.+?)(?:\.[a-z]{2,3}-[a-z]{2,3})?")


class SystemNames:
    """The systems that a file may name, and those it does.

    A name that the test set does not know is kept (people may judge a system whose text is not at
    hand) and counted; a file of which no name is known is refused.
    """

    def __init__(
        self,
        testset: TestSet,
        rename: Mapping[str, str] | None = None,
        others: Iterable[str] = (),
    ) -> None:
        """Start with no name met."""
        self._rename = dict(rename or {})
        judged = (name for human in testset.human for name in human.systems)
        known = [*testset.systems, *judged, *others]
        self.known = tuple(dict.fromkeys(known))
        self.strangers: Counter[str] = Counter()
        self.found: dict[str, None] = {}
        for name in self._rename.values():
            if name not in self.known:
                raise UnknownNameError("system (in rename)", name, self.known)

    def of(self, name: str) -> str:
        """The test set's name of a system."""
        return self.all_of(name)[0]

    def plain(self, name: str) -> str:
        """The test set's name of a system that the file mentions without judging it."""
        return self._undecorated(self._rename.get(name, name))

    def all_of(self, name: str) -> list[str]:
        """The systems that a name stands for: ``A+B`` are two systems of the same output."""
        name = self._rename.get(name, name)
        plain = self._undecorated(name)
        if plain not in self.known and "+" in plain:
            parts = [self._undecorated(self._rename.get(p, p)) for p in plain.split("+")]
            if any(part in self.known for part in parts):
                return [self._noted(part) for part in parts]
        return [self._noted(plain if plain in self.known else name)]

    def _undecorated(self, name: str) -> str:
        match = _DECORATION.fullmatch(name)
        plain = match["name"] if match else name
        return plain if name not in self.known and plain in self.known else name

    def _noted(self, name: str) -> str:
        if name in self.known:
            self.found[name] = None
        else:
            self.strangers[name] += 1
        return name

    def order(self, names: Iterable[str]) -> tuple[str, ...]:
        """Names in the order of the test set, strangers behind."""
        there = dict.fromkeys(names)
        return tuple(
            [name for name in self.known if name in there]
            + [name for name in there if name not in self.known]
        )

    def report(self, path: str) -> None:
        """Say which systems have no text, and which have no judgement."""
        if self.strangers and not self.found and self.known:
            first = next(iter(self.strangers))
            raise DataError(
                f"{path}: none of its systems is in the test set;"
                f" {UnknownNameError('system', first, self.known)}; if they are called otherwise"
                " here, pass rename={name in the file: name in the test set}"
            )
        if self.strangers:
            LOGGER.warning(
                "%s: %d judged system(s) without a text in the test set, kept: %s",
                path,
                len(self.strangers),
                named(list(self.strangers)),
            )
        silent = [name for name in self.known if name not in self.found]
        if silent:
            LOGGER.info("%s: no judgement of: %s", path, named(silent))


# Judgements as they come in.


class ScoreTable:
    """Segment scores of one kind by rater; several of one output are averaged."""

    def __init__(self, segments: int) -> None:
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
        return sum(len(values) > 1 for one in cells for values in one.values())

    def scores(
        self, kind: str, names: SystemNames, transform: Transform | None = None
    ) -> tuple[HumanScores, ...]:
        """The mean over all judgements, then that of each rater who is named."""
        raters = {rater: self._cells(judged, transform) for rater, judged in self.raters.items()}
        together: dict[tuple[str, int], list[float]] = {}
        for cells in raters.values():
            for place, values in cells.items():
                together.setdefault(place, []).extend(values)
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
        matrix = np.full((len(systems), self.segments), np.nan)
        for (system, segment), values in cells.items():
            if values:
                matrix[index[system], segment] = sum(values) / len(values)
        return HumanScores(kind, "segment", systems, matrix, rater=rater)


class AnnotatedOutput(NamedTuple):
    """What somebody said of one output.

    Attributes:
        kind: of the judgement.
        rater: who said it, if the file tells.
        system: whose output it is.
        segment: 0-based.
        score: if there is one.
        errors: the errors in it; None: nobody looked for any.
        line: where it stands, if it stands in one.
    """

    kind: str
    rater: str | None
    system: str
    segment: int
    score: float | None
    errors: Sequence[ErrorSpan] | None
    line: int = 0


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
        scores: scores of segments by their kind.
        outputs: annotated outputs; one with the key of an earlier one takes its place.
        errors: errors beside those of ``outputs``.
        counts: what else is said of the file at the end, with its number.
        unplaced: how many errors are marked in a text that is not the test set's.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        testset: TestSet,
        *,
        kind: str = "",
        rename: Mapping[str, str] | None = None,
        weights: Mapping[str, float] | None = None,
        language_pair: str | None = None,
        first_segment: int | None = None,
        ends: SpanEnds = "last",
        others: Iterable[str] = (),
    ) -> None:
        """Start with nothing read; ``others`` are further systems that the file may name."""
        self.path = shown(path)
        self.testset = testset
        self.kind = kind
        self.weights = weights
        self.language_pair = language_pair or testset.language_pair
        self.first_segment = first_segment
        self.ends: SpanEnds = ends
        self.names = SystemNames(testset, rename, others)
        self.scores: dict[str, ScoreTable] = {}
        self.outputs: dict[Hashable, AnnotatedOutput] = {}
        self.errors: list[ErrorSpan] = []
        self.counts: Counter[str] = Counter()
        self.unplaced = 0
        self._segments: SegmentFinder | None = None

    def table(self, kind: str) -> ScoreTable:
        """The segment scores of a kind."""
        return self.scores.setdefault(kind, ScoreTable(self.testset.segments))

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
        place = None if index < 0 else index - (self.first_segment or 0)
        return self._segments.of(place, source, outputs, row.line)

    def text(self, side: str, system: str, segment: int) -> str | None:
        """A source, or an output of a system, if the test set has it."""
        testset = self.testset
        texts = testset.sources if side == "source" else testset.systems.get(system)
        return None if texts is None else texts[segment]

    def span_in(self, span: Span, text: str, target: str) -> Span:
        """A span of a text in the test set's own; behind its end where the texts differ."""
        place = realigned(span, text, target)
        self.unplaced += place is None
        return place or Span(len(target), len(target))

    def minus(self, penalty: float) -> float | None:
        """The score that a penalty comes to; None on scales without scores below 0 (``esa``)."""
        return 0.0 - penalty if scale_of(self.kind)[0] < 0 else None

    def of_pair(self, rows: Iterable[T], pair_of: Callable[[T], str]) -> list[T]:
        """The rows of the wanted language pair; all of them where only one pair is there."""
        pairs = [(pair_of(row), row) for row in rows]
        there, wanted = list(dict.fromkeys(pair for pair, _ in pairs)), self.language_pair
        if wanted is not None and "-" in wanted and there:
            fitting = [name for name in there if _same(name, wanted)]
            if not fitting:
                raise UnknownNameError(f"language pair of {self.path}", wanted, there)
            kept = [row for pair, row in pairs if pair in fitting]
            others = ", ".join(name for name in there if name not in fitting)
            left_out = len(pairs) - len(kept)
            say_count(left_out, self.path, f"rows of other language pairs are left out: {others}")
            return kept
        if len(there) > 1:
            raise DataError(
                f"{self.path} holds several language pairs: {', '.join(there)}; the test set does"
                " not say which is its own; name it (-l de-en; language_pair='de-en')"
            )
        return [row for _, row in pairs]

    def report(self) -> None:
        """Say what is worth knowing of the names, the segments and the errors."""
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
        scores = [s for kind, one in self.scores.items() for s in one.scores(kind, self.names)]
        if looked_at is None:
            looked_at = not (scores and self.errors)
        return Judgements(
            tuple(scores), errors=tuple(self.errors), looked_at=tuple(listed) if looked_at else ()
        )


def listed_errors(record: FileRecord) -> list[dict[str, object]]:
    """The objects under the key ``errors``."""
    given = record.value("errors")
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise record.error("errors must be a list of objects, empty if there are none")
    return given


def system_level(
    kind: str, values: Mapping[str, float], names: SystemNames
) -> tuple[HumanScores, ...]:
    """Scores of whole systems."""
    systems = names.order(values)
    column = np.array([[values[name]] for name in systems], dtype=np.float64)
    return (HumanScores(kind, "system", systems, column.reshape(len(systems), 1)),)


def in_scale(kind: str, value: float, row: FileRecord) -> float:
    """A human score that its scale can hold (NaN: there is none)."""
    low, high = scale_of(kind)
    return between(low, value, high, f"{kind} score", row)


def between(low: float, value: float, high: float, what: str, row: FileRecord) -> float:
    """A number within limits, or NaN."""
    if low <= value <= high or value != value:  # noqa: PLR0124  # NaN alone differs from itself
        return value
    raise row.error(
        f"the {what} is {value:g}; from {low:g} to {high:g} is expected: correct it, or give"
        " judgements on another scale a kind of their own (kind=..., KIND=FILE)"
    )


def refuse_second(seen: dict[K, int], place: K, row: FileRecord) -> None:
    """Remember where a score stands."""
    if place in seen:
        raise row.error(
            f"a second score for the same place; line {seen[place]} has the first; keep one"
        )
    seen[place] = row.line


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
            told = coverage(names, scored[some])
            if told:
                LOGGER.info("%s: %s: %s", path, human.kind, told)


def score_columns(table: TextTable, others: Collection[str]) -> list[str]:
    """The columns that hold numbers: most of their cells that are not empty.

    Columns that hold something else are told. A cell of a score column that is no number is not
    looked at here; whoever reads it refuses it.
    """
    found: list[str] = []
    unread: list[str] = []
    for column in table.columns:
        if column in others:
            continue
        cells = [row[column] for row in table if row[column].strip()]
        numeric = sum(_NUMBER.fullmatch(cell) is not None for cell in cells)
        (found if cells and 2 * numeric > len(cells) else unread).append(column)
    if found and unread:
        LOGGER.info("%s: columns without scores: %s", table.path, ", ".join(unread))
    return found


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
        said = str(error) if str(file) in str(error) else f"{file}: {error}"
        LOGGER.warning("%s; what people said there is left out, as it is not needed here", said)


def say_count(count: int, path: str, what: str) -> None:
    """Say that something was left out, if anything was."""
    if count:
        LOGGER.info("%s: %d %s", path, count, what)


# Which segment a judgement is of, by its number and by its texts.


class SegmentFinder:
    """The segments of a test set, found by number or by text.

    A number whose text is another one's is not trusted: the text decides.
    """

    def __init__(self, testset: TestSet, path: str) -> None:
        self._testset = testset
        self._path = path
        self._by_source = _index(testset.sources or ())
        self._by_target = {name: _index(texts) for name, texts in testset.systems.items()}
        self._kept: dict[object, int] = {}
        self.by_text = 0
        self.guessed = 0

    def of(
        self, number: int | None, source: str | None, targets: Mapping[str, str], line: int
    ) -> int:
        """The 0-based segment."""
        key = (number, source) if self._testset.sources else (number, tuple(targets.items()))
        if key not in self._kept:
            self._kept[key] = self._find(number, source, targets, line)
        return self._kept[key]

    def _find(
        self, number: int | None, source: str | None, targets: Mapping[str, str], line: int
    ) -> int:
        if number is not None and self._agrees(number, source, targets):
            return number
        places = self._by_texts(source, targets)
        if not places:
            raise self._unknown(number, source, line)
        self.by_text += number is not None
        self.guessed += len(places) > 1
        return places[0]

    def _agrees(self, number: int, source: str | None, targets: Mapping[str, str]) -> bool:
        if not 0 <= number < self._testset.segments:
            return False
        sources = self._testset.sources
        if sources is not None and source is not None:
            return without_whitespace(sources[number]) == without_whitespace(source)
        known = self._known_targets(targets)
        if not known:
            return True
        texts = self._testset.systems
        return any(
            without_whitespace(texts[name][number]) == without_whitespace(t)
            for name, t in known.items()
        )

    def _by_texts(self, source: str | None, targets: Mapping[str, str]) -> list[int]:
        """Segments with this source, and among several those with these outputs."""
        found = self._by_source.get(without_whitespace(source or ""), [])
        for system, text in self._known_targets(targets).items():
            same = self._by_target[system].get(without_whitespace(text), [])
            if not found:
                found = same
            elif len(found) > 1:
                found = [place for place in found if place in same] or found
        return found

    def _known_targets(self, targets: Mapping[str, str]) -> dict[str, str]:
        return {s: text for s, text in targets.items() if s in self._testset.systems}

    def _unknown(self, number: int | None, source: str | None, line: int) -> FormatError:
        count = self._testset.segments
        given = "" if number is None else f" and is said to be segment {number + 1} of {count}"
        text = "its texts are" if source is None else f"its source {source[:60]!r} is"
        return FormatError(
            f"this judgement is of no segment of the test set: {text} not found there{given};"
            " check that file and test set belong together",
            path=self._path,
            line=line,
        )

    def report(self) -> None:
        """Say what was placed by its text only."""
        if self.by_text:
            LOGGER.warning(
                "%s: %d segment numbers are not the test set's; placed by their texts",
                self._path,
                self.by_text,
            )
        if self.guessed:
            LOGGER.warning(
                "%s: %d segments occur several times in the test set; the first is taken",
                self._path,
                self.guessed,
            )


def _index(texts: Sequence[str]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for place, text in enumerate(texts):
        found.setdefault(without_whitespace(text), []).append(place)
    return found


# Language pairs as files name them.


# the three-letter codes that WMT's annotation campaigns wrote
_SHORT = {
    "ara": "ar",
    "ben": "bn",
    "ces": "cs",
    "cze": "cs",
    "deu": "de",
    "ger": "de",
    "eng": "en",
    "est": "et",
    "fin": "fi",
    "fra": "fr",
    "fre": "fr",
    "guj": "gu",
    "hau": "ha",
    "heb": "he",
    "hin": "hi",
    "hrv": "hr",
    "hun": "hu",
    "isl": "is",
    "ice": "is",
    "ita": "it",
    "jpn": "ja",
    "kaz": "kk",
    "khm": "km",
    "kor": "ko",
    "lav": "lv",
    "lit": "lt",
    "pol": "pl",
    "pus": "ps",
    "ron": "ro",
    "rum": "ro",
    "rus": "ru",
    "spa": "es",
    "tam": "ta",
    "tur": "tr",
    "ukr": "uk",
    "xho": "xh",
    "zho": "zh",
    "chi": "zh",
    "zul": "zu",
}


def pair(source: str, target: str) -> str:
    """A language pair from two codes, of two letters where these are known.

    >>> pair("cze", "eng")
    'cs-en'
    """
    return f"{_SHORT.get(source, source)}-{_SHORT.get(target, target)}"


def _same(there: str, wanted: str) -> bool:
    """Whether two pairs are the same, regions apart where only one has them."""
    short = [[code.split("_")[0] for code in name.split("-")] for name in (there, wanted)]
    bare = "_" not in there or "_" not in wanted
    return there == wanted or (bare and short[0] == short[1])


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
    testset: TestSet, kind: str, place: Callable[[ErrorSpan], K]
) -> dict[K, list[ErrorSpan]]:
    """The errors of a kind by some place of theirs."""
    errors: dict[K, list[ErrorSpan]] = {}
    for error in testset.errors:
        if error.kind == kind:
            errors.setdefault(place(error), []).append(error)
    return errors


def rated_kind(testset: TestSet, kind: str | None) -> str:
    """The kind of segment scores or of error spans that is meant."""
    there = dict.fromkeys([h.kind for h in testset.human if h.level == "segment"])
    there |= dict.fromkeys(marked_kinds(testset))
    return only_kind(kind, tuple(there), "segment scores or error spans")


def require_spans(testset: TestSet, kind: str, form: str) -> None:
    """Refuse scores that the error spans do not account for: the format holds spans alone.

    Scores of kinds that are no penalties (``esa``) are left out, and that is said.
    """
    marked = {(e.system, e.segment) for e in testset.errors if e.kind == kind}
    lost = sum(
        value < 0 and (system, int(item)) not in marked
        for human in testset.human
        if (human.kind, human.level) == (kind, "segment")
        for system, row in zip(human.systems, human.values, strict=True)
        for item, value in enumerate(row.tolist())
    )
    scored = any((h.kind, h.level) == (kind, "segment") for h in testset.human)
    if scored and scale_of(kind)[0] >= 0:
        LOGGER.warning(
            "format %s holds error spans and no scores: the scores %r are left out", form, kind
        )
    if lost:
        raise DataError(
            f"format {form} holds error spans and no scores, and {lost} scores of {kind!r} below 0"
            " have no error span: they would be lost; write format 'table' or 'mt-metrics-eval'"
        )
