"""Reliability of judges: asked again, beside each other, and under prompt injection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.errors import SpecError, UsageError
from gnomon.core.findings import Finding, Listing
from gnomon.core.options import CONFIDENCE, SEED, Confidence, Count, Seed
from gnomon.core.records import column_names, table
from gnomon.core.registry import method
from gnomon.core.testset import TestSet
from gnomon.core.validation import Problem
from gnomon.judges.injections import draw_candidates, injected_batch
from gnomon.judges.panels import JudgePanel
from gnomon.judges.reliability_rows import ReliabilityRow, injection_rows, noise_rows, panel_rows
from gnomon.judges.reliability_verdict import reliability_summary
from gnomon.judges.requests import judge_faults, list_judges, list_judges_and_panels
from gnomon.messages import Message
from gnomon.metrics.base import Metrics
from gnomon.metrics.scoring import signature_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.options import BoundOptions
    from gnomon.core.outline import Outline

_TITLE = "Reliability of judges"
_EXAMPLES = """\
examples:
  gnomon judges reliability -t wmt24/en-cs \\
    -m "judge('gemba-da', model='NAME', repeats=5, temperature=1.0)"
  gnomon judges reliability -t wmt24/en-cs --injections 0 \\
    -m "judge(['gemba-da', 'gemba-sqm'], model='NAME')"
"""


def check_reliability(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """Check options of :func:`gnomon.judges.reliability` that fit each alone."""
    wrong = list(judge_faults(outline, options.metrics, allow_code=options.allow_code))
    yield from wrong
    if not wrong:
        try:
            _panel_of(options.metrics, allow_code=options.allow_code)
        except (SpecError, UsageError) as error:
            yield Problem("metrics", error)


def _panel_of(metrics: Metrics, *, allow_code: bool) -> JudgePanel | None:
    """The panel that is named, or one of all judges that are; None of a single judge."""
    every = [judge for _, judge in list_judges_and_panels(metrics, allow_code=allow_code)]
    panel: JudgePanel | None = None
    if len(every) > 1:
        judges = list_judges(metrics, allow_code=allow_code)
        panel = JudgePanel(tuple(judge for _, judge in judges))
    elif isinstance(every[0], JudgePanel):
        panel = every[0]
    if panel is not None:
        panel.check_combination()
    return panel


@method(
    "judges.reliability",
    purpose="measure how judges' scores vary, how far judges agree, and what prompt injection does",
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
    """Reliability of judges: asked again, beside each other, and under prompt injection.

    A judge with ``repeats=`` of two or more tells its own noise (:func:`gnomon.judges.judge_noise`
    has the equations). Several judges, or a panel, are compared on the panel's scale
    (:class:`gnomon.judges.JudgePanel`). Some candidates are judged as they are, with harmless
    words behind them, and with each of :data:`gnomon.judges.INJECTIONS`. What judges agree on with
    people tells :func:`gnomon.metaeval`, with judges and panel as its metrics.

    Args:
        testset: what was translated, and by whom.
        metrics: judges, or panels of them.
        injections: number of outputs, drawn from all systems, to which prompt injections are
            appended; 0: none.

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
    judges = dict(list_judges(metrics, allow_code=allow_code))
    rows: list[ReliabilityRow] = []
    signatures, notices = {}, list[Message]()
    of_panel = None if panel is None else panel.bind(testset)
    if of_panel is not None:
        of_panel.check_budget(batch)
    drawn = draw_candidates(testset, injections, seed) if injections else []
    for name, judge in judges.items():
        bound = judge.bind(testset)
        rows += noise_rows(name, batch.systems, bound.repetitions(batch), confidence)
        if drawn:
            injected = injected_batch(judge, batch, drawn)
            scores = bound.segments(injected)
            scores = scores if bound.higher_is_better else -scores
            rows += injection_rows(name, scores, confidence)
        signatures[name] = signature_of(bound, batch)
        notices += bound.notices(batch)
    if panel is not None and of_panel is not None:
        rows += panel_rows(panel.spec, list(judges), of_panel.scores(batch), confidence)
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
