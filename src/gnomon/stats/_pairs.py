"""Pairs of members counted by how the two sides order them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.stats._rows import Rows, members

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LONG = 256  # members from which sorting beats looking at every pair


class PairCounts(NamedTuple):
    """Numbers of pairs, each int64 [groups]."""

    concordant: NDArray[np.int64]
    discordant: NDArray[np.int64]
    tied_x: NDArray[np.int64]
    tied_y: NDArray[np.int64]
    tied_both: NDArray[np.int64]

    @property
    def total(self) -> NDArray[np.int64]:
        """All pairs of each group."""
        return np.asarray(np.sum(self, axis=0))


def count(rows: Rows, epsilon: float = 0.0) -> PairCounts:
    """Pairs of every row; y ties two members whose scores differ by at most ``epsilon``."""
    if epsilon == 0 and rows.x.shape[1] >= _LONG:
        return _stacked([_count_sorted(x, y) for x, y in zip(*rows, strict=True)])
    from gnomon.stats import _kernels

    return PairCounts(*_kernels.count_pairs(rows.x, rows.y, epsilon).T)


def _stacked(counts: list[tuple[int, ...]]) -> PairCounts:
    return PairCounts(*np.array(counts, dtype=np.int64).reshape(-1, 5).T)


def _count_sorted(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[int, ...]:
    from gnomon.stats import _kernels

    present = ~np.isnan(x)
    x, y = x[present], y[present]
    order = np.lexsort((y, x))
    x, y = x[order], y[order]
    discordant = int(_kernels.inversions(y))
    tied_x, tied_both = _tied(x[1:] == x[:-1]), _tied((x[1:] == x[:-1]) & (y[1:] == y[:-1]))
    ascending = np.sort(y)
    tied_y = _tied(ascending[1:] == ascending[:-1])
    total = len(x) * (len(x) - 1) // 2
    concordant = total - discordant - tied_x - tied_y + tied_both
    return concordant, discordant, tied_x - tied_both, tied_y - tied_both, tied_both


def _tied(same_as_before: NDArray[np.bool_]) -> int:
    bounds = np.flatnonzero(~np.concatenate([[False], same_as_before, [False]]))
    lengths = np.diff(bounds)
    return int((lengths * (lengths - 1) // 2).sum())


def tau_b(counts: PairCounts) -> NDArray[np.float64]:
    """(C - D) / sqrt of the pairs that x does not tie and of those that y does not tie."""
    concordant, discordant, tied_x, tied_y, _ = counts
    untied = concordant + discordant
    roots = np.sqrt((untied + tied_y).astype(np.float64)) * np.sqrt(
        (untied + tied_x).astype(np.float64)
    )
    with np.errstate(invalid="ignore"):
        tau = (concordant - discordant) / np.where(roots == 0, np.nan, roots)
    return np.asarray(np.clip(tau, -1.0, 1.0))


def tau_c(counts: PairCounts, rows: Rows) -> NDArray[np.float64]:
    """2 (C - D) / (n^2 (m - 1)/m), m the smaller number of distinct values of a side."""
    n = members(rows.x).astype(np.float64)
    m = np.minimum(_distinct(rows.x), _distinct(rows.y)).astype(np.float64)
    varies = np.where(m >= 2, m, np.nan)
    difference = counts.concordant - counts.discordant
    return np.asarray(2 * difference / (n**2 * (varies - 1) / varies))


def _distinct(values: NDArray[np.float64]) -> NDArray[np.int64]:
    ascending = np.sort(values, axis=1)
    steps = (ascending[:, 1:] != ascending[:, :-1]) & ~np.isnan(ascending[:, 1:])
    return np.asarray(steps.sum(axis=1) + (members(values) > 0))


def accuracy(counts: PairCounts) -> NDArray[np.float64]:
    """Share of pairs that both sides order alike, ties included."""
    total = counts.total.astype(np.float64)
    return np.asarray((counts.concordant + counts.tied_both) / np.where(total == 0, np.nan, total))
