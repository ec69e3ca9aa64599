"""The places of all references: one for each token of each reference of each segment."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Places", "Types"]


@dataclass(frozen=True, eq=False)
class Places:
    """The tokens of G references, a reference of two segments being two.

    Attributes:
        segment: int64 [G], number of the segment in its test set, from 0.
        text: the text of each reference.
        offsets: int64 [G + 1]; the tokens of reference g are places ``offsets[g]:offsets[g + 1]``.
        type: int32 [places], the token's number in the model's vocabulary.
        start: int32 [places], first code point in the text.
        end: int32 [places], code point after the last one.
        special: bool [places], tokens that stand for no text.
    """

    segment: NDArray[np.int64]
    text: tuple[str, ...]
    offsets: NDArray[np.int64]
    type: NDArray[np.int32]
    start: NDArray[np.int32]
    end: NDArray[np.int32]
    special: NDArray[np.bool_]

    @cached_property
    def number(self) -> dict[tuple[int, str], int]:
        """(segment, text) -> number of the reference."""
        return {key: g for g, key in enumerate(zip(self.segment.tolist(), self.text, strict=True))}

    @cached_property
    def group(self) -> NDArray[np.int64]:
        """The reference of each place, int64 [places]."""
        return np.repeat(np.arange(len(self.segment)), np.diff(self.offsets))

    @cached_property
    def plain(self) -> NDArray[np.int64]:
        """The places that are not special, int64, ascending."""
        return np.flatnonzero(~self.special)

    @cached_property
    def types(self) -> Types:
        """The distinct types of every reference."""
        keys = self.group[self.plain] << _BITS | self.type[self.plain]
        known, own = np.unique(keys, return_inverse=True)
        return Types(known, own.reshape(-1))


@dataclass(frozen=True, eq=False)
class Types:
    """Distinct (reference, type) pairs.

    Attributes:
        keys: int64, ascending.
        of: int64 [plain places], position of each plain place's pair in ``keys``.
    """

    keys: NDArray[np.int64]
    of: NDArray[np.int64]

    def find(self, group: NDArray[np.int64], type_: NDArray[np.int32]) -> NDArray[np.int64]:
        """Position in ``keys`` of some pairs, int64; -1 where the reference lacks the type."""
        wanted = group << _BITS | type_
        place = np.minimum(np.searchsorted(self.keys, wanted), max(len(self.keys) - 1, 0))
        if not len(self.keys):
            return np.full(len(wanted), -1, dtype=np.int64)
        return np.where(self.keys[place] == wanted, place, -1)

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How often each pair occurs."""
        return np.bincount(self.of, minlength=len(self.keys))

    def means(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Mean of the values [plain places] of each pair."""
        totals = np.bincount(self.of, values, minlength=len(self.keys))
        means: NDArray[np.float64] = totals / np.maximum(self.counts, 1)
        return means

    def running(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The published code's average: the first value, then (so far + next) / 2 in order.

        Of n values the first counts 1 / 2^(n - 1), the j-th 1 / 2^(n - j + 1).
        """
        order = np.argsort(self.of, kind="stable")
        starts = np.cumsum(self.counts) - self.counts
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order)) - np.repeat(starts, self.counts)
        behind = self.counts[self.of] - rank  # 1 for the last
        exponent = np.where(rank == 0, self.counts[self.of] - 1, behind)
        weighted: NDArray[np.float64] = values * 0.5**exponent
        return np.bincount(self.of, weighted, len(self.keys)).astype(np.float64)


_BITS = 32
