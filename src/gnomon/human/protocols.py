"""Variances of campaigns that a plan rests on, from a campaign or from a table."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from gnomon.core.errors import DataError
from gnomon.human.campaign import LEAST_SEGMENTS
from gnomon.human.estimates import JudgedFrame, estimates
from gnomon.messages.grammar import counted
from gnomon.stats.jackknife import LEAST_DOCUMENTS
from gnomon.stats.leniency import rater_ridge

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.human.campaign import Campaign

__all__ = ["PROTOCOLS", "Pilot", "ProtocolName", "pilot_of", "pilot_of_protocol"]

ProtocolName: TypeAlias = Literal["esa", "mqm", "da"]


class Pilot(NamedTuple):
    """Facts known of a campaign before it is judged.

    - ``name``: whose figures these are, as sentences have it.
    - ``human``: the kind of judgements.
    - ``sd``: standard deviation of the differences of two systems segment by segment; the median
      over pairs.
    - ``design_effect``: how many times the variance of a mean is that of independent segments;
      the median over pairs. 1 where documents are not known.
    - ``length``: judged segments of a document; None where documents are not known.
    - ``evenness``: documents of one length that say as much as one of these documents, up to 1.
    - ``adjusted``: variance with leniency taken out over that without; None: it cannot be.
    - ``same_rater``: variance over that without, were all systems' outputs of a document judged by
      one person; None: nothing tells.
    - ``df``: degrees of freedom that the variances rest on.
    - ``documents``, ``segments``: how many were judged.
    - ``each``: judgements of a rater, on which ``adjusted`` depends; None where nobody is named.
    """

    name: str
    human: str
    sd: float
    design_effect: float
    length: float | None
    evenness: float
    adjusted: float | None
    same_rater: float | None
    df: float
    documents: int
    segments: int
    each: float | None

    @property
    def variance(self) -> float:
        """Contribution of a segment to a mean difference's variance, times the segments squared."""
        return self.sd**2 * self.design_effect

    def ends(self, value: float, confidence: float) -> tuple[float, float]:
        """The interval of what grows with the variance, as sure as that is known."""
        tails = (1 - confidence) / 2, (1 + confidence) / 2
        low, high = (_chi_square(share, self.df) / self.df for share in tails)
        return value / high, value / low


#: the design effect of MQM on WMT21, whose shared scores do not tell documents: 2.6 to 2.8
_OF_MQM = 2.7
#: figures of published campaigns, as :func:`pilot_of` finds them in the sets that the names tell.
#: Segments of WMT17's direct assessment were drawn one by one, so that documents do not matter
PROTOCOLS: Mapping[str, tuple[Pilot, ...]] = {
    "esa": (
        Pilot(
            "WMT24 en-cs",
            "esa",
            22.633,
            2.5965,
            3.4941,
            0.47278,
            0.73699,
            0.30697,
            39.186,
            85,
            297,
            77.377,
        ),
        Pilot(
            "WMT24 en-ja",
            "esa",
            17.379,
            2.6711,
            3.7294,
            0.48117,
            0.64248,
            0.36318,
            80.798,
            170,
            634,
            76.142,
        ),
    ),
    "mqm": (
        Pilot("WMT21 en-de", "mqm", 3.3710, _OF_MQM, None, 1.0, None, None, 50.0, 0, 527, None),
    ),
    "da": (
        Pilot("WMT17 cs-en", "da-z", 0.80447, 1.0, None, 1.0, None, None, 524.0, 0, 525, None),
        Pilot("WMT17 de-en", "da-z", 0.78118, 1.0, None, 1.0, None, None, 505.0, 0, 506, None),
        Pilot("WMT17 fi-en", "da-z", 0.72229, 1.0, None, 1.0, None, None, 520.0, 0, 521, None),
    ),
}


def pilot_of_protocol(name: str) -> Pilot:
    """The figures of a protocol: means over the sets that they were measured on."""
    sets = PROTOCOLS[name]
    lengths = [pilot.length for pilot in sets if pilot.length is not None]
    variance = float(np.mean([pilot.variance for pilot in sets]))
    sd = math.sqrt(float(np.mean([pilot.sd**2 for pilot in sets])))
    return Pilot(
        " and ".join(pilot.name for pilot in sets),
        sets[0].human,
        sd,
        variance / sd**2,
        float(np.mean(lengths)) if lengths else None,
        float(np.mean([pilot.evenness for pilot in sets])),
        _mean([pilot.adjusted for pilot in sets]),
        _mean([pilot.same_rater for pilot in sets]),
        sum(pilot.df for pilot in sets),
        sum(pilot.documents for pilot in sets),
        sum(pilot.segments for pilot in sets),
        _mean([pilot.each for pilot in sets]),
    )


def pilot_of(campaign: Campaign, name: str) -> Pilot:
    """The variances of a campaign.

    Raises:
        DataError: it has fewer than 15 documents or 30 segments.
    """
    n = len(campaign.segments)
    groups = np.arange(n) if campaign.documents is None else campaign.documents
    frame = JudgedFrame(groups, np.ones(n), np.zeros(int(groups.max()) + 1, dtype=np.int64))
    documents = len(frame.sizes)
    if documents < LEAST_DOCUMENTS or n < LEAST_SEGMENTS:
        few = counted(n) if n < LEAST_SEGMENTS else counted(documents, "document")
        raise DataError(
            f"{few} are too few to plan by: their variance is not known well enough; a pilot takes"
            f" {LEAST_DOCUMENTS} documents and {LEAST_SEGMENTS} segments at least, or plan by a"
            f" protocol: {', '.join(get_args(ProtocolName))}"
        )
    found = estimates(campaign, frame, adjust=campaign.tells_leniency)
    sizes = (~np.isnan(campaign.cells)).sum(axis=1)
    a, b = found.pairs.T
    sds = found.segments.error * np.sqrt(2 / (1 / sizes[a] + 1 / sizes[b]))
    sd, effect = float(np.median(sds)), float(np.median(found.design_effects))
    known = campaign.documents is not None
    adjusted = same_rater = None
    if found.raters is not None:
        adjusted = float(np.median((found.raters.error / found.documents.error) ** 2))
        same_rater = _same_rater(campaign, groups, sd, effect if known else 1.0, frame.effective)
    return Pilot(
        name,
        campaign.kind,
        sd,
        effect if known else 1.0,
        n / documents if known else None,
        frame.effective / documents,
        adjusted,
        same_rater,
        frame.effective - 1,
        documents if known else 0,
        n,
        len(campaign.score) / len(campaign.raters) if campaign.raters else None,
    )


def _same_rater(
    campaign: Campaign, groups: NDArray[np.int64], sd: float, effect: float, effective: float
) -> float | None:
    """The share of the variance that is left where one person judges a document of all systems.

    Two persons' leniency adds twice its variance to the difference of a document, and to that of
    each segment; what is left is no less than that of segments without it.
    """
    ridge = rater_ridge(campaign.system, campaign.rater, groups[campaign.item], campaign.score)
    if math.isnan(ridge.ridge):
        return None
    twice = 2 * ridge.between
    variance = sd**2 * effect
    left = max(variance - twice * len(groups) / effective, sd**2 - twice, 0.0)
    return left / variance


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if len(known) == len(values) else None


def _chi_square(share: float, df: float) -> float:
    """Quantiles of chi-square by Wilson and Hilferty's cube (1931), good to .01 from 10 on."""
    spread = 2 / (9 * df)
    return df * max(1 - spread + NormalDist().inv_cdf(share) * math.sqrt(spread), 1e-3) ** 3
