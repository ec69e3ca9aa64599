"""How far the figures of a feature would move on another test set of the same kind.

Segments are drawn with replacement, one draw for all systems, features, metrics and slices, so that
differences are paired. Every figure is a function of sums over segments, and the sums of all
resamples are one matrix product.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from gnomon.errors import UsageError
from gnomon.muler._significance_sums import (
    clipped_and_error,
    drawn,
    figure_columns,
    means,
    ratio_and_error,
)
from gnomon.stats.resampling import percentile_interval, resample_counts, shift_distance

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from gnomon.muler._figures import FeatureScores
    from gnomon.muler._presence import Presence

    Ends: TypeAlias = tuple[float | None, float | None]
    Floats: TypeAlias = NDArray[np.float64]

__all__ = ["LEAST", "SEED", "Bootstrap", "Ends", "Frame", "Resampled", "frame", "resampled"]

LEAST = 10  # segments below which nothing is said about uncertainty
SEED = 12345  # sacreBLEU's
_OVER_SLICE = ("add", "miss", "hit", "neither")
_SAME = 1e-9  # values of MuLER that differ by less are equal
_SPARSE = 0.05  # share of undefined resamples above which an interval is told of


@dataclass(frozen=True)
class Bootstrap:
    """How uncertainty is estimated.

    Attributes:
        resamples: number of resamples of the segments, B; 0 for none.
        confidence: of the intervals, in (0, 1).
        seed: of the draws.
    """

    resamples: int = 1000
    confidence: float = 0.95
    seed: int = SEED

    def __post_init__(self) -> None:
        """Refuse what no interval can be made of.

        Raises:
            UsageError: a value is out of range.
        """
        if not 0 < self.confidence < 1:
            raise UsageError(
                f"confidence lies strictly between 0 and 1, as in 0.95; got {self.confidence}"
            )
        if self.seed < 0:
            raise UsageError(f"a seed is a whole number, 0 or more; got {self.seed}")
        least = math.ceil(1 / (1 - self.confidence) - 1e-9) - 1
        if self.resamples != 0 and self.resamples < least:
            raise UsageError(
                f"bootstrap takes a number of resamples: 0 for none, or at least {least} for a"
                f" confidence of {self.confidence}; got {self.resamples}"
            )

    def draw(self, segments: int) -> NDArray[np.uint8] | None:
        """How often each segment occurs in each resample, uint8 [N, B]; ``None`` for none."""
        if not self.resamples:
            return None
        return resample_counts(segments, count=self.resamples, seed=self.seed)


@dataclass(frozen=True)
class Frame:
    """What the features of one metric and slice have in common.

    Attributes:
        members: bool [N], the segments of the slice.
        counts: uint8 [N, B], how often each segment of the test set was drawn.
        confidence: of the intervals.
        base_all: per system, the ends of the interval of the mean score over the slice.
        judged: float64 [K, B], segments of the slice with a reference in every resample.
        references: int [K], the same number in the test set itself.
    """

    members: NDArray[np.bool_]
    counts: NDArray[np.uint8]
    confidence: float
    base_all: tuple[Ends, ...]
    judged: Floats
    references: NDArray[np.intp]


@dataclass(frozen=True)
class Resampled:
    """One feature of K systems in B resamples.

    Attributes:
        samples: float64 [K, B] each: "muler" (ratio of means) and "clipped" (mean of clipped
            ratios); NaN where undefined.
        ends: per system, the ends of the interval of every figure by its name, "clipped" among
            them; ``None`` where there is none.
        sparse: number of systems with an interval although more than one resample in twenty is
            undefined.
    """

    samples: Mapping[str, Floats]
    ends: tuple[Mapping[str, Ends], ...]
    sparse: int


def frame(
    base: Floats,
    present: Presence,
    members: NDArray[np.bool_],
    counts: NDArray[np.uint8],
    confidence: float,
) -> Frame:
    """Prepare a slice under a metric.

    Args:
        base: float64 [K, N], sentence scores.
        present: presence of any feature; it tells which segments have a reference.
        members: bool [N], the slice.
        counts: uint8 [N, B], the draws.
        confidence: of the intervals.
    """
    rows = np.flatnonzero(members)
    values = base[:, rows]
    scored, judged = ~np.isnan(values), ~np.isnan(present.add[:, rows])
    columns = {
        "scored": scored.astype(np.float64),
        "base": np.where(scored, values, 0.0),
        "judged": judged.astype(np.float64),
    }
    sums = drawn(columns, counts, rows)
    with np.errstate(invalid="ignore"):  # none of the segments of a slice may have been drawn
        samples = sums["base"] / sums["scored"]
    ends = _percentiles(samples, confidence, scored.sum(axis=1))
    return Frame(members, counts, confidence, ends, sums["judged"], judged.sum(axis=1))


def resampled(scores: FeatureScores, present: Presence, within: Frame) -> Resampled:
    """The figures of one feature in every resample, and their intervals.

    MuLER, in both variants, has the symmetric bootstrap-t interval (Hall, 1988): estimate -+ q s,
    where s is the standard error and q the quantile over resamples of |estimate* - estimate| / s*.
    The other figures have percentile intervals. A figure over fewer than ``LEAST`` segments has
    none, nor has a MuLER that does not vary at all.

    Args:
        scores: sentence scores of the feature.
        present: where it occurs.
        within: the slice.
    """
    inside = present.both & within.members
    some = (inside | (present.neither < 1)).any(axis=0)  # all else adds 0 to every sum
    rows = np.flatnonzero(within.members & some)
    columns = figure_columns(scores, present, inside, rows)
    plain = {name: values.sum(axis=1) for name, values in columns.items()}
    sums = drawn(columns, within.counts, rows)
    size, level = inside.sum(axis=1), within.confidence
    ends: dict[str, tuple[Ends, ...]] = {"base_all": within.base_all}
    companions = means(sums, within.judged, higher_is_better=scores.higher_is_better)
    for name, values in companions.items():
        over = within.references if name in _OVER_SLICE else size
        ends[name] = _percentiles(values, level, over)
    samples: dict[str, Floats] = {}
    for name, figure in (("muler", ratio_and_error), ("clipped", clipped_and_error)):
        samples[name], errors = figure(sums)
        ends[name] = _symmetric(*figure(plain), samples[name], errors, level, size)
    undefined = np.isnan(samples["muler"]).mean(axis=1)
    return Resampled(
        samples,
        tuple({name: pairs[k] for name, pairs in ends.items()} for k in range(len(size))),
        int(((undefined > _SPARSE) & (size >= LEAST)).sum()),
    )


def _percentiles(samples: Floats, level: float, sizes: NDArray[np.intp]) -> tuple[Ends, ...]:
    enough = np.flatnonzero(sizes >= LEAST)
    low, high = np.full((2, len(sizes)), np.nan)
    low[enough], high[enough] = percentile_interval(samples[enough], level)
    return _ends(low, high)


def _symmetric(
    estimate: Floats,
    error: Floats,
    samples: Floats,
    errors: Floats,
    level: float,
    sizes: NDArray[np.intp],
) -> tuple[Ends, ...]:
    moved = np.abs(samples - estimate[:, None])
    with np.errstate(invalid="ignore", divide="ignore"):
        distances = np.where((errors == 0) & (moved < _SAME), 0.0, moved / errors)
    wide = shift_distance(np.zeros(len(estimate)), distances, level) * error
    wide[(sizes < LEAST) | (error == 0)] = np.nan
    return _ends(estimate - wide, estimate + wide)


def _ends(low: Floats, high: Floats) -> tuple[Ends, ...]:
    pairs = zip(low.tolist(), high.tolist(), strict=True)
    return tuple((None, None) if math.isnan(a) else (a, b) for a, b in pairs)
