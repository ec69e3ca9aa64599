"""Means of systems by people's scores, with what leaving out each document makes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.stats.covariate import PooledSlope, pooled_slope
from gnomon.stats.jackknife import Jackknife, design_effect, effective_documents, jackknife
from gnomon.stats.leniency import Leniency, adjusted_means

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.methods.human.campaign import Campaign

__all__ = ["Covariate", "Estimates", "JudgedFrame", "estimates"]


@dataclass(frozen=True)
class JudgedFrame:
    """How the judged segments stand for others.

    Attributes:
        groups: what is independent: the document of each judged segment, or the segment itself,
            numbers from 0 [N].
        weights: of segments, 1 over the chance of each to be drawn, with mean 1 [N].
        strata: the part of the documents that each group was drawn from, numbers from 0 [groups].
        unseen: the share of the texts spoken of that was not judged; 1 for all texts that might be.
    """

    groups: NDArray[np.int64]
    weights: NDArray[np.float64]
    strata: NDArray[np.int64]
    unseen: float = 1.0

    @property
    def sizes(self) -> NDArray[np.float64]:
        """What each group holds, in judged segments with their weights [groups]."""
        return np.bincount(self.groups, self.weights).astype(np.float64)

    @property
    def effective(self) -> float:
        """How many groups of one size say as much."""
        return effective_documents(self.sizes)


@dataclass(frozen=True)
class Covariate:
    """A metric's scores of all segments of the test set, higher is better.

    Attributes:
        scores: [K, segments of the test set].
        groups: the group of each of these segments, those of ``JudgedFrame`` first [segments].
        fixed: whether these segments are all that is spoken of.
    """

    scores: NDArray[np.float64]
    groups: NDArray[np.int64]
    fixed: bool


class _SystemMeans(NamedTuple):
    systems: NDArray[np.float64]  # [K]
    without: NDArray[np.float64]  # [groups, K]


@dataclass(frozen=True)
class Estimates:
    """What a campaign says of its systems, step by step.

    Attributes:
        pairs: positions of both systems of each pair [pairs, 2].
        segments: differences with segments as what is independent [pairs].
        documents: with groups.
        raters: likewise, with leniency taken out; None where it is not.
        metric: likewise, with the slope on a metric; None without one.
        design_effects: variance of a mean over that of independent segments [pairs].
        leniency: effects of raters; None where they are ignored.
        slope: on the metric; None without one.
        means: plain means of systems [K].
        systems: their final means with intervals [K].
    """

    pairs: NDArray[np.int64]
    segments: Jackknife
    documents: Jackknife
    raters: Jackknife | None
    metric: Jackknife | None
    design_effects: NDArray[np.float64]
    leniency: Leniency | None
    slope: PooledSlope | None
    means: NDArray[np.float64]
    systems: Jackknife

    @property
    def final(self) -> Jackknife:
        """The differences that count."""
        return self.metric or self.raters or self.documents


def estimates(
    campaign: Campaign,
    frame: JudgedFrame,
    *,
    adjust: bool,
    covariate: Covariate | None = None,
    ridge: float | None = None,
    confidence: float = 0.95,
) -> Estimates:
    """Differences of all pairs of systems, with segments, documents, raters and a metric.

    Args:
        campaign: the judgements.
        frame: how its segments stand for others.
        adjust: whether the leniency of raters is taken out.
        covariate: a metric; its slope is bounded by 0 from below.
        ridge: how far raters are shrunk, in judgements; None: as the data say.
        confidence: of the intervals.
    """
    cells, k = campaign.cells, len(campaign.systems)
    pairs = np.array([(a, b) for a in range(k) for b in range(a + 1, k)], dtype=np.int64)
    alone = np.arange(len(frame.groups))
    sizes = frame.sizes

    def tested(means: _SystemMeans, of: NDArray[np.float64] = sizes) -> Jackknife:
        a, b = pairs.T
        return jackknife(
            means.systems[a] - means.systems[b],
            means.without[:, a] - means.without[:, b],
            of,
            confidence=confidence,
            strata=_extended(frame.strata, len(of)),
            unseen=frame.unseen,
        )

    plain = _cell_means(cells, frame.groups, frame.weights)
    by_segment = _cell_means(cells, alone, frame.weights)
    segments = jackknife(
        by_segment.systems[pairs[:, 0]] - by_segment.systems[pairs[:, 1]],
        by_segment.without[:, pairs[:, 0]] - by_segment.without[:, pairs[:, 1]],
        frame.weights,
        confidence=confidence,
        unseen=frame.unseen,
    )
    documents = tested(plain)
    last, of_last, leniency, slope = plain, sizes, None, None
    raters = metric = None
    values = campaign.score[:, None]
    if covariate is not None:
        own = covariate.scores[:, campaign.segments]
        values = np.column_stack([campaign.score, own[campaign.system, campaign.item]])
    if adjust:
        leniency = adjusted_means(
            campaign.system,
            campaign.rater,
            frame.groups[campaign.item],
            values,
            weights=frame.weights[campaign.item],
            ridge=ridge,
        )
        last = _SystemMeans(leniency.systems[:, 0], leniency.without[:, :, 0])
        raters = tested(last)
    if covariate is not None:
        slope = pooled_slope(cells, own, frame.groups, weights=frame.weights)
        judged = _cell_means(np.where(np.isnan(cells), np.nan, own), frame.groups, frame.weights)
        if leniency is not None:
            judged = _SystemMeans(leniency.systems[:, 1], leniency.without[:, :, 1])
        last, of_last = _with_metric(last, judged, slope, covariate, sizes)
        metric = tested(last, of_last)
    effects = np.array([_design_effect(cells[a] - cells[b], frame) for a, b in pairs])
    if not campaign.complete:
        effects = (documents.error / segments.error) ** 2
    systems = jackknife(
        last.systems,
        last.without,
        of_last,
        confidence=confidence,
        strata=_extended(frame.strata, len(of_last)),
        unseen=frame.unseen,
    )
    return Estimates(
        pairs, segments, documents, raters, metric, effects, leniency, slope, plain.systems, systems
    )


def _extended(strata: NDArray[np.int64], groups: int) -> NDArray[np.int64]:
    """The strata with one more for groups that nobody judged."""
    further = groups - len(strata)
    return np.concatenate([strata, np.full(further, strata.max(initial=0) + 1)])


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


def _with_metric(
    means: _SystemMeans,
    judged: _SystemMeans,
    slope: PooledSlope,
    covariate: Covariate,
    sizes: NDArray[np.float64],
) -> tuple[_SystemMeans, NDArray[np.float64]]:
    """Means moved by slope x (metric on all segments - metric on the judged ones).

    Of all texts that might be, the segments of the test set are a sample, too: documents that
    nobody judged are left out in turn as well, and change the metric's mean alone.
    """
    ones = np.ones(covariate.scores.shape[1])
    whole = _cell_means(covariate.scores, covariate.groups, ones)
    steep = max(np.nan_to_num(slope.slope), 0.0)
    steeps = np.maximum(np.nan_to_num(slope.without), 0.0)[:, None]
    moved = means.systems + steep * (whole.systems - judged.systems)
    n = len(means.without)
    if covariate.fixed:
        without = means.without + steeps * (whole.systems - judged.without)
        return _SystemMeans(moved, without), sizes
    first = means.without + steeps * (whole.without[:n] - judged.without)
    rest = means.systems + steep * (whole.without[n:] - judged.systems)
    nothing = np.zeros(len(rest))
    return _SystemMeans(moved, np.concatenate([first, rest])), np.concatenate([sizes, nothing])
