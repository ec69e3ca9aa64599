"""Systems under a metric with and without difficulty, as rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gnomon.core.records import METRIC, SYSTEM, Record, column, column_of
from gnomon.core.slices import slices
from gnomon.methods.difficulty.agreement import ranks
from gnomon.methods.difficulty.paper.rank_tables import MetricScores
from gnomon.methods.difficulty.sides import Both, precision_recall

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.testset import TestSet
    from gnomon.methods.difficulty.agreement import People
    from gnomon.methods.difficulty.sides import Bound, Side


class WeightedRow(Record):
    """A system under a metric with and without difficulty."""

    system: str = SYSTEM
    metric: str = METRIC
    score: float | None = column("Weighted", digits=4, better="higher", help="under difficulty")
    base_score: float | None = column(
        "Base", digits=4, better="higher", help="without weights, aggregated as the weighted score"
    )
    rank: int | None = column("Rank", help="by the weighted score")
    base_rank: int | None = column("Base rank", help="by the base score")
    moved: int | None = column("Moved up", help="places, by the weights; - is down")
    human_rank: int | None = column(
        "Human rank", help="by people; of several kinds of human scores, by the first one"
    )
    mean: float | None = column(
        "Weighted, mean", digits=4, help="mean of the weighted segment scores"
    )
    base_mean: float | None = column("Base, mean", digits=4, help="mean of the base segment scores")
    in_pool: bool = column("In pool", help="whether it is one of those that say what is hard")
    precision: float | None = column("Precision", digits=4, help="weighted, mean over segments")
    recall: float | None = column("Recall", digits=4, help="weighted, mean over segments")
    base_precision: float | None = column("Base precision", digits=4, help="mean over segments")
    base_recall: float | None = column("Base recall", digits=4, help="mean over segments")


class WeightedSliceRow(Record):
    """A system on some segments, with and without difficulty."""

    slice: str = column("Slice", help="which segments")
    segments: int = column("Segments", help="how many these are")
    system: str = SYSTEM
    metric: str = METRIC
    score: float | None = column_of(WeightedRow, "score")
    base_score: float | None = column_of(WeightedRow, "base_score")
    rank: int | None = column_of(WeightedRow, "rank")
    base_rank: int | None = column_of(WeightedRow, "base_rank")


@dataclass(frozen=True, eq=False)
class ScoredMetric:
    """One metric on one test set, with and without weights."""

    testset: TestSet
    bound: Bound
    base: Side
    weighted: Side

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems."""
        return tuple(self.testset.systems)

    @property
    def sides(self) -> list[MetricScores]:
        """Both, higher is better."""
        return [
            MetricScores(side.name, side.sign * side.system())
            for side in (self.base, self.weighted)
        ]

    @property
    def pool(self) -> tuple[str, ...]:
        """The systems that say what is hard; none where difficulties are from a file."""
        return self.bound.pool.systems if self.bound.pool else ()


def score_rows(run: ScoredMetric, judge: People | None) -> list[WeightedRow]:
    """The records of the contract, best first."""
    both_sides = run.base, run.weighted
    base, weighted_scores = (side.system() for side in both_sides)
    base_ranks, weighted_ranks = (ranks(side.sign * side.system()) for side in both_sides)
    means = run.base.mean(), run.weighted.mean()
    both = precision_recall(run.bound, run.testset.batch())
    human = [None] * len(run.systems) if judge is None else ranks(judge.scores)
    pool = run.pool
    rows = [
        WeightedRow(
            system=name,
            metric=run.bound.metric.spec,
            score=weighted_scores[k],
            base_score=base[k],
            rank=weighted_ranks[k],
            base_rank=base_ranks[k],
            moved=_moved(base_ranks[k], weighted_ranks[k]),
            human_rank=human[k],
            mean=means[1][k],
            base_mean=means[0][k],
            in_pool=name in pool,
            **{field: None if both is None else getattr(both, field)[k] for field in Both._fields},
        )
        for k, name in enumerate(run.systems)
    ]
    return sorted(rows, key=lambda row: (row.rank is None, row.rank or 0, row.system))


def slice_rows(run: ScoredMetric, by: str) -> Iterator[WeightedSliceRow]:
    """Systems on every slice."""
    for name, members in slices(run.testset, by, run.base.segments):
        base, weighted_scores = run.base.system(members), run.weighted.system(members)
        base_ranks = ranks(run.base.sign * base)
        weighted_ranks = ranks(run.weighted.sign * weighted_scores)
        for k, system in enumerate(run.systems):
            yield WeightedSliceRow(
                slice=name or "all segments",
                segments=int(members.sum()),
                system=system,
                metric=run.bound.metric.spec,
                score=weighted_scores[k],
                base_score=base[k],
                rank=weighted_ranks[k],
                base_rank=base_ranks[k],
            )


def _moved(base: int | None, weighted_rank: int | None) -> int | None:
    return None if base is None or weighted_rank is None else base - weighted_rank
