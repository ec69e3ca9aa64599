"""Segments where two systems score alike and differ on a feature (Karidi et al., table 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.findings import Exhibit
from gnomon.methods.muler._exhibits import SegmentTexts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.spans import SpanTable
    from gnomon.core.testset import TestSet
    from gnomon.methods.muler._figures import FeatureScores, Presence


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
        """How far their MuLER lies apart."""
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
    scores: FeatureScores,
    present: Presence,
    *,
    max_score_gap: float,
    most: int,
) -> list[Contrast]:
    """The segments where MuLER lies farthest apart although the scores are near, one pair each."""
    pairs = _pairs(scores, segment_muler(scores, present))
    best_of_pairs = [_best(pair, max_score_gap, most) for pair in pairs]
    ordered = sorted(
        (contrast for pair_contrasts in best_of_pairs for contrast in pair_contrasts),
        key=lambda c: (-round(c.difference, 9), -min(c.scores), c.segment, c.better, c.worse),
    )
    first: dict[int, Contrast] = {}
    for contrast in ordered:
        first.setdefault(contrast.segment, contrast)
    return list(first.values())[:most]


@dataclass(frozen=True)
class _Pair:
    systems: tuple[int, int]
    shares: NDArray[np.float64]  # [2, N]
    scores: NDArray[np.float64]  # [2, N]


def _pairs(scores: FeatureScores, shares: NDArray[np.float64]) -> Iterator[_Pair]:
    for a in range(len(shares)):
        for b in range(a + 1, len(shares)):
            yield _Pair((a, b), shares[[a, b]], scores.base[[a, b]])


def _best(pair: _Pair, max_score_gap: float, most: int) -> list[Contrast]:
    apart = np.abs(pair.shares[0] - pair.shares[1])
    near = np.abs(pair.scores[0] - pair.scores[1]) <= max_score_gap
    places = np.flatnonzero(near & (apart >= _APART))
    order = places[np.lexsort((-pair.scores.min(axis=0)[places], -apart[places].round(9)))]
    return [_contrast(pair, segment) for segment in order[:most].tolist()]


def _contrast(pair: _Pair, segment: int) -> Contrast:
    first, second = (0, 1) if pair.shares[0, segment] < pair.shares[1, segment] else (1, 0)
    return Contrast(
        segment,
        pair.systems[first],
        pair.systems[second],
        (float(pair.shares[first, segment]), float(pair.shares[second, segment])),
        (float(pair.scores[first, segment]), float(pair.scores[second, segment])),
    )


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
