"""How reliable judges are: asked again, beside each other, and where candidates ask for a score."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon import stats
from gnomon.core.errors import SpecError, UsageError
from gnomon.core.findings import Finding, Listing
from gnomon.core.options import CONFIDENCE, SEED, Confidence, Count, Seed
from gnomon.core.records import METRIC, EndColumns, Record, column, column_names, table
from gnomon.core.registry import method
from gnomon.core.testset import TestSet
from gnomon.core.validation import Problem
from gnomon.core.verdicts import LEAST, amount, counted, listed, p_value, titles_of
from gnomon.judges.agreement import JudgeAgreement
from gnomon.judges.injections import INJECTIONS, drawn_candidates, injected_batch
from gnomon.judges.noise import judge_noise
from gnomon.judges.panels import JudgePanel
from gnomon.judges.requests import judge_faults, named_judges, named_judges_and_panels
from gnomon.judges.verdict import ALPHA, judge_title, or_nan
from gnomon.messages import message
from gnomon.metrics.protocol import Metrics
from gnomon.metrics.scoring import signature_of
from gnomon.stats.student import mean_test

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.core.options import BoundOptions
    from gnomon.core.summary import Outline
    from gnomon.judges.agreement import AgreementFigure
    from gnomon.messages import Message

_TITLE = "Reliability of judges"
_EXAMPLES = """\
examples:
  gnomon judges reliability -t wmt24/en-cs \\
    -m "judge('gemba-da', model='NAME', repeats=5, temperature=1.0)"
  gnomon judges reliability -t wmt24/en-cs --injections 0 \\
    -m "judge(['gemba-da', 'gemba-sqm'], model='NAME')"
"""
#: gains of fewer candidates are no evidence: scores are coarse, and a few that are equal look sure
_FEW_CANDIDATES = 10
#: the share of answers without a score that is said, at least
_MISSING = 0.01


class ReliabilityRow(Record):
    """One figure of how reliable a judge, or a panel, is."""

    metric: str = METRIC
    measure: str = column(
        "Measure",
        help="score (of a system, were it asked again), score over segments (were it asked of"
        " others of their kind, noise included), noise (standard error of the score by the judge's"
        " own noise), error (standard error over segments, noise included), alpha (Krippendorff's,"
        " of all judges), r (Pearson's, with another judge), level (how much"
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
    n: int = column("n", help="segments, outputs or candidates that it rests on")
    answers: int | None = column("Answers", help="of the score of a system, that say a score")
    missing: int = column("Missing", help="answers, outputs or candidates without a score")


def check_reliability(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """What :func:`gnomon.judges.reliability` refuses of options that fit each alone."""
    wrong = list(judge_faults(outline, options.metrics, allow_code=options.allow_code))
    yield from wrong
    if not wrong:
        try:
            _panel_of(options.metrics, allow_code=options.allow_code)
        except (SpecError, UsageError) as error:
            yield Problem("metrics", error)


def _panel_of(metrics: Metrics, *, allow_code: bool) -> JudgePanel | None:
    """The panel that is named, or one of all judges that are; None of a single judge."""
    every = [judge for _, judge in named_judges_and_panels(metrics, allow_code=allow_code)]
    panel: JudgePanel | None = None
    if len(every) > 1:
        judges = named_judges(metrics, allow_code=allow_code)
        panel = JudgePanel(tuple(judge for _, judge in judges))
    elif isinstance(every[0], JudgePanel):
        panel = every[0]
    if panel is not None:
        panel.check_combination()
    return panel


def reliability_summary(finding: Finding) -> Iterator[Message]:
    """Noise and injections, judge by judge; then how far the judges agree."""
    titles = {name: judge_title(title) for name, title in titles_of(finding).items()}
    rows = finding.records(ReliabilityRow)
    for metric in dict.fromkeys(row.metric for row in rows):
        of_metric = [row for row in rows if row.metric == metric]
        yield from _about_judge(finding, titles[metric], of_metric)
    yield from _about_panel(finding, titles, rows)
    few = [row for row in rows if row.measure in ("score", "alpha") and row.n < LEAST]
    if few:
        n = counted(min(row.n for row in few))
        yield message("judges.reliability.few", finding.positions(few), n=n)


def _about_judge(
    finding: Finding, metric: str, rows: Sequence[ReliabilityRow]
) -> Iterator[Message]:
    named = {
        name: [row for row in rows if row.measure == name]
        for name in ("score", "noise", "error", "injection")
    }
    places = finding.positions(rows)
    if named["score"]:
        missing = sum(row.missing for row in named["score"])
        total = missing + sum(row.answers or 0 for row in named["score"])
        if missing > _MISSING * total:
            share = f"{missing:,} of {counted(total, 'answer')}"
            yield message("judges.missing", places, missing=share, metric=metric)
        yield from _about_noise(finding, metric, named)
    if named["injection"]:
        yield _about_injections(finding, metric, named["injection"])


def _about_noise(
    finding: Finding, metric: str, named: dict[str, list[ReliabilityRow]]
) -> Iterator[Message]:
    noisy = [row for row in named["noise"] if row.value is not None]
    places = finding.positions(named["noise"])
    if not noisy:
        why = "it was asked once; take repeats=3 or more"
        yield message("judges.reliability.no_noise", places, metric=metric, why=why)
        return
    noise = max(noisy, key=lambda row: or_nan(row.value))
    if not noise.value:
        why = "all repetitions gave equal scores; take more, or a temperature above 0"
        yield message("judges.reliability.no_noise", places, metric=metric, why=why)
        return
    score = next(row for row in named["score"] if row.subject == noise.subject)
    error = next(row for row in named["error"] if row.subject == noise.subject)
    share = noise.value**2 / max(or_nan(error.value) ** 2, 1e-300)
    yield message(
        "judges.reliability.noise",
        finding.positions([score, noise, error]),
        metric=metric,
        system=score.subject,
        score=amount(or_nan(score.value), *score.ends("value")),
        share=f"{min(share, 1.0):.0%}",
    )


def _about_injections(finding: Finding, metric: str, rows: Sequence[ReliabilityRow]) -> Message:
    raised = [row for row in rows if or_nan(row.p) <= ALPHA and or_nan(row.value) > 0]
    least = min(row.n for row in rows)
    places, candidates = finding.positions(rows), counted(least, "candidate")
    if least < _FEW_CANDIDATES:
        return message("judges.reliability.few", places, n=candidates)
    if not raised:
        injections = counted(len(rows), "injection")
        return message(
            "judges.reliability.not_raised",
            places,
            metric=metric,
            injections=injections,
            candidates=candidates,
        )
    most = max(raised, key=lambda row: or_nan(row.value))
    return message(
        "judges.reliability.raised",
        finding.positions(raised),
        metric=metric,
        injections=listed([row.subject for row in raised]),
        gain=amount(or_nan(most.value), *most.ends("value")),
        injection=most.subject,
    )


def _about_panel(
    finding: Finding, titles: dict[str, str], rows: Sequence[ReliabilityRow]
) -> Iterator[Message]:
    for row in rows:
        if row.measure == "alpha" and row.value is not None and row.n >= LEAST:
            yield message(
                "judges.reliability.agreement",
                finding.positions([row]),
                judges=counted(int(finding.facts["judges"]), "judge"),
                outputs=counted(row.n, "output"),
                alpha=amount(row.value, *row.ends("value"), share=True),
            )
    apart = [row for row in rows if row.measure == "level" and or_nan(row.p) <= ALPHA]
    if apart:
        row = max(apart, key=lambda row: abs(or_nan(row.value)))
        value, (low, high) = or_nan(row.value), row.ends("value")
        a, b = titles[row.metric], titles[row.subject]
        if value < 0:
            a, b, value, low, high = b, a, -value, -or_nan(high), -or_nan(low)
        difference, facts = amount(value, low, high), p_value(or_nan(row.p))
        places = finding.positions([row])
        yield message(
            "judges.reliability.levels", places, a=a, b=b, difference=difference, facts=facts
        )


@method(
    "judges.reliability",
    purpose="measure how much judges' scores vary, how far judges agree, and what talks them over",
    title=_TITLE,
    unread=("documents", "domains"),
    examples=_EXAMPLES,
    tables={"": "judge_reliability"},
    rows={"reliability": ReliabilityRow},
    metrics="all",
    check=check_reliability,
    verdict=reliability_summary,
)
def reliability(
    testset: TestSet,
    metrics: Metrics = (),
    *,
    injections: Count = 30,
    confidence: Confidence = CONFIDENCE,
    seed: Seed = SEED,
    allow_code: bool = False,
) -> Finding:
    """How reliable judges are: asked again, beside each other, and where candidates ask for scores.

    A judge with ``repeats=`` of two or more tells its own noise (:func:`gnomon.judges.judge_noise`
    has the equations). Several judges, or a panel, are compared on the panel's scale
    (:class:`gnomon.judges.JudgePanel`). Some candidates are judged as they are, with harmless
    words behind them, and with each of :data:`gnomon.judges.INJECTIONS`. What judges agree on with
    people tells :func:`gnomon.metaeval`, with judges and panel as its metrics.

    Args:
        testset: what was translated, and by whom.
        metrics: judges, or panels of them.
        injections: candidates that are drawn, of all systems, to put injections behind; 0: none.

    Returns:
        A finding with a row per judge and figure: ``metric, measure, subject, value, low, high, p,
        n, answers, missing``.

    Raises:
        DataError: there is no candidate.
        UsageError: a metric is no judge, or costs more than allowed.
        ServerFailedError: a server stopped answering; what it said is kept.
    """
    batch = testset.batch()
    panel = _panel_of(metrics, allow_code=allow_code)
    judges = dict(named_judges(metrics, allow_code=allow_code))
    rows: list[ReliabilityRow] = []
    signatures, notices = {}, list[str]()
    of_panel = None if panel is None else panel.bind(testset)
    if of_panel is not None:
        of_panel.check_budget(batch)
    drawn = drawn_candidates(testset, injections, seed) if injections else []
    for name, judge in judges.items():
        bound = judge.bind(testset)
        rows += _noise_rows(name, batch.systems, bound.repetitions(batch), confidence)
        if drawn:
            injected = injected_batch(judge, batch, drawn)
            scores = bound.segments(injected)
            scores = scores if bound.higher_is_better else -scores
            rows += injection_rows(name, scores, confidence)
        signatures[name] = signature_of(bound, batch)
        notices += bound.notices(batch)
    if panel is not None and of_panel is not None:
        rows += _panel_rows(panel.spec, list(judges), of_panel.scores(batch), confidence)
        signatures[panel.spec] = signature_of(of_panel, batch)
    return Finding(
        method="judges reliability",
        title=_TITLE,
        tables=(table("reliability", _TITLE, ReliabilityRow, rows, confidence=confidence),),
        signatures=signatures,
        views=(Listing("reliability", _TITLE, column_names(ReliabilityRow)),),
        facts={"test set": testset.name, "judges": str(len(judges))},
        notices=tuple(dict.fromkeys(notices)),
    )


def _noise_rows(
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
        }
        for measure, (value, ends) in figures.items():
            yield ReliabilityRow(
                metric=metric,
                measure=measure,
                subject=system,
                value=value,
                intervals={"value": ends},
                p=None,
                n=noise.segments,
                answers=int(np.isfinite(each[:, k]).sum()),
                missing=noise.missing,
            )


def injection_rows(
    metric: str, scores: NDArray[np.float64], confidence: float
) -> Iterator[ReliabilityRow]:
    """What each injection gains over harmless words; scores are plain, harmless, injections."""
    plain, harmless, *injected = scores
    tests = []
    for own in injected:
        scored = np.isfinite(plain) & np.isfinite(harmless) & np.isfinite(own)
        gains = (own - harmless)[scored]
        tests.append((gains, *mean_test(gains.tolist(), 1 - confidence)))
    corrected = stats.holm([p for *_, p in tests]).tolist()
    for injection, (gains, low, high, _), p in zip(INJECTIONS, tests, corrected, strict=True):
        yield ReliabilityRow(
            metric=metric,
            measure="injection",
            subject=injection.name,
            value=float(gains.mean()) if len(gains) else None,
            intervals={"value": (low, high)},
            p=p,
            n=len(gains),
            answers=None,
            missing=len(plain) - len(gains),
        )


def _panel_rows(
    panel: str, judges: Sequence[str], scores: NDArray[np.float64], confidence: float
) -> Iterator[ReliabilityRow]:
    """How far judges agree, from their scores [M, K, N]."""
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
            n=figure.n,
            answers=None,
            missing=lacking,
        )

    alpha = agreement.alpha()._replace(p=None)
    yield row(panel, "alpha", "all judges", alpha, sum(missing))
    pairs = agreement.pairs()
    corrected = stats.holm([or_nan(level.p) for *_, level in pairs]).tolist()
    for (a, b, r, level), p in zip(pairs, corrected, strict=True):
        both = missing[a] + missing[b]
        yield row(judges[a], "r", judges[b], r, both)
        yield row(judges[a], "level", judges[b], level._replace(p=p), both)
