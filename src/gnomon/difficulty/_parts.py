"""Precision, recall and F: of segments with several references, and of corpora."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.metrics.matching import harmonic_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.difficulty._pools import Pool
    from gnomon.metrics.matching import Matches

__all__ = ["best_of", "corpus_parts", "part_statistics", "pool_notices"]


def best_of(matches: Matches, parts: NDArray[np.float64]) -> NDArray[np.float64]:
    """The parts of each cell's comparison with the best F, the first among equals.

    Args:
        matches: of the comparisons.
        parts: float64 [comparisons, 3], precision, recall and F.

    Returns:
        float64 [K, N, 3], NaN where nothing was compared.
    """
    systems, segments = matches.shape
    found = np.full((systems * segments, 3), np.nan)
    order = np.lexsort((-parts[:, 2], matches.cell))
    cells, first = np.unique(matches.cell[order], return_index=True)
    found[cells] = parts[order[first]]
    return found.reshape(systems, segments, 3)


def part_statistics(parts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Precision, recall and 1, zeros where undefined: float64 [K, N, 3]."""
    defined = ~np.isnan(parts[..., 0])
    both = np.where(defined[..., None], parts[..., :2], 0.0)
    return np.concatenate([both, defined[..., None].astype(np.float64)], axis=-1)


def corpus_parts(statistics: NDArray[np.float64], beta: float) -> NDArray[np.float64]:
    """Mean precision, mean recall and the F of these means, float64 [..., 3].

    Args:
        statistics: float64 [..., 3], summed.
        beta: weight of recall.
    """
    count = statistics[..., 2:]
    means = np.full(statistics[..., :2].shape, np.nan)
    np.divide(statistics[..., :2], count, out=means, where=count > 0)
    f = harmonic_mean(means[..., 0], means[..., 1], beta)
    return np.concatenate([means, f[..., None]], axis=-1)


def pool_notices(spec: str, pool: Pool | None) -> tuple[str, ...]:
    """What a reader should know of a pool."""
    if pool is None:
        return (f"{spec}: difficulties were read from a file, not measured on these systems",)
    notices = []
    if len(pool.systems) == 1:
        notices.append(
            f"{spec}: the pool is one system, {pool.systems[0]!r}: its own misses are the only"
            " difficulties"
        )
    if pool.how.startswith("top"):
        notices.append(f"{spec}: the pool is the {pool.how}: {', '.join(pool.systems)}")
    if pool.human is not None:
        notices.append(
            f"{spec}: human scores ({pool.human}) chose the pool; these scores cannot be judged by"
            " them"
        )
    return tuple(notices)
