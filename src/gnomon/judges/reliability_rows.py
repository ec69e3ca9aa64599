"""Rows on the reliability of judges."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.records import METRIC, EndColumns, Record, column
from gnomon.judges.agreement import JudgeAgreement
from gnomon.judges.injections import INJECTIONS
from gnomon.judges.noise import judge_noise
from gnomon.stats.holm import step_down
from gnomon.stats.student import mean_test

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.judges.agreement import AgreementFigure

__all__ = ["ReliabilityRow", "injection_rows", "noise_rows", "panel_rows"]


class ReliabilityRow(Record):
    """One figure of how reliable a judge, or a panel, is."""

    metric: str = METRIC
    measure: str = column(
        "Measure",
        help="score (of a system, were it asked again), score over segments (were it asked of"
        " others of their kind, noise included), noise (standard error of the score by the judge's"
        " own noise), error (standard error over segments, noise included), share of noise (in"
        " the variance over segments), alpha (Krippendorff's, of all judges), r (Pearson's,"
        " with another judge), level (how much"
        " higher it scores than another judge on the same outputs), injection (how much better"
        " it finds candidates that ask for a high score than with harmless words in that place)",
    )
    subject: str = column("Of", help="the system, the other judge, or what the injection tries")
    value: float | None = column(
        "Value",
        digits=3,
        interval=EndColumns(how="by the judge's noise; over segments; over candidates"),
    )
    p: float | None = column(
        "p",
        digits=3,
        help="of a level or a gain of 0, corrected (Holm's over pairs, over injections)",
    )
    decided: bool | None = column("Decided", help="p is at most 1 - confidence")
    n: int = column("n", help="segments, outputs or candidates that it rests on")
    answers: int | None = column("Answers", help="of the score of a system, that say a score")
    missing: int = column("Missing", help="answers, outputs or candidates without a score")


def noise_rows(
    metric: str, systems: Sequence[str], each: NDArray[np.float64], confidence: float
) -> Iterator[ReliabilityRow]:
    """Score, noise and error of each system, from repetitions [R, K, N]."""
    for k, system in enumerate(systems):
        noise = judge_noise(each[:, k])
        none = (None, None)
        figures = {
            "score": (noise.score, noise.interval(confidence)),
            "score over segments": (noise.score, noise.interval_of_all(confidence)),
            "noise": (noise.of_judge, none),
            "error": (noise.of_all, none),
            "share of noise": (noise.share, none),
        }
        for measure, (value, ends) in figures.items():
            yield ReliabilityRow(
                metric=metric,
                measure=measure,
                subject=system,
                value=value,
                intervals={"value": ends},
                p=None,
                decided=None,
                n=noise.segments,
                answers=int(np.isfinite(each[:, k]).sum()),
                missing=noise.missing,
            )


def injection_rows(
    metric: str, scores: NDArray[np.float64], confidence: float
) -> Iterator[ReliabilityRow]:
    """Rows of the gain of each injection over harmless words; scores: plain, harmless, injected."""
    plain, harmless, *injected = scores
    both = np.isfinite(plain) & np.isfinite(harmless)
    every = [(own - harmless)[both & np.isfinite(own)] for own in injected]
    tests = [partial(mean_test, gains.tolist()) for gains in every]
    steps = step_down(tests, round(1 - confidence, 12))
    for injection, gains, (low, high, p, decided) in zip(INJECTIONS, every, steps, strict=True):
        yield ReliabilityRow(
            metric=metric,
            measure="injection",
            subject=injection.name,
            value=float(gains.mean()) if len(gains) else None,
            intervals={"value": (low, high)},
            p=p,
            decided=decided,
            n=len(gains),
            answers=None,
            missing=len(plain) - len(gains),
        )


def panel_rows(
    panel: str, judges: Sequence[str], scores: NDArray[np.float64], confidence: float
) -> Iterator[ReliabilityRow]:
    """Rows of the agreement of judges, from their scores [M, K, N]."""
    agreement = JudgeAgreement(scores, confidence)
    missing = np.isnan(scores).sum(axis=(1, 2)).tolist()

    def row(
        metric: str, measure: str, of: str, figure: AgreementFigure, lacking: int
    ) -> ReliabilityRow:
        return ReliabilityRow(
            metric=metric,
            measure=measure,
            subject=of,
            value=figure.value,
            intervals={"value": (figure.low, figure.high)},
            p=figure.p,
            decided=figure.decided,
            n=figure.n,
            answers=None,
            missing=lacking,
        )

    alpha = agreement.alpha()._replace(p=None)
    yield row(panel, "alpha", "all judges", alpha, sum(missing))
    for a, b, r, level in agreement.pairs():
        both = missing[a] + missing[b]
        yield row(judges[a], "r", judges[b], r, both)
        yield row(judges[a], "level", judges[b], level, both)
