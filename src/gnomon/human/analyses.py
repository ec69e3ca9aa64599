"""Tests of differences between systems, in judged campaigns and in planned ones."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from gnomon.core.options import (
    CONFIDENCE,
    Confidence,
    Group,
    Limits,
    Metavar,
    Positive,
    Unit,
)
from gnomon.stats.interim import look_levels

__all__ = ["INTERIM", "HumanTests", "PlannedTests", "Raters"]

#: whether the leniency of raters is taken out
Raters: TypeAlias = Literal["auto", "adjust", "ignore"]
#: number of the analysis, and of all
INTERIM = re.compile(r"([1-9]\d?)/([1-9]\d?)")
_TESTS = Group("intervals and tests")


@dataclass(frozen=True)
class HumanTests:
    """Options of the tests of differences between systems.

    Attributes:
        unit: the independent unit: "segment", "document", or "auto": documents where they are
            known.
        raters: rater effects: "adjust" removes the leniency of raters, "ignore" does not; "auto"
            adjusts where at least half of the raters judged two systems or more, and raters link
            all systems.
        interim: the number of this interim analysis among those planned ("2/5"): the level is
            O'Brien and Fleming's, so that all analyses together call equal systems different as
            often as one test would.
    """

    unit: Unit = "auto"
    raters: Annotated[Raters, _TESTS] = "auto"
    interim: Annotated[str | None, Metavar("K/N"), _TESTS] = None
    confidence: Confidence = CONFIDENCE

    @property
    def analyses(self) -> tuple[int, int]:
        """This analysis, and how many were planned."""
        match = INTERIM.fullmatch(self.interim or "1/1")
        return (int(match[1]), int(match[2])) if match else (1, 1)

    @property
    def level(self) -> float:
        """The p that decides at this analysis."""
        number, of = self.analyses
        return look_levels(of, 1 - self.confidence)[number - 1]


@dataclass(frozen=True)
class PlannedTests:
    """Options of how a campaign will be judged and tested.

    Attributes:
        power: the share of campaigns that are to find the difference.
        systems: number of systems, compared in pairs: p is corrected for the number of pairs.
        interim_analyses: number of planned analyses (O'Brien and Fleming); 1 for the end alone.
        same_rater: also plan for one rater judging all systems of a document.
    """

    power: Annotated[float, Limits(0.06, 0.999), Metavar("SHARE")] = 0.8
    systems: Annotated[int, Limits(2, 1000), Metavar("K")] = 2
    interim_analyses: Annotated[Positive, Limits(1, 99)] = 1
    same_rater: bool = False
    confidence: Confidence = CONFIDENCE

    @property
    def alpha(self) -> float:
        """Of each pair."""
        return (1 - self.confidence) / math.comb(self.systems, 2)

    @property
    def level(self) -> float:
        """Of the last analysis."""
        return look_levels(self.interim_analyses, self.alpha)[-1]
