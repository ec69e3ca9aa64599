"""Matches of n-grams between texts, masked or plain, by the compiled loops or the plain ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.metrics import _compiled
from gnomon.metrics._ngrams import Sides, clipped_matches
from gnomon.metrics.masking import Action

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from numpy.typing import NDArray

    from gnomon.metrics._sequences import Layout
    from gnomon.metrics._token_masks import Masks, TokenMasks

__all__ = ["Counted", "Pairing", "Recount", "counted"]


#: masked comparisons that the plain loops make while one text is split and compared
_MASKED = 16


class Pairing(NamedTuple):
    """Candidates, each against the references of its group.

    Attributes:
        candidates: int64 [P], texts.
        groups: int64 [P], ascending from 0.
        references: int64 [R], texts.
        reference_groups: int64 [R], ascending from 0.
    """

    candidates: NDArray[np.int64]
    groups: NDArray[np.int64]
    references: NDArray[np.int64]
    reference_groups: NDArray[np.int64]


class Counted(NamedTuple):
    """What n-gram metrics need of a pairing.

    Attributes:
        matches: integers [P, orders], clipped matches.
        candidates: int64 [P], lengths.
        references: int64 [R], lengths.
    """

    matches: NDArray[np.int64] | NDArray[np.int32]
    candidates: NDArray[np.int64]
    references: NDArray[np.int64]


def counted(layout: Layout, pairing: Pairing, orders: int) -> Counted:
    """Count the n-grams of unmasked texts."""
    loops = _compiled.kernels(len(pairing.candidates))
    if loops is None:
        return _plain(layout, pairing, orders, None, None)
    offsets = layout.base.offsets
    low, high = offsets[:-1], offsets[1:]
    own, theirs = pairing.candidates, pairing.references
    bounds = low[own], high[own], low[theirs], high[theirs]
    matches = loops.clipped_matches(
        layout.base.ids,
        layout.width,
        *bounds[:2],
        pairing.groups,
        *bounds[2:],
        pairing.reference_groups,
        orders,
    )
    return Counted(matches, bounds[1] - bounds[0], bounds[3] - bounds[2])


class Recount:
    """Counts the n-grams of the variants of a plan.

    Attributes:
        loops: the compiled loops, if they are in use.

    Args:
        layout: what n-grams are made of.
        masks: the plan's masks of the layout's tokens.
        lengths: how many mask ids a mask is of each group; one by default.
        work: comparisons that there are to make, each variant apart, about.
    """

    def __init__(
        self, layout: Layout, masks: TokenMasks, lengths: Sequence[int] | None, work: int
    ) -> None:
        self._layout = layout
        self._lengths = lengths
        self.loops = _compiled.kernels(work // _MASKED) if layout.gapless else None
        self._offsets = masks.tokens.offsets
        self._fates = np.zeros(len(masks.tokens.ids) * (self.loops is not None), dtype=np.int8)
        self._runs = np.ones(len(self._fates), dtype=np.int32)

    def __call__(
        self, pairing: Pairing, orders: int, masks: Masks, *, both: bool
    ) -> tuple[Counted, ...]:
        """The counts of a variant; with ``both`` also those if its shared masks were private."""
        if self.loops is not None:
            return self._compiled(self.loops, pairing, orders, masks)[: 1 + both]
        editions = (masks, masks.private()) if both else (masks,)
        return tuple(
            _plain(self._layout, pairing, orders, edition, self._lengths) for edition in editions
        )

    def _compiled(
        self, loops: ModuleType, pairing: Pairing, orders: int, masks: Masks
    ) -> tuple[Counted, Counted]:
        self._fates[masks.token] = np.where(masks.first, masks.action, loops.LEFT_OUT)
        if self._lengths is not None:
            self._runs[masks.token] = np.asarray(self._lengths, dtype=np.int32)[masks.group]
        layout = self._layout
        matches, unmasked, *lengths = loops.masked_matches(
            layout.base.ids,
            layout.width,
            self._offsets,
            layout.start,
            layout.end,
            layout.words and self._lengths is None,
            self._fates,
            self._runs,
            *pairing,
            orders,
        )
        self._fates[masks.token] = Action.KEEP
        shared, private = Counted(matches, *lengths), Counted(unmasked, *lengths)
        return shared, private


def _plain(
    layout: Layout,
    pairing: Pairing,
    orders: int,
    masks: Masks | None,
    lengths: Sequence[int] | None,
) -> Counted:
    sides = Sides(
        layout.of(pairing.candidates, masks, "candidate", lengths),
        pairing.groups,
        layout.of(pairing.references, masks, "reference", lengths),
        pairing.reference_groups,
    )
    matches = clipped_matches(sides, orders)
    return Counted(matches, sides.candidates.lengths, sides.references.lengths)
