"""Shared parts of tests of pairs of metrics: common cells, random exchanges, tables of verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from gnomon.core.errors import UnknownNameError
from gnomon.stats.p_values import decides, p_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gnomon.stats.p_values import Alternative, EarlyStopping, RandomDraws

__all__ = [
    "BLOCK",
    "Joint",
    "PairTest",
    "Swap",
    "blocks",
    "check_swap",
    "decided",
    "exchanged",
    "joint_cells",
    "list_pairs",
    "standardised",
    "table_of_pairs",
]


# Cells on which pairs of metrics are compared: those that people and both metrics have scored.


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
        number = {metric: k for k, metric in enumerate(self.metrics)}
        return [number[i] for i, _ in self.pairs], [number[j] for _, j in self.pairs]


def joint_cells(present: NDArray[np.bool_], pairs: Sequence[tuple[int, int]]) -> list[Joint]:
    """Pairs of metrics gathered by the cells they share; ``present`` is [metrics, systems, items].

    Metrics mostly lack the same cells or none, so that there are few sets. Pairs without two common
    cells are left out.
    """
    patterns, pattern = _patterns(present)
    joints: dict[bytes, Joint] = {}
    shared: dict[tuple[int, int], Joint] = {}
    for i, j in pairs:
        key = (pattern[i], pattern[j])
        if key not in shared:
            cells = patterns[key[0]] & patterns[key[1]]
            shared[key] = joints.setdefault(np.packbits(cells).tobytes(), Joint(cells, []))
        shared[key].pairs.append((i, j))
    return [joint for joint in joints.values() if joint.cells.sum() >= 2]


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


def list_pairs(metrics: int) -> list[tuple[int, int]]:
    """Unordered pairs of metrics, the smaller number first."""
    return [(i, j) for i in range(metrics) for j in range(i + 1, metrics)]


# Random exchanges of two metrics' scores, drawn in blocks that depend on the seed alone.


Swap = Literal["cells", "rows+cols", "inputs", "systems"]
SWAPS: tuple[Swap, ...] = ("cells", "rows+cols", "inputs", "systems")
BLOCK = 64  # draws; a part of what a seed means


def check_swap(swap: Swap) -> None:
    """Refuse an unknown way to exchange scores."""
    if swap not in SWAPS:
        raise UnknownNameError("way to exchange scores", str(swap), SWAPS)


def blocks(count: int) -> list[int]:
    """Numbers of the blocks that ``count`` draws need."""
    return list(range(-(-count // BLOCK)))


def exchanged(
    swap: Swap, shape: tuple[int, int], seed: tuple[int, ...], block: int
) -> NDArray[np.uint8]:
    """1 where scores are exchanged, [draws, systems or 1, items or 1], for one block of draws."""
    generator = np.random.default_rng([*seed, block])
    systems, items = shape
    if swap == "inputs":
        return _coins(generator, items)[:, None, :]
    if swap == "systems":
        return _coins(generator, systems)[:, :, None]
    if swap == "rows+cols":
        rows, columns = _coins(generator, systems), _coins(generator, items)
        return rows[:, :, None] ^ columns[:, None, :]
    return _coins(generator, systems * items).reshape(BLOCK, systems, items)


def _coins(generator: np.random.Generator, n: int) -> NDArray[np.uint8]:
    octets = generator.integers(0, 256, size=(BLOCK, -(-n // 8)), dtype=np.uint8)
    return np.unpackbits(octets, axis=1, count=n)


# One verdict for every ordered pair of metrics.


class PairTest(NamedTuple):
    """A test of every ordered pair of metrics; arrays are NaN where undefined.

    - ``statistics``: the statistic of each metric on all its cells [metrics].
    - ``differences``: row metric less column metric, on the cells both have [metrics, metrics].
    - ``p``: p-values that the row metric is better than the column metric [metrics, metrics].
    - ``draws``: draws behind each p-value [metrics, metrics].
    """

    statistics: NDArray[np.float64]
    differences: NDArray[np.float64]
    p: NDArray[np.float64]
    draws: NDArray[np.int64]


def table_of_pairs(
    statistics: NDArray[np.float64],
    found: dict[tuple[int, int], tuple[float, NDArray[np.float64]]],
    draws: RandomDraws,
) -> PairTest:
    """The results of pairs in a table, from observed and null differences."""
    m = len(statistics)
    differences, p = np.full((m, m), np.nan), np.full((m, m), np.nan)
    np.fill_diagonal(differences, np.where(np.isnan(statistics), np.nan, 0.0))
    made = np.zeros((m, m), dtype=np.int64)
    for (i, j), (observed, null) in found.items():
        differences[i, j], differences[j, i] = observed, -observed
        directions: dict[Alternative, tuple[int, int]] = {"greater": (i, j), "less": (j, i)}
        for said, cell in directions.items():
            p[cell], made[cell] = p_value(
                null,
                observed,
                alternative=said,
                plus_one=draws.plus_one,
                early_stopping=draws.early_stopping,
            )
    return PairTest(statistics, differences, p, made)


def decided(
    null: NDArray[np.float64], observed: float, early_stopping: EarlyStopping | None
) -> bool:
    """True if more draws would change neither direction's p-value."""
    if np.isnan(observed):
        return True
    return all(decides(null, observed, said, early_stopping) for said in ("greater", "less"))
