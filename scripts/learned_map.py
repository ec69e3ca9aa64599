"""Which features a learned metric charges, beside other metrics, and how far its MuLER goes.

``python scripts/learned_map.py DATA OUT.json --metrics "comet('small')" bleu chrf`` takes a test
set of DATA (WMT19 in gnomon's layout), draws segments and systems, and prints a table per part:

- ``map``: MuLER of each feature over all systems together, and the share of what parts the outputs
  from their references that is gained when the feature is set right (gain / (score of the
  references for themselves - score)); 95% by bootstrap over segments, the same draws for all;
- ``order``: how often oracle, base and anti-oracle come in that order, likewise;
- ``range``, ``frequency``, ``random``: the experiments of ``gnomon muler validate``.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.options import SEED
from gnomon.core.testset import TestSet
from gnomon.metrics import score
from gnomon.muler import score as muler
from gnomon.muler.validate import validate
from gnomon.stats.resampling import resample_counts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

_RESAMPLES = 1000
#: differences that count as ties, in units of the spread of the scores
_TIE = 1e-5
_FEWEST = 30
Row = dict[str, Any]


def drawn(given: argparse.Namespace) -> TestSet:
    """So many segments of a test set, drawn with the seed, and systems from all ranks."""
    testset = TestSet.read(given.data / given.set)
    means = dict(zip(testset.systems, testset.human_scores("da-z", "system"), strict=True))
    ranked = sorted(testset.systems, key=lambda name: -means[name])
    chosen = np.linspace(0, len(ranked) - 1, min(given.systems, len(ranked))).astype(int)
    places = np.random.default_rng(SEED).permutation(testset.segments)[: given.segments]
    return testset.select(systems=[ranked[n] for n in chosen], segments=np.sort(places).tolist())


class Cells:
    """Scores of the cells (system, segment) that have a feature on both sides."""

    def __init__(self, rows: Sequence[Mapping[str, Any]], segments: int) -> None:
        both = [row for row in rows if row["candidate_count"] and row["reference_count"]]
        self.segment = np.array([row["segment"] for row in both], dtype=np.int64) - 1
        self.base, self.oracle, self.anti = (
            np.array([row[name] for row in both]) for name in ("base", "oracle", "anti_oracle")
        )
        self.segments = segments

    def by_segment(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums by segment."""
        sums: NDArray[np.float64] = np.bincount(self.segment, values, self.segments).astype(
            np.float64
        )
        return sums


def interval(value: float, samples: NDArray[np.float64]) -> list[float]:
    """A figure with the ends of its interval."""
    low, high = np.nanquantile(samples, [0.025, 0.975])
    return [float(value), float(low), float(high)]


def cells_of(testset: TestSet, given: argparse.Namespace) -> dict[tuple[str, str], Cells]:
    """Every metric's scores of every feature."""
    finding = muler(
        testset,
        given.metrics,
        given.features,
        masking=given.masking,
        per_segment=True,
        examples=0,
        resamples=0,
    )
    print(*finding.notices, sep="\n", file=sys.stderr)
    by_feature: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in finding.table("segments").rows:
        by_feature.setdefault((str(row["metric"]), str(row["feature"])), []).append(row)
    return {key: Cells(rows, testset.segments) for key, rows in by_feature.items()}


def the_map(testset: TestSet, given: argparse.Namespace) -> list[Row]:
    """MuLER and the share of the loss for every metric and feature."""
    cells = cells_of(testset, given)
    counts = resample_counts(testset.segments, count=_RESAMPLES, seed=SEED).T.astype(float)
    itself = [text or "" for text in testset.references["A"]]
    perfect = TestSet.from_lists(
        {"itself": itself},
        itself,
        sources=None if testset.sources is None else list(testset.sources),
        language_pair=testset.language_pair,
    )
    losses: dict[str, NDArray[np.float64]] = {}
    for name in given.metrics:
        best = score(perfect, name).segments[0]
        scores = score(testset, name).segments
        losses[name] = (best[None] - scores).sum(axis=0)
    rows: list[Row] = []
    for (metric, feature), feature_cells in cells.items():
        if len(feature_cells.base) < _FEWEST:
            continue
        gain = feature_cells.by_segment(feature_cells.oracle - feature_cells.base)
        spread = feature_cells.by_segment(feature_cells.oracle - feature_cells.anti)
        loss = losses[metric]
        rows.append(
            {
                "metric": metric,
                "feature": feature,
                "cells": len(feature_cells.base),
                "muler": interval(gain.sum() / spread.sum(), (counts @ gain) / (counts @ spread)),
                "share": interval(gain.sum() / loss.sum(), (counts @ gain) / (counts @ loss)),
            }
        )
    return rows


def the_order(testset: TestSet, given: argparse.Namespace) -> list[Row]:
    """How often oracle, base and anti-oracle come in that order."""
    cells = cells_of(testset, given)
    counts = resample_counts(testset.segments, count=_RESAMPLES, seed=SEED).T.astype(float)
    rows: list[Row] = []
    for (metric, feature), feature_cells in cells.items():
        if len(feature_cells.base) < _FEWEST:
            continue
        tie = _TIE * float(np.std(feature_cells.base))
        gain, drop = (
            feature_cells.oracle - feature_cells.base,
            feature_cells.base - feature_cells.anti,
        )
        kinds = {
            "in order": (gain > tie) & (drop > tie),
            "in order or equal": (gain >= -tie) & (drop >= -tie),
            "above the oracle": gain < -tie,
            "below the anti-oracle": drop < -tie,
        }
        size = feature_cells.by_segment(np.ones(len(gain)))
        row: Row = {"metric": metric, "feature": feature, "cells": len(gain)}
        for name, true in kinds.items():
            hits = feature_cells.by_segment(true.astype(float))
            row[name] = interval(hits.sum() / size.sum(), (counts @ hits) / (counts @ size))
        rows.append(row)
    return rows


def the_experiment(which: str) -> Callable[[TestSet, argparse.Namespace], list[Row]]:
    """One of the experiments of ``gnomon muler validate``."""

    def run(testset: TestSet, given: argparse.Namespace) -> list[Row]:
        how: dict[str, Any] = {"masking": given.masking}
        finding = validate(
            testset,
            given.metrics,
            given.features,
            experiments=[which],
            draws=given.draws,
            groups=(5,),
            **how,
        )
        return [dict(row) for row in finding.rows]

    return run


PARTS: dict[str, Callable[[TestSet, argparse.Namespace], list[Row]]] = {
    "map": the_map,
    "order": the_order,
    **{name: the_experiment(name) for name in ("range", "frequency", "random")},
}


def printed(part: str, rows: Sequence[Row]) -> str:
    """The rows of a map, or of orders, as Markdown; a line each of the others."""

    def cell(value: list[float]) -> str:
        return "{:.3f} [{:.3f}, {:.3f}]".format(*value).replace("0.", ".")

    if part not in ("map", "order"):
        return "\n".join(json.dumps(one, default=str) for one in rows)
    metrics = list(dict.fromkeys(one["metric"] for one in rows))
    names = [k for k, v in rows[0].items() if isinstance(v, list)]
    lines = []
    for name in names:
        lines += ["", f"{name}", "| feature | " + " | ".join(metrics) + " |"]
        lines.append("|---|" + "---|" * len(metrics))
        for feature in dict.fromkeys(one["feature"] for one in rows):
            values = {one["metric"]: one[name] for one in rows if one["feature"] == feature}
            shown = [cell(values[metric]) if metric in values else "" for metric in metrics]
            lines.append(f"| {feature} | {' | '.join(shown)} |")
    return "\n".join(lines)


def main() -> None:
    """Draw, score, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder of test sets")
    parser.add_argument("out", type=Path, help="file of the results, JSON")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=["map", "order"])
    parser.add_argument("--metrics", nargs="+", required=True, help="specs")
    parser.add_argument("--features", nargs="+", default=["pos:*", "ent:*"])
    parser.add_argument("--masking", default="auto", help="as for gnomon muler")
    parser.add_argument("--set", default="wmt19/de-en")
    parser.add_argument("--segments", type=int, default=400)
    parser.add_argument("--systems", type=int, default=4)
    parser.add_argument("--draws", type=int, default=50, help="of random words")
    given = parser.parse_args()
    testset = drawn(given)
    results: dict[str, Any] = {}
    for experiment in given.parts:
        begun = time.process_time()
        results[experiment] = PARTS[experiment](testset, given)
        results[f"{experiment} cpu"] = time.process_time() - begun
        print(f"\n{experiment}: {given.set}, {testset.segments} segments, {given.masking}")
        print(printed(experiment, results[experiment]), flush=True)
        given.out.write_text(json.dumps(results, indent=1, default=str) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
