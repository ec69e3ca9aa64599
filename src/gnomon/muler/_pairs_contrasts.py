"""Pairs of systems that a metric finds equal, and that MuLER tells apart on a feature."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from gnomon.findings import Column, Table
from gnomon.muler._figures import figures

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.findings import Cell
    from gnomon.metrics.protocol import MaskingMetric
    from gnomon.muler._figures import FeatureScores, Figures
    from gnomon.muler._presence import Presence
    from gnomon.muler._setup import Setup

__all__ = ["Contrast", "Thresholds", "contrast_table", "contrasts", "near_pairs"]

_NOISE = 1e-12  # costs that differ by a smaller share of the scores differ by rounding


@dataclass(frozen=True)
class Thresholds:
    """Which pairs of systems are worth a look.

    Attributes:
        near: largest difference of the two systems' scores, in the metric's units.
        apart: smallest difference of their MuLER.
        least: smallest size of I, for both.
    """

    near: float
    apart: float
    least: int


@dataclass(frozen=True, eq=False)
class Contrast:
    """Two systems of near-equal score, of which MuLER calls one better on a feature.

    Attributes:
        feature: the feature.
        better: position of the system with the lower MuLER.
        worse: position of the other one.
        figures: their figures on the feature, the better one's first.
        segments: 0-based segments of both systems' I that cost them unequally much.
        costs: float64 [2, segments], what the feature costs each system there (max - base).
    """

    feature: str
    better: int
    worse: int
    figures: tuple[Figures, Figures]
    segments: NDArray[np.int64]
    costs: NDArray[np.float64]

    @property
    def gap(self) -> float:
        """How much lower the better system's MuLER is."""
        low, high = (found.muler or 0.0 for found in self.figures)
        return high - low


def near_pairs(scores: NDArray[np.float64], near: float) -> list[tuple[int, int]]:
    """Pairs of systems whose scores differ by at most ``near``; undefined scores are near none.

    >>> near_pairs(np.array([30.0, 31.0, 35.5]), 1.0)
    [(0, 1)]
    """
    close = near + _NOISE * max(1.0, abs(near))
    both = combinations(range(len(scores)), 2)
    return [(i, j) for i, j in both if abs(scores[i] - scores[j]) <= close]


def contrasts(
    setup: Setup, metric: MaskingMetric, near: Sequence[tuple[int, int]]
) -> Iterable[Contrast]:
    """Every near pair on every feature on which both have a MuLER, however little they differ.

    Args:
        setup: the annotated test set.
        metric: the metric that is to be taken apart.
        near: pairs of systems, by position.
    """
    everywhere = np.ones(setup.testset.segments, dtype=np.bool_)
    for scores, present in setup.scored(metric, setup.plan(metric), "scoring"):
        found = figures(scores, present, everywhere)
        for pair in near:
            contrast = _contrast(scores, present, found, pair)
            if contrast is not None:
                yield contrast


def _contrast(
    scores: FeatureScores, present: Presence, found: Sequence[Figures], pair: tuple[int, int]
) -> Contrast | None:
    ordered = sorted(pair, key=lambda k: (_or_infinite(found[k].muler), k))
    better, worse = ordered
    first, second = found[better], found[worse]
    if first.muler is None or second.muler is None:
        return None
    costs = scores.gain()[ordered]
    noise = _NOISE * np.abs(np.stack([scores.oracle[ordered], scores.base[ordered]])).max((0, 1))
    differ = np.abs(costs[0] - costs[1]) > noise
    segments = np.flatnonzero(present.both[ordered].all(axis=0) & differ)
    return Contrast(scores.feature, better, worse, (first, second), segments, costs[:, segments])


def _or_infinite(value: float | None) -> float:
    return float("inf") if value is None else value


_COLUMNS = (
    Column("feature", "Feature"),
    Column("system", "Better by MuLER", help="the system with the lower MuLER"),
    Column("other", "Other", help="the system with the higher MuLER"),
    Column("metric", "Metric"),
    Column("score", "its score", "number"),
    Column("other_score", "other score", "number"),
    Column("muler", "its MuLER", "share", better="lower"),
    Column("other_muler", "other MuLER", "share", better="lower"),
    Column("gap", "gap", "number", help="other MuLER - its MuLER"),
    Column("segments", "its |I|", "count"),
    Column("other_segments", "other |I|", "count"),
    Column("usable", "usable", "count", help="segments of both I that cost the two unequally much"),
    Column("drawn", "drawn", "count", help="segments in the sheet"),
)


def contrast_table(
    found: Sequence[Contrast],
    names: Sequence[str],
    metric: str,
    scores: NDArray[np.float64],
    drawn: Mapping[int, int],
) -> Table:
    """The pairs as records, in their order.

    Args:
        found: the pairs.
        names: names of the systems.
        metric: name of the metric.
        scores: float64 [K], system scores.
        drawn: position among ``found`` -> segments in the sheet.
    """
    rows: list[dict[str, Cell]] = [
        {
            "feature": one.feature,
            "system": names[one.better],
            "other": names[one.worse],
            "metric": metric,
            "score": float(scores[one.better]),
            "other_score": float(scores[one.worse]),
            "muler": one.figures[0].muler,
            "other_muler": one.figures[1].muler,
            "gap": one.gap,
            "segments": one.figures[0].segments,
            "other_segments": one.figures[1].segments,
            "usable": len(one.segments),
            "drawn": drawn.get(number, 0),
        }
        for number, one in enumerate(found)
    ]
    note = "Systems of near-equal score that are far apart in MuLER on a feature."
    return Table("pairs", "Pairs of systems to compare by hand", _COLUMNS, tuple(rows), note)
