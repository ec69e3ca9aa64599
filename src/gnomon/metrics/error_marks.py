"""Sources of marked errors: people, files of other tools, and metrics that mark errors.

All become :class:`ErrorMarks`, so that whatever counts errors counts those of people, metrics and
judges alike.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field, replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from gnomon.core.errors import DataError, UnknownNameError, UsageError
from gnomon.core.human import marked_kinds, only_kind
from gnomon.core.options import Help, InputFile, Metavar, Specs
from gnomon.core.validation import Problem, problems
from gnomon.data.formats import (
    Human,
    human_files,
    kind_in_name,
    read_human,
    recognised_judgements,
    split_name,
)
from gnomon.messages import message
from gnomon.messages.audiences import Words, flag
from gnomon.metrics.base import (
    AnyMetric,
    BoundMetric,
    Metrics,
    list_metrics,
)
from gnomon.metrics.registry import check_metric, resolve
from gnomon.metrics.registry import names as metric_names
from gnomon.metrics.scoring import bind, signature_of
from gnomon.metrics.spec import read_spec
from gnomon.stats.error_spans import GradedSpan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.human import Judgements
    from gnomon.core.outline import Outline
    from gnomon.core.signature import Signature
    from gnomon.core.spans import ErrorSpan, SpanMarker
    from gnomon.core.testset import TestSet
    from gnomon.messages import Message

#: marks of errors: kinds of the test set's, files of them (some as NAME=FILE), metrics that mark
Marks: TypeAlias = Annotated[
    "AnyMetric | PathLike[str] | Sequence[AnyMetric | PathLike[str]]",
    Metavar("FILE|METRIC|KIND"),
    InputFile(sure=False),
    Specs(),
    Help(
        "errors that others marked: files (NAME=FILE), metrics that mark errors, or other kinds in"
        " the test set."
    ),
]
#: people's marks
PeoplesMarks: TypeAlias = Annotated[
    Human, Help("the kind of errors that people marked, or a file; by default the only kind.")
]
#: what is marked
MarkedSide: TypeAlias = Annotated[
    Literal["candidate", "source"], Help('errors in the "candidate" or in the "source".')
]
#: severities that count as the graver of two, and those that are no error
_MAJOR = ("major", "critical")
_NO_ERROR = ("neutral", "undecided", "no-error", "no error")
#: penalties by whether an error is major, where marks stand for a score
_PENALTY = {False: 1.0, True: 5.0}


def severity_of(severity: str) -> bool | None:
    """True if an error is major; None where it is none (neutral, undecided).

    Critical errors are major, and so are those without a severity: who tags words as wrong grades
    nothing.

    >>> severity_of("Critical"), severity_of("minor"), severity_of("neutral"), severity_of("bad")
    (True, False, None, True)
    """
    name = severity.strip().lower()
    if name in _NO_ERROR:
        return None
    return name != "minor"


def is_graded(severity: str) -> bool:
    """True if a severity is one of those that every scheme has."""
    return severity.strip().lower() in (*_MAJOR, "minor", *_NO_ERROR)


class Judgement(NamedTuple):
    """An output that somebody looked at."""

    rater: int  # position of who did
    system: int  # position of the system in the test set
    segment: int  # 0-based


@dataclass(frozen=True, eq=False)
class ErrorMarks:
    """The marks of one metric, or of one group of people."""

    name: str  # of the kind of judgements, the file or the metric
    by: SpanMarker  # what marked them
    raters: tuple[str, ...]  # who did, R; one for a metric
    judged: NDArray[np.bool_]  # [R, K, N], the outputs that each looked at
    # errors with an extent on the side that is looked at, by rater, system and segment
    spans: Mapping[Judgement, tuple[ErrorSpan, ...]]
    # [R, K, N], further scores of outputs, higher is better; None: there are none
    scores: NDArray[np.float64] | None = None
    # errors without an extent (omissions) by rater, system and segment
    placeless: Mapping[Judgement, tuple[ErrorSpan, ...]] = field(default_factory=dict)
    ungraded: int = 0  # how many spans have no severity that is known
    marking: bool = True  # whether errors were marked; a metric may score alone
    notices: tuple[Message, ...] = ()
    signature: Signature | None = None  # of the metric; None for others
    # [K], the outputs of each system with an error, where nothing says which others were
    # looked at, so that all of them are taken to be; None elsewhere
    listed: NDArray[np.int64] | None = None

    def judgements(self) -> Iterator[Judgement]:
        """The outputs that were looked at, rater by rater."""
        for rater, system, segment in np.argwhere(self.judged).tolist():
            yield Judgement(rater, system, segment)

    def graded(self, place: Judgement) -> tuple[GradedSpan, ...]:
        """The errors of an output with two severities; those that are none are left out."""
        graded = ((s, severity_of(s.severity)) for s in self.spans.get(place, ()))
        return tuple(GradedSpan(s.start, s.end, major) for s, major in graded if major is not None)

    def list_errors(self, place: Judgement) -> tuple[ErrorSpan, ...]:
        """All errors of an output, those without a place, too."""
        spans = (*self.spans.get(place, ()), *self.placeless.get(place, ()))
        return tuple(span for span in spans if severity_of(span.severity) is not None)

    def penalty(self, place: Judgement) -> float:
        """Minus the sum of the penalties of an output: 5 for a major error, 1 for a minor one."""
        return 0.0 - sum(
            _PENALTY[bool(severity_of(span.severity))] for span in self.list_errors(place)
        )

    @property
    def segments(self) -> NDArray[np.bool_]:
        """Bool [N], the segments in which anything was looked at."""
        return np.asarray(self.judged.any(axis=(0, 1)))


def people_marks(
    testset: TestSet,
    kind: str | None = None,
    *,
    side: str = "candidate",
    name: str | None = None,
    by: SpanMarker | None = None,
) -> ErrorMarks:
    """People's marks, one rater of each name.

    A rater looked at the outputs that have a score of theirs, or an error, and at those that are
    known to have none; where nothing of that is known, at all outputs of the systems in which
    somebody marked an error, which is said.
    """
    there = marked_kinds(testset)
    chosen = only_kind(kind, there, "marked errors")
    names = list(testset.systems)
    errors = [e for e in testset.errors if e.kind == chosen and e.system in testset.systems]
    human = _scores_by_rater(testset, chosen)
    listed = [o for o in testset.looked_at if o.kind == chosen and o.system in testset.systems]
    who = [*human, *(error.rater for error in errors), *(output.rater for output in listed)]
    raters = tuple(dict.fromkeys(who))
    judged = np.zeros((len(raters), len(names), testset.segments), dtype=np.bool_)
    scores = np.full(judged.shape, np.nan)
    for rater, values in human.items():
        scores[raters.index(rater)] = values
    judged |= ~np.isnan(scores)
    for output in listed:
        judged[raters.index(output.rater), names.index(output.system), output.segment] = True
    spans: dict[Judgement, list[ErrorSpan]] = {}
    placeless: dict[Judgement, list[ErrorSpan]] = {}
    for error in errors:
        judgement = Judgement(raters.index(error.rater), names.index(error.system), error.segment)
        judged[judgement] = True
        if error.side == side:
            (spans if error.end > error.start else placeless).setdefault(judgement, []).append(
                error
            )
    notices, with_errors = [], None
    if not human and not listed:
        with_errors = np.any(judged, axis=0).sum(axis=1)
        marked = with_errors > 0
        judged |= marked[None, :, None]
        others = [name for name, some in zip(names, marked, strict=True) if not some]
        notices.append(
            message("note.metrics.all_checked", marker=chosen, others=others, without=bool(others))
        )
    kinds = {error.by for error in errors}
    graded = {
        judgement: tuple(sorted(spans_of_output, key=lambda e: (e.start, e.end)))
        for judgement, spans_of_output in spans.items()
    }
    return ErrorMarks(
        name=name or chosen,
        by=by or (kinds.pop() if len(kinds) == 1 else "person"),
        raters=tuple(rater or "" for rater in raters),
        judged=judged,
        spans=graded,
        scores=scores if human else None,
        placeless={
            judgement: tuple(spans_of_output) for judgement, spans_of_output in placeless.items()
        },
        ungraded=sum(not is_graded(error.severity) for error in errors),
        notices=tuple(notices),
        listed=with_errors,
    )


def _scores_by_rater(testset: TestSet, kind: str) -> dict[str | None, NDArray[np.float64]]:
    """Segment scores of a kind by rater; all together only where nobody is named."""
    scored = [h for h in testset.human if h.level == "segment"]
    of_kind = [h for h in scored if h.kind == kind] or [
        h
        for h in scored
        if h.kind == kind.partition(".")[0]  # mt-metrics-eval: mqm.super.1
    ]
    named = [h for h in of_kind if h.rater is not None]
    return {h.rater: h.aligned(list(testset.systems)) for h in named or of_kind[:1]}


class Marking(NamedTuple):
    """Which marks are read of those who are named."""

    side: str = "candidate"
    scored: bool = False  # whether metrics that mark nothing are taken for their scores
    allow_code: bool = False


def _bind_marking(testset: TestSet, metric: Any, how: Marking) -> tuple[str, BoundMetric]:
    name, bound = bind(testset, metric, allow_code=how.allow_code)
    if not how.scored and "spans" not in bound.can:
        raise _marks_none(name)
    return name, bound


def _marks_none(name: str) -> UsageError:
    return UsageError(
        f"metric {name!r} marks no errors; take one that does (xcomet, a judge), or a file of marks"
    )


def _marks_of_metric(
    testset: TestSet,
    name: str,
    bound: BoundMetric,
    segments: NDArray[np.bool_] | None,
    *,
    side: str,
    scored: bool,
) -> ErrorMarks:
    """A metric's marks in the outputs of some segments, bool [N]; None: of all."""
    chosen = np.ones(testset.segments, dtype=np.bool_) if segments is None else segments
    columns = np.flatnonzero(chosen)
    batch = testset.batch().select(segments=columns.astype(np.int32))
    shape = (1, len(testset.systems), testset.segments)
    judged = np.zeros(shape, dtype=np.bool_)
    judged[0][:, columns] = bound.answered(batch)
    scores = np.full(shape, np.nan) if scored else None
    if scores is not None:
        values = np.asarray(bound.segments(batch), dtype=np.float64)
        scores[0][:, columns] = values if bound.higher_is_better else -values
    names, by = list(batch.systems), "metric"
    spans: dict[Judgement, list[ErrorSpan]] = {}
    placeless: dict[Judgement, list[ErrorSpan]] = {}
    for error in bound.error_spans(batch) if "spans" in bound.can else ():
        by = error.by
        if error.side != side:
            continue
        segment = int(columns[error.segment])
        judgement = Judgement(0, names.index(error.system), segment)
        kept = replace(error, segment=segment)
        (spans if error.end > error.start else placeless).setdefault(judgement, []).append(kept)
    return ErrorMarks(
        name=name,
        by=by,  # type: ignore[arg-type]  # of an error, or a metric's
        raters=(name,),
        judged=judged,
        spans={judgement: tuple(spans_of_output) for judgement, spans_of_output in spans.items()},
        scores=scores,
        placeless={
            judgement: tuple(spans_of_output) for judgement, spans_of_output in placeless.items()
        },
        ungraded=sum(
            not is_graded(e.severity) for spans_of_output in spans.values() for e in spans_of_output
        ),
        marking="spans" in bound.can,
        signature=signature_of(bound, batch),
    )


def list_marks(marks: Marks) -> list[Any]:
    """Marks as they were given, one or several, as a list."""
    return list(marks) if isinstance(marks, list | tuple) else [marks]


class _MarkSource(NamedTuple):
    """A source of marks (a kind of the test set's, a metric, or a file), and its title."""

    what: Literal["kind", "metric", "file"]
    name: str
    path: str = ""


def _source_of(text: str, kinds: Sequence[str]) -> _MarkSource:
    """The source that a text names."""
    if text in kinds:
        return _MarkSource("kind", text)
    named, path = split_name(text)
    if not os.path.isfile(path) and _is_spec(text):  # noqa: PTH113  # a long text is no file, and no error
        return _MarkSource("metric", str(read_spec(text)))
    if human_files(text)[0]:  # it looks like one; the reader says so where there is none
        return _MarkSource("file", named or kind_in_name(path) or Path(path).name, path)
    raise UnknownNameError(
        "kind of marked errors, file or metric",
        text,
        (*kinds, *metric_names()),
        remedy="name a file of marks that is there (NAME=FILE), a kind of the test set's, or a"
        " metric",
    )


def _is_spec(text: str) -> bool:
    try:
        return read_spec(text).name in metric_names() or "(" in text
    except UsageError:
        return False


def _repeated_name_error(name: str) -> UsageError:
    return UsageError(f"marks {name!r} are named twice; name each once (NAME=FILE)")


def read_every_mark(
    testset: TestSet,
    people: ErrorMarks | None,
    marks: Marks,
    how: Marking = Marking(),  # noqa: B008  # immutable
    *,
    metrics: Metrics = (),
    progress: Callable[[str, int, int], None] | None = None,
) -> list[ErrorMarks]:
    """The marks of all whom a user names beside people: files first, and metrics when all is well.

    ``people``: whose marks the others stand beside; metrics look where they did. None: nobody's.
    """
    kinds = marked_kinds(testset)
    markers: list[ErrorMarks | tuple[str, BoundMetric]] = []
    for marker in (*list_metrics(metrics), *list_marks(marks)):
        source = None
        if isinstance(marker, str | PathLike) and len(markers) >= len(list_metrics(metrics)):
            source = _source_of(fspath(marker), kinds)
        if source is None or source.what == "metric":
            markers.append(_bind_marking(testset, marker, how))
        elif source.what == "kind":
            markers.append(people_marks(testset, source.name, side=how.side))
        else:
            read = read_human(source.path, testset)
            markers.append(_marks_of_file(testset, read, source.name, how.side))
    names = [marker.name if isinstance(marker, ErrorMarks) else marker[0] for marker in markers]
    names += [] if people is None else [people.name]
    for name, times in Counter(names).items():
        if times > 1:
            raise _repeated_name_error(name)
    segments = None if people is None else people.segments
    every: list[ErrorMarks] = []
    for marker in markers:
        every.append(
            marker
            if isinstance(marker, ErrorMarks)
            else _marks_of_metric(testset, *marker, segments, side=how.side, scored=how.scored)
        )
        if progress:
            progress("marking", len(every), len(markers))
    return every


def _marks_of_file(testset: TestSet, found: Judgements, name: str, side: str) -> ErrorMarks:
    kinds = marked_kinds(found)
    if not kinds:
        raise DataError(f"{name} holds no marked errors")
    if len(kinds) > 1:
        raise DataError(f"{name} holds several kinds of marked errors: {', '.join(kinds)}")
    judged_set = replace(
        testset,
        human=found.scores,
        rankings=(),
        errors=found.errors,
        looked_at=found.looked_at,
    )
    return people_marks(judged_set, kinds[0], side=side, name=name)


# People's marks as users name them.


def read_people_marks(testset: TestSet, human: Human, side: str) -> tuple[TestSet, ErrorMarks]:
    """People's marks of a kind or a file, and the test set with what the file says."""
    files, kinds = human_files(human)
    kind = kinds[0] if kinds else None
    for file in files:
        named, path = split_name(file)
        judgements = read_human(path, testset, kind=named or kind_in_name(path))
        there = marked_kinds(judgements)
        if not there:
            raise DataError(f"{path} holds no marked errors")
        testset, kind = testset.with_human(judgements), there[0]
    return testset, people_marks(testset, kind, side=side, by="person")


def has_marks(outline: Outline, options: Mapping[str, Any]) -> bool:
    """True if there are marks of anybody's: in the test set, or in what options name."""
    return has_people_marks(outline, options) or bool(list_marks(options.get("marks") or ()))


def has_people_marks(outline: Outline, options: Mapping[str, Any]) -> bool:
    """True if there are people's marks: in the test set, or in a file that the options name."""
    return bool(outline.marked or human_files(options.get("human") or ())[0])


def mark_faults(
    outline: Outline,
    human: Human,
    marks: Marks = (),
    how: Marking = Marking(),  # noqa: B008  # immutable
    *,
    metrics: Metrics = (),
    alone: bool = False,
) -> Iterator[Problem]:
    """Marks that are not there, are of several kinds or named twice; metrics that mark nothing."""
    if how.side == "source" and not outline.sources:
        message = f"test set {outline.name!r} has no sources; name their file (-s)"
        yield Problem("side", DataError(message))
    names: list[str] = []
    if not alone or has_people_marks(outline, {"human": human}) or human or not list_marks(marks):
        yield from _people_faults(outline, human, names)
    names += [str(read_spec(given)) for given in list_metrics(metrics) if isinstance(given, str)]
    kinds = tuple(dict.fromkeys(marked.kind for marked in outline.marked))
    for number, given in enumerate(list_marks(marks)):
        source = None
        if isinstance(given, str | PathLike):
            try:
                source = _source_of(fspath(given), kinds)
            except UnknownNameError as error:
                if not human_files(human)[0]:  # that file may bring a kind of the name
                    yield Problem(f"marks[{number}]", error)
                continue
            names.append(source.name)
        yield from problems(f"marks[{number}]", _check_marking, given, source, outline, how)
    for name, times in Counter(names).items():
        if times > 1:
            yield Problem("marks", _repeated_name_error(name))


def _check_marking(given: Any, source: _MarkSource | None, outline: Outline, how: Marking) -> None:
    """Refuse a file that is none of marks, and a metric that cannot look at a test set."""
    if source is not None and source.what != "metric":
        if source.what == "file":
            recognised_judgements(source.path)
        return
    check_metric(given, outline, allow_code=how.allow_code)
    metric = resolve(given, allow_code=how.allow_code)
    if not how.scored and "spans" not in metric.can:
        raise _marks_none(metric.spec)


def _people_faults(outline: Outline, human: Human, names: list[str]) -> Iterator[Problem]:
    """Find faults of people's marks; adds the names of the marks, where known."""
    files, kinds = human_files(human)
    if len(kinds) + len(files) > 1:
        message: Words = "marks are compared with one kind of people's; name one"
        yield Problem("human", UsageError(message))
    if files:
        for file in files:
            named, path = split_name(file)
            yield from problems("human", recognised_judgements, path)
            names += [kind for kind in (named or kind_in_name(path),) if kind]
        return
    there = tuple(dict.fromkeys(marked.kind for marked in outline.marked))
    if not there:
        message = (
            f"nobody marked errors in test set {outline.name!r}; name a file of people's (",
            flag("human", "FILE", "..."),
            ")",
        )
        yield Problem("human", DataError(message))
        return
    for kind in kinds:
        if kind not in there:
            yield Problem("human", UnknownNameError("kind of marked errors", kind, there))
    if len(there) > 1 and not kinds:
        message = f"there are several kinds of marked errors; name one: {', '.join(there)}"
        yield Problem("human", DataError(message))
    elif kinds or there:
        names.append(kinds[0] if kinds else there[0])
