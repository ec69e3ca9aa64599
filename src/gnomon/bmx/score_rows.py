"""Systems under metrics and under the same metrics boosted, as rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gnomon.core.rank_changes import ranks
from gnomon.core.records import METRIC, SYSTEM, Record, column
from gnomon.metrics.means import mean_over_segments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.scores import Scores

__all__ = ["BaseAndBoosted", "BoostedSystem", "boosted_rows"]


class BoostedSystem(Record):
    """A system under a metric, and under the same metric boosted."""

    system: str = SYSTEM
    metric: str = METRIC
    score: float | None = column("Boosted", digits=4, help="mean over segments, boosted")
    base_score: float | None = column("Base", digits=4, help="mean over segments, of the metric")
    rank: int | None = column("Rank", help="among the systems, boosted; 1 is best")
    base_rank: int | None = column("Base rank", help="likewise, of the metric")


class BaseAndBoosted(NamedTuple):
    """Scores under a metric, and under the same metric boosted."""

    base: Scores
    boosted: Scores


def boosted_rows(both: BaseAndBoosted) -> Iterator[BoostedSystem]:
    """A row for each system, with its ranks under both."""
    boosted, base = both.boosted, both.base
    means = [mean_over_segments(scores.segments) for scores in (boosted, base)]
    sign = 1 if base.higher_is_better else -1
    own, base_ranks = (ranks(sign * mean) for mean in means)
    for k, name in enumerate(boosted.systems):
        yield BoostedSystem(
            system=name,
            metric=boosted.metric,
            score=means[0][k],
            base_score=means[1][k],
            rank=own[k],
            base_rank=base_ranks[k],
        )
