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
from gnomon.faults import Fault, refuse
from gnomon.muler._significance_sums import (
    drawn,
    figure_columns,
    figures_and_errors,
    mean_and_error,
    shares,
)
from gnomon.stats.resampling import percentile_interval, resample_counts, shift_distance
from gnomon.stats.significance import fewest_draws

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from gnomon.muler._figures import FeatureScores
    from gnomon.muler._presence import Presence
    from gnomon.muler._significance_sums import Estimate

    Ends: TypeAlias = tuple[float | None, float | None]
    Floats: TypeAlias = NDArray[np.float64]

__all__ = [
    "LEAST",
    "SEED",
    "Bootstrap",
    "Ends",
    "Frame",
    "Resampled",
    "bootstrap_faults",
    "frame",
    "resampled",
]

LEAST = 10  # segments below which nothing is said about uncertainty
SEED = 12345  # sacreBLEU's
_SAME = 1e-9  # figures that differ by less are equal
_SPARSE = 0.05  # share of undefined resamples above which an interval is told of


def bootstrap_faults(resamples: int, confidence: float, seed: int) -> Iterator[Fault]:
    """What no interval can be made of: faults of "confidence", "seed" and "bootstrap"."""
    if seed < 0:
        yield Fault("seed", UsageError(f"a seed is a whole number, 0 or more; got {seed}"))
    if not 0 < confidence < 1:
        said = f"confidence lies strictly between 0 and 1, as in 0.95; got {confidence}"
        yield Fault("confidence", UsageError(said))
        return
    least = fewest_draws(confidence)
    if resamples != 0 and resamples < least:
        said = (
            f"bootstrap takes a number of resamples: 0 for none, or at least {least} for a"
            f" confidence of {confidence}; got {resamples}"
        )
        yield Fault("bootstrap", UsageError(said))


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
        refuse(bootstrap_faults(self.resamples, self.confidence, self.seed))

    def fields(self) -> dict[str, object]:
        """What a signature says of it; nothing where nothing is drawn."""
        if not self.resamples:
            return {}
        return {"bs": self.resamples, "confidence": self.confidence, "seed": self.seed}

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
    zeroed = np.where(scored, values, 0.0)
    columns = {
        "n": scored.astype(np.float64),
        "base": zeroed,
        "base 2": zeroed**2,
        "judged": judged.astype(np.float64),
    }
    sums = drawn(columns, counts, rows)
    plain, samples = (
        mean_and_error(one["base"], one["base 2"], one["n"]) for one in (_plain(columns), sums)
    )
    ends = _symmetric(plain, samples, confidence, scored.sum(axis=1))
    return Frame(members, counts, confidence, ends, sums["judged"], judged.sum(axis=1))


def resampled(scores: FeatureScores, present: Presence, within: Frame) -> Resampled:
    """The figures of one feature in every resample, and their intervals.

    MuLER, in both variants, and mean scores have the symmetric bootstrap-t interval (Hall, 1988):
    estimate -+ q s, where s is the standard error and q the quantile over resamples of |estimate* -
    estimate| / s*. Shares of segments have percentile intervals. There is none for a figure over
    fewer than ``LEAST`` segments, nor for one that does not vary.

    Args:
        scores: sentence scores of the feature.
        present: where it occurs.
        within: the slice.
    """
    inside = present.both & within.members
    some = (inside | (present.neither < 1)).any(axis=0)  # all else adds 0 to every sum
    rows = np.flatnonzero(within.members & some)
    columns = figure_columns(scores, present, inside, rows)
    sums = drawn(columns, within.counts, rows)
    size, level, better = inside.sum(axis=1), within.confidence, scores.higher_is_better
    plain, samples = (
        figures_and_errors(one, higher_is_better=better) for one in (_plain(columns), sums)
    )
    ends: dict[str, tuple[Ends, ...]] = {"base_all": within.base_all}
    for name, estimate in plain.items():
        ends[name] = _symmetric(estimate, samples[name], level, size)
    for name, values in shares(sums, within.judged).items():
        ends[name] = _percentiles(values, level, within.references)
    undefined = np.isnan(samples["muler"].value).mean(axis=1)
    return Resampled(
        {name: samples[name].value for name in ("muler", "clipped")},
        tuple({name: pairs[k] for name, pairs in ends.items()} for k in range(len(size))),
        int(((undefined > _SPARSE) & (size >= LEAST)).sum()),
    )


def _plain(columns: Mapping[str, Floats]) -> dict[str, Floats]:
    """Sums over the test set itself."""
    return {name: values.sum(axis=1) for name, values in columns.items()}


def _percentiles(samples: Floats, level: float, sizes: NDArray[np.intp]) -> tuple[Ends, ...]:
    enough = np.flatnonzero(sizes >= LEAST)
    low, high = np.full((2, len(sizes)), np.nan)
    low[enough], high[enough] = percentile_interval(samples[enough], level)
    low[low == high] = np.nan
    return _ends(low, high)


def _symmetric(
    estimate: Estimate, samples: Estimate, level: float, sizes: NDArray[np.intp]
) -> tuple[Ends, ...]:
    moved = np.abs(samples.value - estimate.value[:, None])
    with np.errstate(invalid="ignore", divide="ignore"):
        distances = np.where((samples.error == 0) & (moved < _SAME), 0.0, moved / samples.error)
    wide = shift_distance(np.zeros(len(moved)), distances, level) * estimate.error
    wide[(sizes < LEAST) | (estimate.error == 0)] = np.nan
    return _ends(estimate.value - wide, estimate.value + wide)


def _ends(low: Floats, high: Floats) -> tuple[Ends, ...]:
    pairs = zip(low.tolist(), high.tolist(), strict=True)
    return tuple((None, None) if math.isnan(a) else (a, b) for a, b in pairs)
