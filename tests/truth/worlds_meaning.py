"""Worlds of `metaeval delta-accuracy` and `compare --delta-accuracy`: people agree as planted."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from tests.truth.worlds import bundled, noised, outputs, references, world
from tests.truth.worlds_metaeval import SYSTEMS, metric

import gnomon as gn
from gnomon.agreement.meaning import SetPairs, make_meaning, write_meanings
from gnomon.core.human import HumanScores
from gnomon.core.options import DrawOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.core.findings import Finding

NAMES = ("wmt17", "wmt18", "wmt19")
_SILENT = ["metaeval.delta_accuracy.*"]
_MEANT = ["metaeval.delta_accuracy.classes", "compare.meaning_beyond", "compare.meaning_elsewhere"]


def found(names: Sequence[str], noise: Sequence[float], *, turned: bool = False) -> Finding:
    """Sets of so many systems each, and a metric of people's scores with noise of its own."""
    sets, scores = [], []
    for number, (name, of_set) in enumerate(zip(names, noise, strict=True)):
        draw = np.random.default_rng([7, number])
        people = draw.normal(size=12)
        texts = {s: [f"w{k} x." for k in range(4)] for s in SYSTEMS[:12]}
        made = gn.TestSet.from_lists(
            texts,
            [f"w{k} y." for k in range(4)],
            language_pair=f"{'abcdefghijklmnop'[number] * 2}-en",
            name=name,
        )
        human = HumanScores("da", "system", SYSTEMS[:12], people[:, None])
        sets.append(replace(made, human=(human,)))
        # without noise it is no copy of people's scores, but orders systems as they do
        values = people + of_set * draw.normal(size=12) if of_set else people**3
        values = -values if turned else values
        scores.append(metric(np.repeat(values[:, None], 4, axis=1), "m"))
    return gn.metaeval.delta_accuracy(sets, [scores], resamples=200)


@world(
    "people who agree with large differences, and with small ones by chance",
    says=["metaeval.delta_accuracy.classes", "metaeval.delta_accuracy.chance"],
    silent=_SILENT,
    without=["less often than a coin"],
)
def small_differences_are_noise() -> Finding:
    return found(NAMES * 2, [1.0] * 6)


@world(
    "people who agree with every difference",
    says=["metaeval.delta_accuracy.classes"],
    silent=_SILENT,
)
def all_agree() -> Finding:
    return found(NAMES * 2, [0.0] * 6)


@world(
    "a metric that orders systems against people",
    says=["metaeval.delta_accuracy.classes", "metaeval.delta_accuracy.chance"],
    silent=_SILENT,
    without=["more often than a coin"],
)
def the_reverse() -> Finding:
    return found(NAMES * 2, [0.0] * 6, turned=True)


@world(
    "newer sets in which people agree by chance",
    says=["metaeval.delta_accuracy.classes", "metaeval.delta_accuracy.newer"],
)
def newer_sets() -> Finding:
    return found(("wmt18",) * 8 + ("wmt24",) * 3, [0.5] * 8 + [20.0] * 3)


# Beside a comparison


def compared(name: str, largest: float, *, meaning: bool = True) -> Finding:
    """The example and a copy with errors, beside sets of WMT19 with differences up to some size."""
    ts = gn.TestSet.from_lists(
        {"fine": outputs(), "wrong": noised(outputs(), 0.1, 1)},
        references(),
        language_pair=bundled().language_pair,
        name=name,
    )
    if not meaning:
        return gn.compare(ts, "bleu", examples=0, ngrams=0, resamples=100)
    draw = np.random.default_rng(1)
    pairs = [
        SetPairs(
            "wmt19 es-en", "es-en", 2019, "da", 12, size, draw.random(60) < 0.5 + size / 2 / largest
        )
        for size in draw.uniform(0, largest, size=(3, 60))
    ]
    signature = str(gn.score(ts, ["bleu"])[0].signature)
    drawing = DrawOptions(100, 0.95, 1)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bleu.delta-accuracy.json"
        write_meanings(file, [make_meaning("bleu", signature, pairs, drawing)], drawing)
        return gn.compare(ts, "bleu", delta_accuracy=file, examples=0, ngrams=0, resamples=100)


@world(
    "a difference as others of the same year and languages",
    says=["metaeval.delta_accuracy.classes"],
    silent=_MEANT,
)
def as_others() -> Finding:
    return compared("wmt19", 40.0)


@world(
    "a difference larger than all that people judged",
    says=["compare.meaning_beyond"],
    silent=_MEANT,
)
def beyond() -> Finding:
    return compared("wmt19", 0.5)


@world(
    "a test set of a later year",
    says=["metaeval.delta_accuracy.classes", "compare.meaning_elsewhere"],
    silent=_MEANT,
)
def a_later_year() -> Finding:
    return compared("wmt24", 40.0)


@world("no file of what differences mean", silent=_MEANT)
def no_meaning() -> Finding:
    return compared("wmt19", 40.0, meaning=False)
