"""Meta-evaluation: do people agree with the metrics?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon import stats
from gnomon.errors import UnknownNameError, UsageError
from gnomon.faults import refuse
from gnomon.metaeval._contest import contest, has_texts, named
from gnomon.metaeval._controls import controls as control_entries
from gnomon.metaeval._finding import Asked, finding
from gnomon.metaeval._judge import Judging, judge
from gnomon.metaeval._measures import measures, preset_of
from gnomon.metaeval._requests import check_metaeval, without_scores
from gnomon.metaeval._testing import Testing
from gnomon.testset import TestSet

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gnomon.findings import Finding
    from gnomon.metaeval._choices import Correction, Test
    from gnomon.metaeval._contest import Contest, Wanted
    from gnomon.metaeval._judge import Result
    from gnomon.outline import Outline
    from gnomon.stats.significance import Alternative

__all__ = ["metaeval"]


def metaeval(
    testsets: TestSet | Sequence[TestSet],
    metrics: Sequence[Wanted] | Mapping[str, Wanted],
    *,
    human: str | Sequence[str] = (),
    levels: Sequence[str] = ("system", "segment"),
    statistics: Sequence[str] | None = None,
    groupings: Sequence[str] | None = None,
    preset: str | None = None,
    top: Sequence[int] = (),
    no_outliers: bool = False,
    baseline: str | None = None,
    test: Test = "auto",
    alternative: Alternative = "greater",
    correction: Correction | None = None,
    resamples: int = 1000,
    confidence: float = 0.95,
    alpha: float = 0.05,
    seed: int = 0,
    controls: bool = True,
    darr_threshold: float | None = None,
    human_systems: bool = False,
    allow_code: bool = False,
    allow_circular: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> Finding:
    """How well metrics agree with people, and which agree better than others.

    Systems are sorted by name, so that nothing depends on their order; error rates are turned.

    Args:
        testsets: one or several test sets with human scores (``TestSet.with_human``).
        metrics: spec strings, metrics, functions, or :class:`~gnomon.scores.Scores`; where there
            are several test sets, Scores come as a list with one per test set (None: it has none
            there). A mapping gives them names.
        human: kinds of human scores and rankings to use ("mqm", "darr"); by default the only one
            of each level.
        levels: "system", "segment", or both.
        statistics: keys of :data:`gnomon.metaeval.STATISTICS`; by default those usual at each
            level, as far as the human scores allow them.
        groupings: at segment level, "none", "item" or "system"; by default those usual for each
            statistic.
        preset: "wmt19", "wmt22" or "wmt24": that task's measures (at these levels) and tests, in
            place of statistics and groupings.
        top: system level over the K best systems by human score alone, too.
        no_outliers: system level without outlying systems, too (see :func:`gnomon.stats.outliers`).
        baseline: name of the metric that every other one is tested against.
        test: "williams", "permutation", "bootstrap", or "auto": Williams's test for system-level
            Pearson, bootstrap for DaRR and soft pairwise accuracy, permutation for all else. A
            named test leaves statistics without p-values for which it does not exist.
        alternative: what p speaks of: the metric is "greater" (better) than the baseline, "less",
            or "two-sided". Ranks and clusters need "greater".
        correction: "holm" or "benjamini-hochberg": p-values corrected over the metrics of a
            table, too.
        resamples: draws of tests and intervals; 0 for neither (Williams's test draws nothing).
        confidence: share of draws inside the intervals.
        alpha: largest p that is significant.
        seed: seed of all draws.
        controls: constant, random numbers and lengths beside figures that judge ties.
        darr_threshold: DaRR from scores that differ by at least this much (25 on a scale of 0 to
            100), where there are no rankings; None: from rankings alone.
        human_systems: judge human translations among the systems.
        allow_code: let a spec ``python('module:function')`` import and run the module.
        allow_circular: judge metrics even by human scores that went into them (difficulty whose
            pool these chose); otherwise that is refused.
        progress: called with a stage, what is done and the total.

    Returns:
        A finding whose rows hold ``language_pair, level, statistic, grouping, metric, value, n,
        p, low, high, rank, cluster, ...``; rows over several test sets have the language pair
        "average" (mean over test sets) or "all" (pairwise decisions pooled). Further tables:
        "gains", "wins", "systems", "top_k", "decisions", "decision_pairs".

    Raises:
        DataError: there are no human scores for what is to be measured, or several kinds and none
            was named.
        UsageError: an option is out of its range, two metrics have one name, or a metric has seen
            the human scores that would judge it.
        UnknownNameError: there is no such metric, kind, level, statistic, grouping, preset, test.
    """
    sets = [testsets] if isinstance(testsets, TestSet) else list(testsets)
    wanted = named(metrics)
    _check(sets, wanted)
    refuse(
        check_metaeval(
            _outline(sets), metrics, human=human, levels=levels,
            statistics=statistics, groupings=groupings, preset=preset, top=top, baseline=baseline,
            test=test, alternative=alternative, correction=correction, resamples=resamples,
            confidence=confidence, alpha=alpha, seed=seed, darr_threshold=darr_threshold,
            allow_circular=allow_circular, allow_code=allow_code,
        )
    )  # fmt: skip
    chosen, rules = preset_of(preset), stats.rules(preset)
    testing = Testing(
        test=test,
        alternative=alternative,
        resamples=resamples,
        seed=seed,
        confidence=confidence,
        alpha=alpha,
        plus_one=rules.plus_one,
        early_stopping=rules.early_stopping,
        williams=chosen is None or chosen.williams,
    )
    judging = Judging(
        measures=measures(levels, statistics, groupings, chosen),
        testing=testing,
        top=tuple(dict.fromkeys(top)),
        no_outliers=no_outliers,
        threshold=darr_threshold,
        spa_seed=rules.spa_seed if preset else seed,
        named=bool(chosen or statistics or groupings),
    )
    kinds = [human] if isinstance(human, str) else list(human)
    _check_kinds(sets, kinds)
    contests = [
        contest(
            one,
            place,
            len(sets),
            wanted,
            human=kinds,
            human_systems=human_systems,
            allow_code=allow_code,
            allow_circular=allow_circular,
            tick=progress,
        )
        for place, one in enumerate(sets)
    ]
    _check_baseline(contests, baseline)
    results: list[Result] = []
    for done, one in enumerate(contests, start=1):
        results += judge(one, judging, control_entries(one, seed=seed) if controls else ())
        if progress:
            progress("judging", done, len(contests))
    _check_results(contests, results)
    asked = Asked(judging, baseline, correction, chosen.says if chosen else None)
    return finding(contests, results, asked)


def _outline(sets: Sequence[TestSet]) -> Outline | None:
    """Of one set with texts; several are looked at in turn, and scores alone need no texts."""
    return sets[0].outline if len(sets) == 1 and has_texts(sets[0]) else None


def _check(sets: Sequence[TestSet], wanted: Sequence[object]) -> None:
    if not sets:
        raise UsageError("there is no test set to judge on")
    if not wanted:
        raise UsageError("there is no metric to judge; name one, or give score files")


def _check_kinds(sets: Sequence[TestSet], kinds: Sequence[str]) -> None:
    there = dict.fromkeys(
        kind
        for one in sets
        for kind in (*one.human_kinds(), *(ranking.kind for ranking in one.rankings))
    )
    for kind in kinds:
        if kind not in there:
            raise UnknownNameError("kind of human scores", kind, there)


def _check_baseline(contests: Sequence[Contest], baseline: str | None) -> None:
    names = dict.fromkeys(entry.metric for one in contests for entry in one.entries)
    if baseline is not None and baseline not in names:
        raise UnknownNameError("metric (as baseline)", baseline, names)


def _check_results(contests: Sequence[Contest], results: Sequence[Result]) -> None:
    if not results:
        raise without_scores({one.name: one.testset.outline.human for one in contests})
