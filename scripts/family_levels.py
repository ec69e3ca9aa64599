"""How often `gnomon compare` is wrong somewhere, of several systems, and how often it is right.

    python scripts/family_levels.py --draws 1000 > tables.md

Systems are drawn with noise of their own, equal or with known means. A row counts, of all draws:
any system that is called better though it is not, any interval that misses the true difference, and
the share of true differences that are decided; each beside the rule of before, Student's t with
Holm's correction for p and an interval of each difference alone.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnomon.stats import FamilyPair, SystemFamily, exchange_test, family_test, holm
from gnomon.stats.student import mean_test

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Array = NDArray[np.float64]


class Noise(NamedTuple):
    """How scores of equal systems are drawn.

    Attributes:
        drawn: scores [systems, segments].
        step: by which a better system's scores are higher, where they are; 0: all by as much.
    """

    drawn: Callable[[np.random.Generator, tuple[int, int]], Array]
    step: float = 0.0

    def moved(self, draw: np.random.Generator, scores: Array, by: Array) -> Array:
        """Scores whose means are so much higher [systems]; steps are taken by chance."""
        if not self.step:
            return scores + by[:, None]
        steps = np.floor(by[:, None] / self.step + draw.random(scores.shape))
        return np.asarray(scores + self.step * steps)

    def error(self, segments: int) -> float:
        """The standard error of a difference of two systems."""
        first, second = self.drawn(np.random.default_rng(99), (2, 200_000))
        return float((first - second).std() / np.sqrt(segments))


def _rare(draw: np.random.Generator, shape: tuple[int, int]) -> Array:
    return draw.normal(size=shape) * (draw.random(shape) < 0.05)


def _human(draw: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Of 10 to 100 in steps of 10, a third of them 100: segments are hard alike for all systems."""
    scores = 90 + 8 * draw.normal(size=shape[1]) + 12 * draw.normal(size=shape)
    return np.asarray(10 * np.round(np.clip(scores, 10, 100) / 10))


NOISE = {
    "normal": Noise(lambda draw, shape: draw.normal(size=shape)),
    "heavy tails (t, 3 df)": Noise(lambda draw, shape: draw.standard_t(3, size=shape)),
    "skewed (exponential)": Noise(lambda draw, shape: draw.exponential(size=shape)),
    "rare (5 %)": Noise(_rare, step=2),
    "human scores, many ties": Noise(_human, step=10),
}
_ALPHA = 0.05


class FamilyCounts(NamedTuple):
    """What came of some draws.

    Attributes:
        false: how often any system was called better that is not.
        missed: how often any interval missed the true difference.
        found: true differences that were decided.
    """

    false: int = 0
    missed: int = 0
    found: int = 0


class FamilyLevels(NamedTuple):
    """What came of some draws under the rule of now and that of before.

    Attributes:
        draws: how many there were.
        true: differences of systems that are not equal, in all draws.
        now: under the rule of now.
        before: under that of before.
    """

    draws: int
    true: int
    now: FamilyCounts
    before: FamilyCounts


class How(NamedTuple):
    """A way to compare systems.

    Attributes:
        baseline: the first one is named as the baseline; else the best is looked for.
        places: of the best that is looked for, comparisons with the leader alone are read.
        test: "bootstrap" or "ar".
        missing: largest share of segments that a system lacks.
        documents: how many segments make a document, with a mood of its own; 0: none.
    """

    baseline: bool = False
    places: bool = False
    test: str = "bootstrap"
    missing: float = 0.0
    documents: int = 0


class _Decided(NamedTuple):
    """What one rule says of the pairs [pairs]."""

    said: NDArray[np.bool_]
    low: Array
    high: Array

    def counted(self, read: NDArray[np.bool_], estimates: Array, truth: Array) -> FamilyCounts:
        right = estimates * truth > 0
        return FamilyCounts(
            int((self.said & read & ~right).any()),
            int(((self.low > truth) | (self.high < truth))[read].any()),
            int((self.said & read & right).sum()),
        )


def family_levels(
    noise: Noise,
    means: Array,
    segments: int,
    *,
    draws: int,
    how: How | None = None,
    resamples: int = 999,
) -> FamilyLevels:
    """The counts of one cell of the tables; the seeds are 0, 1, 2, ...

    Args:
        noise: of systems.
        means: of systems, in standard errors of a difference.
        segments: how many there are.
        draws: how often.
        how: how the systems are compared.
        resamples: of the bootstrap, and exchanges of the randomisation.
    """
    how = how or How()
    k = len(means)
    pairs = [FamilyPair(i, j) for i in range(1, k) for j in range(1 if how.baseline else i)]
    by = noise.error(segments) * np.sqrt(1 + how.documents) * (means - means.max())
    truth = np.array([by[i] - by[j] for i, j, _ in pairs])
    counts, true = [], 0
    for seed in range(draws):
        draw = np.random.default_rng(seed)
        scores = noise.moved(draw, noise.drawn(draw, (k, segments)), by)
        documents = None
        if how.documents:
            documents = np.arange(segments) // how.documents
            scores += noise.drawn(draw, (k, int(documents[-1]) + 1))[:, documents]
        if how.missing:
            lacking = how.missing * draw.random((k, 1))
            scores[draw.random(scores.shape) < lacking] = np.nan
        read = np.ones(len(pairs), dtype=np.bool_)
        if how.places:
            leader = int(np.nanmean(scores, axis=1).argmax())
            read = np.array([leader in pair[:2] for pair in pairs])
        family = SystemFamily.from_statistics(scores, pairs, documents=documents, seed=seed)
        rules = _now(family, how, resamples), _before(scores, pairs, how.documents)
        counts.append([r.counted(read, family.comparisons.estimates, truth) for r in rules])
        true += int((read & (truth != 0)).sum())
    now, before = (
        FamilyCounts(*map(sum, zip(*of, strict=True))) for of in zip(*counts, strict=True)
    )
    return FamilyLevels(draws, true, now, before)


def _now(family: SystemFamily, how: How, resamples: int) -> _Decided:
    places = [pair[:2] for pair in family.pairs] if how.places else None
    estimates = family.comparisons.estimates
    if how.test == "ar":
        tested = exchange_test(estimates, family.exchanges(resamples), pairs=places)
    else:
        drawn = family.draws(resamples).resampled
        tested = family_test(family.comparisons, drawn, pairs=places)
    said = np.array([decided is True for decided in tested.decided])
    return _Decided(said, tested.low, tested.high)


def _before(scores: Array, pairs: Sequence[FamilyPair], documents: int) -> _Decided:
    gains = [scores[i] - scores[j] for i, j, _ in pairs]
    if documents:
        gains = [gain.reshape(-1, documents).mean(axis=1) for gain in gains]
    tests = [mean_test(gain[~np.isnan(gain)].tolist(), _ALPHA) for gain in gains]
    low, high, p = np.array(tests).T
    return _Decided(holm(p) <= _ALPHA, low, high)


#: means of systems, in standard errors of a difference
EQUAL = {k: np.zeros(k) for k in (2, 5, 20)}
HALF = {
    2: np.array([0, 3.0]),
    5: np.array([0, 0, 0, 3.0, 3.0]),
    20: np.repeat([0.0, 4.0], 10),
}
FIRST = {5: np.array([3.0, 0, 0, 0, 0])}
SPREAD = {5: np.arange(5.0) * 1.5}

#: how several systems are compared, besides all pairs
OTHER_WAYS = {
    "first place": How(places=True),
    "with a baseline": How(baseline=True),
    "randomisation": How(test="ar"),
    "up to 30 % of scores missing": How(missing=0.3),
    "15 documents": How(documents=5),
    "40 documents": How(documents=5),
}
_COLUMNS = "wrong | before | missed | before | found | before"


def _cells(noise: Noise, segments: int, systems: Sequence[int], draws: int, how: How) -> str:
    """The shares, for so many systems each."""
    columns: list[list[str]] = [[] for _ in range(6)]
    for k in systems:
        times = draws // (2 if k == 20 else 1) // (2 if segments == 2000 else 1)
        better = FIRST[k] if how.places else HALF[k]
        equal = family_levels(noise, EQUAL[k], segments, draws=times, how=how)
        half = family_levels(noise, better, segments, draws=times, how=how)
        shares = [count.false / times for count in (equal.now, equal.before)]
        shares += [count.missed / times for count in (half.now, half.before)]
        shares += [count.found / half.true for count in (half.now, half.before)]
        for column, share, digits in zip(columns, shares, (3, 3, 3, 2, 2, 2), strict=True):
            column.append(f"{share:.{digits}f}".removeprefix("0"))
    if how.test == "ar":
        columns[2] = ["-"]
    return " | ".join(" / ".join(column) for column in columns)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=1000)
    args = parser.parse_args()
    print(f"| noise | segments | {_COLUMNS} |\n" + "|---" * 8 + "|")
    for name, noise in NOISE.items():
        for n in (30, 60, 200, 2000):
            print(
                f"| {name} | {n:,} | {_cells(noise, n, (2, 5, 20), args.draws, How())} |",
                flush=True,
            )
    print(f"\n| compared | noise | {_COLUMNS} |\n" + "|---" * 8 + "|")
    for what, how in OTHER_WAYS.items():
        n = 75 if what == "15 documents" else 200
        for name, noise in NOISE.items():
            print(f"| {what} | {name} | {_cells(noise, n, (5,), args.draws, how)} |", flush=True)


if __name__ == "__main__":
    main()
