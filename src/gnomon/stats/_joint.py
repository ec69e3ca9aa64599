"""Cells on which pairs of metrics are compared: those that people and both metrics have scored."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class Joint(NamedTuple):
    """A set of cells, and the pairs of metrics that have just these cells in common."""

    cells: NDArray[np.bool_]
    pairs: list[tuple[int, int]]

    @property
    def metrics(self) -> list[int]:
        """The metrics of the pairs, in order."""
        return sorted({metric for pair in self.pairs for metric in pair})

    @property
    def places(self) -> tuple[list[int], list[int]]:
        """Where the first and the second of every pair stand among ``metrics``."""
        place = {metric: k for k, metric in enumerate(self.metrics)}
        return [place[i] for i, _ in self.pairs], [place[j] for _, j in self.pairs]


def joint_cells(present: NDArray[np.bool_], pairs: Sequence[tuple[int, int]]) -> list[Joint]:
    """Pairs of metrics gathered by the cells they share; ``present`` is [metrics, systems, items].

    Metrics mostly lack the same cells or none, so that there are few sets. Pairs without two common
    cells are left out.
    """
    patterns, pattern = _patterns(present)
    found: dict[bytes, Joint] = {}
    shared: dict[tuple[int, int], Joint] = {}
    for i, j in pairs:
        key = (pattern[i], pattern[j])
        if key not in shared:
            cells = patterns[key[0]] & patterns[key[1]]
            shared[key] = found.setdefault(np.packbits(cells).tobytes(), Joint(cells, []))
        shared[key].pairs.append((i, j))
    return [joint for joint in found.values() if joint.cells.sum() >= 2]


def _patterns(present: NDArray[np.bool_]) -> tuple[list[NDArray[np.bool_]], list[int]]:
    numbers: dict[bytes, int] = {}
    keys = [np.packbits(cells).tobytes() for cells in present]
    pattern = [numbers.setdefault(key, len(numbers)) for key in keys]
    return [present[pattern.index(k)] for k in range(len(numbers))], pattern


def standardised(scores: NDArray[np.float64], cells: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Each metric [metrics, systems, items] less its mean over cells, by its deviation there.

    Zero outside the cells, and everywhere where a metric is constant.
    """
    chosen = scores[:, cells]
    if not chosen.shape[1]:
        return np.zeros(scores.shape)
    centred = chosen - chosen.mean(axis=1, keepdims=True)
    size = np.abs(chosen).max(axis=1, keepdims=True)
    deviation = centred.std(axis=1, keepdims=True)
    result = np.zeros(scores.shape)
    result[:, cells] = np.where(deviation > 1e-13 * size, centred, 0.0) / np.where(
        deviation > 1e-13 * size, deviation, 1.0
    )
    return result


def all_pairs(metrics: int) -> list[tuple[int, int]]:
    """Unordered pairs of metrics, the smaller number first."""
    return [(i, j) for i in range(metrics) for j in range(i + 1, metrics)]
