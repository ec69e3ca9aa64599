"""How often `gnomon compare` is wrong somewhere, of several systems, and how often it is right.

    python scripts/family_levels.py --draws 1000 > table.md

Systems are drawn with noise of their own, equal or with known means. A row counts, of all draws:
any system that is called better though it is not (of equal systems, and of some that are equal),
any interval that misses the true difference, and the share of true differences that are decided,
beside that of Holm's correction of Student's t, one pair at a time.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnomon.stats import FamilyPair, SystemFamily, exchange_test, family_test, holm
from gnomon.stats.student import mean_test

Noise = Callable[[np.random.Generator, tuple[int, int]], NDArray[np.float64]]
Array = NDArray[np.float64]


def _rare(draw: np.random.Generator, shape: tuple[int, int]) -> Array:
    return draw.normal(size=shape) * (draw.random(shape) < 0.05)


#: name -> noise of systems [systems, segments], with mean 0
NOISE: dict[str, Noise] = {
    "normal": lambda draw, shape: draw.normal(size=shape),
    "heavy tails (t, 3 df)": lambda draw, shape: draw.standard_t(3, size=shape),
    "skewed (exponential)": lambda draw, shape: draw.exponential(size=shape) - 1,
    "rare (5 %)": _rare,
}
_ALPHA = 0.05


class FamilyCounts(NamedTuple):
    """What came of some draws.

    Attributes:
        draws: how many there were.
        false: how often any system was called better that is not.
        missed: how often any interval missed the true difference.
        found: true differences that were decided.
        by_holm: those that Holm's correction decides.
        true: how many there were.
    """

    draws: int
    false: int
    missed: int
    found: int
    by_holm: int
    true: int


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


def family_counts(
    noise: Noise,
    means: Array,
    segments: int,
    *,
    draws: int,
    how: How | None = None,
    resamples: int = 999,
    holm_too: bool = False,
) -> FamilyCounts:
    """The counts of one cell of the table; the seeds are 0, 1, 2, ...

    Args:
        noise: of systems.
        means: of systems, in standard errors of a difference.
        segments: how many there are.
        draws: how often.
        how: how the systems are compared.
        resamples: of the bootstrap, and exchanges of the randomisation.
        holm_too: count what Holm's correction finds.
    """
    how = how or How()
    k = len(means)
    pairs = [FamilyPair(i, j) for i in range(1, k) for j in range(1 if how.baseline else i)]
    false = missed = found = by_holm = true = 0
    scale = float(noise(np.random.default_rng(99), (1, 200_000)).std()) * np.sqrt(2 / segments)
    for seed in range(draws):
        draw = np.random.default_rng(seed)
        scores = noise(draw, (k, segments)) + scale * means[:, None]
        documents = None
        if how.documents:
            documents = np.arange(segments) // how.documents
            scores += noise(draw, (k, int(documents[-1]) + 1))[:, documents]
        if how.missing:
            lacking = how.missing * draw.random((k, 1))
            scores[draw.random(scores.shape) < lacking] = np.nan
        truth = scale * np.array([means[i] - means[j] for i, j, _ in pairs])
        family = SystemFamily.of(scores, pairs, documents=documents, seed=seed)
        said, intervals = _decided(family, how, resamples, pairs)
        estimates = family.comparisons.estimates
        read = np.ones(len(pairs), dtype=np.bool_)
        if how.places:
            leader = int(np.nanmean(scores, axis=1).argmax())
            read = np.array([leader in pair[:2] for pair in pairs])
        false += bool((said & read & (estimates * truth <= 0)).any())
        low, high = intervals
        missed += bool(((low > truth) | (high < truth))[read].any())
        true += int((read & (truth != 0)).sum())
        found += int((said & read & (estimates * truth > 0)).sum())
        if holm_too:
            gains = [scores[i] - scores[j] for i, j, _ in pairs]
            p = [mean_test(gain[~np.isnan(gain)].tolist())[2] for gain in gains]
            old = holm(np.array(p)) <= _ALPHA
            by_holm += int((old & read & (estimates * truth > 0)).sum())
    return FamilyCounts(draws, false, missed, found, by_holm, true)


def _decided(
    family: SystemFamily, how: How, resamples: int, pairs: list[FamilyPair]
) -> tuple[NDArray[np.bool_], tuple[Array, Array]]:
    places = [pair[:2] for pair in pairs] if how.places else None
    if how.test == "ar":
        null = family.exchanges(resamples)
        tested = exchange_test(family.comparisons.estimates, null, pairs=places)
    else:
        tested = family_test(
            family.comparisons,
            family.draws(resamples).resampled,
            pairs=places,
        )
    said = np.array([decided is True for decided in tested.decided])
    return said, (tested.low, tested.high)


#: means of systems, in standard errors of a difference
EQUAL = {k: np.zeros(k) for k in (2, 5, 20)}
HALF = {5: np.array([0, 0, 0, 3.0, 3.0]), 20: np.repeat([0.0, 4.0], 10)}
FIRST = {5: np.array([3.0, 0, 0, 0, 0]), 20: np.array([3.5, *[0.0] * 19])}
SPREAD = {5: np.arange(5.0) * 1.5, 20: np.arange(20.0)}


class Cell(NamedTuple):
    """A row of the table."""

    noise: str
    segments: int
    systems: int
    compared: str
    truth: str
    means: Array
    how: How


def _other_ways() -> Iterator[Cell]:
    for name in NOISE:
        for what, how in (
            ("randomisation", How(test="ar")),
            ("up to 30 % missing", How(missing=0.3)),
        ):
            for kind, means in (("equal", EQUAL), ("half better", HALF)):
                yield Cell(name, 200, 5, what, kind, means[5], how)
        for documents in (15, 40):
            what, how = f"{documents} documents", How(documents=5)
            yield Cell(name, 5 * documents, 5, what, "equal", EQUAL[5], how)


def _questions() -> Iterator[Cell]:
    for name, n, k in [
        *((name, n, 5) for name in NOISE for n in (60, 200)),
        ("normal", 200, 20),
        ("skewed (exponential)", 200, 20),
    ]:
        for kind, means in (("equal", EQUAL), ("half better", HALF)):
            yield Cell(name, n, k, "baseline", kind, means[k], How(baseline=True))
        yield Cell(name, n, k, "all pairs", "half better", HALF[k], How())
        for kind, means in (("equal", EQUAL), ("one best", FIRST), ("spread", SPREAD)):
            yield Cell(name, n, k, "first place", kind, means[k], How(places=True))


def _sizes() -> Iterator[Cell]:
    for n in (30, 60, 200, 2000):
        for name in NOISE:
            for k in (2, 5, 20):
                yield Cell(name, n, k, "all pairs", "equal", EQUAL[k], How())


def _row(cell: Cell, draws: int) -> str:
    times = draws // (2 if cell.systems == 20 else 1) // (4 if cell.segments == 2000 else 1)
    test = cell.how.test
    holm_too = cell.truth != "equal" and test == "bootstrap"
    found = family_counts(
        NOISE[cell.noise], cell.means, cell.segments, draws=times, how=cell.how, holm_too=holm_too
    )
    power = f"{found.found / found.true:.2f}" if found.true else "-"
    old = f"{found.by_holm / found.true:.2f}" if holm_too else "-"
    missed = "-" if test == "ar" else f"{found.missed / times:.3f}"
    return (
        f"| {cell.noise} | {cell.segments:,} | {cell.systems} | {cell.compared} | {cell.truth}"
        f" | {found.false / times:.3f} | {missed} | {power} | {old} |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=1000)
    args = parser.parse_args()
    print("| noise | segments | systems | compared | truth | false | missed | found | by Holm |")
    print("|---|---|---|---|---|---|---|---|---|")
    for cell in (*_other_ways(), *_questions(), *_sizes()):
        print(_row(cell, args.draws), flush=True)


if __name__ == "__main__":
    main()
