"""Scores of systems with and without difficulty side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from gnomon.core.findings import Finding, Listing
from gnomon.core.rank_changes import base_views, ranks
from gnomon.core.records import table
from gnomon.core.registry import method
from gnomon.core.testset import TestSet
from gnomon.difficulty._requests import SavedDifficulties, check_score
from gnomon.difficulty.pools import empty_notices
from gnomon.difficulty.score_rows import WeightedRow
from gnomon.difficulty.sides import base_metric, facts_of, system_scores, wrapped
from gnomon.difficulty.verdict import score_verdict
from gnomon.metrics.base import Metrics, list_metrics
from gnomon.metrics.scoring import signature_of

if TYPE_CHECKING:
    from gnomon.difficulty.sides import Bound
    from gnomon.messages import Message
    from gnomon.metrics.base import BoundMetric

_EXAMPLES = """\
examples:
  gnomon difficulty score -t wmt19/de-en -m bertscore --html report.html
  gnomon difficulty score ref.txt -i a.txt b.txt c.txt -l en -m rouge1 bleu
  gnomon difficulty score -t wmt19/en-de -m 'difficulty(bertscore(model="FOLDER"), beta=2)'
  gnomon difficulty score -t wmt19/de-en -m bertscore --save hard.npz
  gnomon difficulty score ref.txt -i new.txt -l en -m "difficulty(bertscore, frozen='hard.npz')"

Whether people agree better: gnomon metaeval -m bertscore 'difficulty(bertscore)' --top 30%
"""
_TITLE = "Scores with and without difficulty"


@method(
    "difficulty.score",
    purpose="score systems with more weight on hard words",
    title="Difficulty",
    examples=_EXAMPLES,
    tables={"": "difficulty"},
    rows={"scores": WeightedRow},
    check=check_score,
    verdict=score_verdict,
)
def score(
    testset: TestSet,
    metrics: Metrics = "bleu",
    *,
    save: SavedDifficulties = None,
    allow_code: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> Finding:
    """Scores of systems with and without difficulty, and their ranks.

    Zhan et al. (2021), "Difficulty-Aware Machine Translation Evaluation". Special tokens are
    treated alike on both sides, so that only the weights differ. Agreement with people of
    ``difficulty(METRIC)`` is told by :func:`gnomon.metaeval`.

    Args:
        testset: the test set.
        metrics: metrics that match tokens or count n-grams ("bertscore", "rouge1"), or these under
            difficulty already: "difficulty(bertscore, pool='top:6', leave_one_out=True)".

    Returns:
        A finding with rows ``system, metric, score, base_score, rank, base_rank``, best first.

    Raises:
        UsageError: an option is out of its range, or a metric has no words to weigh.
        UnknownNameError: there is no such metric, system or kind of human scores.
        DataError: the test set lacks what a metric needs, or frozen difficulties do not fit.
        OutputError: the difficulties cannot be written.
    """
    batch = testset.batch()
    wanted = [wrapped(metric, allow_code=allow_code) for metric in list_metrics(metrics)]
    bound: list[Bound] = []
    rows: list[WeightedRow] = []
    notices: list[Message] = []
    for done, options in enumerate(wanted):
        if progress:
            progress("scoring", done, len(wanted))
        metric = options.weigh(testset)
        bound.append(metric)
        rows += score_rows(metric, testset)
        told = metric.notices(batch)  # while the matches of all texts are remembered
        if len(wanted) > 1:
            told = tuple(one.about(metrics=[metric.metric.spec]) for one in told)
        notices += told
        notices += empty_notices(testset, metric.pool.systems if metric.pool else ())
    if progress:
        progress("scoring", len(wanted), len(wanted))
    if save is not None:
        bound[0].save(save)
    several = ("metric",) if len(wanted) > 1 else ()
    shown = ("system", *several, "score", "rank", "base_score", "base_rank")
    return Finding(
        method="difficulty score",
        title=f"Scores by how hard words were ({testset.name})",
        tables=(table("scores", _TITLE, WeightedRow, rows),),
        signatures={
            each.metric.spec: signature_of(cast("BoundMetric", each), batch) for each in bound
        },
        views=(Listing("scores", _TITLE, shown), *base_views("scores", rows)),
        notices=tuple(dict.fromkeys(notices)),
        facts=facts_of(testset, bound, "base metric"),
    )


def score_rows(bound: Bound, testset: TestSet) -> list[WeightedRow]:
    """Every system with and without weights, best first."""
    batch = testset.batch()
    base = system_scores(base_metric(bound), batch)
    scores = system_scores(cast("BoundMetric", bound), batch)
    sign = 1 if bound.higher_is_better else -1
    base_ranks, weighted_ranks = ranks(sign * base), ranks(sign * scores)
    rows = [
        WeightedRow(
            system=name,
            metric=bound.metric.spec,
            score=scores[k],
            base_score=base[k],
            rank=weighted_ranks[k],
            base_rank=base_ranks[k],
        )
        for k, name in enumerate(testset.systems)
    ]
    return sorted(rows, key=lambda row: (row.rank is None, row.rank or 0, row.system))
