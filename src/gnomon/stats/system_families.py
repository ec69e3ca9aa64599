"""Pairs of systems as a family: their differences, resamples and exchanges of segments.

All comparisons of a family are made from the same resamples, over segments or over whole documents;
a pair is compared on the segments that both systems have. A corpus metric's standard errors come of
what each segment adds to it (by leaving it out): exact for means, to first order for others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.stats.families import Comparisons, draw_blocks
from gnomon.stats.pair_tests import blocks, exchanged
from gnomon.stats.resampling import resample_counts
from gnomon.stats.studentised import (
    Studentised,
    different,
    influence,
    resampled_errors,
    skewness,
    standard_error,
    studentised,
)
from gnomon.stats.system_tests import resampled, summable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from gnomon.stats.system_tests import Aggregate

__all__ = ["FamilyPair", "SystemDraws", "SystemFamily"]

_CELLS = 4_000_000  # units of comparisons that are held at once


class FamilyPair(NamedTuple):
    """Two systems, by number, on some of the segments; the same one twice: its score."""

    first: int
    second: int
    part: int = 0


class _Group(NamedTuple):
    """Systems on the units that some pairs have in common."""

    systems: list[int]
    sums: NDArray[np.float64]  # of statistics in each unit, 0 in others [systems, units, S]
    present: NDArray[np.bool_]  # the units in question [units]
    scores: NDArray[np.float64]  # [systems]
    influences: NDArray[np.float64]  # NaN in other units [systems, units]

    def place(self, system: int) -> int:
        """Where a system stands."""
        return self.systems.index(system)


@dataclass(frozen=True)
class SystemFamily:
    """Pairs of systems, and all that is drawn to compare them."""

    pairs: list[FamilyPair]
    comparisons: Comparisons
    _groups: list[_Group]
    _group: list[int]  # of each pair
    _score: Aggregate
    _seed: int

    @classmethod
    def from_statistics(
        cls,
        statistics: ArrayLike,
        pairs: Sequence[FamilyPair],
        *,
        aggregate: Aggregate | None = None,
        documents: NDArray[np.int64] | None = None,
        parts: Sequence[NDArray[np.bool_]] | None = None,
        seed: int = 0,
    ) -> SystemFamily:
        """The pairs of a family.

        Args:
            statistics: segment scores [systems, segments], or what a corpus metric adds up over
                segments [systems, segments, statistics]; NaN is missing.
            pairs: what is compared, or scored alone.
            aggregate: score of sums [..., statistics] -> [...]; needed for statistics, while
                segment scores are averaged.
            documents: the document of each segment, from 0 [segments]; these are drawn and
                exchanged whole.
            parts: the segments of each part; one of all by default.
            seed: of resamples and exchanges.
        """
        x, score = summable(statistics, aggregate)
        there = np.asarray(~np.isnan(x).any(axis=2))
        within = [np.ones(x.shape[1], dtype=np.bool_)] if parts is None else parts
        cells = [there[i] & there[j] & within[part] for i, j, part in pairs]
        kept = np.logical_or.reduce(cells)
        kept[:1] |= not kept.any()  # resamples are of something
        names = np.arange(int(kept.sum()))
        if documents is not None:
            _, names = np.unique(documents[kept], return_inverse=True)
        number: dict[bytes, int] = {}
        group = [number.setdefault(np.packbits(mask).tobytes(), len(number)) for mask in cells]
        groups = []
        for g in range(len(number)):
            members = [pair for pair, of in zip(pairs, group, strict=True) if of == g]
            systems = sorted({k for pair in members for k in pair[:2]})
            mask = cells[group.index(g)][kept]
            groups.append(_group_systems(x[systems][:, kept], systems, mask, names, score))
        estimates, errors, units, differ = [], [], [], []
        for pair, g in zip(pairs, group, strict=True):
            of = groups[g]
            i, j = of.place(pair.first), of.place(pair.second)
            single = i == j
            n = int(of.present.sum())
            estimates.append(of.scores[i] if single else of.scores[i] - of.scores[j])
            added = of.influences[i] if single else of.influences[i] - of.influences[j]
            errors.append(float(standard_error(added)) if n > 1 else np.nan)
            units.append(n)
            differ.append(n if single else different(of.sums[i], of.sums[j]))
        observed = Comparisons.from_arrays(estimates, errors, units, differ)
        return cls(list(pairs), observed, groups, group, score, seed)

    def replicates(self, k: int, values: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        """A difference (or score) in every resample, of scores there [systems, draws] by group."""
        pair, g = self.pairs[k], self._group[k]
        i, j = self._groups[g].place(pair.first), self._groups[g].place(pair.second)
        return values[g][i] if i == j else np.asarray(values[g][i] - values[g][j])

    def draws(self, count: int) -> SystemDraws:
        """So many resamples of the units."""
        units = len(self._groups[0].present) if self._groups else 1
        counts = resample_counts(max(units, 1), count=count, seed=self._seed)
        values = [self._score(resampled(group.sums, counts)).T for group in self._groups]
        return SystemDraws(self, counts, values)

    def exchanges(self, count: int) -> NDArray[np.float64]:
        """Differences after exchanges of the two systems' units, a coin each [pairs, count]."""
        null = np.full((len(self.pairs), count), np.nan)
        for g, group in enumerate(self._groups):
            systems, units, columns = group.sums.shape
            rows = group.sums.transpose(1, 0, 2).reshape(units, systems * columns)
            coins = (exchanged("inputs", (1, units), (self._seed,), b)[:, 0] for b in blocks(count))
            moved = np.concatenate([c.astype(np.float64) @ rows for c in coins])[:count]
            moved = moved.reshape(count, systems, columns)
            totals = group.sums.sum(axis=1)
            for k, pair in enumerate(self.pairs):
                if self._group[k] == g and pair.first != pair.second:
                    i, j = group.place(pair.first), group.place(pair.second)
                    gain = moved[:, j] - moved[:, i]
                    null[k] = self._score(totals[i] + gain) - self._score(totals[j] - gain)
        return null

    @property
    def skewness(self) -> NDArray[np.float64]:
        """Of what the units add to each difference."""
        return np.array([skewness(self.added(k)[self._present(k)]) for k in range(len(self.pairs))])

    def _present(self, k: int) -> NDArray[np.bool_]:
        return self._groups[self._group[k]].present

    def added(self, k: int) -> NDArray[np.float64]:
        """Contribution of each unit to a difference (or score); NaN where a system lacks it."""
        pair, group = self.pairs[k], self._groups[self._group[k]]
        i, j = group.place(pair.first), group.place(pair.second)
        added = group.influences
        return added[i] if i == j else np.asarray(added[i] - added[j])


@dataclass(frozen=True)
class SystemDraws:
    """Resamples of the units of a family, the same for all pairs."""

    family: SystemFamily
    counts: NDArray[np.uint8]
    values: list[NDArray[np.float64]]  # by group [systems, draws]

    def alone(self, k: int, confidence: float) -> Studentised:
        """The studentised interval of a pair (or of a score) that stands alone."""
        replicates, spreads = np.concatenate([*self.resampled(np.array([k]))], axis=-1)[:, 0]
        estimates, errors, units, _ = self.family.comparisons
        estimate, error = float(estimates[k]), float(errors[k])
        return studentised(estimate, error, int(units[k]), replicates, spreads, confidence)

    def resampled(
        self, rows: NDArray[np.intp]
    ) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Differences in some resamples after the other and their errors there [rows, draws]."""
        units, draws = self.counts.shape
        parts = np.array_split(rows, -(-len(rows) * units // _CELLS))
        for block in draw_blocks(len(rows), draws):
            counts = self.counts[:, block]
            values = [of_group[:, block] for of_group in self.values]
            errors = [
                resampled_errors(np.array([self.family.added(k) for k in some.tolist()]), counts)
                for some in parts
            ]
            replicates = np.array([self.family.replicates(k, values) for k in rows.tolist()])
            yield replicates, np.concatenate(errors)


def _group_systems(
    x: NDArray[np.float64],
    systems: list[int],
    mask: NDArray[np.bool_],
    names: NDArray[np.int64],
    score: Aggregate,
) -> _Group:
    """Systems [systems, segments, S] on some of the segments, by the units of these."""
    sums = np.where(mask[:, None], x, 0.0)
    units = int(names.max(initial=-1)) + 1
    present = np.bincount(names, mask, minlength=units) > 0
    if units < len(names):
        inside = np.zeros((units, len(names)))
        inside[names, np.arange(len(names))] = 1.0
        sums = inside @ sums
    influences = np.full(sums.shape[:2], np.nan)
    if present.sum() > 1:
        influences[:, present] = influence(sums[:, present], score)
    scores = score(sums.sum(axis=1)) if present.any() else np.full(len(systems), np.nan)
    return _Group(systems, sums, present, scores, influences)
