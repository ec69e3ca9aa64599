"""Permutation tests of the difference between two metrics' correlations with people."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.errors import UsageError
from gnomon.stats._joint import Joint, all_pairs, joint_cells
from gnomon.stats._judge import Judge, PairTest
from gnomon.stats._null import differences
from gnomon.stats._statistics import Level, Task, score_arrays, task
from gnomon.stats._swaps import Swap, blocks, check_swap, exchanged
from gnomon.stats.significance import (
    Alternative,
    EarlyStopping,
    check_alternative,
    check_count,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import ArrayLike, NDArray

    from gnomon.stats._rows import Grouping

__all__ = ["PairTest", "permutation_test"]


def permutation_test(
    human: ArrayLike,
    metrics: ArrayLike,
    *,
    statistic: str | Callable[[NDArray[np.float64], NDArray[np.float64]], float] = "pearson",
    grouping: Grouping = "none",
    level: Level = "segment",
    swap: Swap = "cells",
    alternative: Alternative = "greater",
    count: int = 1000,
    seed: int = 0,
    independent: bool = False,
    plus_one: bool = True,
    early_stopping: EarlyStopping | None = None,
    workers: int = 1,
) -> PairTest:
    """Does one metric agree better with people than another? (Deutsch et al., 2021).

    Under the null hypothesis two metrics, each standardised over the cells that people and both
    metrics have scored, are exchangeable. Scores are exchanged at random and the difference of the
    statistic computed again:

    - ``cells``: every cell by its own coin (PERM-BOTH as mt-metrics-eval draws it);
    - ``rows+cols``: every system and every item by a coin; a cell is exchanged when exactly one
      of its two coins says so (PERM-BOTH of the paper and of nlpstats);
    - ``inputs``: all systems of an item together (PERM-INPUTS);
    - ``systems``: all items of a system together (PERM-SYSTEMS).

    All pairs of metrics share their exchanges: each p-value has the same distribution as with
    exchanges of its own, but the Monte-Carlo errors of different pairs are correlated, so that
    with bad luck many are off in one direction. ``independent=True`` draws anew for every pair,
    at many times the cost; its draws depend on the order of metrics, the shared ones do not.

    Args:
        human: scores [systems, items], or system scores [systems]; NaN is missing.
        metrics: scores [metrics, systems, items] or [metrics, systems], higher is better; NaN is
            missing, and may be so in other cells for every metric. At level ``system`` people's
            may be system scores where the metrics' are not.
        statistic: ``pearson``, ``spearman``, ``kendall_b``, ``kendall_c``, ``pairwise_accuracy``,
            or a function of human and metric scores of one shape, with NaN on both for missing
            cells ([systems, items], or [systems] at level ``system``). SPA is
            :class:`~gnomon.stats.SoftPairwiseAccuracy`, which shares work between draws.
        grouping: ``none``, ``item`` or ``system``, as in :func:`~gnomon.stats.pearson`.
        level: ``segment``: the statistic of cells; ``system``: of means over items.
        swap: what is exchanged together.
        alternative: ``greater``: the row metric agrees better than the column metric.
        count: number of draws.
        seed: seed of the draws; the same for any number of workers.
        independent: whether every pair of metrics gets its own draws.
        plus_one: see :func:`~gnomon.stats.p_value`.
        early_stopping: see :func:`~gnomon.stats.p_value`; saves time where draws are dear (all but
            Pearson's r and system means), when both directions of a pair are decided.
        workers: threads.

    Returns:
        Statistics, differences and p-values of every ordered pair; p is NaN where either
        statistic is undefined (constant scores, fewer than two common cells) and on the diagonal.

    Raises:
        LengthMismatchError: the shapes do not fit.
        UnknownNameError: no such statistic, grouping, level, exchange or alternative.
        UsageError: no draws, no workers, or a grouping that the statistic cannot have.

    >>> people = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    >>> result = permutation_test(people, [[1, 2, 3, 4, 5, 6], [3, 1, 2, 6, 5, 4]])
    >>> result.differences.round(3).tolist()
    [[0.0, 0.4], [-0.4, 0.0]]
    """
    measured = task(statistic, grouping, level)
    check_swap(swap)
    check_alternative(alternative)
    check_count(count)
    if workers < 1:
        raise UsageError(f"a test needs at least one worker; got {workers}")
    h, m = score_arrays(human, metrics, level)
    if not callable(statistic):  # a function may know how many systems and items there are
        h, m = _in_use(h, m, level)
    present = ~np.isnan(m) if level == "system" else ~(np.isnan(m) | np.isnan(h))
    statistics = measured.of_metrics(h, m, present)
    judge = Judge(alternative, plus_one, early_stopping)
    drawn = _Draws(measured, h, m, swap, (seed,), count, workers, judge)
    found = {}
    for joint in joint_cells(present, all_pairs(len(m))):
        found.update(drawn.each_pair_alone(joint) if independent else drawn.of(joint))
    return judge.table(statistics, found)


def _in_use(
    human: NDArray[np.float64], metrics: NDArray[np.float64], level: Level
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    # systems and items without any cell to compare take no draws
    cells = (~np.isnan(metrics)).any(axis=0)
    if level == "system":
        return human, metrics[:, :, cells.any(axis=0)]
    cells &= ~np.isnan(human)
    rows, columns = cells.any(axis=1), cells.any(axis=0)
    return human[rows][:, columns], metrics[:, rows][:, :, columns]


class _Draws(NamedTuple):
    """Observed and null differences of pairs of metrics."""

    task: Task
    human: NDArray[np.float64]
    metrics: NDArray[np.float64]
    swap: Swap
    seed: tuple[int, ...]
    number: int
    workers: int
    judge: Judge

    def of(self, joint: Joint) -> dict[tuple[int, int], tuple[float, NDArray[np.float64]]]:
        if self.judge.early_stopping is not None and not self.task.is_linear:
            # draws are dear and pairs share none of their cost: stop at each pair's verdict
            alone = (Joint(joint.cells, [pair]) for pair in joint.pairs)
            return {one.pairs[0]: self._until_decided(one) for one in alone}
        observed, nulls = self._differences(joint)
        null = np.concatenate(list(nulls(blocks(self.number))))[: self.number]
        return {p: (float(observed[k]), null[:, k]) for k, p in enumerate(joint.pairs)}

    def each_pair_alone(
        self, joint: Joint
    ) -> dict[tuple[int, int], tuple[float, NDArray[np.float64]]]:
        found = {}
        for pair in joint.pairs:
            alone = self._replace(seed=(*self.seed, *pair))
            found.update(alone.of(Joint(joint.cells, [pair])))
        return found

    def _until_decided(self, joint: Joint) -> tuple[float, NDArray[np.float64]]:
        (observed,), nulls = self._differences(joint)
        null, ahead = np.empty(0), blocks(self.number)
        while ahead and not self.judge.decided(null, observed):
            now, ahead = ahead[: self.workers], ahead[self.workers :]
            null = np.concatenate([null, *(block[:, 0] for block in nulls(now))])
        return float(observed), null[: self.number]

    def _differences(
        self, joint: Joint
    ) -> tuple[NDArray[np.float64], Callable[[list[int]], Iterator[NDArray[np.float64]]]]:
        observed, nulls = differences(self.task, self.human, self.metrics, joint, self.swap)
        shape = (self.metrics.shape[1], self.metrics.shape[2])

        def of_block(block: int) -> NDArray[np.float64]:
            return nulls(exchanged(self.swap, shape, self.seed, block).astype(np.float64))

        def of_blocks(numbers: list[int]) -> Iterator[NDArray[np.float64]]:
            with ThreadPoolExecutor(self.workers) as pool:
                yield from pool.map(of_block, numbers)

        return observed, of_blocks
