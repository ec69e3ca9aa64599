"""Speed of BMX's arithmetic as ratios against plain loops, in one run.

``python benchmarks/bmx.py`` prints the table and writes it to ``benchmarks/bmx.md``. The peers are
written here from the definitions: a loop over exponents and segments that takes numpy's power mean
of each, and a loop over the grid that calls ``scipy.stats.pearsonr``. Both sides must give equal
results. One core, float64, CPU seconds, medians of interleaved rounds; the loop over power means
runs on some of the exponents, each as costly as the rest, and is scaled up.
"""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1")

from typing import TYPE_CHECKING

import numpy as np
import scipy.stats
from _measure import compare, write

from gnomon.bmx import power_means
from gnomon.bmx.correlations import grid_correlations
from gnomon.bmx.experiments import P, W

if TYPE_CHECKING:
    from _measure import Row
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_SEGMENTS = 1000
_SOME = P[::20]
_NOTE = (
    f"{len(P)} exponents, {len(W)} weights, {_SEGMENTS} segments of 20 to 100 words (both sides),"
    " invented importances of which most segments have some below 0. Power means: differences are"
    " relative. Ratios of CPU time, medians of 3 interleaved rounds."
)


def data() -> tuple[Floats, NDArray[np.int64], Floats, Floats]:
    """Importances, offsets, scores and human scores."""
    generator = np.random.default_rng(0)
    quality = generator.normal(size=_SEGMENTS)
    offsets = np.concatenate([[0], np.cumsum(generator.integers(20, 101, _SEGMENTS))])
    values = generator.normal(0.02, 0.05, offsets[-1])
    score = 0.8 + 0.1 * quality + generator.normal(0, 0.1, _SEGMENTS)
    return values, offsets, score, quality + generator.normal(0, 0.5, _SEGMENTS)


def power_mean(values: Floats, p: float) -> float:
    """The definition, with the paper's shift; the largest power taken out, lest it overflow."""
    smallest = values.min()
    shifted = values + ((abs(smallest) if smallest <= 0 else 0.0) + 1e-9)
    logs = np.log(shifted)
    if p == 0:
        return float(np.exp(logs.mean()))
    peak = logs.max() if p > 0 else logs.min()
    return float(np.exp(peak + np.log(np.mean(np.exp(p * (logs - peak)))) / p))


def naive_power_mean(values: Floats, p: float) -> float:
    """The definition as it stands: shift, power, mean, root."""
    smallest = values.min()
    shifted = values + ((abs(smallest) if smallest <= 0 else 0.0) + 1e-9)
    if p == 0:
        return float(np.exp(np.mean(np.log(shifted))))
    return float(np.mean(shifted**p) ** (1 / p))


def power_mean_row(
    values: Floats, offsets: NDArray[np.int64], task: str, one: object, some: Floats
) -> Row:
    """All exponents of all segments."""
    segments = np.split(values, offsets[1:-1])
    power_means(values, offsets, P)  # what is loaded once does not count

    def theirs() -> Floats:
        return np.array([[one(segment, p) for segment in segments] for p in some.tolist()])

    def apart(ours: object, others: object) -> float:
        mine = ours.means[np.isin(P, some)]
        return float(np.abs(mine / others - 1).max())

    return compare(
        task,
        "a loop over segments in numpy",
        "grid",
        (lambda: power_means(values, offsets, P), 1.0),
        (theirs, len(some) / len(P)),
        same=apart,
    )


def correlation_row(score: Floats, means: Floats, human: Floats) -> Row:
    """The whole grid of correlations."""

    def theirs() -> Floats:
        return np.array(
            [[scipy.stats.pearsonr(w * score + (1 - w) * m, human)[0] for w in W] for m in means]
        )

    return compare(
        f"{len(P) * len(W)} correlations",
        "scipy.stats.pearsonr in a loop",
        "grid",
        (lambda: grid_correlations(score, means, human), 1.0),
        (theirs, 1.0),
    )


def main() -> None:
    """Measure and write."""
    values, offsets, score, human = data()
    means = power_means(values, offsets, P).means
    task = f"power means, {len(P)} p x {_SEGMENTS} segments"
    calm = _SOME[np.abs(_SOME) < 30]
    rows = [
        power_mean_row(values, offsets, f"{task}, as defined", naive_power_mean, calm),
        power_mean_row(values, offsets, f"{task}, without overflow", power_mean, _SOME),
        correlation_row(score, means, human),
    ]
    write("bmx", rows, _NOTE)


if __name__ == "__main__":
    main()
