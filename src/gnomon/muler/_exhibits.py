"""The segments behind the figures: where a feature costs most, and where its oracle costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from gnomon.findings import Exhibit
from gnomon.muler._segment_texts import SegmentTexts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from gnomon.batch import Batch
    from gnomon.findings import Cell
    from gnomon.muler._figures import FeatureScores
    from gnomon.muler._presence import Presence
    from gnomon.spans import SpanTable
    from gnomon.testset import TestSet

__all__ = ["Showcase"]

_NEGATIVES = 20  # listed per feature and system; how many are left out is said


@dataclass(frozen=True)
class Showcase:
    """Makes exhibits of one test set under one metric.

    Attributes:
        testset: for documents, domains and the names of references.
        batch: its texts.
        spans: what is highlighted.
        metric: name of the metric.
        count: segments shown per feature and per system.
    """

    testset: TestSet
    batch: Batch
    spans: SpanTable
    metric: str
    count: int = 3

    def costliest(self, scores: FeatureScores, present: Presence) -> tuple[Exhibit, ...]:
        """Segments where the feature costs most: on average over systems, and for each system."""
        cost = np.where(present.both, scores.gain(), -np.inf)
        cost[~(cost > 0)] = -np.inf
        total = np.where(np.isfinite(cost), cost, 0.0).mean(axis=0)
        leaders: dict[int, list[int]] = {s: [] for s in _largest(total, self.count) if total[s] > 0}
        for system, row in enumerate(cost):
            for segment in _largest(row, self.count):
                if np.isfinite(row[segment]):
                    leaders.setdefault(segment, []).append(system)
        order = sorted(leaders, key=lambda segment: (-total[segment], segment))
        return tuple(
            self._exhibit(scores, segment, leaders[segment], float(total[segment]))
            for segment in order
        )

    def negatives(
        self, scores: FeatureScores, present: Presence
    ) -> tuple[list[dict[str, Cell]], int]:
        """Segments that score above their oracle, the largest excess of each system first.

        Returns:
            Their records, and how many are left out.
        """
        excess = np.where(present.both, scores.excess(), -np.inf)
        found = [
            self._negative(scores, system, segment)
            for system, row in enumerate(excess)
            for segment in _largest(row, _NEGATIVES)
            if row[segment] > 0
        ]
        return found, int((excess > 0).sum()) - len(found)

    def _negative(self, scores: FeatureScores, system: int, segment: int) -> dict[str, Cell]:
        return {
            "metric": self.metric,
            "feature": scores.feature,
            "system": self.batch.systems[system],
            "segment": int(self.batch.segments[segment]) + 1,
            "base": float(scores.base[system, segment]),
            "oracle": float(scores.oracle[system, segment]),
            "anti_oracle": float(scores.anti_oracle[system, segment]),
        }

    def _exhibit(
        self, scores: FeatureScores, segment: int, leaders: list[int], weight: float
    ) -> Exhibit:
        texts = SegmentTexts(self.testset, self.batch, self.spans, scores.feature)
        outputs = (
            texts.candidate(segment, system, _values(scores, system, segment))
            for system in range(len(self.batch.systems))
        )
        return Exhibit(
            group=scores.feature,
            kind=f"costs most under {self.metric}",
            segment=segment + 1,
            texts=(*texts.given(segment), *outputs),
            systems=tuple(self.batch.systems[system] for system in leaders),
            weight=weight,
            caption=f"mean loss over systems {weight:.2f}",
            **texts.place(segment),
        )


def _values(scores: FeatureScores, system: int, segment: int) -> Mapping[str, float | None]:
    named = {"base": scores.base, "max": scores.oracle, "min": scores.anti_oracle}
    return {name: float(values[system, segment]) for name, values in named.items()}


def _largest(values: NDArray[np.float64], count: int) -> list[int]:
    """Positions of the largest values, ties by position."""
    order = np.argsort(-values, kind="stable")[:count]
    return cast("list[int]", order.tolist())
