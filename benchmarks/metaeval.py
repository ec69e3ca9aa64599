"""Meta-evaluation speed as ratios against mt-metrics-eval's published algorithms, in one run.

``python benchmarks/metaeval.py`` prints the table and writes it to
``benchmarks/metaeval.md``. mt-metrics-eval is in no package registry, so the peers here are
plain implementations of what it publishes (and of a resampling loop), written for this file; both
sides must give equal results. One core, float64, CPU seconds, medians of interleaved rounds. Peers
that would take minutes are run on fewer pairs and draws, each as costly as the rest, and scaled up;
their draws are handed to them, while ours are drawn within the time measured.
"""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1")

import itertools
import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import scipy.stats

from gnomon import stats
from gnomon.stats import EarlyStopping
from gnomon.stats.pair_tests import BLOCK, exchanged, standardised

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_RESULTS = Path(__file__).resolve().parent / "metaeval.md"
_ROUNDS = 3
_METRICS, _SYSTEMS, _SEGMENTS = 20, 15, 2000
_DRAWS = 1000
_SOME_PAIRS, _SOME_DRAWS, _FEW_DRAWS = 4, 100, 3
_STOP = EarlyStopping(100, 0.02, 0.5)


@dataclass(frozen=True)
class Row:
    """One comparison in CPU seconds, medians over the rounds."""

    task: str
    peer: str
    ours: float
    theirs: float

    def line(self) -> str:
        """A row of the table."""
        return f"| {self.task} | {self.peer} | {self.theirs / self.ours:.0f}x |"


def data() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Invented MQM-like scores with many ties, and metrics of similar quality."""
    generator = np.random.default_rng(0)
    quality = generator.normal(size=(_SYSTEMS, 1)) / 4 + generator.normal(size=(1, _SEGMENTS))
    human = -np.round(np.maximum(0, 2 * generator.normal(size=(_SYSTEMS, _SEGMENTS)) - 2 * quality))
    noise = generator.normal(size=(_METRICS, _SYSTEMS, _SEGMENTS))
    return human, human + noise * np.linspace(3.0, 3.2, _METRICS)[:, None, None]


def timed(run: Callable[[], object]) -> tuple[float, object]:
    """CPU seconds, and what came out."""
    begun = time.process_time()
    result = run()
    return time.process_time() - begun, result


def interleaved(
    ours: Callable[[], object],
    theirs: Callable[[], object],
    equal: Callable[[object, object], bool],
) -> tuple[float, float]:
    """Median CPU seconds of both; their results must be equal."""
    ours()  # what is loaded once does not count
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(_ROUNDS):
        results = []
        for side, run in enumerate((ours, theirs)):
            spent, result = timed(run)
            seconds[side].append(spent)
            results.append(result)
        if not equal(*results):
            raise SystemExit("results differ")
    return statistics.median(seconds[0]), statistics.median(seconds[1])


def permutations(human: NDArray[np.float64], metrics: NDArray[np.float64]) -> list[Row]:
    """PERM-BOTH over cells, pooled Pearson; the published loop over draws and pairs."""
    pairs = list(itertools.combinations(range(_METRICS), 2))
    some = pairs[:: len(pairs) // _SOME_PAIRS][:_SOME_PAIRS]
    blocks = [
        exchanged("cells", human.shape, (0,), block).reshape(BLOCK, -1).astype(np.float64)
        for block in range(-(-_SOME_DRAWS // BLOCK))
    ]
    coins = np.concatenate(blocks)[:_SOME_DRAWS]
    gold = human.ravel()

    def theirs() -> list[float]:
        return [one_pair(metrics[i].ravel(), metrics[j].ravel()) for i, j in some]

    def one_pair(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
        a, b = scipy.stats.zscore(a), scipy.stats.zscore(b)
        delta = scipy.stats.pearsonr(gold, a)[0] - scipy.stats.pearsonr(gold, b)[0]
        large = 0
        for swap in coins:
            keep = 1 - swap
            first, second = keep * a + swap * b, swap * a + keep * b
            moved = scipy.stats.pearsonr(gold, first)[0] - scipy.stats.pearsonr(gold, second)[0]
            large += moved >= delta
        return large / len(coins)

    def equal(_: object, found: object) -> bool:
        short = stats.permutation_test(
            human, metrics, draws=stats.RandomDraws(_SOME_DRAWS, plus_one=False)
        )
        return np.allclose([short.p[pair] for pair in some], found)

    ours, their_seconds = interleaved(
        lambda: stats.permutation_test(human, metrics, draws=stats.RandomDraws(_DRAWS)),
        theirs,
        equal,
    )
    per_draw = their_seconds / (_SOME_DRAWS * len(some))
    stopping = stats.RandomDraws(_DRAWS, plus_one=False, early_stopping=_STOP)
    stopped = stats.permutation_test(human, metrics, draws=stopping)
    drawn = sum(int(stopped.draws[pair]) for pair in pairs)
    task = f"PERM-BOTH, pooled Pearson, {len(pairs)} pairs of metrics, {_DRAWS} draws"
    return [
        Row(task, "the published loop, all draws", ours, per_draw * _DRAWS * len(pairs)),
        Row(task, f"the same, stopping early ({drawn:,} draws)", ours, per_draw * drawn),
    ]


def permutations_by_item(human: NDArray[np.float64], metrics: NDArray[np.float64]) -> Row:
    """PERM-BOTH over cells, tau-b by item; scipy's kendalltau for every item, draw and metric."""
    coins = exchanged("cells", human.shape, (0,), 0)[:_FEW_DRAWS].astype(bool)
    first, second = standardised(metrics[:2], np.ones(human.shape, dtype=bool))
    varied = np.ptp(human, axis=0) > 0

    def tau(scores: NDArray[np.float64]) -> float:
        sides = zip(human.T[varied], scores.T[varied], strict=True)
        return float(np.mean([scipy.stats.kendalltau(h, m)[0] for h, m in sides]))

    def theirs() -> float:
        delta, large = tau(first) - tau(second), 0
        for swap in coins:
            swapped, other = np.where(swap, second, first), np.where(swap, first, second)
            large += tau(swapped) - tau(other) >= delta
        return large / len(coins)

    def ours(count: int, some: int) -> stats.PairTest:
        draws = stats.RandomDraws(count, plus_one=False)
        return stats.permutation_test(
            human, metrics[:some], statistic="kendall_b", grouping="item", draws=draws
        )

    seconds, their_seconds = interleaved(
        lambda: ours(_DRAWS, _METRICS),
        theirs,
        lambda _, found: bool(ours(_FEW_DRAWS, 2).p[0, 1] == found),
    )
    pairs = _METRICS * (_METRICS - 1) // 2
    task = f"PERM-BOTH, tau-b by item, {pairs} pairs of metrics, {_DRAWS} draws"
    peer = "scipy's kendalltau by item, all draws"
    return Row(task, peer, seconds, their_seconds / (_FEW_DRAWS + 1) * _DRAWS * pairs)


def tau_by_item(human: NDArray[np.float64], metric: NDArray[np.float64]) -> Row:
    """tau-b within each item; the published call of scipy for each."""

    def theirs() -> float:
        taus = [
            scipy.stats.kendalltau(h, m)[0]
            for h, m in zip(human.T, metric.T, strict=True)
            if np.ptp(h) > 0
        ]
        return float(np.mean(taus))

    times = interleaved(
        lambda: stats.kendall_b(human, metric, grouping="item"),
        theirs,
        lambda a, b: bool(np.isclose(a, b, atol=1e-12)),
    )
    return Row(f"tau-b by item, {_SYSTEMS} x {_SEGMENTS}", "scipy's kendalltau by item", *times)


def tie_calibration(human: NDArray[np.float64], metric: NDArray[np.float64]) -> Row:
    """The best tie threshold for acc_eq by item; the published enumeration of all pairs."""

    def theirs() -> tuple[float, float]:
        pairs, counts = enumerated(human, metric)
        total = sum(right / every for right, every in counts)
        best, epsilon, k = total, 0.0, 0
        pairs.sort(key=lambda pair: pair[0])
        while k < len(pairs):
            threshold = pairs[k][0]
            while k < len(pairs) and pairs[k][0] == threshold:
                _, item, was, becomes = pairs[k]
                total -= counts[item][0] / counts[item][1]
                counts[item][0] += becomes - was
                total += counts[item][0] / counts[item][1]
                k += 1
            if total > best + 1e-9:
                best, epsilon = total, threshold
        return epsilon, best / len(counts)

    times = interleaved(lambda: stats.calibrate_ties(human, metric), theirs, np.allclose)
    return Row(f"tie calibration, {_SYSTEMS} x {_SEGMENTS}", "enumeration of pairs", *times)


def enumerated(
    human: NDArray[np.float64], metric: NDArray[np.float64]
) -> tuple[list[tuple[float, int, int, int]], list[list[int]]]:
    """Every pair: difference, item, right as it is, right as a tie; and counts per item."""
    pairs, counts = [], []
    for item, (h, m) in enumerate(zip(human.T.tolist(), metric.T.tolist(), strict=True)):
        right = 0
        for i in range(len(h)):
            for j in range(i + 1, len(h)):
                dh, dm = h[i] - h[j], m[i] - m[j]
                was = int(dh == 0 if dm == 0 else (dh > 0 and dm > 0) or (dh < 0 and dm < 0))
                pairs.append((abs(dm), item, was, int(dh == 0)))
                right += was
        counts.append([right, len(h) * (len(h) - 1) // 2])
    return pairs, counts


def bootstraps(human: NDArray[np.float64], metrics: NDArray[np.float64]) -> Row:
    """Paired bootstrap over segments of pooled Pearson; a loop over resamples and metrics."""
    resamples = stats.resamples(_SEGMENTS, count=_DRAWS)[: _SOME_DRAWS // 2]

    def theirs() -> NDArray[np.float64]:
        replicates = []
        for drawn in resamples:
            gold = human[:, drawn].ravel()
            replicates.append([scipy.stats.pearsonr(gold, m[:, drawn].ravel())[0] for m in metrics])
        return np.array(replicates)

    def equal(_: object, replicates: object) -> bool:
        short = stats.bootstrap_test(human, metrics, draws=stats.RandomDraws(len(resamples)))
        ends = np.quantile(np.asarray(replicates), [0.025, 0.975], axis=0)
        return np.allclose(short.intervals, ends)

    ours, their_seconds = interleaved(
        lambda: stats.bootstrap_test(human, metrics, draws=stats.RandomDraws(_DRAWS)), theirs, equal
    )
    task = f"paired bootstrap, pooled Pearson, {_METRICS} metrics, {_DRAWS} resamples"
    return Row(task, "a loop over resamples", ours, their_seconds * _DRAWS / len(resamples))


def main() -> None:
    """Measure, print, write the table."""
    human, metrics = data()
    rows = [
        *permutations(human, metrics),
        permutations_by_item(human, metrics),
        tau_by_item(human, metrics[0]),
        tie_calibration(human, metrics[0]),
        bootstraps(human, metrics),
    ]
    note = (
        f"{_METRICS} metrics x {_SYSTEMS} systems x {_SEGMENTS} segments, invented; one core,"
        f" float64, CPU time, medians of {_ROUNDS} interleaved rounds, results equal. The published"
        f" loop was run on {_SOME_PAIRS} pairs of metrics and {_SOME_DRAWS} draws, kendalltau in"
        f" draws on one pair and {_FEW_DRAWS} draws, the loop over resamples on"
        f" {_SOME_DRAWS // 2}, and scaled up; their draws were made before the clock started,"
        " gnomon's under it."
    )
    table = [
        "| task | peer | gnomon is faster by |",
        "|---|---|---|",
        *(row.line() for row in rows),
    ]
    text = "\n".join([*table, "", note, ""])
    _RESULTS.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
