"""Segments where two systems score alike and yet differ on a feature (Karidi et al., table 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gnomon.findings import Exhibit
from gnomon.muler._segment_texts import SegmentTexts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from gnomon.batch import Batch
    from gnomon.findings import Cell
    from gnomon.muler._figures import FeatureScores
    from gnomon.muler._presence import Presence
    from gnomon.spans import SpanTable
    from gnomon.testset import TestSet

__all__ = ["Contrast", "contrasts", "exhibit", "record", "segment_muler"]

_ROUNDING = 1e-12


@dataclass(frozen=True)
class Contrast:
    """One segment, two systems.

    Attributes:
        segment: position of the segment in the batch.
        better: position of the system with the lower MuLER.
        worse: position of the other one.
        muler: MuLER of the two on this segment.
        scores: their sentence scores.
    """

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
    (there the two sides are tagged differently, which says nothing of the systems).
    """
    sign = 1.0 if scores.higher_is_better else -1.0
    spread = sign * (scores.oracle - scores.anti_oracle)
    noise = _ROUNDING * np.maximum(np.abs(scores.oracle), np.abs(scores.anti_oracle))
    gain = scores.gain()
    fair = present.both & (spread > noise) & (gain >= -noise) & (gain <= spread + noise)
    share = np.full(spread.shape, np.nan)
    np.divide(gain, spread, out=share, where=fair)
    return np.asarray(np.clip(share, 0.0, 1.0))


def contrasts(
    scores: FeatureScores, present: Presence, *, near: float, far: float, most: int
) -> list[Contrast]:
    """The segments where MuLER lies farthest apart although the scores are near, one pair each.

    Args:
        scores: sentence scores of the feature.
        present: where the feature occurs.
        near: the two scores differ by this much at most, in the metric's own units.
        far: their MuLER differs by this much at least.
        most: number of segments.

    Returns:
        Largest difference first; among equal ones the higher score, then the earlier segment.
    """
    found = [
        _best(pair, near, far, most) for pair in _pairs(scores, segment_muler(scores, present))
    ]
    ordered = sorted(
        (contrast for part in found for contrast in part),
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


def _best(pair: _Pair, near: float, far: float, most: int) -> list[Contrast]:
    apart = np.abs(pair.shares[0] - pair.shares[1])
    fit = (np.abs(pair.scores[0] - pair.scores[1]) <= near) & (apart >= far)
    places = np.flatnonzero(fit)
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


def record(contrast: Contrast, batch: Batch, **place: Cell) -> dict[str, Cell]:
    """The contrast as a flat record."""
    return {
        **place,
        "segment": int(batch.segments[contrast.segment]) + 1,
        "system": batch.systems[contrast.better],
        "other": batch.systems[contrast.worse],
        "score": contrast.scores[0],
        "other_score": contrast.scores[1],
        "muler": contrast.muler[0],
        "other_muler": contrast.muler[1],
        "difference": contrast.difference,
    }


def exhibit(
    contrast: Contrast, testset: TestSet, batch: Batch, spans: SpanTable, feature: str, kind: str
) -> Exhibit:
    """The texts of a contrast, the feature marked, the better system first."""
    texts = SegmentTexts(testset, batch, spans, feature)
    systems = (contrast.better, contrast.worse)
    said = (
        {"score": score, "MuLER": share}
        for score, share in zip(contrast.scores, contrast.muler, strict=True)
    )
    outputs = (
        texts.candidate(contrast.segment, system, values)
        for system, values in zip(systems, said, strict=True)
    )
    return Exhibit(
        group=feature,
        kind=kind,
        segment=contrast.segment + 1,
        texts=(*texts.given(contrast.segment), *outputs),
        systems=tuple(batch.systems[system] for system in systems),
        weight=contrast.difference,
        caption=f"MuLER {contrast.muler[0]:.2f} and {contrast.muler[1]:.2f} at nearly equal score",
        **texts.place(contrast.segment),
    )
