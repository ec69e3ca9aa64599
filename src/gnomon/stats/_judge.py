"""One verdict for every ordered pair of metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.stats.significance import Alternative, EarlyStopping, PValue, decides, p_value, reverse

if TYPE_CHECKING:
    from numpy.typing import NDArray


class PairTest(NamedTuple):
    """A test of every ordered pair of metrics; arrays are NaN where undefined.

    - ``statistics``: the statistic of each metric on all its cells [metrics].
    - ``differences``: row metric less column metric, on the cells both have [metrics, metrics].
    - ``p``: p-values of the alternative said of (row, column) [metrics, metrics].
    - ``draws``: draws behind each p-value [metrics, metrics].
    """

    statistics: NDArray[np.float64]
    differences: NDArray[np.float64]
    p: NDArray[np.float64]
    draws: NDArray[np.int64]


class Judge(NamedTuple):
    """How null differences become p-values."""

    alternative: Alternative
    plus_one: bool
    early_stopping: EarlyStopping | None

    def table(
        self,
        statistics: NDArray[np.float64],
        found: dict[tuple[int, int], tuple[float, NDArray[np.float64]]],
    ) -> PairTest:
        m = len(statistics)
        differences, p = np.full((m, m), np.nan), np.full((m, m), np.nan)
        np.fill_diagonal(differences, np.where(np.isnan(statistics), np.nan, 0.0))
        draws = np.zeros((m, m), dtype=np.int64)
        for (i, j), (observed, null) in found.items():
            differences[i, j], differences[j, i] = observed, -observed
            p[i, j], draws[i, j] = self.p(null, observed, self.alternative)
            p[j, i], draws[j, i] = self.p(null, observed, reverse(self.alternative))
        return PairTest(statistics, differences, p, draws)

    def p(self, null: NDArray[np.float64], observed: float, alternative: Alternative) -> PValue:
        return p_value(
            null,
            observed,
            alternative=alternative,
            plus_one=self.plus_one,
            early_stopping=self.early_stopping,
        )

    def decided(self, null: NDArray[np.float64], observed: float) -> bool:
        """Whether more draws would change neither direction's p-value."""
        if np.isnan(observed):
            return True
        directions = {self.alternative, reverse(self.alternative)}
        return all(decides(null, observed, said, self.early_stopping) for said in directions)
