"""Invented experiments: a quality that people, a metric and its explanations know in part."""

import numpy as np

from gnomon.methods.bmx._experiments import Experiment, Explained

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
