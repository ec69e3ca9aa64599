"""How certain a judge's scores are: asked again, and of other segments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.findings import Finding, Listing
from gnomon.judges.noise import judge_noise
from gnomon.judges.requests import chat_judge, each_judge, judge_faults
from gnomon.judges.verdict import SPREAD_CLAIMS, spread_verdict
from gnomon.methods import method
from gnomon.metrics.protocol import Metrics
from gnomon.metrics.scoring import signature_of
from gnomon.options import Confidence
from gnomon.records import METRIC, SEGMENT, SYSTEM, Record, column, columns_of, table
from gnomon.testset import TestSet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.faults import Fault
    from gnomon.options import BoundOptions
    from gnomon.outline import Outline

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
    score: float | None = column("Score", better="higher", help="mean over segments")
    low: float | None = column("Low", help="of these segments, were the judge free of noise")
    high: float | None = column("High", help="likewise, the upper end")
    low_all: float | None = column("Low, all", help="of all segments of this kind, noise included")
    high_all: float | None = column("High, all", help="likewise, the upper end")
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


def check_spread(outline: Outline | None, options: BoundOptions) -> Iterator[Fault]:
    """What :func:`gnomon.judges.spread` refuses of options that fit each alone."""
    yield from judge_faults(outline, options.metrics, allow_code=options.allow_code)


@method(
    "judges.spread",
    answers="how much a judge's scores vary when it is asked again, and with other segments",
    title=_TITLE,
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
    confidence: Confidence = 0.95,
    allow_code: bool = False,
) -> Finding:
    """A judge's score of each system, with the noise of the judge and the spread of segments.

    See :func:`gnomon.judges.judge_noise` for the equations.

    Args:
        testset: what was translated, and by whom.
        metrics: judges, with ``repeats=`` of two or more: with one, their noise is not known.
        confidence: of the intervals (Student's t).
        allow_code: let a spec ``python('module:function')`` run code.

    Returns:
        A finding with a row per judge and system, and a table "segments" of all segments.

    Raises:
        UsageError: a metric is no judge, or costs more than allowed.
        ServerFailedError: the server stopped answering; what it said is kept.
    """
    rows, of_segments, signatures = [], [], {}
    notices: list[str] = []
    batch = testset.batch()
    for one in each_judge(metrics):
        judge = chat_judge(one, allow_code=allow_code)
        bound = judge.bind(testset)
        each = bound.repetitions(batch)
        name = one if isinstance(one, str) else judge.spec
        for k, system in enumerate(batch.systems):
            found = judge_noise(each[:, k])
            low, high = found.interval(confidence)
            low_all, high_all = found.interval_of_all(confidence)
            rows.append(
                SpreadRow(
                    metric=name,
                    system=system,
                    score=found.score,
                    low=low,
                    high=high,
                    low_all=low_all,
                    high_all=high_all,
                    noise=found.of_judge,
                    error=found.of_all,
                    deviation=found.deviation,
                    segments=found.segments,
                    repeats=judge.repeats,
                    answers=int(np.isfinite(each[:, k]).sum()),
                    missing=found.missing,
                )
            )
            of_segments += [
                SegmentSpreadRow(
                    metric=name,
                    system=system,
                    segment=i + 1,
                    score=float(own[np.isfinite(own)].mean()) if np.isfinite(own).any() else None,
                    noise=float(found.of_segments[i]),
                    readable=int(np.isfinite(own).sum()),
                )
                for i, own in enumerate(each[:, k].T)
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
        views=(Listing("spread", _TITLE, tuple(one.name for one in columns_of(SpreadRow))),),
        facts={"test set": testset.name},
        notices=tuple(notices),
    )
