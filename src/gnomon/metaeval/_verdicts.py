"""Intervals of a measure, and tests of the differences between metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon import stats
from gnomon.metaeval._resampled import of_accuracies, of_confidence, of_ranked_pairs
from gnomon.metaeval._testing import Testing, Verdicts, nothing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from gnomon.metaeval._cells import Cells

__all__ = ["pooled_verdicts", "verdicts"]

_UNITS = {"systems": "systems", "inputs": "segments"}


def verdicts(found: Cells, how: Testing, epsilons: NDArray[np.float64]) -> Verdicts:
    """Intervals and tests of one measure on one test set.

    Args:
        found: the scores.
        how: which test, how many draws.
        epsilons: tie thresholds of the metrics [M], NaN where there are none.
    """
    statistic = found.measure.statistic
    if statistic == "darr":
        return of_ranked_pairs(found, how)
    if statistic == "spa":
        return of_confidence(found, how)
    if statistic == "acc_eq":
        return of_accuracies(found, how, epsilons)
    if statistic == "acc_eq_held_out":
        return nothing(len(found.names))
    return _of_scores(found, how)


def _of_scores(found: Cells, how: Testing) -> Verdicts:
    """Correlations, and accuracy of system scores."""
    measured = _measured(found)
    unit = "systems" if found.measure.level == "system" else "inputs"
    result = _bootstrap(found, how, unit, measured) if how.resamples else nothing(len(found.names))
    is_pearson = (found.measure.statistic, found.measure.level) == ("pearson", "system")
    if how.test == "williams" or (how.test == "auto" and is_pearson and how.williams):
        if is_pearson:
            return _williams(found, how, result)
        return result._replace(p=np.full_like(result.p, np.nan), test="")
    if how.test == "bootstrap" or not how.resamples:
        return result
    return _permutation(found, how, measured, result)


def _measured(found: Cells) -> dict[str, Any]:
    """The statistic as :mod:`gnomon.stats` takes it: by name, or as a function."""
    measure = found.measure
    if measure.is_row_statistic:
        return {"statistic": measure.statistic, "grouping": measure.grouping}

    def differences(human: NDArray[np.float64], metric: NDArray[np.float64]) -> float:
        return stats.pairwise_difference_pearson(human, metric, grouping=measure.grouping)

    return {"statistic": differences}


def _bootstrap(found: Cells, how: Testing, unit: Any, measured: dict[str, Any]) -> Verdicts:
    boot = stats.bootstrap_test(
        found.human,
        found.metrics,
        unit=unit,
        confidence=how.confidence,
        count=how.resamples,
        seed=how.seed,
        alternative=how.alternative,
        plus_one=how.plus_one,
        **measured,
    )
    what = _UNITS[unit]
    low, high = boot.intervals
    return Verdicts(low, high, boot.differences, boot.p, f"bootstrap over {what}", what)


def _permutation(
    found: Cells, how: Testing, measured: dict[str, Any], result: Verdicts
) -> Verdicts:
    tested = stats.permutation_test(
        found.human,
        found.metrics,
        count=how.resamples,
        seed=how.seed,
        alternative=how.alternative,
        plus_one=how.plus_one,
        early_stopping=how.early_stopping,
        **measured,
    )
    what = "system scores" if found.measure.level == "system" else "scores (PERM-BOTH)"
    test = f"permutation of {what}"
    return result._replace(differences=tested.differences, p=tested.p, test=test)


def _williams(found: Cells, how: Testing, result: Verdicts) -> Verdicts:
    size = len(found.names)
    differences, p = np.full((size, size), np.nan), np.full((size, size), np.nan)
    for i in range(size):
        for j in range(size):
            one = stats.williams(
                found.human, found.metrics[i], found.metrics[j], alternative=how.alternative
            )
            differences[i, j] = one.r_first - one.r_second
            p[i, j] = np.nan if i == j else one.p
    return result._replace(differences=differences, p=p, test="Williams's test")


def pooled_verdicts(parts: list[Cells], how: Testing) -> Verdicts:
    """Tests of pairwise accuracy over the pairs of several test sets; every metric is in each.

    System scores are exchanged between metrics after each metric was standardised within each
    test set, which changes none of its decisions.
    """
    accuracy = _accuracy_within([len(part.human) for part in parts])
    human = np.concatenate([part.human for part in parts])
    metrics = np.concatenate([_standardised(part) for part in parts], axis=1)
    return _permutation(
        parts[0].having(human, metrics), how, {"statistic": accuracy}, nothing(len(metrics))
    )


def _accuracy_within(
    sizes: Sequence[int],
) -> Callable[[NDArray[np.float64], NDArray[np.float64]], float]:
    """Pairwise accuracy over the pairs within consecutive groups of systems.

    Equal to :func:`gnomon.stats.pairwise_accuracy` with groups, with the pairs laid out once: a
    test calls it for every draw and every pair of metrics.
    """
    starts = np.cumsum([0, *sizes])
    first, second = np.concatenate(
        [np.stack(np.triu_indices(n, 1)) + at for n, at in zip(sizes, starts, strict=False)], axis=1
    )

    def accuracy(human: NDArray[np.float64], metric: NDArray[np.float64]) -> float:
        h, m = human.ravel(), metric.ravel()
        signs = np.sign(h[first] - h[second]), np.sign(m[first] - m[second])
        known = int((~np.isnan(signs[0] + signs[1])).sum())
        return int((signs[0] == signs[1]).sum()) / known if known else float("nan")

    return accuracy


def _standardised(part: Cells) -> NDArray[np.float64]:
    known = np.where(np.isnan(part.human), np.nan, part.metrics)
    count = (~np.isnan(known)).sum(axis=1, keepdims=True)
    centred = known - np.nansum(known, axis=1, keepdims=True) / np.maximum(count, 1)
    spread = np.sqrt(np.nansum(centred**2, axis=1, keepdims=True) / np.maximum(count, 1))
    return np.asarray(centred / np.where(spread > 0, spread, 1.0))
