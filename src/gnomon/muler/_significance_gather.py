"""Uncertainty of a whole run: intervals as features come by, comparisons at the end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from gnomon.muler._significance import frame, resampled
from gnomon.muler._significance_pairs import Differences, compared
from gnomon.muler._slices import drawn_slices
from gnomon.muler._tables import VARIANTS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.batch import Batch
    from gnomon.muler._figures import FeatureScores, Figures
    from gnomon.muler._presence import Presence
    from gnomon.muler._significance import Bootstrap, Ends, Frame, Resampled
    from gnomon.muler._tables import Variant
    from gnomon.slices import Slice

__all__ = ["Uncertainty", "uncertainty"]

_FIGURES = {"ratio": "muler", "segment-clipped": "clipped"}


@dataclass
class Uncertainty:
    """Resamples every feature of every metric over one draw of the segments.

    Attributes:
        options: how.
        counts: uint8 [N, B], how often each segment was drawn.
        variants: the variants whose differences are wanted.
        compared_in: names of the slices in which systems are compared; ``None``: all segments.
        differences: the comparisons gathered so far.
        sparse: intervals that rest on few resamples so far.
    """

    options: Bootstrap
    counts: NDArray[np.uint8]
    variants: Sequence[Variant]
    compared_in: Collection[str | None]
    differences: Differences
    sparse: int = 0
    _frames: dict[tuple[str, str | None], Frame] = field(default_factory=dict)

    def ends(
        self,
        metric: str,
        part: Slice,
        scores: FeatureScores,
        present: Presence,
        found: Sequence[Figures],
    ) -> tuple[Mapping[str, Ends], ...]:
        """The ends of the intervals of one feature, per system; its comparisons are noted.

        Args:
            metric: name of the metric.
            part: the slice.
            scores: sentence scores of the feature.
            present: where it occurs.
            found: its figures, one per system.
        """
        key = (metric, part.name)
        if key not in self._frames:
            level = self.options.confidence
            self._frames[key] = frame(scores.base, present, part.members, self.counts, level)
        drawn = resampled(scores, present, self._frames[key])
        self.sparse += drawn.sparse
        if part.name in self.compared_in and len(found) > 1:
            self._compare(metric, part.name, scores.feature, drawn, found)
        return drawn.ends

    def _compare(
        self,
        metric: str,
        part: str | None,
        feature: str,
        drawn: Resampled,
        found: Sequence[Figures],
    ) -> None:
        sizes = np.array([one.segments for one in found])
        for variant in (v for v in VARIANTS if v in self.variants):
            name = _FIGURES[variant]
            values = (getattr(one, name) for one in found)
            estimates = np.array([np.nan if value is None else value for value in values])
            pairs = compared(estimates, drawn.samples[name], sizes, self.options.confidence)
            self.differences.add(metric, variant, part, feature, pairs)


def uncertainty(
    options: Bootstrap, batch: Batch, parts: Sequence[Slice], variants: Sequence[Variant]
) -> Uncertainty | None:
    """Prepare one draw of the segments; ``None`` where nothing is to be drawn.

    Args:
        options: how.
        batch: the systems and the number of segments.
        parts: the slices; systems are compared in all of them, or, where they are too many to be
            looked at, over all segments alone.
        variants: the variants whose differences are wanted.
    """
    counts = options.draw(batch.shape[1])
    if counts is None:
        return None
    compared_in = parts if len(drawn_slices(parts)) == len(parts) else parts[:1]
    return Uncertainty(
        options,
        counts,
        variants,
        {part.name for part in compared_in},
        Differences(batch.systems, options.confidence),
    )
