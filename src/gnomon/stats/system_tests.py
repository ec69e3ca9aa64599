"""Tests of the difference between two systems' scores, corpus metrics through their statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.errors import LengthMismatchError, UsageError
from gnomon.stats.bootstrap import BootstrapTest, Replicated, bootstrap_table
from gnomon.stats.p_values import check_confidence, check_count
from gnomon.stats.pair_tests import joint_cells, list_pairs
from gnomon.stats.resampling import resample_counts, resampled_sums

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    # sums of segments' statistics [..., statistics] -> scores [...]
    Aggregate = Callable[[NDArray[np.float64]], NDArray[np.float64]]

__all__ = ["resampled_scores", "system_bootstrap_test"]


def system_bootstrap_test(
    statistics: ArrayLike,
    *,
    aggregate: Aggregate | None = None,
    baseline: int | None = None,
    confidence: float = 0.95,
    count: int = 1000,
    seed: int = 0,
) -> BootstrapTest:
    """Paired bootstrap over segments of system scores (Koehn, 2004), with sacreBLEU's p.

    Intervals are the percentiles themselves. p is what sacreBLEU reports, see
    :func:`sacrebleu_p_value`. Both are too short and too small for few segments;
    :class:`~gnomon.stats.SystemFamily` is not.

    Args:
        statistics: segment scores [systems, segments], or what a corpus metric adds up over
            segments [systems, segments, statistics] (matches, lengths); NaN is missing.
        aggregate: score of sums [..., statistics] -> [...]; needed for statistics, while segment
            scores are averaged.
        baseline: compare every system with this one (by position) alone; all pairs by default.
        confidence: share of replicates inside the intervals, in (0, 1).
        count: number of resamples.
        seed: seed of the resamples, the same segments for all systems.

    Returns:
        Scores, differences, intervals and p-values; pairs are compared on the segments that both
        have, and NaN without two such segments.

    Raises:
        LengthMismatchError: neither shape, or statistics without ``aggregate``.
        UsageError: no draws, a confidence that is no share, or a baseline that is no system.
    """
    check_count(count)
    check_confidence(confidence)
    x, score = summable(statistics, aggregate)
    present = np.asarray(~np.isnan(x).any(axis=2))
    replicated: dict[tuple[int, int], Replicated] = {}
    pairs = [(i, i) for i in range(len(x))] + _list_pairs(len(x), baseline)
    counts = resample_counts(max(1, x.shape[1]), count=count, seed=seed)
    for joint in joint_cells(present[:, None], pairs):
        chosen = np.where(joint.cells[0][:, None], x[joint.metrics], 0.0)
        values = score(resampled(chosen, counts))
        replicated.update(Replicated.pair_differences(joint, values, score(chosen.sum(axis=1))))
    found = bootstrap_table(score_systems(x, score), replicated, confidence, plus_one=True)
    for (i, j), (values, observed, _) in replicated.items():
        if i != j:
            found.p[i, j] = found.p[j, i] = sacrebleu_p_value(values, observed)
    return found


def sacrebleu_p_value(replicates: ArrayLike, observed: float) -> float:
    """P as sacreBLEU's paired bootstrap reports it.

    It is the share of sizes of replicates, less their mean, above the size of the observed
    difference: about half of what a two-sided test has. It is 1 where no replicate differs.

    Args:
        replicates: differences of resamples [draws]; NaN does not count.
        observed: the difference observed.

    Returns:
        p; NaN without defined replicates.
    """
    sizes = np.abs(np.asarray(replicates, dtype=np.float64))
    sizes = sizes[~np.isnan(sizes)]
    if not len(sizes) or np.isnan(observed):
        return float("nan")
    above = int((sizes - sizes.mean() > abs(observed)).sum())
    return (above + 1) / (len(sizes) + 1) if sizes.any() else 1.0


def _list_pairs(systems: int, baseline: int | None) -> list[tuple[int, int]]:
    if baseline is None:
        return list_pairs(systems)
    if not 0 <= baseline < systems:
        raise UsageError(f"the baseline is one of {systems} systems, from 0; got {baseline}")
    return [(i, baseline) for i in range(systems) if i != baseline]


def resampled_scores(
    statistics: ArrayLike, counts: NDArray[np.uint8], aggregate: Aggregate | None = None
) -> NDArray[np.float64]:
    """Scores of systems in every resample of the segments.

    Args:
        statistics: segment scores [systems, segments], or what a corpus metric adds up over
            segments [systems, segments, statistics]; NaN is missing and adds nothing.
        counts: how often each segment occurs in each resample [segments, draws], see
            :func:`gnomon.stats.resampling.resample_counts`.
        aggregate: score of sums [..., statistics] -> [...]; needed for statistics, while segment
            scores are averaged.

    Returns:
        float64 [draws, systems].
    """
    x, score = summable(statistics, aggregate)
    return score(resampled(np.where(np.isnan(x).any(axis=2, keepdims=True), 0.0, x), counts))


def resampled(x: NDArray[np.float64], counts: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Sums of x [systems, segments, statistics] over resamples [draws, systems, statistics]."""
    systems, segments, columns = x.shape
    quantities = x.transpose(0, 2, 1).reshape(systems * columns, segments)
    sums = resampled_sums(quantities, counts)
    return sums.reshape(systems, columns, -1).transpose(2, 0, 1)


def summable(
    statistics: ArrayLike, aggregate: Aggregate | None
) -> tuple[NDArray[np.float64], Aggregate]:
    """Addends [systems, segments, statistics], and the score of their sums."""
    x = np.asarray(statistics, dtype=np.float64)
    if x.ndim == 2 and aggregate is None:
        return np.stack([x, np.where(np.isnan(x), np.nan, 1.0)], axis=2), _mean
    if x.ndim == 3 and aggregate is not None:
        return x, aggregate
    raise LengthMismatchError(
        "systems are compared by segment scores [systems, segments], or by statistics [systems,"
        f" segments, statistics] and a function that scores their sums; the shape is {x.shape}"
        f" {'without' if aggregate is None else 'with'} a function"
    )


def _mean(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(sums[..., 0] / np.where(sums[..., 1] == 0, np.nan, sums[..., 1]))


def score_systems(x: NDArray[np.float64], score: Aggregate) -> NDArray[np.float64]:
    """The score of each system on all that it has [systems]."""
    present = np.asarray(~np.isnan(x).any(axis=2))
    sums = np.where(present[:, :, None], x, 0.0).sum(axis=1)
    some = present.any(axis=1)
    scores = np.full(len(x), np.nan)
    scores[some] = score(sums[some])
    return scores
