"""Systems compared on features: differences of MuLER, decided together over features and pairs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from gnomon.stats.families import Comparisons, draw_blocks, family_draws, family_test
from gnomon.stats.jackknife import LEAST_DOCUMENTS
from gnomon.stats.resampling import resample_counts, resampled_sums
from gnomon.stats.student import upper_tail
from gnomon.stats.studentised import FEWEST_DIFFERENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.core.options import DrawOptions
    from gnomon.stats.families import Family

    Floats: TypeAlias = NDArray[np.float64]

__all__ = [
    "FEWEST_DIFFERING",
    "Compared",
    "FeatureRatios",
    "FeatureShares",
    "Units",
    "compared",
    "linearised",
]

#: segments in which the words of a feature have to differ, so that systems are compared on it
FEWEST_DIFFERING = 20
_CELLS = 1_000_000  # segments of pairs that are compared at once
_STILL = 1e-9  # a standard error below this is rounding


def linearised(gain: Floats, spread: Floats, where: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """A ratio of sums over some segments [...], and how far each segment moves it [..., N]."""
    above, below = np.where(where, gain, 0.0), np.where(where, spread, 0.0)
    total = below.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = above.sum(axis=-1, keepdims=True) / np.where(total == 0, np.nan, total)
        return value[..., 0], (above - value * below) / total


class Units(NamedTuple):
    """The units of draws: segments, or whole documents."""

    document: NDArray[np.int64] | None
    number: int

    @classmethod
    def create(cls, segments: int, documents: NDArray[np.int64] | None) -> Units:
        """Of so many segments, or of the document of each."""
        return cls(documents, segments if documents is None else int(documents.max()) + 1)

    @property
    def least(self) -> int:
        """Least number of units that bears a test."""
        return 1 if self.document is None else LEAST_DOCUMENTS

    def groups(self, rows: NDArray[np.intp]) -> tuple[NDArray[np.intp], Floats | None]:
        """The units of some segments, and what adds these up [n, units]; None: each is one."""
        if self.document is None:
            return rows, None
        units, which = np.unique(self.document[rows], return_inverse=True)
        return units, (which[:, None] == np.arange(len(units))).astype(np.float64)


@dataclass(frozen=True)
class FeatureRatios:
    """MuLER of K systems on a feature as ratios of sums over its n units.

    Attributes:
        feature: its name.
        units: places of the n units among all.
        gain: what is lost in each, float64 [K, n].
        spread: what there is to lose, [K, n].
        there: whether the system has the feature in the unit, [K, n].
        segments: how many segments of each system have it, [K].
        words: in how many the words of a pair of systems differ, [P].
        p_words: of the difference of MuLER in these segments alone, [P].
        spill_over: how much of the difference of MuLER comes from the other segments, [P].
    """

    feature: str
    units: NDArray[np.intp]
    gain: Floats
    spread: Floats
    there: NDArray[np.bool_]
    segments: NDArray[np.intp]
    words: NDArray[np.intp]
    p_words: Floats
    spill_over: Floats

    @classmethod
    def select(
        cls,
        feature: str,
        sums: tuple[Floats, Floats],
        inside: NDArray[np.bool_],
        differ: NDArray[np.bool_],
        units: Units,
    ) -> FeatureRatios:
        """Of what segments add to both sums [K, N], where systems have it, and words differ [P, N].

        Args:
            feature: its name.
            sums: what is lost in each segment, and what there is to lose.
            inside: where a system and its reference have the feature.
            differ: where the words of two systems differ.
            units: what is drawn.
        """
        rows = np.flatnonzero(inside.any(axis=0))
        there = inside[:, rows]
        gain, spread = (np.where(there, values[:, rows], 0.0) for values in sums)
        places, groups = units.groups(rows)
        p_words, spill_over = _test_words((gain, spread, there), differ[:, rows], groups)
        sizes, words = inside.sum(axis=1), differ.sum(axis=1)
        if groups is not None:
            gain, spread, there = gain @ groups, spread @ groups, there @ groups > 0
        return cls(feature, places, gain, spread, there, sizes, words, p_words, spill_over)

    @cached_property
    def linear(self) -> tuple[Floats, Floats]:
        """MuLER of each system, and how far each unit moves it."""
        return linearised(self.gain, self.spread, self.there)

    def sizes(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> NDArray[np.intp]:
        """Number of units of some pairs."""
        return np.asarray((self.there[first] | self.there[second]).sum(axis=1))

    def spreads(
        self, first: NDArray[np.intp], second: NDArray[np.intp]
    ) -> tuple[Floats, NDArray[np.intp]]:
        """Standard errors of the differences of some pairs; units of one size that vary as much."""
        moves = self.linear[1]
        squares = (moves[first] - moves[second]) ** 2
        total, fourth = squares.sum(axis=1), (squares**2).sum(axis=1)
        even = np.divide(total**2, fourth, out=np.zeros_like(total), where=fourth > 0)
        return np.sqrt(_unbiased_variances(total, self.sizes(first, second))), even.astype(np.intp)

    def resampled(
        self, first: NDArray[np.intp], second: NDArray[np.intp], counts: NDArray[np.uint8]
    ) -> tuple[Floats, Floats]:
        """Differences of some pairs in every resample, and their standard errors there."""
        values, moves = self.linear
        used, place = np.unique(np.concatenate([first, second]), return_inverse=True)
        a, b = np.split(place, 2)
        parts = [self.gain[used], self.spread[used], moves[used] ** 2, moves[first] * moves[second]]
        sums = resampled_sums(np.concatenate(parts), counts, self.units)
        gain, spread, squares, both = np.split(sums, np.cumsum([len(part) for part in parts[:-1]]))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = gain / np.where(spread == 0, np.nan, spread)
            scale = self.spread[used].sum(axis=1, keepdims=True) / spread
        difference = ratios[a] - ratios[b]
        shift = difference - (values[first] - values[second])[:, None]
        n = self.sizes(first, second)[:, None]
        variance = scale[a] ** 2 * squares[a] + scale[b] ** 2 * squares[b]
        variance -= 2 * scale[a] * scale[b] * both + shift**2 / n
        return difference, np.sqrt(_unbiased_variances(np.maximum(variance, 0.0), n))


class FeatureShares(FeatureRatios):
    """Shares of the same segments of all systems: few sums are drawn, mostly of whole numbers."""

    @classmethod
    def average(cls, feature: str, values: Floats, units: Units) -> FeatureRatios:
        """Of values of segments [K, N], NaN where a system is not judged.

        Words differ where values do; there is no p of these alone, and no spill-over.
        """
        judged = ~np.isnan(values)
        rows = np.flatnonzero(judged.any(axis=0))
        there = judged[:, rows]
        gain, spread = np.where(there, values[:, rows], 0.0), there.astype(np.float64)
        first, second = np.triu_indices(len(values), 1)
        words, unknown = (gain[first] != gain[second]).sum(axis=1), np.full(len(first), np.nan)
        places, groups = units.groups(rows)
        shares = cls if groups is None and there.all() else FeatureRatios
        if groups is not None:
            gain, spread, there = gain @ groups, spread @ groups, there @ groups > 0
        sizes = judged.sum(axis=1)
        return shares(feature, places, gain, spread, there, sizes, words, unknown, unknown)

    def resampled(
        self, first: NDArray[np.intp], second: NDArray[np.intp], counts: NDArray[np.uint8]
    ) -> tuple[Floats, Floats]:
        """Likewise, from the segments alone in which any system has something."""
        some = np.flatnonzero(self.gain.any(axis=0))
        own = self.gain[:, some]
        drawn = np.concatenate([own, (own[first] - own[second]) ** 2])
        whole = bool((drawn == np.rint(drawn)).all())  # single precision adds these up exactly
        exact: NDArray[np.floating] = drawn.astype(np.float32) if whole else drawn
        sums = resampled_sums(exact, counts, self.units[some])
        n, size = len(self.units), counts[self.units].sum(axis=0, dtype=np.float64)
        values = self.linear[0]
        observed = (values[first] - values[second])[:, None]
        gain, squares = sums[first] - sums[second], sums[len(own) :]
        with np.errstate(divide="ignore", invalid="ignore"):
            difference = gain / size
            variance = (squares - 2 * observed * gain + observed**2 * size) / size**2
        variance -= (difference - observed) ** 2 / n
        pairs = np.full((len(first), 1), n)
        return difference, np.sqrt(_unbiased_variances(np.maximum(variance, 0.0), pairs))


def _unbiased_variances(squares: Floats, n: NDArray[np.intp]) -> Floats:
    """Variances of sums of squares over n units; NaN of one alone."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(n > 1, squares * n / (n - 1), np.nan)


class Compared(NamedTuple):
    """A family of comparisons, feature by feature, and in these pair by pair."""

    difference: Floats
    reliable: NDArray[np.bool_]
    effective: NDArray[np.intp]
    family: Family
    draws: int


def compared(
    features: Sequence[FeatureRatios], units: Units, options: DrawOptions, least: int
) -> Compared:
    """Compare every pair of systems on every feature, and decide all of these together.

    A comparison takes part whose two figures lie within 0 to 1, over ``least`` segments or more,
    and whose words differ in ``FEWEST_DIFFERING`` or more, none of which decides alone.

    Args:
        features: what they say of the same systems.
        units: what is drawn.
        options: how often, and with which seed and confidence.
        least: segments of a figure that may be read.
    """
    first, second = np.triu_indices(len(features[0].gain), 1)
    values = np.stack([one.linear[0] for one in features])
    inside = (values >= 0) & (values <= 1) & (np.stack([f.segments for f in features]) >= least)
    difference = (values[:, first] - values[:, second]).ravel()
    reliable = (inside[:, first] & inside[:, second]).ravel()
    different = np.concatenate([one.words for one in features])
    sizes = np.concatenate([one.sizes(first, second) for one in features])
    errors, effective = (
        np.concatenate(parts)
        for parts in zip(*(one.spreads(first, second) for one in features), strict=True)
    )
    enough = (different >= FEWEST_DIFFERING) & (sizes >= units.least)
    if units.document is None:
        enough &= effective >= FEWEST_DIFFERENT
    takes_part = reliable & (enough | ((different == 0) & (difference == 0)))
    observed = Comparisons(
        np.where(takes_part, difference, np.nan),
        errors,
        sizes,
        np.where(takes_part, different, 0),
    )
    draws = family_draws(int((observed.different > 0).sum()), options.resamples)

    def resampled(places: NDArray[np.intp]) -> Iterator[tuple[Floats, Floats]]:
        counts = resample_counts(units.number, count=draws, seed=options.seed)
        feature, pair = np.divmod(places, len(first))
        for block in draw_blocks(len(places), draws):
            some = counts[:, block]
            drawn = np.empty((2, len(places), some.shape[1]))
            for number in np.unique(feature):
                at = feature == number
                pairs = first[pair[at]], second[pair[at]]
                drawn[:, at] = features[number].resampled(*pairs, some)
            yield drawn[0], drawn[1]

    family = family_test(observed, resampled, least=FEWEST_DIFFERING, confidence=options.confidence)
    return Compared(difference, reliable, effective, family, draws)


# Differences restricted to segments in which the words of a feature differ.


def _test_words(
    sides: tuple[Floats, Floats, NDArray[np.bool_]],
    differ: NDArray[np.bool_],
    groups: Floats | None,
) -> tuple[Floats, Floats]:
    """P of the differences of all pairs in the segments whose words differ, and the spill-over.

    P is 1 where the difference has another sign there. Spill-over is what is left of a difference
    less what it would be if both systems had the mean of their figures where the words are equal.
    """
    gain, spread, there = sides
    first, second = np.triu_indices(len(there), 1)
    whole = linearised(gain, spread, there)[0]
    p, without = np.ones(len(first)), np.zeros(len(first))
    step = max(1, _CELLS // max(1, there.shape[1]))
    for start in range(0, len(first), step):
        block = slice(start, start + step)
        pair = first[block], second[block]
        rows = (there[pair[0]] | there[pair[1]]) & differ[block]
        difference, tested = _test_pair(sides, pair, rows, groups)
        same_sign = difference * (whole[pair[0]] - whole[pair[1]]) > 0
        p[block] = np.where(same_sign, tested, 1.0)
        without[block] = _equalise_figures(gain, spread, pair, rows)
    return p, whole[first] - whole[second] - without


def _equalise_figures(
    gain: Floats,
    spread: Floats,
    pair: tuple[NDArray[np.intp], NDArray[np.intp]],
    rows: NDArray[np.bool_],
) -> Floats:
    """Differences of two ratios, if both had the mean of their figures outside some segments."""
    (gains, spreads) = (
        np.stack([(values[x] * rows).sum(axis=1) for x in pair])
        + np.mean([(values[x] * ~rows).sum(axis=1) for x in pair], axis=0)
        for values in (gain, spread)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        first, second = gains / np.where(spreads == 0, np.nan, spreads)
    return np.asarray(first - second)


def _test_pair(
    sides: tuple[Floats, Floats, NDArray[np.bool_]],
    pair: tuple[NDArray[np.intp], NDArray[np.intp]],
    rows: NDArray[np.bool_],
    groups: Floats | None,
) -> tuple[Floats, Floats]:
    """Differences of two ratios over the same segments [P, n], and their p; NaN where undefined."""
    gain, spread, within = sides
    (first, moves), (second, others) = (
        linearised(gain[x], spread[x], within[x] & rows) for x in pair
    )
    z, n = moves - others, rows.sum(axis=1).astype(np.float64)
    if groups is not None:
        z, sizes = z @ groups, rows @ groups
        squares = (sizes**2).sum(axis=1)
        n = np.divide(sizes.sum(axis=1) ** 2, squares, out=np.zeros_like(n), where=squares > 0)
    difference = first - second
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(n / (n - 1) * (z**2).sum(axis=1))
        t = np.where(
            error < _STILL, np.where(difference == 0, 0.0, np.inf), abs(difference) / error
        )
    statistics = zip(t.tolist(), (n - 1).tolist(), strict=True)
    p = [min(1.0, 2 * upper_tail(a, df)) if a >= 0 and df > 0 else np.nan for a, df in statistics]
    return difference, np.array(p)
