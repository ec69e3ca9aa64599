"""Scores of systems under metrics boosted by explanations, beside those of the metrics."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gnomon.bmx.engine import Progress
from gnomon.bmx.explained_texts import cache_of
from gnomon.bmx.explainers import Explainer, ExplainerSpec
from gnomon.bmx.metric import Bmx
from gnomon.bmx.score_rows import BaseAndBoosted, BoostedSystem, boosted_rows
from gnomon.bmx.score_verdict import score_verdict
from gnomon.core.cache import Cache
from gnomon.core.findings import Finding, Listing
from gnomon.core.rank_changes import base_views
from gnomon.core.records import table
from gnomon.core.registry import method
from gnomon.core.scores import name_metric
from gnomon.core.testset import TestSet
from gnomon.core.validation import Problem, problems
from gnomon.metrics import resolve
from gnomon.metrics.base import Metrics, list_metrics
from gnomon.metrics.registry import check_once
from gnomon.metrics.scoring import score as scores_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gnomon.core.options import BoundOptions
    from gnomon.core.outline import Outline
    from gnomon.metrics.base import AnyMetric

__all__ = ["check_score", "score"]


_EXAMPLES = """\
examples:
  gnomon bmx score ref.txt -i sysA.txt sysB.txt -m chrf --explainer lime
  gnomon bmx score -t wmt17/cs-en -m "bmx(chrf, explainer='lime', p=-1.4, w=0.4)"
  gnomon bmx score ref.txt -i sysA.txt \\
      -m "bmx(chrf, explainer=file('spans.jsonl'), p=0, w=0.9, shift='exponential')"

S1 = w S0 + (1 - w) M_p(importances of the words). A metric that is no bmx(...) yet takes the
published medians of the explainer, and the shift 'floor', under which no power mean collapses
('paper' is the published one); 'gnomon bmx tune' tells what suits a test set with human scores.
"""


def _boost(metric: AnyMetric, explainer: str | Explainer, *, allow_code: bool) -> Bmx:
    """A metric under BMX, as it is where it is so already."""
    resolved = resolve(metric, allow_code=allow_code)  # type: ignore[arg-type]  # what is none is refused
    if isinstance(resolved, Bmx):
        return resolved
    return Bmx(metric=resolved, explainer=explainer, shift="floor")


def check_score(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """Check options of :func:`gnomon.bmx.score` that fit each alone."""

    def check(metric: AnyMetric) -> None:
        boosted = _boost(metric, options.explainer, allow_code=options.allow_code)
        boosted.check_outline(outline)

    for metric in list_metrics(options.metrics):
        yield from problems("metrics", check, metric)
    yield from problems("metrics", check_once, options.metrics, allow_code=options.allow_code)


@method(
    "bmx.score",
    purpose="score systems under metrics boosted by explanations",
    title="BMX: boosted metrics",
    unread=("documents", "domains"),
    examples=_EXAMPLES,
    tables={"": "bmx"},
    rows={"scores": BoostedSystem},
    check=check_score,
    verdict=score_verdict,
)
def score(
    testset: TestSet,
    metrics: Metrics = "bleu",
    *,
    explainer: ExplainerSpec = "erasure",
    cache: Cache | None = None,
    progress: Progress | None = None,
    allow_code: bool = False,
) -> Finding:
    """Scores of the systems under a metric and under BMX of it, with their ranks under both.

    Args:
        testset: what was translated, and by whom.
        metrics: one or several, or these under BMX already: "bmx(chrf, p=-0.3, w=0.6)".
        explainer: the explainer for metrics that are no bmx(...) yet: "erasure",
            "lime(samples=50)", "file('spans.jsonl')" and so on, with its published p and w and the
            shift "floor".

    Returns:
        A table ``scores``: ``system, metric, score, base_score, rank, base_rank``.

    Raises:
        SpecError: an option has a value that it cannot have.
        GnomonError: whatever scoring raises.
    """
    boosted = [_boost(metric, explainer, allow_code=allow_code) for metric in list_metrics(metrics)]
    return _finding(testset, [_score_boosted(testset, each, cache, progress) for each in boosted])


def _score_boosted(
    testset: TestSet, boosted: Bmx, cache: Cache | None, progress: Progress | None
) -> BaseAndBoosted:
    bound = boosted.bind(testset)
    kept, notices = cache_of(bound.bound, cache, bound.explainer)
    boosted_scores = scores_of(testset, replace(bound, cache=kept, progress=progress))
    plain = scores_of(testset, bound.bound)
    return BaseAndBoosted(
        replace(plain, metric=boosted.metric.spec),
        replace(boosted_scores, metric=boosted.spec, notices=(*notices, *boosted_scores.notices)),
    )


def _finding(testset: TestSet, both_scores: Sequence[BaseAndBoosted]) -> Finding:
    """Base and boosted scores side by side, with the ranks of the systems under both."""
    note = (
        "Boosted and base scores are means over segments, so that they differ in the explanations"
        " alone; what the metric itself says of a system says gnomon score."
    )
    title = f"Boosted metrics beside the metrics themselves ({testset.name})"
    rows = [
        row
        for both in both_scores
        for row in sorted(boosted_rows(both), key=lambda row: (row.rank is None, row.rank or 0))
    ]
    made = table("scores", title, BoostedSystem, rows, note=note)
    several = len(both_scores) > 1
    notices = (
        name_metric(both.boosted.metric, notice) if several else notice
        for both in both_scores
        for scores in both
        for notice in scores.notices
    )
    return Finding(
        method="bmx score",
        title=title,
        tables=(made,),
        signatures={scores.metric: scores.signature for both in both_scores for scores in both},
        views=(
            Listing("scores", title, tuple(column.name for column in made.columns)),
            *base_views("scores", rows),
        ),
        notices=tuple(dict.fromkeys(notices)),
        facts={
            "test set": testset.name,
            "systems": str(len(testset.systems)),
            "segments": str(testset.segments),
        },
    )
