"""How often `gnomon compare` calls noise a difference, and how often its intervals hold the truth.

    python scripts/compare_levels.py --draws 2000 > table.md

Differences of two systems are drawn from known distributions, segment by segment or with half of
their size in documents. A row counts how often, of all draws, one system is called better though
the means are equal (the differences less their mean), how often there is an interval (six segments
differ or more), and how often such an interval holds the mean.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnomon.comparison.paired_tests import PairedScores, PairedTestPlan, figures

Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]


def _rare(share: float, *, one_sided: bool) -> Draw:
    def drawn(draw: np.random.Generator, n: int) -> NDArray[np.float64]:
        sizes = draw.exponential(size=n) if one_sided else draw.normal(size=n)
        return sizes * (draw.random(n) < share)

    return drawn


#: name -> how differences are drawn, and their mean
DISTRIBUTIONS: dict[str, tuple[Draw, float]] = {
    "normal": (lambda draw, n: draw.normal(size=n), 0.0),
    "heavy tails (t, 3 df)": (lambda draw, n: draw.standard_t(3, size=n), 0.0),
    "heavy tails (two lognormals)": (
        lambda draw, n: draw.lognormal(size=n) - draw.lognormal(size=n),
        0.0,
    ),
    "skewed (exponential)": (lambda draw, n: draw.exponential(size=n), 1.0),
    "very skewed (lognormal)": (lambda draw, n: draw.lognormal(size=n), float(np.exp(0.5))),
    "rare, both ways (2 %)": (_rare(0.02, one_sided=False), 0.0),
    "rare, both ways (5 %)": (_rare(0.05, one_sided=False), 0.0),
    "rare, one way (2 %)": (_rare(0.02, one_sided=True), 0.02),
    "rare, one way (5 %)": (_rare(0.05, one_sided=True), 0.05),
}
SIZES = (30, 60, 200, 2000)
#: segments of a document
EACH = 5


class Counts(NamedTuple):
    """What came of some draws.

    Attributes:
        draws: how many there were.
        found: how often one system was called better or worse where the means are equal.
        intervals: how often there was an interval.
        covered: how often it held the mean.
    """

    draws: int
    found: int
    intervals: int
    covered: int


def counts(
    drawn: Draw,
    mean: float,
    segments: int,
    *,
    draws: int,
    resamples: int = 999,
    documents: bool = False,
    unit: str = "segment",
    test: str = "bootstrap",
    rare: bool = False,
) -> Counts:
    """The counts of one cell of the table; the seeds are 0, 1, 2, ...

    Args:
        drawn: draws the differences.
        mean: their mean.
        segments: how many there are.
        draws: how often.
        resamples: of the bootstrap, and exchanges of the randomisation.
        documents: half of the variance is that of documents of five segments.
        unit: "segment" or "document".
        test: "bootstrap" or "ar".
        rare: most differences are 0, and stay so: the null hypothesis is not made by a shift.
    """
    plan = PairedTestPlan(test, resamples, resamples, unit=unit)  # type: ignore[arg-type]
    everything = np.ones(segments, dtype=np.bool_)
    names = np.arange(segments) // EACH
    decided = intervals = covered = 0
    for seed in range(draws):
        draw = np.random.default_rng(seed)
        gains = drawn(draw, segments)
        if documents:
            whole = drawn(draw, names[-1] + 1)[names]
            gains, shift = (gains + whole) / 2, mean
        else:
            shift = mean
        base = draw.normal(50, 10, segments)
        null = not rare or mean == 0
        for moved in (shift, 0.0) if null and mean else (0.0,):
            cells = np.stack([base, base + gains - moved])
            paired = PairedScores("m", ("A", "B"), cells, cells, None, 1)
            [[_, figure]] = figures(paired, [everything], plan, names if documents else None)
            if null and (moved or not mean):
                decided += bool(figure.decided)
            if not moved and figure.low < figure.high:  # where nothing differs, both are 0
                intervals += 1
                covered += figure.low <= mean <= figure.high
    return Counts(draws, decided, intervals, covered)


def _cells(draws: int, sizes: tuple[int, ...]) -> Iterator[str]:
    for name, (drawn, mean) in DISTRIBUTIONS.items():
        rare = name.startswith("rare")
        for segments in sizes:
            times = max(200, draws // 4) if segments >= 2000 else draws
            yield _row(name, segments, counts(drawn, mean, segments, draws=times, rare=rare), mean)
    for name in ("normal", "heavy tails (t, 3 df)", "skewed (exponential)"):
        drawn, mean = DISTRIBUTIONS[name]
        for unit in ("segment", "document"):
            for segments in (75, 200):
                counted = counts(drawn, mean, segments, draws=draws, documents=True, unit=unit)
                yield _row(f"{name}, in documents, by {unit}", segments, counted, mean)


def _row(name: str, segments: int, found: Counts, mean: float) -> str:
    null = "-" if name.startswith("rare") and mean else f"{found.found / found.draws:.3f}"
    held = f"{found.covered / found.intervals:.3f}" if found.intervals else "-"
    given = f"{found.intervals / found.draws:.2f}"
    return f"| {name} | {segments:,} | {null} | {given} | {held} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    args = parser.parse_args()
    print("| differences | segments | called a difference | with interval | covered |")
    print("|---|---|---|---|---|")
    for row in _cells(args.draws, tuple(args.sizes)):
        print(row, flush=True)


if __name__ == "__main__":
    main()
