"""Explanations in files, saved before or made by another tool."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np

from gnomon.bmx.explainers import PairImportances
from gnomon.bmx.pairs import TextWords, role_of
from gnomon.core.errors import DataError, FormatError, SpecError, UsageError
from gnomon.core.options import InputFile
from gnomon.core.scores import list_names
from gnomon.core.signature import content_hash
from gnomon.data.formats import MQM_WEIGHTS, atomic_write, read_bytes, read_records
from gnomon.messages import message
from gnomon.metrics.spec import Options

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.bmx.explainers import TextPair
    from gnomon.core.batch import Batch
    from gnomon.core.testset import TestSet
    from gnomon.messages import Message
    from gnomon.metrics.base import BoundMetric, Metric

    Floats = NDArray[np.float64]


# Explanations from elsewhere as an explainer.


_SIDES = ("candidate", "reference", "source")
#: penalty of an error by severity: MQM's, a critical error as a major one
_SEVERITIES = {
    **{name: -MQM_WEIGHTS[name] for name in ("major", "minor", "neutral", "no-error")},
    "critical": -MQM_WEIGHTS["major"],
}
#: importances are below it, so that sums are numbers
_MOST = 1e300


@dataclass(frozen=True)
class ExplanationFile(Options):
    """Explanations from a JSONL file, of words or spans: ``file('spans.jsonl')``.

    Every line is an object. It says what is explained: ``segment`` (from 1), ``system`` (may be
    left out where there is one, and for sources and references that all share), ``side``
    (``candidate``, which is the default, ``reference`` or ``source``) and, where there are several
    references, ``reference`` (its name); and then one of:

    - ``position`` (of a word, from 1) and ``importance``: one word, as ``gnomon bmx explain
      --save-explanations`` writes it; ``token``, if it is there, must be that word;
    - ``importances``: a number for each word;
    - ``spans``: a list of spans of characters, such as the pieces of a model, half-open, from 0:
      ``{"start": 0, "end": 3, "importance": 0.5}``.

    It may hold further systems. Words are those of ``str.split()``. A span says the same of every
    word that it overlaps; a word that several spans overlap gets their sum, one that none overlaps
    0. A span may have a ``severity`` in the place of an importance: minor -1, major and critical
    -5, neutral 0 (MQM). ``null`` is undefined. What the file does not explain is undefined, or,
    with ``absent='zero'``, 0. A file can explain the texts of its test set alone. It costs one
    score.

    Attributes:
        file: the file.
        lower_is_better: its numbers tell how wrong a word is; they are negated.
        absent: what outputs without a line are: "undefined", or "zero" where they have no errors.

    Raises:
        SpecError: no file is named.
    """

    name: ClassVar[str] = "file"
    positional: ClassVar[str] = "file"
    is_limited_to_test_set: ClassVar[bool] = True  # it explains no changed texts
    blind: ClassVar[bool] = True

    file: Annotated[str, InputFile()] = ""
    lower_is_better: bool = False
    absent: Literal["undefined", "zero"] = "undefined"

    def __post_init__(self) -> None:
        super().__post_init__()
        given: object = self.file  # in a spec, a metric may stand there
        if not isinstance(given, str) or given in ("", "-"):
            raise SpecError(
                "explainer 'file' takes the name of a file of explanations first, in quotes, as in"
                " file('spans.jsonl')"
            )

    def check(self, metric: Metric) -> None:  # noqa: ARG002  # any metric
        """Refuse a file that is not there.

        Raises:
            MissingFileError: there is no such file.
        """
        if not Path(self.file).is_file():
            read_bytes(self.file)  # the reader says why

    def bind(self, testset: TestSet, bound: BoundMetric) -> BoundExplanationFile:
        """Read the explanations of the test set's texts.

        Raises:
            MissingFileError: there is no such file.
            FormatError: a line is not as it should be, or speaks of a system, a segment, a word or
                a character that is not there.
            DataError: the file explains no candidate of the test set.
        """
        reading = _Reading(self, testset)
        importances, others = reading.read(), tuple(reading.others)
        sides = frozenset(key.side for key in importances)
        if "candidate" not in sides:
            raise DataError(
                f"{self.file} explains no candidate of test set {testset.name!r}"
                + (f" (its systems: {list_names(others)})" if others else "")
                + "; lines have a segment, a system, and the side 'candidate' or none"
            )
        role = role_of(bound, testset.batch())
        identity = content_hash(read_bytes(self.file))
        texts = _explainable_texts(testset)
        return BoundExplanationFile(self, identity, role, importances, texts, sides, others)


class _Text(NamedTuple):
    """A text that is explained; system "" where all systems share it."""

    side: str
    system: str
    segment: int  # from 0
    text: str


def _explainable_texts(testset: TestSet) -> frozenset[tuple[str, int, str]]:
    """Side, segment (from 0) and text of all that may be explained."""
    alone = [
        references for each in testset.system_references.values() for references in each.values()
    ]
    by_side: list[tuple[str, Iterable[Sequence[str | None]]]] = [
        ("candidate", testset.systems.values()),
        ("reference", [*testset.references.values(), *alone]),
        ("source", [] if testset.sources is None else [testset.sources]),
    ]
    return frozenset(
        (side, segment, text)
        for side, each in by_side
        for texts in each
        for segment, text in enumerate(texts)
        if text is not None
    )


@dataclass(frozen=True, eq=False)
class BoundExplanationFile:
    """Explanations from elsewhere, by text."""

    options: ExplanationFile
    identity: str  # a hash of the file
    role: str | None  # what candidates are judged by: "reference", "source" or nothing
    found: Mapping[_Text, Floats]  # float64 importances of the words of each text
    #: the texts of the test set, with their side and segment
    own: frozenset[tuple[str, int, str]]
    sides: frozenset[str]  # the sides of which there are any
    others: tuple[str, ...]  # systems of the file that the test set does not have
    blind: ClassVar[bool] = True  # it needs nothing of the metric
    depends_on_system: ClassVar[bool] = (
        True  # explanations of equal outputs of two systems may differ
    )
    absolute: ClassVar[bool] = True  # its zero means something: below it a word is wrong

    @property
    def spec(self) -> str:
        """The spec with the file's name alone: equal files give equal signatures anywhere."""
        return replace(self.options, file=Path(self.options.file).name).spec

    @property
    def fields(self) -> Mapping[str, object]:
        """A hash of the file."""
        return {"explanations": self.identity}

    def notices(self, side: str, texts: Sequence[str]) -> tuple[Message, ...]:  # noqa: ARG002  # of the file alone
        """Systems of the file that the test set does not have."""
        if side != "candidate" or not self.others:
            return ()
        also = message("note.metrics.others", file=self.spec, does="explains", systems=self.others)
        return (also,)

    def look(
        self,
        bound: BoundMetric,  # noqa: ARG002  # not needed
        batch: Batch,
        pairs: Sequence[TextPair],
    ) -> Sequence[PairImportances]:
        """Importances in the file for the words of both sides."""
        return [
            PairImportances(
                self._look_up("candidate", batch, column, pair.candidate),
                np.zeros(0)
                if pair.other is None
                else self._look_up(self.role or "", batch, column, pair.other),
            )
            for column, pair in enumerate(pairs)
        ]

    def _look_up(self, side: str, batch: Batch, column: int, words: TextWords) -> Floats:
        at = int(batch.segments[column]), words.text
        for system in (batch.systems[0], ""):
            importances = self.found.get(_Text(side, system, *at))
            if importances is not None:
                return importances
        if (side, *at) not in self.own:
            raise UsageError(
                f"{self.spec} explains the texts of its test set alone, and is asked for another"
                f" {side} of segment {at[0] + 1}; for changed texts take an explainer that gnomon"
                " computes (erasure, lime, shap)"
            )
        return np.full(len(words), 0.0 if self.options.absent == "zero" else np.nan)


class _Gathered:
    """Lines on one text."""

    def __init__(self, text: str) -> None:
        self.words = TextWords(text)
        self.values: dict[int, list[float]] = {}
        self.worded = False

    def span(self, start: int, end: int, value: float) -> None:
        """Give a value to every word that a span overlaps."""
        for word, (first, last) in enumerate(self.words.spans):
            if max(first, start) < min(last, end):  # an empty span overlaps nothing
                self.values.setdefault(word, []).append(value)

    def importances(self, options: ExplanationFile) -> Floats:
        """The importance of each word."""
        unknown = self.worded and options.absent == "undefined"
        values_by_word = np.full(len(self.words), np.nan if unknown else 0.0)
        for word, values in self.values.items():
            values_by_word[word] = np.sum(values)
        return -values_by_word if options.lower_is_better else values_by_word


class _Reading:
    """Reads the lines of a file of explanations of a test set."""

    def __init__(self, options: ExplanationFile, testset: TestSet) -> None:
        self.options = options
        self.testset = testset
        self.line = 0
        self.told: dict[str, str] = {}
        self.others: dict[str, None] = {}
        self.gathered: dict[_Text, _Gathered] = {}

    def read(self) -> dict[_Text, Floats]:
        """Importances of the words of all texts that the file explains."""
        for record in read_records(self.options.file, "jsonl"):
            self.line, row = record.line, record.values
            self._check_maker(row)
            for text in self._texts(row):
                gathered = self.gathered.setdefault(text, _Gathered(text.text))
                self._add(gathered, row)
        return {
            text: gathered.importances(self.options) for text, gathered in self.gathered.items()
        }

    def _check_maker(self, row: Mapping[str, Any]) -> None:
        """Refuse a second metric or explainer in one file: they are read one by one."""
        for name in ("metric", "explainer"):
            first = self.told.setdefault(name, str(row[name])) if name in row else None
            if first is not None and first != str(row[name]):
                raise self._wrong(
                    f"the {name} is {row[name]!r}, and {first!r} before; a file holds the"
                    " explanations of one metric by one explainer: give several files"
                )

    def _wrong(self, problem: str) -> FormatError:
        return FormatError(problem, path=self.options.file, line=self.line)

    def _texts(self, row: Mapping[str, Any]) -> Iterator[_Text]:
        """The texts that a line speaks of: several where systems have references of their own."""
        side = row.get("side", "candidate")
        if side not in _SIDES:
            raise self._wrong(f"side {side!r} is none of {', '.join(_SIDES)}")
        segment = _whole(row.get("segment"))
        if not 1 <= segment <= self.testset.segments:
            raise self._wrong(
                f"segment {row.get('segment')!r} is none of 1 to {self.testset.segments}"
            )
        system = row.get("system")
        if system is not None and not isinstance(system, str):
            raise self._wrong(f"a system is named by a string; got {system!r:.60}")
        if system is not None and system not in self.testset.systems:
            self.others[system] = None
            return
        index = segment - 1
        if side == "candidate":
            if system is None and len(self.testset.systems) > 1:
                raise self._wrong(
                    "the line names no system, and the test set has"
                    f" {len(self.testset.systems)}; give each line its system"
                )
            name = system or next(iter(self.testset.systems))
            yield _Text(side, name, index, self.testset.systems[name][index])
        elif side == "source":
            if self.testset.sources is None:
                raise self._wrong("the test set has no sources")
            yield _Text(side, system or "", index, self.testset.sources[index])
        else:
            yield from self._references(row, system, index)

    def _references(
        self, row: Mapping[str, Any], system: str | None, index: int
    ) -> Iterator[_Text]:
        system_references = self.testset.system_references.get(system or "", {})
        there = {**self.testset.references, **system_references}
        wanted = row.get("reference")
        if wanted is None and len(there) > 1:
            raise self._wrong(
                f"the line names no reference, and there are {', '.join(there)}; say which"
            )
        if not there or wanted not in (None, *there):
            raise self._wrong(f"unknown reference {wanted!r}; there are {', '.join(there)}")
        text = there[wanted or next(iter(there))][index]
        if text is not None:
            yield _Text("reference", system or "", index, text)

    def _add(self, gathered: _Gathered, row: Mapping[str, Any]) -> None:
        if "spans" in row:
            if not isinstance(row["spans"], list):
                raise self._wrong(f"spans are a list; got {row['spans']!r:.60}")
            for span in row["spans"]:
                self._add_span(gathered, span)
        elif "importances" in row:
            self._add_list(gathered, row)
        elif "position" in row:
            self._add_word(gathered, row)
        else:
            raise self._wrong(
                "the line says nothing of a word; it has a position and an importance, or"
                " importances, or spans"
            )

    def _add_word(self, gathered: _Gathered, row: Mapping[str, Any]) -> None:
        position, token = _whole(row["position"]), row.get("token")
        if not 1 <= position <= len(gathered.words):
            raise self._wrong(
                f"word {row['position']!r} is none of the {len(gathered.words)} of the text"
            )
        if token is not None and token != gathered.words.words[position - 1]:
            raise self._wrong(
                f"word {position} of the text is {gathered.words.words[position - 1]!r}, not"
                f" {token!r}: the explanations are of another text"
            )
        if position - 1 in gathered.values:
            raise self._wrong(f"word {position} comes twice; give each once")
        gathered.worded = True
        gathered.values[position - 1] = [self._importance(row)]

    def _add_span(self, gathered: _Gathered, span: Any) -> None:
        if not isinstance(span, dict):
            raise self._wrong(
                f"a span is an object with start, end and importance; got {span!r:.60}"
            )
        start, end = _whole(span.get("start")), _whole(span.get("end"))
        if not 0 <= start <= end <= len(gathered.words.text):
            raise self._wrong(
                f"span [{span.get('start')!r}, {span.get('end')!r}) does not lie in the text, which"
                f" has {len(gathered.words.text)} characters; spans count from 0 and are half-open"
            )
        gathered.span(start, end, self._importance(span))

    def _add_list(self, gathered: _Gathered, row: Mapping[str, Any]) -> None:
        given, words = row["importances"], list(gathered.words.words)
        if gathered.values:
            raise self._wrong("the text is explained before; give each text one list")
        if not isinstance(given, list):
            raise self._wrong(f"importances are a list; got {given!r:.60}")
        values = [self._number("importances", number) for number in given]
        if len(values) != len(words) or row.get("tokens", words) != words:
            raise self._wrong(
                f"{len(values)} importances for a text of {len(words)} words; give one for each"
                " word between white space, or spans that say where other tokens stand"
            )
        gathered.worded = True
        gathered.values = {word: [value] for word, value in enumerate(values)}

    def _importance(self, row: Mapping[str, Any]) -> float:
        if "importance" in row:
            return self._number("importance", row["importance"])
        severity = str(row.get("severity", "")).casefold()
        if severity not in _SEVERITIES:
            severities = ", ".join(_SEVERITIES)
            raise self._wrong(
                f"there is neither an importance nor a severity that is known ({severities})"
            )
        importance = _SEVERITIES[severity]
        # an error is bad, whatever is negated
        return -importance if self.options.lower_is_better else importance

    def _number(self, key: str, value: object) -> float:
        if value is None:
            return float("nan")
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._wrong(f"{key} is a number or null; got {value!r}")
        if not abs(value) < _MOST:
            raise self._wrong(f"{key} is {value!r:.40}; a finite number is expected, or null")
        return float(value)


def _whole(given: object) -> int:
    """A whole number; -1 for anything else, which is no position."""
    return given if isinstance(given, int) and not isinstance(given, bool) else -1


def write_explanations(path: str | os.PathLike[str], rows: Iterable[Mapping[str, object]]) -> None:
    """One JSON object per word and line, as :class:`ExplanationFile` reads them.

    Args:
        path: the file.
        rows: of the table of all words, of one metric by one explainer.

    Raises:
        OutputError: the file cannot be written.
    """
    with atomic_write(path) as file:
        file.writelines(json.dumps(dict(row)) + "\n" for row in rows)
