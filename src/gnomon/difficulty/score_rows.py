"""Systems under a metric with and without difficulty, as rows."""

from __future__ import annotations

from gnomon.core.records import METRIC, SYSTEM, Record, column

__all__ = ["WeightedRow"]


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
