"""Campaigns drawn again and again: how often intervals cover, and what raters save."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from tests.truth.campaigns import judged

from gnomon.human.campaign import Campaign
from gnomon.human.estimates import Estimates, JudgedFrame, estimates
from gnomon.stats.interim import look_levels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from tests.truth.campaigns import Judged


class Simulated(NamedTuple):
    """Shares of pairs over all draws."""

    segments: float  # intervals over segments that cover
    documents: float  # intervals over documents
    raters: float  # with leniency taken out
    saved: float  # of the squared error, by taking leniency out


def campaign_of(said: Judged, systems: int) -> Campaign:
    """The judgements as the method has them."""
    n = int(said.segment.max()) + 1
    document = np.zeros(n, dtype=np.int64)
    document[said.segment] = said.document
    return Campaign(
        kind="quality",
        systems=tuple(f"s{k}" for k in range(systems)),
        raters=tuple(f"r{k}" for k in range(int(said.rater.max()) + 1)),
        segments=np.arange(n),
        documents=document,
        system=said.system,
        item=said.segment,
        rater=said.rater,
        score=said.score,
        complete=True,
        ranked=False,
    )


def frame_of(campaign: Campaign) -> JudgedFrame:
    """Documents as what is independent, each segment with the same weight."""
    groups = campaign.documents
    assert groups is not None
    n = len(campaign.segments)
    return JudgedFrame(groups, np.ones(n), np.zeros(int(groups.max()) + 1, dtype=np.int64))


def simulated(
    draws: int,
    *,
    systems: int = 5,
    ridge: float | None = None,
    seed: int = 0,
    **planted: object,
) -> Simulated:
    """Campaigns of systems that differ by known amounts."""
    quality = np.linspace(0, 4, systems)
    counts, squares = np.zeros(3), np.zeros(2)
    for number in range(draws):
        said = judged(quality.tolist(), seed=seed + number, **planted)  # type: ignore[arg-type]
        campaign = campaign_of(said, systems)
        found = estimates(campaign, frame_of(campaign), adjust=True, ridge=ridge)
        truth = quality[found.pairs[:, 0]] - quality[found.pairs[:, 1]]
        steps = (found.segments, found.documents, found.raters)
        for k, step in enumerate(steps):
            if step is not None:
                counts[k] += ((step.low <= truth) & (truth <= step.high)).mean()
                if k:
                    squares[k - 1] += ((step.estimate - truth) ** 2).mean()
    return Simulated(*(counts / draws), 1 - squares[1] / squares[0])


def decided(found: Estimates) -> bool:
    """Whether the first pair is."""
    test = found.final
    return bool(test.low[0] > 0 or test.high[0] < 0)


def stopped(
    draws: int, difference: float, *, analyses: int, at: Sequence[int], seed: int = 0
) -> NDArray[np.int64]:
    """The analysis at which each campaign stops, from 1; 0: at none."""
    levels = look_levels(analyses)
    stops = np.zeros(draws, dtype=np.int64)
    for number in range(draws):
        said = judged([difference, 0], documents=at[-1], length=(1, 5), seed=seed + number)
        for analysis, (documents, level) in enumerate(zip(at, levels, strict=True), start=1):
            kept = said.document < documents
            part = type(said)(*(column[kept] for column in said))
            campaign = campaign_of(part, 2)
            found = estimates(campaign, frame_of(campaign), adjust=False, confidence=1 - level)
            if decided(found):
                stops[number] = analysis
                break
    return stops
