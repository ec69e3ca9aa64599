"""Plans of what to mask: one mechanism for oracle, anti-oracle, hybrids and random groups."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import numpy as np

from gnomon.core.options import Help, Seed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gnomon.core.spans import SpanTable

__all__ = [
    "MASKS_USED",
    "Action",
    "Granularity",
    "MaskKind",
    "MaskPlan",
    "MaskSeed",
    "Overlap",
]

#: what stands for a feature's words
MaskKind: TypeAlias = Literal["auto", "tokens", "spans", "pooled", "in-place", "substitute"]
#: how masks lie on metric tokens; see :class:`MaskPlan`
Overlap: TypeAlias = Literal["any", "majority", "inside"]
Granularity: TypeAlias = Literal["token", "span"]


MaskSeed: TypeAlias = Annotated[
    Seed, Help('seed of the words that ``masking="substitute"`` draws.')
]


#: masks as tables name them: on the metric's own tokens, words in the place of tokens, vectors
#: pooled with words exchanged, words in the place of spans, other words in the texts
MASKS_USED = ("tokens", "mask words", "pooled", "in-place", "substitute")


class Action(IntEnum):
    """Action of a variant on a group of spans; where spans of two groups meet, the larger wins."""

    KEEP = 0
    #: the same mask in candidate and references: they match (oracle)
    SHARED = 1
    #: a mask per side: nothing masked matches across sides (anti-oracle)
    PRIVATE = 2


@dataclass(frozen=True)
class MaskPlan:
    """Which spans of which texts are masked, and how, in each of V variants.

    The groups of ``spans`` (its features) are what a variant treats alike: a linguistic feature,
    the words of a feature with some initial letters, a random share of the vocabulary.

    Attributes:
        spans: spans over ``Batch.texts``, by text index; groups are its features.
        actions: int8 [V, groups], an :class:`Action` for each variant and group.
        overlap: when a metric token counts as masked: it shares a character with a span ("any";
            of a word under chrF those characters alone), more than half of its characters lie in
            spans ("majority"), all do ("inside").
        granularity: one mask per masked token, or one per span.
        lengths: characters of a masked token of each group, for metrics on characters.
    """

    spans: SpanTable
    actions: NDArray[np.int8]
    overlap: Overlap = "any"
    granularity: Granularity = "token"
    lengths: tuple[int, ...] | None = None

    @classmethod
    def oracles(
        cls,
        spans: SpanTable,
        *,
        overlap: Overlap = "any",
        granularity: Granularity = "token",
    ) -> MaskPlan:
        """Two variants per feature: its oracle (variant 2 f) and its anti-oracle (2 f + 1)."""
        groups = len(spans.features)
        actions = np.zeros((2 * groups, groups), dtype=np.int8)
        each = np.arange(groups)
        actions[2 * each, each] = Action.SHARED
        actions[2 * each + 1, each] = Action.PRIVATE
        return cls(spans, actions, overlap, granularity)

    @property
    def variants(self) -> int:
        """Number of variants, V."""
        return len(self.actions)

    def keep(self, variants: Sequence[int]) -> MaskPlan:
        """This plan with some of its variants, and only the groups that these mask."""
        if self.actions.any(axis=0).all() and list(variants) == list(range(self.variants)):
            return self
        actions = self.actions[list(variants)]
        groups = np.flatnonzero(actions.any(axis=0))
        lengths = None if self.lengths is None else tuple(self.lengths[g] for g in groups)
        names = [self.spans.features[g] for g in groups]
        return replace(
            self, spans=self.spans.select(names), actions=actions[:, groups], lengths=lengths
        )

    def fill_lengths(self, lengths: Sequence[int] | None) -> MaskPlan:
        """This plan with the lengths of masked tokens filled in."""
        return replace(self, lengths=None if lengths is None else tuple(lengths))
