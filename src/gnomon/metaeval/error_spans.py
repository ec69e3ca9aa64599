"""Do metrics, judges and other people mark the errors that people marked?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

import numpy as np

from gnomon.agreement.error_spans import ErrorFree, pair_marks
from gnomon.agreement.significance import refuse_unknown_documents, resample_faults
from gnomon.core.errors import UsageError
from gnomon.core.findings import Finding
from gnomon.core.options import Count, DrawOptions, Group, Metavar, Share, Unit, expand_fields
from gnomon.core.registry import method
from gnomon.core.testset import TestSet
from gnomon.core.validation import Problem, problems
from gnomon.messages.audiences import Named, parameter
from gnomon.metaeval.error_span_finding import MarkedErrors, MarkRules, error_span_finding
from gnomon.metaeval.error_span_rows import CONTESTS, ERROR_FREE, MARKS, ROWS, SEGMENTS
from gnomon.metaeval.error_spans_verdict import error_spans_verdict
from gnomon.metrics.base import Metrics, list_metrics
from gnomon.metrics.error_marks import (
    MarkedSide,
    Marking,
    Marks,
    PeoplesMarks,
    has_people_marks,
    mark_faults,
    read_every_mark,
    read_people_marks,
)
from gnomon.metrics.marked_outputs import error_span_marks
from gnomon.metrics.registry import check_metric
from gnomon.stats.draws import DocumentDraws, SegmentDraws

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.options import BoundOptions
    from gnomon.core.outline import Outline
    from gnomon.stats.draws import Draws

_EXAMPLES = """\
examples:
  gnomon metaeval spans -t wmt24/en-cs --human esa --marks xcomet.json judge=judge.jsonl
  gnomon metaeval spans -t wmt24/en-cs --human esa.csv -m chrf --thresholds 85 95
  gnomon metaeval spans -t wmt25/en-ko --human mqm --marks team=predictions.tsv
"""


def check_spans(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """Check options of :func:`spans` that fit each alone."""
    yield from resample_faults(options.resamples, options.confidence)
    if not options.thresholds and options.error_free != "spans":
        few = " must be one or more where scores decide what is free of errors"
        yield Problem("thresholds", UsageError(parameter("thresholds"), few))
    for metric in list_metrics(options.metrics):
        yield from problems("metrics", check_metric, metric, outline, allow_code=options.allow_code)  # type: ignore[arg-type]  # scores are refused there
    if outline is not None:
        if options.unit == "document" and not outline.slices.get("document"):
            yield Problem("unit", refuse_unknown_documents(outline.name))
        yield from mark_faults(
            outline,
            options.human,
            options.marks,
            Marking(options.side, scored=True, allow_code=options.allow_code),
            metrics=options.metrics,
        )


@method(
    "metaeval.spans",
    purpose="compare the errors that metrics and judges mark with those that people marked",
    title="Error spans against people's",
    examples=_EXAMPLES,
    tables={
        "": "span_agreement",
        CONTESTS: "span_contests",
        ERROR_FREE: "error_free",
        MARKS: "error_marks",
        SEGMENTS: "span_segments",
    },
    rows=ROWS,
    metrics="all",
    human=True,
    judged=has_people_marks,
    verdict=error_spans_verdict,
    marks=error_span_marks,
    check=check_spans,
)
@expand_fields(draws=DrawOptions)
def spans(
    testset: TestSet,
    metrics: Metrics = (),
    *,
    human: PeoplesMarks = (),
    marks: Marks = (),
    side: MarkedSide = "candidate",
    partial_credit: Share = 0.5,
    error_free: ErrorFree = "both",
    thresholds: Annotated[Sequence[float], Metavar("SCORE")] = (85.0,),
    unit: Unit = "auto",
    draws: DrawOptions,
    examples: Annotated[Count, Group("output")] = 3,
    per_segment: bool = False,
    allow_code: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> Finding:
    """Agreement of marked errors with those of people, and detection of outputs without any.

    Every judgement of people (one person, one output) stands beside what a metric, a judge or
    another person marked in the same output. Characters are counted as WMT 2025 counts them, with
    part of the credit where severities differ; spans are matched one to one. People beside each
    other, where several looked at the same text, are the ceiling.

    Args:
        testset: outputs in which people marked errors.
        metrics: metrics and judges that mark errors; of others, scores alone, which may tell what
            is free of errors.
        partial_credit: credit for an error marked with another severity; 1: severities do not
            matter.
        error_free: what makes an output free of errors for people: a high score and no span
            ("both"), the "score", or the "spans".
        thresholds: human scores from which on an output may be free of errors.
        unit: the independent unit: "segment", "document", or "auto": documents where they are
            known, because one person marks a whole document.
        per_segment: add a table "segments" with the figures of every output.
        examples: outputs shown on which people and a metric or judge differ most.

    Returns:
        A finding whose rows hold ``marks, by, system, unit, average, precision, recall, f1,
        judgements, ...``; tables ``contests`` (pairs of markers), ``error_free``, ``marks`` (every
        span) and, if asked for, ``segments``. ``None`` where undefined.

    Raises:
        DataError: nobody marked errors, or there are several kinds and none was named.
        UnknownNameError: there is no such kind, file or metric.
        UsageError: an option is out of range, or there is nothing to hold beside people's marks.
    """
    how = MarkRules(partial_credit, error_free, tuple(thresholds))
    testset, people = read_people_marks(testset, human, side)
    every = [
        people,
        *read_every_mark(
            testset,
            people,
            marks,
            Marking(side, scored=True, allow_code=allow_code),
            metrics=metrics,
            progress=progress,
        ),
    ]
    if unit == "document" and not testset.documents:
        raise refuse_unknown_documents(testset.name)
    drawn = _draws(testset, draws, unit)
    pairs = []
    if progress:
        progress("comparing", 0, len(every))
    for done, marker in enumerate(every, start=1):
        pair = pair_marks(people, marker, testset, partial_credit=how.partial_credit, side=side)
        if len(pair.gold):
            pairs.append(pair)
        if progress:
            progress("comparing", done, len(every))
    if not pairs:
        raise UsageError(
            f"there is nothing to hold beside the marks of {people.name}: one person checked each"
            " output; name others' marks (",
            Named("-m, --marks", "metrics=, marks="),
            ")",
        )
    made = MarkedErrors(testset, people, every, pairs, how, drawn, side, examples)
    return error_span_finding(made, draws, unit, per_segment=per_segment)


def _draws(testset: TestSet, how: DrawOptions, unit: str) -> Draws | None:
    """Resamples of the segments, or documents left out, where these are known and independent."""
    if not how.resamples:
        return None
    if unit == "segment" or testset.documents is None:
        return SegmentDraws.draw(
            testset.segments, count=how.resamples, seed=how.seed, confidence=how.confidence
        )
    once = np.ones(testset.segments, dtype=np.intp)
    return DocumentDraws.leave_out(testset.documents, once, how.confidence)
