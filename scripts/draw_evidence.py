"""What choosing segments or documents by a metric does to what people's judgements say.

    python scripts/draw_evidence.py DATA [--draws 500] [--metric chrf] [--slopes]

takes the judged segments of WMT24's English to Czech and to Japanese (ESA) and of WMT21's English
to German (MQM) under DATA as the whole, and judges a part of them again and again: at random, in
strata, weighted, or the first k by the metric, always with as many segments in mean. For each two
systems it compares the error of their mean difference with that of random draws, and counts
intervals that hold the whole's difference. It prints the table of docs/methods/human-evidence.md.

``--slopes`` prints another table of that page: how many more judgements a difference takes when the
metric's mean over further segments moves it by a slope that is estimated, or fixed.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import gnomon as gn
from gnomon.methods.human.sampling import DesignName, SamplingUnit, Unit, design_of, units_of
from gnomon.stats.covariate import pooled_slope
from gnomon.stats.jackknife import jackknife, left_out_sums
from gnomon.stats.student import upper_quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

SETS = (("wmt24/en-cs", "esa"), ("wmt24/en-ja", "esa"), ("wmt21/en-de", "mqm"))
#: what is drawn, and how many at random; other draws hold as many segments
SIZES: tuple[tuple[Unit, int], ...] = (
    ("segment", 50),
    ("segment", 100),
    ("segment", 200),
    ("document", 30),
)
ROWS = {
    "random": "at random",
    "stratified": "thirds by the metric",
    "pps": "weighted by the metric's spread",
    "spread": "top-k by the metric's spread",
    "worst": "top-k by the metric's worst scores",
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--metric", default="chrf")
    parser.add_argument("--slopes", action="store_true")
    args = parser.parse_args()
    if args.slopes:
        print("| set | unit | slope | any number of further segments | as many as judged |")
        print("|---|---|---|---|---|")
        for name, kind in SETS:
            testset = judged(args.data / name, kind)
            metric = gn.score(testset, args.metric).segments
            measure_slopes(name, testset, testset.human_scores(kind), metric)
        return
    print("| set | judged | choice | error over all pairs | of the worst pair | covers |")
    print("|---|---|---|---|---|---|")
    for name, kind in SETS:
        testset = judged(args.data / name, kind)
        human = testset.human_scores(kind)
        scored = gn.score(testset, args.metric)
        for unit, count in SIZES:
            if len(units_of(testset, unit)) > count:
                measure(name, testset, human, scored.segments, unit, count, args.draws)


def judged(folder: Path, kind: str) -> gn.TestSet:
    """The segments of a set in which all of its judged systems have a score."""
    whole = gn.TestSet.read(folder)
    file = folder / f"{kind}.csv"
    if file.exists():
        whole = whole.with_human(file)
    scores = whole.human_scores(kind)
    names = list(whole.systems)
    counts = (~np.isnan(scores)).sum(axis=1)
    kept = counts >= 0.9 * counts.max()
    chosen = np.flatnonzero(~np.isnan(scores[kept]).any(axis=0)).tolist()
    systems = [name for name, take in zip(names, kept, strict=True) if take]
    human = tuple(h for h in whole.human if h.kind == kind and h.rater is None)
    bare = replace(whole, human=human, errors=(), looked_at=(), repeated=())
    return bare.select(systems=systems, segments=chosen)


def measure(
    name: str,
    testset: gn.TestSet,
    human: NDArray[np.float64],
    metric: NDArray[np.float64],
    unit: Unit,
    count: int,
    draws: int,
) -> None:
    """Print the rows of a set and a size."""
    units = units_of(testset, unit)
    sizes = np.array([len(one.segments) for one in units], dtype=float)
    sums = np.array([human[:, list(one.segments)].sum(axis=1) for one in units]).T
    pairs = list(combinations(range(len(human)), 2))
    differences = np.array([sums[a] - sums[b] for a, b in pairs])  # [pairs, units]
    truth = differences.sum(axis=1) / sizes.sum()
    errors, covers = {}, {}
    for choice in ROWS:
        samples = chosen_units(units, metric, testset, choice, count, draws)
        means, halves = zip(*(mean(differences, sizes, *one) for one in samples), strict=True)
        off = np.array(means) - truth
        errors[choice] = np.sqrt((off**2).mean(axis=0))
        covers[choice] = (abs(off) <= np.array(halves)).mean()
    plural = "segments" if unit == "segment" else "documents"
    for choice, title in ROWS.items():
        over_all = np.sqrt((errors[choice] ** 2).mean() / (errors["random"] ** 2).mean())
        worst = (errors[choice] / errors["random"]).max()
        figures = f"{over_all:.2f} | {worst:.2f} | {100 * covers[choice]:.1f}"
        print(f"| {name} | {count} of {len(units)} {plural} | {title} | {figures} |")


def measure_slopes(
    name: str, testset: gn.TestSet, human: NDArray[np.float64], metric: NDArray[np.float64]
) -> None:
    """Print how many times the judgements of a difference a set takes with each slope."""
    segments = np.arange(testset.segments)
    names = testset.documents
    documents = segments if names is None else np.unique(names, return_inverse=True)[1]
    groups = int(documents.max()) + 1
    unit = f"{groups} segments" if names is None else f"{groups} documents"
    pooled = pooled_slope(human, metric, documents)
    scaled = float(human.std(axis=1).mean() / metric.std(axis=1).mean())
    none = np.zeros(groups)
    plain = variances(human, metric, documents, 0.0, none)
    for title, slope, without in (
        (f"pooled: {pooled.slope:.2f}", max(pooled.slope, 0.0), np.maximum(pooled.without, 0.0)),
        ("1", 1.0, none + 1),
        (f"1 in standard deviations: {scaled:.2f}", scaled, none + scaled),
    ):
        cells = []
        for judged_by_further in (0.0, 1.0):
            # an estimated slope belongs to the mean over all segments, judged ones among them
            share = 1 / (1 + judged_by_further) if title.startswith("pooled") else 1.0
            left = variances(human, metric, documents, share * slope, share * without)
            moved = variances(0 * human, metric, documents, share * slope, none + share * slope)
            more = 100 * ((left + judged_by_further * moved) / plain - 1)
            middle, least, most = (round(f(more)) for f in (np.median, np.min, np.max))
            cells.append(f"{middle:+d} % ({least:+d} to {most:+d})")
        print(f"| {name} | {unit} | {title} | {' | '.join(cells)} |")


def variances(
    human: NDArray[np.float64],
    metric: NDArray[np.float64],
    documents: NDArray[np.intp],
    slope: float,
    without: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Squared standard errors of differences moved by slope x metric, document by document."""
    a, b = np.array(list(combinations(range(len(human)), 2))).T
    moved = metric - metric.mean(axis=1, keepdims=True)  # from what it says of all texts
    values = np.stack([human[a] - human[b], moved[a] - moved[b]], axis=-1)
    sizes = np.bincount(documents)
    means = left_out_sums(values, documents) / (sizes.sum() - sizes)[:, None, None]
    estimate = (values[..., 0] - slope * values[..., 1]).mean(axis=1)
    left_out = means[..., 0] - without[:, None] * means[..., 1]
    return np.asarray(jackknife(estimate, left_out, sizes).error ** 2)


def chosen_units(
    units: tuple[SamplingUnit, ...],
    metric: NDArray[np.float64],
    testset: gn.TestSet,
    choice: str,
    count: int,
    draws: int,
) -> list[tuple[NDArray[np.intp], NDArray[np.float64]]]:
    """The units of each draw with their inclusion probabilities; a top-k is the same in all."""
    sizes = np.array([len(one.segments) for one in units])
    budget = count * sizes.mean()
    if choice in ("spread", "worst"):
        values = np.array([metric[:, list(one.segments)].mean(axis=1) for one in units])
        by = values.std(axis=1) if choice == "spread" else -values.mean(axis=1)
        order = np.argsort(-by, kind="stable")
        top = order[: max(2, int((np.cumsum(sizes[order]) <= budget).sum()))]
        return [(top, np.full(len(units), len(top) / len(units)))]
    scores = None if choice == "random" else metric
    how: DesignName = (
        "random" if choice == "random" else "stratified" if choice == "stratified" else "pps"
    )
    design = design_of(units, how, count, testset, scores)
    while how == "pps" and float(design.inclusion @ sizes) > budget * (1 + 1e-9):
        count -= 1
        design = design_of(units, how, count, testset, scores)
    return [(design.draw(np.random.default_rng(k)), design.inclusion) for k in range(draws)]


def mean(
    differences: NDArray[np.float64],
    sizes: NDArray[np.float64],
    drawn: NDArray[np.intp],
    inclusion: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weighted mean differences (Hajek's) and half-widths of their intervals, of a finite whole."""
    weights = 1 / inclusion[drawn]
    total = (weights * sizes[drawn]).sum()
    means = (weights * differences[:, drawn]).sum(axis=1) / total
    left = weights * (differences[:, drawn] - means[:, None] * sizes[drawn]) / total
    n = len(drawn)
    open_share = 1 - inclusion[drawn]  # certain units add no variance
    variance = (open_share * left**2).sum(axis=1) * n / (n - 1)
    return means, upper_quantile(0.025, n - 1) * np.sqrt(variance)


if __name__ == "__main__":
    main()
