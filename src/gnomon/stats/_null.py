"""Differences of a statistic between two metrics whose scores were exchanged at random.

Three ways to the same numbers: Pearson needs sums over exchanged cells alone, and these are
linear in each metric, so that products of matrices serve all pairs; statistics of system scores
need exchanged means, linear likewise; all others are computed from exchanged cells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.stats._joint import standardised
from gnomon.stats._rows import arranged, centred_rows, mean_of_known, members

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from gnomon.stats._joint import Joint
    from gnomon.stats._rows import Grouping
    from gnomon.stats._statistics import Task
    from gnomon.stats._swaps import Swap

    # exchanges [draws, systems or 1, items or 1], 0.0 or 1.0 -> null differences [draws, pairs]
    Nulls = Callable[[NDArray[np.float64]], NDArray[np.float64]]

_ROOM = 1 << 18  # numbers in one array of all groups, draws, and some pairs
_VANISHING = 1e-12  # variance, as a share of the mean square, that is rounding


class Differences(NamedTuple):
    """Observed differences [pairs] of a set of cells, and how to draw null ones."""

    observed: NDArray[np.float64]
    nulls: Nulls


def differences(
    task: Task,
    human: NDArray[np.float64],
    metrics: NDArray[np.float64],
    joint: Joint,
    swap: Swap,
) -> Differences:
    """Observed and null differences (first less second) of the pairs that share these cells."""
    scores = standardised(metrics[joint.metrics], joint.cells)
    if task.is_pearson_of_cells:
        return _from_sums(task, human, scores, joint, swap)
    if task.level == "system":
        return _from_means(task, mean_of_known(human), scores, joint, swap)
    return _from_cells(task, np.where(joint.cells, human, np.nan), scores, joint)


def _per_unit(features: NDArray[np.float64], swap: Swap) -> NDArray[np.float64]:
    # [..., systems, items], summed over what is exchanged together
    axis = {"inputs": -2, "systems": -1}.get(swap)
    return features if axis is None else features.sum(axis=axis, keepdims=True)


def _grouped(cells: NDArray[np.float64], grouping: Grouping) -> NDArray[np.float64]:
    # [..., systems, items] -> [groups, members, ...]
    if grouping == "none":
        return cells.reshape(1, *cells.shape[:-2], -1).swapaxes(1, -1)
    front = {"item": (-1, -2), "system": (-2, -1)}[grouping]
    return np.ascontiguousarray(np.moveaxis(cells, front, (0, 1)))


def _from_sums(
    task: Task,
    human: NDArray[np.float64],
    scores: NDArray[np.float64],
    joint: Joint,
    swap: Swap,
) -> Differences:
    first, second = joint.places
    n, h = _human_groups(task, human, joint)
    features = np.stack([scores, scores**2, scores * h])  # [3, metrics, systems, items]
    if task.grouping == "none":
        features = _per_unit(features, swap)
    shape = features.shape[2:]
    units = _grouped(features.reshape(-1, *shape), task.grouping)  # [groups, units, 3 metrics]
    totals = units.sum(axis=1).reshape(len(units), 1, 3, -1)

    def nulls(swaps: NDArray[np.float64]) -> NDArray[np.float64]:
        drawn = np.broadcast_to(swaps, (len(swaps), *shape))
        moved = np.matmul(_grouped(drawn, task.grouping).swapaxes(1, 2), units)
        moved = moved.reshape(len(units), len(swaps), 3, -1)
        found = []
        for k in range(0, len(joint.pairs), step := max(1, _ROOM // moved[..., 0].size)):
            i, j = first[k : k + step], second[k : k + step]
            gain = moved[..., j] - moved[..., i]
            one = _mean_correlation(totals[..., i] + gain, n)
            found.append(one - _mean_correlation(totals[..., j] - gain, n))
        return np.concatenate(found, axis=1)

    values = _mean_correlation(totals, n)[0]
    return Differences(values[first] - values[second], nulls)


def _human_groups(
    task: Task, human: NDArray[np.float64], joint: Joint
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    # cells of each group, NaN where people's scores do not vary; people's scores, each group with
    # mean 0 and variance 1
    rows = arranged(np.where(joint.cells, human, np.nan), task.grouping)
    n, centred = members(rows).astype(np.float64), centred_rows(rows)
    n[~centred.any(axis=1)] = np.nan
    deviation = np.sqrt(np.einsum("ij,ij->i", centred, centred) / n)
    scaled = np.nan_to_num(centred / deviation[:, None])
    if task.grouping == "item":
        scaled = scaled.T
    return n, scaled.reshape(human.shape)


def _mean_correlation(sums: NDArray[np.float64], n: NDArray[np.float64]) -> NDArray[np.float64]:
    # sums of x, x^2 and x h [groups, draws, 3, pairs], h with mean 0 and variance 1
    n = n[:, None, None]
    square = sums[:, :, 1]
    variance = square - sums[:, :, 0] ** 2 / n
    variance = np.where(variance > _VANISHING * square, variance, np.nan)
    r = sums[:, :, 2] / np.sqrt(variance * n)
    if len(r) == 1:
        return np.asarray(r[0])
    return mean_of_known(r.reshape(len(r), -1).T).reshape(r.shape[1:])


def _from_means(
    task: Task,
    human: NDArray[np.float64],
    scores: NDArray[np.float64],
    joint: Joint,
    swap: Swap,
) -> Differences:
    first, second = joint.places
    size = joint.cells.sum(axis=1).astype(np.float64)
    size = np.where(size == 0, np.nan, size)
    totals = scores.sum(axis=2)  # [metrics, systems]
    # exchanges within one system do not reach another, so inputs stay apart by system
    units = _per_unit(scores, swap) if swap == "systems" else scores
    units = units.transpose(1, 2, 0)  # [systems, items or 1, metrics]

    def nulls(swaps: NDArray[np.float64]) -> NDArray[np.float64]:
        moved = np.matmul(swaps.swapaxes(0, 1), units)  # [systems, draws, metrics]
        found = np.empty((len(swaps), len(first)))
        for k, (i, j) in enumerate(zip(first, second, strict=True)):
            gain = (moved[:, :, j] - moved[:, :, i]).T
            one = task.of_system_scores(human, (totals[i] + gain) / size)
            found[:, k] = one - task.of_system_scores(human, (totals[j] - gain) / size)
        return found

    values = task.of_system_scores(human, totals / size)
    return Differences(values[first] - values[second], nulls)


def _from_cells(
    task: Task, human: NDArray[np.float64], scores: NDArray[np.float64], joint: Joint
) -> Differences:
    first, second = joint.places
    scores = np.where(joint.cells, scores, np.nan)

    def nulls(swaps: NDArray[np.float64]) -> NDArray[np.float64]:
        found = np.empty((len(swaps), len(first)))
        exchange = swaps > 0
        for k, (i, j) in enumerate(zip(first, second, strict=True)):
            one = task.of_draws(human, np.where(exchange, scores[j], scores[i]))
            found[:, k] = one - task.of_draws(human, np.where(exchange, scores[i], scores[j]))
        return found

    values = task.of_draws(human, scores)
    return Differences(values[first] - values[second], nulls)
