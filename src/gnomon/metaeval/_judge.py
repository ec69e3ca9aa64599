"""What each measure says of all metrics on one test set: values, intervals, ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon import stats
from gnomon.metaeval._cells import Cells, Value, cells, value
from gnomon.metaeval._measures import Measure
from gnomon.metaeval._testing import nothing
from gnomon.metaeval._verdicts import verdicts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.metaeval._contest import Contest, Entry
    from gnomon.metaeval._testing import Testing, Verdicts

__all__ = ["ALL", "Judging", "Result", "judge"]

ALL = "all"
_PAIR = 2  # systems that it takes to compare any
_FEWEST = 3  # systems below which every draw and every order says the same line: no verdict
_ALONE = tuple(Measure(name, "segment", "none") for name in ("pearson", "spearman", "kendall_b"))


@dataclass(frozen=True)
class Judging:
    """What is measured over which systems, and how it is tested.

    Attributes:
        measures: what is measured.
        testing: how differences are tested.
        top: over the K best systems alone, too, for each of these K.
        no_outliers: without systems whose human score is an outlier, too.
        threshold: smallest difference of human scores that counts for DaRR from scores; None:
            DaRR from rankings alone.
        spa_seed: seed of the sign flips of soft pairwise accuracy.
        named: whether statistics, groupings or a preset were named.
    """

    measures: tuple[Measure, ...]
    testing: Testing
    top: tuple[int, ...] = ()
    no_outliers: bool = False
    threshold: float | None = None
    spa_seed: int = 0
    named: bool = False


class Result(NamedTuple):
    """One measure on one test set, over some systems.

    Attributes:
        contest: the test set.
        subset: "all", "top 6", "without outliers".
        cells: the scores compared, of the metrics.
        values: one per metric.
        verdicts: intervals and tests.
        ranks: ranks from 1 [M]; NaN where undefined.
        clusters: clusters from 1 [M].
        controls: names and values of the controls.
    """

    contest: Contest
    subset: str
    cells: Cells
    values: tuple[Value, ...]
    verdicts: Verdicts
    ranks: NDArray[np.float64]
    clusters: NDArray[np.float64]
    controls: tuple[tuple[str, Value], ...]

    @property
    def measure(self) -> Measure:
        """What was measured."""
        return self.cells.measure

    @property
    def human(self) -> str | None:
        """The kind of the human scores or rankings that it was measured by."""
        ranked = self.measure.statistic == "darr" and self.cells.pairs is not None
        return self.contest.kinds.get("ranking" if ranked else self.measure.human_level)


def judge(contest: Contest, judging: Judging, controls: Sequence[Entry]) -> Iterator[Result]:
    """All measures of one test set, in order; those that people's scores do not allow left out.

    Where people judged a single system, correlations over its segments take the place of the usual
    measures, which compare systems.
    """
    usual = not judging.named and any(m.level == "segment" for m in judging.measures)
    alone = usual and contest.judged < _PAIR
    for measure in _ALONE if alone else judging.measures:
        metrics = _cells(contest, measure, contest.entries, judging)
        if metrics.empty or (measure.statistic == "darr" and not _has_pairs(metrics)):
            continue
        beside = controls if measure.kind.ties else ()
        others = _cells(contest, measure, beside, judging)
        for subset, systems in _subsets(contest, measure, judging):
            yield _result(
                contest,
                subset,
                (metrics if systems is None else metrics.only(systems)).trimmed(),
                (others if systems is None else others.only(systems)).trimmed(),
                judging.testing,
            )


def _cells(contest: Contest, measure: Measure, entries: Sequence[Entry], judging: Judging) -> Cells:
    return cells(contest, measure, entries, threshold=judging.threshold, spa_seed=judging.spa_seed)


def _has_pairs(found: Cells) -> bool:
    return found.pairs is not None or found.threshold is not None


def _subsets(
    contest: Contest, measure: Measure, judging: Judging
) -> Iterator[tuple[str, NDArray[np.bool_] | None]]:
    yield ALL, None
    if measure.level == "segment":
        return
    for k in judging.top:
        kept = np.zeros(len(contest.systems), dtype=bool)
        kept[stats.top(contest.system, k)] = True
        yield f"top {k}", kept
    if judging.no_outliers:
        yield "without outliers", ~stats.outliers(contest.system)


def _result(contest: Contest, subset: str, metrics: Cells, others: Cells, how: Testing) -> Result:
    values = tuple(value(metrics, k) for k in range(len(metrics.names)))
    epsilons = [np.nan if v.epsilon is None else v.epsilon for v in values]
    if metrics.measure.level == "system" and metrics.judged < _FEWEST:
        found = nothing(len(values))
    else:
        found = verdicts(metrics, how, np.array(epsilons, dtype=np.float64))
    scores = np.array([v.value for v in values], dtype=np.float64)
    tested = bool(found.test) and how.alternative == "greater"
    undefined = np.full(len(values), np.nan)
    return Result(
        contest=contest,
        subset=subset,
        cells=metrics,
        values=values,
        verdicts=found,
        ranks=stats.ranks(scores, found.p, alpha=how.alpha) if tested else undefined,
        clusters=stats.clusters(scores, found.p, alpha=how.alpha) if tested else undefined,
        controls=tuple((name, value(others, k)) for k, name in enumerate(others.names)),
    )
