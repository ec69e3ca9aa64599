"""Matches of n-grams between many texts at once, and the power of metrics made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.native import ngrams as loops

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gnomon.metrics.sequences import NgramLayout, PlacedMasks, TokenMasks

__all__ = ["NgramCounts"]


@dataclass(frozen=True, eq=False)
class NgramCounts:
    """Counts of n-grams of the orders of a metric; matches need not be whole numbers."""

    # [..., 2], tokens of the candidate and of the reference that counts
    lengths: NDArray[np.float64]
    matches: NDArray[np.float64]  # [..., n], matched n-grams of the candidate
    candidate: NDArray[np.float64]  # [..., n], its n-grams
    recalled: NDArray[np.float64]  # [..., n], matched n-grams of the reference
    reference: NDArray[np.float64]  # [..., n], its n-grams


# Matches of n-grams between texts, plain and masked.


def totals(lengths: NDArray[np.int64], orders: int) -> NDArray[np.int64]:
    """Number of n-grams of length 1, 2, ... in sequences of these lengths, int64 [..., orders].

    >>> totals(np.array([3, 0]), 4).tolist()
    [[3, 2, 1, 0], [0, 0, 0, 0]]
    """
    counts: NDArray[np.int64] = np.maximum(lengths[..., None] - np.arange(orders), 0)
    return counts


class TextPairs(NamedTuple):
    """Candidates, each against the references of its group."""

    candidates: NDArray[np.int64]  # [P], texts
    groups: NDArray[np.int64]  # [P], ascending from 0
    references: NDArray[np.int64]  # [R], texts
    reference_groups: NDArray[np.int64]  # [R], ascending from 0


class Counted(NamedTuple):
    """Counts of a pairing that n-gram metrics need."""

    matches: NDArray[np.int64] | NDArray[np.int32]  # integers [P, orders], clipped matches
    candidates: NDArray[np.int64]  # [P], lengths
    references: NDArray[np.int64]  # [R], lengths


class NgramCounter:
    """Counts n-grams, as they are or under the masks of the variants of a plan."""

    def __init__(
        self,
        layout: NgramLayout,
        orders: int,
        masks: TokenMasks | None = None,
        lengths: Sequence[int] | None = None,
    ) -> None:
        self._layout = layout
        self._orders = orders
        self._lengths = None if lengths is None else np.asarray(lengths, dtype=np.int32)
        self._masked = None if masks is None else layout.masked_rows(masks)
        self._masks = None if layout.parts else masks  # of whole tokens

    def __call__(
        self, pairing: TextPairs, masks: PlacedMasks | None, *, both: bool
    ) -> tuple[Counted, ...]:
        """The counts of a variant; with ``both`` also those if its shared masks were private."""
        if masks is None or self._masked is None:
            lengths = self._layout.base.lengths
            sizes = lengths[pairing.candidates], lengths[pairing.references]
            return (Counted(self._layout.rows.matches(*pairing, self._orders), *sizes),)
        if self._masks is not None:
            masks = self._masks.join_parts(masks)
        actions = np.where(masks.first, masks.action, loops.LEFT_OUT).astype(np.int8)
        runs = None if self._lengths is None else self._lengths[masks.group]
        matches, unmasked, *counts = self._masked.matches(
            masks.token, actions, runs, *pairing, self._orders
        )
        return (Counted(matches, *counts), Counted(unmasked, *counts))[: 1 + both]
