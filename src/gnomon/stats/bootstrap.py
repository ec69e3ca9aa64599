"""Paired bootstrap: intervals of correlations, and tests of their differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from gnomon.errors import UnknownNameError, UsageError
from gnomon.stats._joint import Joint, joint_cells
from gnomon.stats._replicates import Unit, drawn, replicates
from gnomon.stats._statistics import Level, score_arrays, task
from gnomon.stats.resampling import percentile_interval
from gnomon.stats.significance import (
    Alternative,
    check_alternative,
    check_confidence,
    check_count,
    p_value,
    reverse,
    slack,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from gnomon.stats._rows import Grouping

__all__ = ["BootstrapTest", "bootstrap_p_value", "bootstrap_test"]

Null = Literal["sign", "centred", "sacrebleu"]
_NULLS: tuple[Null, ...] = ("sign", "centred", "sacrebleu")


class BootstrapTest(NamedTuple):
    """Intervals of each metric's statistic, and a test of every ordered pair.

    - ``statistics``: the statistic of each metric on all its cells [metrics].
    - ``intervals``: lower and upper ends [2, metrics].
    - ``differences``: row metric less column metric, on the cells both have [metrics, metrics].
    - ``difference_intervals``: lower and upper ends [2, metrics, metrics].
    - ``p``: p-values of the alternative said of (row, column) [metrics, metrics].
    """

    statistics: NDArray[np.float64]
    intervals: NDArray[np.float64]
    differences: NDArray[np.float64]
    difference_intervals: NDArray[np.float64]
    p: NDArray[np.float64]


def bootstrap_test(
    human: ArrayLike,
    metrics: ArrayLike,
    *,
    statistic: str | Callable[[NDArray[np.float64], NDArray[np.float64]], float] = "pearson",
    grouping: Grouping = "none",
    level: Level = "segment",
    unit: Unit = "inputs",
    alternative: Alternative = "greater",
    null: Null = "sign",
    confidence: float = 0.95,
    count: int = 1000,
    seed: int = 0,
    plus_one: bool = True,
) -> BootstrapTest:
    """How far would each metric's agreement with people move with other systems or items?

    Systems or items (or both) are drawn with replacement, for people and all metrics alike; one
    drawn twice counts twice, but makes no pair with itself for pairwise accuracy of systems.
    Intervals are percentiles of the replicates (Deutsch et al., 2021, Boot-Inputs, -Systems,
    -Both). Pooled Pearson, statistics of system means, and averages over groups that are drawn
    whole come from sums; all else is computed anew in every draw.

    Args:
        human: scores [systems, items], or system scores [systems]; NaN is missing.
        metrics: scores [metrics, systems, items] or [metrics, systems], higher is better; NaN is
            missing. At level ``system`` people's may be system scores where the metrics' are not:
            they stay as they are while items are drawn.
        statistic: as in :func:`~gnomon.stats.permutation_test`.
        grouping: ``none``, ``item`` or ``system``.
        level: ``segment``, or ``system`` for the statistic of means over items.
        unit: what is drawn: ``inputs`` (items), ``systems``, or ``both``. System scores have one
            item, so draw their ``systems``.
        alternative: ``greater``: the row metric agrees better than the column metric.
        null: see :func:`bootstrap_p_value`.
        confidence: share of replicates inside the intervals, in (0, 1).
        count: number of draws.
        seed: seed of the draws.
        plus_one: see :func:`~gnomon.stats.p_value`.

    Returns:
        Statistics, differences, intervals and p-values; NaN where undefined.

    Raises:
        LengthMismatchError: the shapes do not fit.
        UnknownNameError: no such statistic, grouping, level, unit, null or alternative.
        UsageError: no draws, or a confidence that is no share.
    """
    measured = task(statistic, grouping, level)
    check_alternative(alternative)
    check_count(count)
    check_confidence(confidence)
    h, m = score_arrays(human, metrics, level)
    present = ~np.isnan(m) if level == "system" else ~(np.isnan(m) | np.isnan(h))
    statistics = measured.of_metrics(h, m, present)
    found: dict[tuple[int, int], Replicated] = {}
    sets = joint_cells(present, [(i, j) for i in range(len(m)) for j in range(i, len(m))])
    for joint in sets:
        draws = drawn(unit, m.shape[1:], count=count, seed=seed)
        chosen = m[joint.metrics]
        values = replicates(measured, h, chosen, joint.cells, draws)
        observed = measured.of_metrics(h, chosen, np.broadcast_to(joint.cells, chosen.shape))
        found.update(Replicated.of_pairs(joint, values, observed))
    return bootstrap_table(
        statistics, found, confidence, alternative=alternative, null=null, plus_one=plus_one
    )


def bootstrap_p_value(
    replicates: ArrayLike,
    observed: float,
    *,
    alternative: Alternative = "two-sided",
    null: Null = "sign",
    plus_one: bool = True,
) -> float:
    """p-value of a difference from its bootstrap replicates.

    Args:
        replicates: differences of resamples [draws]; NaN does not count.
        observed: the difference observed.
        alternative: ``greater`` (the difference is positive), ``less`` or ``two-sided``.
        null: ``sign``: share of replicates that do not have the sign in question (Koehn, 2004),
            doubled for ``two-sided``; ``centred``: share of replicates, less their mean, that
            are as extreme as the observed difference; ``sacrebleu``: share of sizes of replicates,
            less their mean, above the size of the observed difference, which is what sacreBLEU's
            paired bootstrap reports: about half of ``centred``. It is two-sided in name, so other
            alternatives are refused; p is 1 where no replicate differs.
        plus_one: see :func:`~gnomon.stats.p_value`.

    Returns:
        p; NaN without defined replicates.

    Raises:
        UnknownNameError: no such alternative or null.
        UsageError: ``sacrebleu`` with an alternative that it lacks.

    >>> bootstrap_p_value([0.1, 0.2, -0.1], 0.1, alternative="greater")
    0.5
    """
    check_alternative(alternative)
    if null not in _NULLS:
        raise UnknownNameError("null hypothesis", str(null), _NULLS)
    values = np.asarray(replicates, dtype=np.float64)
    values = values[~np.isnan(values)]
    if not len(values) or np.isnan(observed):
        return float("nan")
    if null == "centred":
        centred = values - values.mean()
        return p_value(centred, observed, alternative=alternative, plus_one=plus_one).p
    if null == "sacrebleu":
        return _as_sacrebleu(values, observed, alternative, plus_one=plus_one)
    zero = slack(values, observed)
    against = {"greater": int((values <= zero).sum()), "less": int((values >= -zero).sum())}
    shares = {k: (r + plus_one) / (len(values) + plus_one) for k, r in against.items()}
    if alternative == "two-sided":
        return min(1.0, 2 * min(shares.values()))
    return shares[alternative]


def _as_sacrebleu(
    values: NDArray[np.float64], observed: float, alternative: Alternative, *, plus_one: bool
) -> float:
    if alternative != "two-sided":
        raise UsageError(
            f"the null hypothesis 'sacrebleu' is tested two-sided; for {alternative!r} take 'sign'"
            " or 'centred'"
        )
    sizes = np.abs(values)
    if not sizes.any():
        return 1.0
    above = int((sizes - sizes.mean() > abs(observed)).sum())
    return (above + plus_one) / (len(sizes) + plus_one)


class Replicated(NamedTuple):
    """Replicates [draws] and the observed value."""

    replicates: NDArray[np.float64]
    observed: float

    @classmethod
    def of_pairs(
        cls, joint: Joint, values: NDArray[np.float64], observed: NDArray[np.float64]
    ) -> dict[tuple[int, int], Replicated]:
        """Differences of pairs, and the value itself for a pair of one thing with itself.

        Args:
            joint: the pairs.
            values: replicates [draws, things].
            observed: observed values [things].
        """
        found = {}
        for pair, a, b in zip(joint.pairs, *joint.places, strict=True):
            single = cls(values[:, a], float(observed[a]))
            both = cls(values[:, a] - values[:, b], float(observed[a] - observed[b]))
            found[pair] = single if a == b else both
        return found


def bootstrap_table(
    statistics: NDArray[np.float64],
    found: dict[tuple[int, int], Replicated],
    confidence: float,
    *,
    alternative: Alternative,
    null: Null,
    plus_one: bool,
) -> BootstrapTest:
    """Intervals and p-values of all that was replicated."""
    m = len(statistics)
    intervals, difference_intervals = np.full((2, m), np.nan), np.full((2, m, m), np.nan)
    differences, p = np.full((m, m), np.nan), np.full((m, m), np.nan)
    for (i, j), (values, observed) in found.items():
        ends = _ends(values, confidence)
        if i == j:
            intervals[:, i], differences[i, i] = ends, observed - observed
            continue
        differences[i, j], differences[j, i] = observed, -observed
        difference_intervals[:, i, j], difference_intervals[:, j, i] = ends, -ends[::-1]
        for place, said in (((i, j), alternative), ((j, i), reverse(alternative))):
            p[place] = bootstrap_p_value(
                values, observed, alternative=said, null=null, plus_one=plus_one
            )
    return BootstrapTest(statistics, intervals, differences, difference_intervals, p)


def _ends(values: NDArray[np.float64], confidence: float) -> NDArray[np.float64]:
    return np.array(percentile_interval(values, confidence))
