"""Weighted n-gram counts of comparisons, on arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from gnomon.difficulty._grams import ranked
from gnomon.metrics.sequences import ranges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.difficulty._gram_rows import GramRows
    from gnomon.difficulty._grams import GramTable

__all__ = ["Weigh", "count"]

#: comparisons counted at a time, which bounds memory
_BLOCK = 8192


class Weigh(Protocol):
    """Segments and rows of n-grams in the tables -> the weights of these n-grams."""

    def __call__(
        self, segments: NDArray[np.int64], rows: NDArray[np.int64], /
    ) -> NDArray[np.float64]: ...


class _Side(NamedTuple):
    """Distinct (comparison, n-gram) pairs, ascending: how often, and the weight of all of them."""

    keys: NDArray[np.int64]
    counts: NDArray[np.int64]
    weights: NDArray[np.float64]


def count(
    rows: GramRows,
    candidates: GramTable,
    references: GramTable,
    weigh: Weigh,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Counts of one order: of the candidates, and of the first reference of each comparison.

    An n-gram of a candidate is matched as often as it occurs, but at most as often as in the
    reference that has it most often. Where masks make different n-grams equal, each match weighs
    their mean.

    Args:
        rows: the comparisons.
        candidates: n-grams of all texts as candidates.
        references: n-grams of all texts as references; equal n-grams have equal keys on both
            sides.
        weigh: (segments, rows of n-grams in the tables) -> their weights.

    Returns:
        Two arrays float64 [P, 4]: matches, total, weighted matches, weight.
    """
    sides = np.zeros((len(rows), 4)), np.zeros((len(rows), 4))
    for low in range(0, len(rows), _BLOCK):
        block = slice(low, min(low + _BLOCK, len(rows)))
        for side, found in zip(
            sides, _count(rows.part(block), candidates, references, weigh), strict=True
        ):
            side[block] = found
    return sides


def _count(
    rows: GramRows,
    candidates: GramTable,
    references: GramTable,
    weigh: Weigh,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    width = 1 + max(int(candidates.key.max(initial=0)), int(references.key.max(initial=0)))
    every = np.arange(len(rows))
    own = _side(every, rows.segment, rows.candidate, candidates, width, weigh)
    number = np.diff(rows.offsets)
    owner = np.repeat(every, number)
    most = _most(owner, rows, references, width)
    first = _side(every, rows.segment, rows.references[rows.offsets[:-1]], references, width, weigh)
    return (
        _totals(own, *most, width, len(rows)),
        _totals(first, own.keys, own.counts, width, len(rows)),
    )


def _side(
    row: NDArray[np.int64],
    segment: NDArray[np.int64],
    text: NDArray[np.int64],
    table: GramTable,
    width: int,
    weigh: Weigh,
) -> _Side:
    sizes = table.sizes[text]
    at = ranges(table.offsets[text], sizes)
    keys = np.repeat(row, sizes) * width + table.key[at]
    distinct, back, counts = np.unique(keys, return_inverse=True, return_counts=True)
    weights = weigh(np.repeat(segment, sizes), at)
    total = np.bincount(back.reshape(-1), weights, len(distinct)).astype(np.float64)
    return _Side(distinct, counts, total)


def _most(
    owner: NDArray[np.int64], rows: GramRows, table: GramTable, width: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Distinct (comparison, n-gram) pairs, and the most often that one reference has each."""
    sizes = table.sizes[rows.references]
    gram = table.key[ranges(table.offsets[rows.references], sizes)]
    reference = np.repeat(np.arange(len(rows.references)), sizes)
    pairs, counts = np.unique(reference * width + gram, return_counts=True)
    keys, back = np.unique(owner[pairs // width] * width + pairs % width, return_inverse=True)
    most = np.zeros(len(keys), dtype=np.int64)
    np.maximum.at(most, back.reshape(-1), counts)
    return keys, most


def _totals(
    side: _Side,
    keys: NDArray[np.int64],
    most: NDArray[np.int64],
    width: int,
    rows: int,
) -> NDArray[np.float64]:
    """Matches, total, weighted matches and weight of every comparison, float64 [rows, 4]."""
    place = ranked(keys, side.keys)
    there = np.zeros(len(side.keys), dtype=np.int64)
    there[place >= 0] = most[place[place >= 0]]
    matched = np.minimum(side.counts, there)
    row = side.keys // width
    columns = (matched, side.counts, matched * side.weights / side.counts, side.weights)
    return np.stack([np.bincount(row, column, rows) for column in columns], axis=-1)
