"""Meta-evaluation: do people agree with the metrics?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gnomon import stats
from gnomon.errors import DataError, UnknownNameError, UsageError
from gnomon.findings import Finding
from gnomon.metaeval._contest import contest, named
from gnomon.metaeval._controls import controls as control_entries
from gnomon.metaeval._judge import Judging, judge
from gnomon.metaeval._measures import measures, preset_of
from gnomon.metaeval._tables import metaeval_table, rows_of
from gnomon.metaeval._testing import Testing, check_testing
from gnomon.testset import TestSet

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gnomon.metaeval._contest import Contest, Wanted
    from gnomon.metaeval._choices import Correction, Test
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
    darr_threshold: float = 25.0,
    human_systems: bool = False,
    allow_code: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> Finding:
    """TODO."""
    sets = [testsets] if isinstance(testsets, TestSet) else list(testsets)
    wanted = named(metrics)
    rules = stats.rules(preset)
    chosen = preset_of(preset)
    testing = Testing(
        test=test,
        alternative=alternative,
        resamples=resamples,
        seed=seed,
        confidence=confidence,
        alpha=alpha,
        plus_one=rules.plus_one,
        early_stopping=rules.early_stopping,
    )
    check_testing(testing)
    judging = Judging(
        measures=chosen.measures if chosen else measures(levels, statistics, groupings),
        testing=testing,
        top=tuple(top),
        no_outliers=no_outliers,
        threshold=darr_threshold,
        spa_seed=rules.spa_seed,
    )
    kinds = [human] if isinstance(human, str) else list(human)
    contests = [
        contest(
            one,
            place,
            len(sets),
            wanted,
            human=kinds,
            human_systems=human_systems,
            allow_code=allow_code,
            tick=progress,
        )
        for place, one in enumerate(sets)
    ]
    results = []
    for one in contests:
        results += judge(one, judging, control_entries(one, seed=seed) if controls else ())
    rows = [row for result in results for row in rows_of(result, judging, baseline, correction)]
    return Finding(
        "metaeval",
        "Meta-evaluation",
        (metaeval_table(rows),),
        {k: v for one in contests for k, v in one.signatures.items()},
    )
