"""Range, frequency and specificity of metrics under kinds of mask, and their differences.

``python scripts/mask_kinds.py DATA OUT.json --sets wmt19/kk-en --columns "comet('small')|pooled"
"chrf|tokens"`` takes segments of test sets of DATA, drawn with the seed, and systems from all
ranks, and runs the experiments of ``gnomon muler validate`` for each column (a metric and a kind of
mask). All columns are resampled by the same draws of segments, so that differences between columns
are paired. Per column:

- ``range``: mean distance of hybrids from an even scale, as a share of it (0 is best), over
  systems, features and shares .3 and .5;
- ``frequency``: median relative change of MuLER where half of a feature is left (0 is best), and
  how often it is smaller than that of max - base;
- ``specificity``: how far features, all systems together, lie from random words (p = 5), in the
  standard deviations of these, mean of the absolute values (larger: features stand out more);
- ``order``: share of the cells with oracle >= base >= anti-oracle (1 is best);
- ``MuLER`` of each feature, all systems together.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from learned_map import drawn

from gnomon.core.options import SEED
from gnomon.core.run_settings import Run
from gnomon.metrics.masking import Action, MaskPlan
from gnomon.muler._setup import MaskChoice, WordChoice, prepared
from gnomon.muler.figures import presence
from gnomon.muler.validate.initials import grouped, initials_by_feature
from gnomon.muler.validate.random_words import random_groups, words_of
from gnomon.stats.draws import SegmentDraws

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.core.testset import TestSet
    from gnomon.metrics.base import BoundMetric
    from gnomon.muler._setup import Setup

    Floats = NDArray[np.float64]

_ALPHAS = (0.3, 0.5)
_GROUPS = 5
#: differences that count as ties, in units of the spread of the scores
_TIE = 1e-5
_FEWEST = 20


@dataclass(frozen=True)
class Feature:
    """Scores of a feature in every cell, [K, N] each, higher is better; 0 outside of I."""

    name: str
    inside: Floats  # 1 in I
    base: Floats
    oracle: Floats
    anti: Floats
    hybrids: list[tuple[float, Floats]]  # share that is right, and scores
    half: tuple[Floats, Floats, Floats, Floats] | None  # inside, base, oracle, anti of one half


@dataclass(frozen=True)
class Column:
    """What a metric under a kind of mask gave."""

    features: list[Feature]
    random: list[tuple[Floats, Floats]]  # oracle - base, oracle - anti [K, N]


def features_of(setup: Setup, metric: BoundMetric) -> Iterator[Feature]:
    """Oracle, anti-oracle, hybrids and one half of every feature."""
    sign = 1.0 if metric.higher_is_better else -1.0
    base = sign * metric.segments(setup.batch)
    lengths = metric.mask_lengths(setup.batch, setup.oracles(setup.spans))
    for number, initials in enumerate(initials_by_feature(setup.batch, setup.spans)):
        cuts = [cut for alpha in _ALPHAS if (cut := initials.cut(alpha)) is not None]
        every = np.ones(len(initials.rows), dtype=np.bool_)
        groups = {"x:all": every} | {f"x:beyond {k}": ~cut.head for k, cut in enumerate(cuts)}
        if cuts:
            groups["x:half"] = cuts[-1].head
        spans = grouped(setup.spans, initials.rows, groups)
        actions = np.zeros((2 + len(cuts) + 2 * bool(cuts), len(groups)), dtype=np.int8)
        actions[: 2 + len(cuts), 0] = Action.SHARED
        actions[1, 0] = Action.PRIVATE
        for k in range(len(cuts)):
            actions[2 + k, 1 + k] = Action.PRIVATE
        if cuts:
            actions[-2:, -1] = Action.SHARED, Action.PRIVATE
        length = None if lengths is None else (lengths[number],) * len(groups)
        plan = MaskPlan(spans, actions, setup.masks.overlap, setup.masks.granularity, length)
        scores = sign * metric.masked(setup.batch, plan)
        both = presence(setup.batch, setup.spans, number).both.astype(np.float64)
        half = None
        if cuts:
            left = presence(setup.batch, spans, len(groups) - 1).both.astype(np.float64)
            half = (left, base * left, scores[-2] * left, scores[-1] * left)
        yield Feature(
            initials.feature,
            both,
            base * both,
            scores[0] * both,
            scores[1] * both,
            [(cut.share, scores[2 + k] * both) for k, cut in enumerate(cuts)],
            half,
        )


def random_of(setup: Setup, metric: BoundMetric, draws: int) -> Iterator[tuple[Floats, Floats]]:
    """Random features as frequent as a fifth of the vocabulary, the same for all systems."""
    words = words_of(setup.batch)
    members = random_groups(len(words.types), _GROUPS, first=0, last=draws, seed=SEED)
    sign = 1.0 if metric.higher_is_better else -1.0
    base = sign * metric.segments(setup.batch)
    plan = setup.oracles(words.spans(members))
    plan = plan.fill_lengths(metric.mask_lengths(setup.batch, plan))
    scores = sign * metric.masked(setup.batch, plan)
    for draw in range(draws):
        inside = presence(setup.batch, plan.spans, draw).both.astype(np.float64)
        oracle, anti = scores[2 * draw], scores[2 * draw + 1]
        yield (oracle - base) * inside, (oracle - anti) * inside


def figures(column: Column, weights: Floats, enough: Sequence[NDArray[np.bool_]]) -> dict[str, Any]:
    """The figures of a column under weights of the segments [N, B], float64 [B] each."""

    def ratio(gain: Floats, spread: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray((gain @ weights) / (spread @ weights))

    def together(gain: Floats, spread: Floats) -> Floats:
        return np.asarray(ratio(gain.sum(axis=0)[None], spread.sum(axis=0)[None])[0])

    off, changes, steadier, apart, muler = [], [], [], [], {}
    ordered, cells = np.zeros(weights.shape[1]), np.zeros(weights.shape[1])
    chance = np.array([together(gain, spread) for gain, spread in column.random])  # [D, B]
    mean, deviation = np.nanmean(chance, axis=0), np.nanstd(chance, axis=0, ddof=1)
    for feature, some in zip(column.features, enough, strict=True):
        gain, spread = feature.oracle - feature.base, feature.oracle - feature.anti
        whole = ratio(gain, spread)  # [K, B]
        muler[feature.name] = together(gain, spread)
        apart.append(np.abs(muler[feature.name] - mean) / deviation)
        for share, hybrid in feature.hybrids:
            off.append(np.abs(ratio(hybrid - feature.anti, spread) - share)[some])
        if feature.half is not None:
            left, base, oracle, anti = feature.half
            change = np.abs(ratio(oracle - base, oracle - anti) / whole - 1)
            with np.errstate(invalid="ignore", divide="ignore"):
                after = ((oracle - base) @ weights) / (left @ weights)
                before = (gain @ weights) / (feature.inside @ weights)
                lost = np.abs(after / before - 1)
            changes.append(change[some])
            steadier.append((change < lost)[some])
        tie = _TIE * np.std(feature.base[feature.inside > 0])
        kept = (gain >= -tie) & (feature.base - feature.anti >= -tie)
        ordered += ((kept * feature.inside) @ weights).sum(axis=0)
        cells += (feature.inside @ weights).sum(axis=0)
    return {
        "range": np.nanmean(np.concatenate(off), axis=0),
        "frequency": np.nanmedian(np.concatenate(changes), axis=0),
        "steadier": np.concatenate(steadier).mean(axis=0),
        "specificity": np.nanmean(apart, axis=0),
        "order": ordered / cells,
        **{f"MuLER {name}": values for name, values in muler.items()},
    }


def with_samples(column: Column, draws: SegmentDraws) -> dict[str, tuple[float, Floats]]:
    """Every figure of a column, and its values over the draws."""
    segments = column.features[0].base.shape[1]
    enough = [feature.inside.sum(axis=1) >= _FEWEST for feature in column.features]
    whole = figures(column, np.ones((segments, 1)), enough)
    blocks = [figures(column, weights, enough) for weights in draws.weights()]
    return {
        name: (float(value[0]), np.concatenate([block[name] for block in blocks]))
        for name, value in whole.items()
    }


def column_of(testset: TestSet, spec: str, given: argparse.Namespace) -> Column:
    """Score a column, ``METRIC|MASKING``."""
    metric, _, masking = spec.rpartition("|")
    setup = prepared(
        testset,
        metric,
        WordChoice(features=given.features),
        MaskChoice(masking),  # type: ignore[arg-type]  # by the user, and checked there
        Run(),
    )
    (bound,) = setup.metrics.values()
    return Column(list(features_of(setup, bound)), list(random_of(setup, bound, given.draws)))


def shown(value: float, low: float, high: float) -> str:
    """A figure with its interval."""
    return f"{value:.3f} [{low:.3f}, {high:.3f}]".replace("0.", ".")


def printed(
    every: dict[str, dict[str, tuple[float, Floats]]], draws: SegmentDraws
) -> Iterator[tuple[str, list[str]]]:
    """Rows of two tables: figures of columns, and differences from the first column."""

    def ends(value: float, samples: Floats) -> str:
        low, high = draws.ends(np.array(value), samples)
        return shown(value, float(low), float(high))

    columns = list(every)
    for name in every[columns[0]]:
        yield name, [ends(*every[column][name]) for column in columns]
    value, samples = {}, {}
    for name in every[columns[0]]:
        for column in columns:
            value[column], samples[column] = every[column][name]
        yield (
            f"{name}, less that of {columns[0]}",
            [
                "",
                *(
                    ends(value[c] - value[columns[0]], samples[c] - samples[columns[0]])
                    for c in columns[1:]
                ),
            ],
        )


def main() -> None:
    """Draw, score, resample, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder of test sets")
    parser.add_argument("out", type=Path, help="file of the results, JSON")
    parser.add_argument("--sets", nargs="+", required=True)
    parser.add_argument("--columns", nargs="+", required=True, help="METRIC|MASKING each")
    parser.add_argument("--features", nargs="+", default=["pos:NOUN", "pos:VERB", "pos:DET"])
    parser.add_argument("--segments", type=int, default=150)
    parser.add_argument("--systems", type=int, default=3)
    parser.add_argument("--draws", type=int, default=12, help="random features")
    parser.add_argument("--resamples", type=int, default=1000)
    given = parser.parse_args()
    results: dict[str, Any] = {}
    for name in given.sets:
        given.set = name
        testset = drawn(given)
        draws = SegmentDraws.draw(
            testset.segments, count=given.resamples, seed=SEED, confidence=0.95
        )
        every = {}
        for spec in given.columns:
            begun = time.process_time()
            every[spec] = with_samples(column_of(testset, spec, given), draws)
            print(f"{name}: {spec}: {time.process_time() - begun:.0f} s", flush=True)
        print(f"\n{name}, {testset.segments} segments: {', '.join(testset.systems)}")
        print("| | " + " | ".join(given.columns) + " |\n|---|" + "---|" * len(given.columns))
        rows = dict(printed(every, draws))
        for row, cells in rows.items():
            print(f"| {row} | {' | '.join(cells)} |")
        print(flush=True)
        results[name] = rows
        given.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
