"""What judges say of each output, in words: reasons, and answers as they were written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.findings import Excerpt, Exhibit, ExhibitText, Finding, Listing
from gnomon.core.options import Positive
from gnomon.core.records import METRIC, SEGMENT, SYSTEM, Record, column, table
from gnomon.core.registry import method
from gnomon.core.testset import TestSet
from gnomon.core.verdicts import Claim, counted
from gnomon.metrics.judges.metric import BoundMarkingJudge
from gnomon.metrics.judges.replies import remarks_of
from gnomon.metrics.judges.requests import judge_faults, named_judges
from gnomon.metrics.judges.verdict import UNREADABLE, by_metric, statement, unreadable
from gnomon.metrics.marked_outputs import highlights
from gnomon.metrics.protocol import Metrics
from gnomon.metrics.scoring import signature_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.core.batch import Batch
    from gnomon.core.findings import Statement
    from gnomon.core.options import BoundOptions
    from gnomon.core.spans import ErrorSpan
    from gnomon.core.summary import Outline
    from gnomon.core.validation import Problem
    from gnomon.metrics.judges.metric import BoundChatJudge
    from gnomon.metrics.judges.replies import JudgeReply

_TITLE = "What judges say of each output"
_EXAMPLES = """\
examples:
  gnomon judges answers -t wmt24/en-cs -m "judge('gemba-mqm', model='NAME')" --html page.html
"""
_PAGE = 2000  # rows of the table that a page holds
_LISTED = 10  # rows that are printed
_LONGEST = 90  # characters of a reason that are printed
_SHOWN = ("system", "segment", "score", "reason", "missing")
#: what stands for an answer that says nothing
_WHY = {
    "refused": "it was refused",
    "rejected": "it could not be asked",
    "cut": "it is cut",
    "unreadable": "it cannot be read",
}


class AnswerRow(Record):
    """What a judge says of an output."""

    metric: str = METRIC
    system: str = SYSTEM
    segment: int = SEGMENT
    repetition: int = column("Repetition", help="from 1; each question may be asked several times")
    score: float | None = column("Score", help="on the rubric's scale, before any calibration")
    reason: str = column("Reason", help="that the judge gives; of words-then-score, the words")
    errors: int | None = column("Errors", help="that it names; empty where it is asked for none")
    missing: str = column("Missing", help="why the answer says nothing; empty where it does")
    answer: str = column("Answer", help="as it was written; of two turns, the second")
    first_answer: str = column("First answer", help="likewise of the first of two turns")


# What is said of answers, in sentences.


_REASONS = Claim(
    "judges.answers.reasons",
    "{metric} gives a reason with {share} of {answers}",
    "undecided",
    "the number of answers that hold a reason",
)
_NO_REASONS = Claim(
    "judges.answers.no_reasons",
    "{metric} gives no reasons; its rubric has to ask for them (reasons = true)",
    "caution",
    "no answer holds a reason",
)
ANSWER_CLAIMS = (_REASONS, _NO_REASONS, UNREADABLE)


def answers_verdict(finding: Finding) -> Iterator[Statement]:
    """How many answers can be read, and how many give a reason."""
    for metric, rows in by_metric(finding, finding.records(AnswerRow)).items():
        missing = [row for row in rows if row.missing]
        yield from unreadable(finding, metric, missing, len(missing), len(rows))
        reasoned = [row for row in rows if row.reason]
        if reasoned:
            share = f"{len(reasoned):,}"
            of = counted(len(rows), "answer")
            rests_on = finding.positions(reasoned)
            yield statement(_REASONS, rests_on, metric=metric, share=share, answers=of)
        elif not any(row.errors is not None for row in rows):
            yield statement(_NO_REASONS, finding.positions(rows), metric=metric)


def check_answers(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """What :func:`gnomon.judges.answers` refuses of options that fit each alone."""
    yield from judge_faults(outline, options.metrics, allow_code=options.allow_code)


@method(
    "judges.answers",
    answers="what a judge says of each output, with its reasons and its answers as written",
    title=_TITLE,
    examples=_EXAMPLES,
    tables={"": "judge_answers"},
    rows={"answers": AnswerRow},
    metrics="all",
    check=check_answers,
    verdict=answers_verdict,
    claims=ANSWER_CLAIMS,
)
def answers(
    testset: TestSet,
    metrics: Metrics = (),
    *,
    examples: Positive = 3,
    allow_code: bool = False,
) -> Finding:
    """Every answer of judges: score, reason, errors, and the words as they came.

    Answers that are on disk are not asked for again, so that this costs nothing after a comparison
    by the same judge.

    Args:
        testset: what was translated, and by whom.
        metrics: judges of single outputs; of a panel, each of its judges.
        examples: outputs shown on pages beside what was said of them: those with the lowest
            scores, for each judge.

    Returns:
        A finding with a row per judge, system, segment and repetition, and exhibits.

    Raises:
        UsageError: a metric is no judge, or costs more than allowed.
        ServerFailedError: the server stopped answering; what it said is kept.
    """
    rows: list[AnswerRow] = []
    exhibits: list[Exhibit] = []
    signatures, notices = {}, list[str]()
    batch = testset.batch()
    judges = list(named_judges(metrics, allow_code=allow_code))
    for name, judge in judges:
        bound = judge.bind(testset)
        judged = bound.judgements(batch)
        for (k, i), replies in judged.items():
            rows += _rows(name, batch.systems[k], i, replies, marks=bound.rubric.marks_errors)
        exhibits += _exhibits(name, bound, testset, judged, examples)
        signatures[name] = str(signature_of(bound, batch))
        notices += bound.notices(batch)
    if len(judges) > 1:  # what all of them say of an output stands together
        places = {system: k for k, system in enumerate(batch.systems)}
        rows.sort(key=lambda row: (places[row.system], row.segment))
    note = f"the first {_PAGE:,} rows; JSON, TSV and --tables hold all {len(rows):,}"
    shown = ("metric", *_SHOWN) if len(judges) > 1 else _SHOWN
    excerpt = Excerpt(tuple(range(_PAGE)), note) if len(rows) > _PAGE else None
    return Finding(
        method="judges answers",
        title=_TITLE,
        tables=(table("answers", _TITLE, AnswerRow, rows, excerpt=excerpt),),
        signatures=signatures,
        views=(Listing("answers", _TITLE, shown, most=_LISTED, longest=_LONGEST),),
        exhibits=tuple(exhibits),
        facts={"test set": testset.name},
        notices=tuple(notices),
    )


def _rows(
    metric: str, system: str, segment: int, replies: Sequence[JudgeReply], *, marks: bool
) -> Iterator[AnswerRow]:
    for repetition, reply in enumerate(replies, start=1):
        yield AnswerRow(
            metric=metric,
            system=system,
            segment=segment + 1,
            repetition=repetition,
            score=reply.score if np.isfinite(reply.score) else None,
            reason=reply.reason,
            errors=len(reply.errors) if marks and not reply.missing else None,
            missing=_WHY.get(reply.missing, reply.missing),
            answer=reply.text,
            first_answer=reply.first,
        )


def _exhibits(
    metric: str,
    bound: BoundChatJudge,
    testset: TestSet,
    judged: Mapping[tuple[int, int], Sequence[JudgeReply]],
    most: int,
) -> Iterator[Exhibit]:
    """The outputs that a judge finds worst, and those of which nothing can be read."""
    batch = testset.batch()
    scores = bound.segments(batch)
    sign = 1 if bound.higher_is_better else -1
    cells = [cell for cell in judged if np.isfinite(scores[cell])]
    worst = sorted(cells, key=lambda cell: sign * float(scores[cell]))[:most]
    silent = [cell for cell in judged if not np.isfinite(scores[cell])][:most]
    spans: dict[tuple[int, int], list[ErrorSpan]] = {}
    if isinstance(bound, BoundMarkingJudge):
        numbers = {name: k for k, name in enumerate(batch.systems)}
        for span in bound.error_spans(batch):
            spans.setdefault((numbers[span.system], span.segment), []).append(span)
    for kind, shown in (("lowest scores", worst), ("no score", silent)):
        for rank, (k, i) in enumerate(shown):
            score = {"score": float(scores[k, i]) if kind == "lowest scores" else None}
            said = {**score, **remarks_of(judged[k, i])}
            marks = spans.get((k, i), ())
            weight = float(len(shown) - rank)
            yield output_exhibit(testset, batch, (k, i), (metric, kind), said, marks, weight)


def output_exhibit(
    testset: TestSet,
    batch: Batch,
    cell: tuple[int, int],
    shown_for: tuple[str, str],
    said: Mapping[str, float | str | None],
    marks: Sequence[ErrorSpan] = (),
    weight: float = 0.0,
) -> Exhibit:
    """An output with what was said of it.

    ``cell``: numbers of system and segment; ``shown_for``: group and kind of the exhibit.
    """
    (k, i), (group, kind) = cell, shown_for
    texts = []
    if testset.sources is not None:
        of_source = highlights(span for span in marks if span.side == "source")
        texts.append(ExhibitText("source", "", testset.sources[i], of_source))
    for name, references in testset.references.items():
        if references[i] is not None:
            texts.append(ExhibitText("reference", name, references[i] or ""))
    of_candidate = highlights(span for span in marks if span.side == "candidate")
    candidate = batch.texts[int(batch.candidates[k, i])]
    texts.append(ExhibitText("candidate", batch.systems[k], candidate, of_candidate, said))
    return Exhibit(
        group=group,
        kind=kind,
        segment=i + 1,
        texts=tuple(texts),
        systems=(batch.systems[k],),
        document=None if testset.documents is None else testset.documents[i],
        domain=None if testset.domains is None else testset.domains[i],
        weight=weight,
    )
