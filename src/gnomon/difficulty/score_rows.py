"""Systems under a metric with and without difficulty, as rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.records import METRIC, SYSTEM, Record, column

if TYPE_CHECKING:
    from numpy.typing import NDArray


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

    @property
    def moved(self) -> int:
        """Places up, by the weights; negative is down."""
        return 0 if self.base_rank is None or self.rank is None else self.base_rank - self.rank


def ranks(scores: NDArray[np.float64]) -> list[int | None]:
    """1 for the highest; equal scores share the best of their ranks; None for NaN.

    >>> ranks(np.array([3.0, 5.0, 3.0, np.nan]))
    [2, 1, 2, None]
    """
    return [None if np.isnan(score) else 1 + int((scores > score).sum()) for score in scores]
