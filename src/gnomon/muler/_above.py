"""Segments that score above their oracle, over all systems (Karidi et al., table 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from gnomon.batch import Batch
    from gnomon.findings import Cell
    from gnomon.muler._figures import FeatureScores
    from gnomon.muler._presence import Presence

__all__ = ["above_oracle"]


def above_oracle(
    scores: FeatureScores, present: Presence, batch: Batch, *, most: int
) -> list[dict[str, Cell]]:
    """Records of the segments with the largest excess of base over oracle, oriented.

    Args:
        scores: sentence scores of the feature.
        present: where the feature occurs.
        batch: the texts, for names of systems and numbers of segments.
        most: how many; the first system and segment among equal ones.

    Returns:
        Records ``feature, system, segment, base, oracle, anti_oracle``, largest excess first.
    """
    excess = np.where(present.both, scores.excess(), -np.inf)
    order = np.argsort(-excess, axis=None, kind="stable")[:most]
    systems, segments = np.unravel_index(order, excess.shape)
    return [
        {
            "feature": scores.feature,
            "system": batch.systems[system],
            "segment": int(batch.segments[segment]) + 1,
            "base": float(scores.base[system, segment]),
            "oracle": float(scores.oracle[system, segment]),
            "anti_oracle": float(scores.anti_oracle[system, segment]),
        }
        for system, segment in zip(systems.tolist(), segments.tolist(), strict=True)
        if excess[system, segment] > 0
    ]
