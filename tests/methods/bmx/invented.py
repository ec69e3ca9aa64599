"""Invented experiments: a quality that people, a metric and its explanations know in part."""

from dataclasses import replace

import numpy as np

import gnomon as gn
from gnomon.bmx.experiments import Experiment, Explained, Grids
from gnomon.core.human import HumanScores

NAMED = Experiment("made up", "erasure", "bleu", "de-en")


def invented(n: int = 60, seed: int = 0, named: Experiment = NAMED) -> Explained:
    """Scores that people partly agree with, and importances that know a little more."""
    generator = np.random.default_rng(seed)
    quality = generator.normal(size=n)
    offsets = np.concatenate([[0], np.cumsum(generator.integers(5, 40, n))])
    noise = generator.normal(0.02, 0.05, offsets[-1])
    return Explained(
        named,
        0.8 + 0.1 * quality + generator.normal(0, 0.1, n),
        noise + np.repeat(0.01 * quality, np.diff(offsets)),
        offsets,
        quality + generator.normal(0, 0.5, n),
    )


def control_of(one: Explained, seed: int = 9) -> Explained:
    """The random explainer on the same segments."""
    named = one.experiment
    return Explained(
        Experiment(named.dataset, "random", named.metric, named.language_pair, named.sides),
        one.score,
        np.random.default_rng(seed).uniform(size=len(one.values)),
        one.offsets,
        one.human,
    )


PAIRS = ("cs-en", "de-en", "fi-en", "tr-en")


def experiments(n: int = 40) -> list[Explained]:
    """Two metrics and two explainers on four language pairs, with controls."""
    found = []
    for seed, pair in enumerate(PAIRS):
        for metric in ("bleu", "chrf"):
            for offset, explainer in enumerate(("erasure", "lime")):
                named = Experiment("made up", explainer, metric, pair)
                found.append(invented(n, seed + 10 * offset, named))
            found.append(control_of(found[-1]))
    return found


#: exponents and weights of the grids below
P, W = np.array([-1.4, -1.0, -0.3, 0.0, 1.0]), np.array([0.0, 0.4, 0.6, 1.0])


def grids_of(cells: dict[tuple[str, str, str], np.ndarray]) -> Grids:
    """Grids by data, explainer and language pair; their metric is chrf."""
    named = [Experiment(data, explainer, "chrf", pair) for data, explainer, pair in cells]
    return Grids(tuple(named), P, W, np.array(list(cells.values())))


def flat(base: float, **points: float) -> np.ndarray:
    """The same correlation everywhere but at some points, ``"row_column"`` -> gain."""
    found = np.full((len(P), len(W)), base - 0.1)
    found[:, -1] = base
    for place, gain in points.items():
        row, column = map(int, place[1:].split("_"))
        found[row, column] = base + gain
    return found


def grids_of_two_data_sets() -> Grids:
    return grids_of(
        {
            ("old", "lime", "de-en"): flat(0.5, _2_1=0.02),
            ("old", "lime", "cs-en"): flat(0.4, _2_1=0.04, _0_1=0.01),
            ("new", "lime", "de-en"): flat(0.3, _2_1=0.05, _0_1=-0.01, _3_2=0.2),
            ("new", "lime", "fi-en"): flat(0.2, _2_1=-0.01, _0_1=0.03, _3_2=0.2),
            ("old", "random", "de-en"): flat(0.5, _1_1=0.01),
            ("old", "random", "cs-en"): flat(0.4, _1_1=0.01),
            ("new", "random", "de-en"): flat(0.3, _1_1=0.02),
            ("new", "random", "fi-en"): flat(0.2, _1_1=-0.02),
        }
    )


def judged() -> gn.TestSet:
    draw = np.random.default_rng(3)
    words = ["the", "old", "cat", "sat", "on", "mat", "dog", "ran"]
    texts = [[" ".join(draw.choice(words, 4)) for _ in range(10)] for _ in range(3)]
    made = gn.TestSet.from_lists({"a": texts[0], "b": texts[1]}, texts[2], language_pair="de-en")
    people = HumanScores("da", "segment", ("a", "b"), draw.random((2, 10)))
    return replace(made, human=(people,), name="made up")
