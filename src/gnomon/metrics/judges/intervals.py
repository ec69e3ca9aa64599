"""How certain a judge's scores are: asked again, and of other segments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.findings import Finding, Listing
from gnomon.core.options import CONFIDENCE, Confidence
from gnomon.core.records import (
    METRIC,
    SEGMENT,
    SYSTEM,
    EndColumns,
    Record,
    column,
    column_names,
    table,
)
from gnomon.core.registry import method
from gnomon.core.testset import TestSet
from gnomon.core.verdicts import LEAST, Claim, amount
from gnomon.metrics.judges.noise import judge_noise
from gnomon.metrics.judges.requests import judge_faults, named_judges
from gnomon.metrics.judges.verdict import UNREADABLE, by_metric, or_nan, statement, unreadable
from gnomon.metrics.protocol import Metrics
from gnomon.metrics.scoring import signature_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.findings import Statement
    from gnomon.core.options import BoundOptions
    from gnomon.core.summary import Outline
    from gnomon.core.validation import Problem

_TITLE = "Judges' scores and their own noise"
_EXAMPLES = """\
examples:
  gnomon judges spread -t wmt24/en-cs \\
    -m "judge('gemba-da', model='NAME', repeats=5, temperature=1.0)"
"""


class SpreadRow(Record):
    """How certain a judge's score of a system is."""

    metric: str = METRIC
    system: str = SYSTEM
    score: float | None = column(
        "Score",
        better="higher",
        help="mean over segments",
        interval=EndColumns(how="of these segments, were the judge free of noise"),
    )
    low_all: float | None = column(
        "low, all", help="likewise, of all segments of this kind, noise included"
    )
    high_all: float | None = column("high, all", help="likewise")
    noise: float | None = column("Noise", help="standard error of the score by the judge's noise")
    error: float | None = column("Error", help="standard error over segments, noise included")
    deviation: float | None = column(
        "One answer", help="standard deviation of an answer about the mean of its segment"
    )
    segments: int = column("Segments", help="that have a score")
    repeats: int = column("Repeats", help="how often each question was asked")
    answers: int = column("Answers", help="answers that say a score")
    missing: int = column("Missing", help="answers that say nothing")


class SegmentSpreadRow(Record):
    """How certain a judge's score of a segment is."""

    metric: str = METRIC
    system: str = SYSTEM
    segment: int = SEGMENT
    score: float | None = column("Score", better="higher", help="mean of what can be read")
    noise: float | None = column("Noise", help="standard error of the score by the judge's noise")
    readable: int = column("Answers", help="that say a score")


# How certain scores are, in sentences.


_SPREAD = Claim(
    "judges.spread.score",
    "Asked again, {metric} would give {system} {score}, the least certain of its scores; its own"
    " noise is {share} of the variance that other segments would bring",
    "undecided",
    "standard errors of the score, of the judge's noise alone and over segments",
)
_ASKED_ONCE = Claim(
    "judges.spread.once",
    "{metric} was asked once, so that its noise is not known; take repeats=3 or more",
    "caution",
    "one repetition",
)
_EQUAL_ANSWERS = Claim(
    "judges.spread.equal",
    "all repetitions of {metric} gave equal scores; whether it has any noise needs more of them, or"
    " a temperature above 0",
    "caution",
    "a noise of 0",
)
_FEW_SPREAD = Claim(
    "judges.spread.few_segments",
    "fewer than 30 segments have a score, too few to be read as a finding",
    "caution",
    "the number of segments",
)
SPREAD_CLAIMS = (_SPREAD, _ASKED_ONCE, _EQUAL_ANSWERS, _FEW_SPREAD, UNREADABLE)


def spread_verdict(finding: Finding) -> Iterator[Statement]:
    """Whose score is known worst, and how much of the uncertainty is the judge's own."""
    every = finding.records(SpreadRow)
    for metric, rows in by_metric(finding, every).items():
        missing = sum(row.missing for row in rows)
        answers = missing + sum(row.answers for row in rows)
        yield from unreadable(finding, metric, rows, missing, answers)
        noisy = [(row.noise, row) for row in rows if row.noise is not None]
        if not noisy:
            yield statement(_ASKED_ONCE, finding.positions(rows), metric=metric)
            continue
        noise, row = max(noisy, key=lambda one: one[0])
        if not noise:
            yield statement(_EQUAL_ANSWERS, finding.positions(rows), metric=metric)
            continue
        share = noise**2 / max(or_nan(row.error) ** 2, 1e-300)
        yield statement(
            _SPREAD,
            finding.positions([row]),
            metric=metric,
            system=row.system,
            score=amount(or_nan(row.score), *row.ends("score")),
            share=f"{min(share, 1.0):.0%}",
        )
    few = [row for row in every if row.segments < LEAST]
    if few:
        yield statement(_FEW_SPREAD, finding.positions(few))


def check_spread(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """What :func:`gnomon.judges.spread` refuses of options that fit each alone."""
    yield from judge_faults(outline, options.metrics, allow_code=options.allow_code)


@method(
    "judges.spread",
    answers="how much a judge's scores vary when it is asked again, and with other segments",
    title=_TITLE,
    unread=("documents", "domains"),
    examples=_EXAMPLES,
    tables={"": "judge_spread", "segments": "judge_spread_segments"},
    rows={"spread": SpreadRow, "segments": SegmentSpreadRow},
    metrics="all",
    check=check_spread,
    verdict=spread_verdict,
    claims=SPREAD_CLAIMS,
)
def spread(
    testset: TestSet,
    metrics: Metrics = (),
    *,
    confidence: Confidence = CONFIDENCE,
    allow_code: bool = False,
) -> Finding:
    """A judge's score of each system, with the noise of the judge and the spread of segments.

    See :func:`gnomon.judges.judge_noise` for the equations.

    Args:
        testset: what was translated, and by whom.
        metrics: judges, with ``repeats=`` of two or more: with one, their noise is not known.

    Returns:
        A finding with a row per judge and system, and a table "segments" of all segments.

    Raises:
        UsageError: a metric is no judge, or costs more than allowed.
        ServerFailedError: the server stopped answering; what it said is kept.
    """
    rows, of_segments, signatures = [], [], {}
    notices: list[str] = []
    batch = testset.batch()
    for name, judge in named_judges(metrics, allow_code=allow_code):
        bound = judge.bind(testset)
        each = bound.repetitions(batch)
        for k, system in enumerate(batch.systems):
            noise = judge_noise(each[:, k])
            low_all, high_all = noise.interval_of_all(confidence)
            rows.append(
                SpreadRow(
                    metric=name,
                    system=system,
                    score=noise.score,
                    intervals={"score": noise.interval(confidence)},
                    low_all=low_all,
                    high_all=high_all,
                    noise=noise.of_judge,
                    error=noise.of_all,
                    deviation=noise.deviation,
                    segments=noise.segments,
                    repeats=judge.repeats,
                    answers=int(np.isfinite(each[:, k]).sum()),
                    missing=noise.missing,
                )
            )
            of_segments += [
                SegmentSpreadRow(
                    metric=name,
                    system=system,
                    segment=i + 1,
                    score=float(repetitions[np.isfinite(repetitions)].mean())
                    if np.isfinite(repetitions).any()
                    else None,
                    noise=float(noise.of_segments[i]),
                    readable=int(np.isfinite(repetitions).sum()),
                )
                for i, repetitions in enumerate(each[:, k].T)
            ]
        signatures[name] = str(signature_of(bound, batch))
        notices += bound.notices(batch)
    return Finding(
        method="judges spread",
        title=_TITLE,
        tables=(
            table("spread", _TITLE, SpreadRow, rows),
            table("segments", "Segments", SegmentSpreadRow, of_segments),
        ),
        signatures=signatures,
        views=(Listing("spread", _TITLE, column_names(SpreadRow)),),
        facts={"test set": testset.name},
        notices=tuple(notices),
    )
