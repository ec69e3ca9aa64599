"""Segments where two systems score alike and differ on a feature (Karidi et al., table 1)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.findings import Exhibit
from gnomon.muler.exhibits import SegmentTexts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.spans import SpanTable
    from gnomon.core.testset import TestSet
    from gnomon.muler.figures import FeatureScores, Presence

__all__ = ["contrasts", "exhibit", "segment_muler"]


_ROUNDING = 1e-12
_APART = 0.5  # MuLER of the two on the segment, at least


@dataclass(frozen=True)
class Contrast:
    """One segment, two systems."""

    segment: int
    better: int
    worse: int
    muler: tuple[float, float]
    scores: tuple[float, float]

    @property
    def difference(self) -> float:
        """Difference of their MuLER."""
        return self.muler[1] - self.muler[0]


def segment_muler(scores: FeatureScores, present: Presence) -> NDArray[np.float64]:
    """(oracle - base)/(oracle - anti-oracle) of every segment, float64 [K, N].

    NaN outside I, where the oracles do not differ, and where the base does not lie between them
    (there the metric does not rank masked and unmasked texts in order).
    """
    spread = scores.sign * (scores.oracle - scores.anti_oracle)
    noise = _ROUNDING * np.maximum(np.abs(scores.oracle), np.abs(scores.anti_oracle))
    gain = scores.gain()
    fair = present.both & (spread > noise) & (gain >= -noise) & (gain <= spread + noise)
    share = np.full(spread.shape, np.nan)
    np.divide(gain, spread, out=share, where=fair)
    return np.asarray(np.clip(share, 0.0, 1.0))


def contrasts(
    scores: FeatureScores, present: Presence, *, max_score_gap: float, most: int
) -> list[Contrast]:
    """The segments where MuLER lies farthest apart although the scores are near, one pair each."""
    shares, base = segment_muler(scores, present), scores.base
    found: list[Contrast] = []
    for pair in combinations(range(len(shares)), 2):
        apart = np.abs(shares[pair[0]] - shares[pair[1]])
        near = np.abs(base[pair[0]] - base[pair[1]]) <= max_score_gap
        places = np.flatnonzero(near & (apart >= _APART))
        lower = base[[*pair]].min(axis=0)[places]
        order = places[np.lexsort((-lower, -apart[places].round(9)))]
        for segment in order[:most].tolist():
            better, worse = (
                pair if shares[pair[0], segment] < shares[pair[1], segment] else pair[::-1]
            )
            muler = float(shares[better, segment]), float(shares[worse, segment])
            both = float(base[better, segment]), float(base[worse, segment])
            found.append(Contrast(segment, better, worse, muler, both))
    found.sort(key=lambda c: (c.segment, c.better, c.worse))
    found.sort(key=lambda c: (-round(c.difference, 9), -min(c.scores)))
    first: dict[int, Contrast] = {}
    for contrast in found:
        first.setdefault(contrast.segment, contrast)
    return list(first.values())[:most]


def exhibit(
    contrast: Contrast, testset: TestSet, batch: Batch, spans: SpanTable, feature: str, kind: str
) -> Exhibit:
    """The texts of a contrast, the feature marked, the better system first."""
    texts = SegmentTexts(testset, batch, spans, feature)
    systems = (contrast.better, contrast.worse)
    values_of = (
        {"score": score, "MuLER": share}
        for score, share in zip(contrast.scores, contrast.muler, strict=True)
    )
    outputs = (
        texts.candidate(contrast.segment, system, values)
        for system, values in zip(systems, values_of, strict=True)
    )
    return Exhibit(
        group=feature,
        kind=kind,
        segment=contrast.segment + 1,
        texts=(*texts.source_and_references(contrast.segment), *outputs),
        systems=tuple(batch.systems[system] for system in systems),
        weight=contrast.difference,
        caption=f"MuLER {contrast.muler[0]:.2f} and {contrast.muler[1]:.2f} at nearly equal score",
        **texts.place(contrast.segment),
    )
