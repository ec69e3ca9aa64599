"""Means of systems by people's scores, and by the same without each document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.stats.jackknife import Jackknife, design_effect, effective_documents, jackknife
from gnomon.stats.leniency import Leniency, adjusted_means

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.human.campaign import Campaign

__all__ = ["Estimates", "JudgedFrame", "estimates"]


@dataclass(frozen=True)
class JudgedFrame:
    """Frame of the judged segments: how they stand for others.

    Attributes:
        groups: what is independent: the document of each judged segment, or the segment itself,
            numbers from 0 [N].
        weights: of segments, 1 over the chance of each to be drawn, with mean 1 [N].
        strata: the part of the documents that each group was drawn from, numbers from 0 [groups].
    """

    groups: NDArray[np.int64]
    weights: NDArray[np.float64]
    strata: NDArray[np.int64]

    @property
    def sizes(self) -> NDArray[np.float64]:
        """Sizes of the groups, in judged segments with their weights [groups]."""
        return np.bincount(self.groups, self.weights).astype(np.float64)

    @property
    def effective(self) -> float:
        """Number of groups of one size that say as much."""
        return effective_documents(self.sizes)


class _SystemMeans(NamedTuple):
    systems: NDArray[np.float64]  # [K]
    without: NDArray[np.float64]  # [groups, K]


@dataclass(frozen=True)
class Estimates:
    """Estimates of a campaign for its systems, step by step.

    Attributes:
        pairs: positions of both systems of each pair [pairs, 2].
        segments: differences with segments as what is independent [pairs].
        documents: with groups.
        raters: likewise, with leniency taken out; None where it is not.
        design_effects: variance of a mean over that of independent segments [pairs].
        leniency: effects of raters; None where they are ignored.
        means: plain means of systems [K].
        systems: their final means with intervals [K].
    """

    pairs: NDArray[np.int64]
    segments: Jackknife
    documents: Jackknife
    raters: Jackknife | None
    design_effects: NDArray[np.float64]
    leniency: Leniency | None
    means: NDArray[np.float64]
    systems: Jackknife

    @property
    def final(self) -> Jackknife:
        """The differences that count."""
        return self.raters or self.documents

    @property
    def saved(self) -> NDArray[np.float64]:
        """The share of judgements that taking leniency out saves [pairs]."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(1 - (self.final.error / self.documents.error) ** 2)


def estimates(
    campaign: Campaign,
    frame: JudgedFrame,
    *,
    adjust: bool,
    ridge: float | None = None,
    confidence: float = 0.95,
) -> Estimates:
    """Differences of all pairs of systems, with segments, documents and raters.

    Args:
        campaign: the judgements.
        frame: how its segments stand for others.
        adjust: whether the leniency of raters is taken out.
        ridge: how far raters are shrunk, in judgements; None: as the data say.
        confidence: of the intervals.
    """
    cells, k = campaign.cells, len(campaign.systems)
    pairs = np.array([(a, b) for a in range(k) for b in range(a + 1, k)], dtype=np.int64)
    alone = np.arange(len(frame.groups))

    rounding = 1e-9 * max(1.0, float(np.abs(campaign.score).max()))

    def subtract_pairs(means: NDArray[np.float64]) -> NDArray[np.float64]:
        """Differences of all pairs; what rounding leaves of equal means is 0."""
        differences = means[..., pairs[:, 0]] - means[..., pairs[:, 1]]
        return np.where(np.abs(differences) < rounding, 0.0, differences)

    def tested(means: _SystemMeans) -> Jackknife:
        return jackknife(
            subtract_pairs(means.systems),
            subtract_pairs(means.without),
            frame.sizes,
            confidence=confidence,
            strata=frame.strata,
        )

    plain = _cell_means(cells, frame.groups, frame.weights)
    by_segment = _cell_means(cells, alone, frame.weights)
    segments = jackknife(
        subtract_pairs(by_segment.systems),
        subtract_pairs(by_segment.without),
        frame.weights,
        confidence=confidence,
    )
    documents = tested(plain)
    last, leniency, raters = plain, None, None
    if adjust:
        leniency = adjusted_means(
            campaign.system,
            campaign.rater,
            frame.groups[campaign.item],
            campaign.score[:, None],
            weights=frame.weights[campaign.item],
            ridge=ridge,
        )
        last = _SystemMeans(leniency.systems[:, 0], leniency.without[:, :, 0])
        raters = tested(last)
    effects = np.array([_design_effect(cells[a] - cells[b], frame) for a, b in pairs])
    if not campaign.complete:
        effects = (documents.error / segments.error) ** 2
    systems = jackknife(
        last.systems,
        last.without,
        frame.sizes,
        confidence=confidence,
        strata=frame.strata,
    )
    return Estimates(pairs, segments, documents, raters, effects, leniency, plain.systems, systems)


def _design_effect(differences: NDArray[np.float64], frame: JudgedFrame) -> float:
    there = ~np.isnan(differences)
    return design_effect(differences[there], frame.groups[there])


def _cell_means(
    cells: NDArray[np.float64], groups: NDArray[np.int64], weights: NDArray[np.float64]
) -> _SystemMeans:
    """Weighted means over the segments of each system, and without each group."""
    there = ~np.isnan(cells)
    number = int(groups.max()) + 1
    sums = np.zeros((number, len(cells)))
    sizes = np.zeros((number, len(cells)))
    np.add.at(sums, groups, (np.where(there, cells, 0.0) * weights).T)
    np.add.at(sizes, groups, (there * weights).T)
    left = sizes.sum(axis=0) - sizes
    with np.errstate(invalid="ignore", divide="ignore"):
        without = (sums.sum(axis=0) - sums) / np.where(left > 1e-12, left, np.nan)
        return _SystemMeans(sums.sum(axis=0) / sizes.sum(axis=0), without)
