"""Try recipes of a small metric on WMT17: train on two language pairs, judge on the third.

``python scripts/tune_comet.py DATA VECTORS --learning-rate 1e-3`` prints the mean Pearson's r over
the pairs left out and over seeds; vectors of the frozen encoder are kept in the folder VECTORS.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from gnomon.core.testset import TestSet
from gnomon.train._estimator import Estimator, Training, agreement
from gnomon.train._features import Features, load_base
from gnomon.train.judged import JudgedOutputs, judged_outputs
from gnomon.train.recipe import HeadRecipe

if TYPE_CHECKING:
    from gnomon.train._features import BaseEncoder

_PAIRS = ("cs-en", "de-en", "fi-en")


def agreement_elsewhere(
    base: BaseEncoder,
    recipe: HeadRecipe,
    learnt: JudgedOutputs,
    other: JudgedOutputs,
    vectors: str,
) -> float:
    """Train on some judged outputs, and correlate with people on others."""
    features = Features(base, recipe.pool, recipe.layers, base.encoder.limit)
    with TemporaryDirectory() as scratch:
        scratch_folder = Path(scratch)
        table = features.fill(learnt.texts, scratch_folder / "learnt.npy", vectors, None)
        beside = features.fill(other.texts, scratch_folder / "other.npy", vectors, None)
        torch.manual_seed(recipe.seed)
        settings = recipe.settings(base.kind, base.folder.name)
        estimator = Estimator(
            recipe.kind, settings, base.encoder.dimensions, base.encoder.depth, recipe.dropout
        )
        training = Training(learnt, features, table, estimator, recipe)
        training.standardise()
        training.run(scratch_folder / "state", None)
        estimator.eval()
        sides = [torch.from_numpy(np.array(beside[other.sides[:, r]])) for r in training.roles]
        with torch.inference_mode():
            scores = estimator(sides).double().numpy()
    return agreement(other.cell_means(scores), other.label, other.judged) or 0.0


def main() -> None:
    """Train on each two pairs with each seed, and print what comes of it on the third."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder of test sets")
    parser.add_argument("vectors", help="folder where vectors are kept")
    parser.add_argument("--encoder", default="minilm")
    parser.add_argument("--inputs", default="reference")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--learning-rate", type=float)
    parser.add_argument("--layers")
    parser.add_argument("--dropout", type=float)
    parser.add_argument("--hidden-sizes", type=int, nargs="+")
    given = parser.parse_args()
    names = ("inputs", "learning_rate", "layers", "dropout", "hidden_sizes")
    options: dict[str, Any] = {n: getattr(given, n) for n in names if getattr(given, n) is not None}
    sets = {pair: TestSet.read(given.data / "wmt17" / pair) for pair in _PAIRS}
    base = load_base(given.encoder, "cpu")
    by_seed: dict[int, list[float]] = {}
    for seed in given.seeds:
        recipe = HeadRecipe(seed=seed, **options)
        for left in _PAIRS:
            some = [sets[one] for one in _PAIRS if one != left]
            learnt = judged_outputs(some, recipe, human=["da-z"])
            other = judged_outputs([sets[left]], recipe, human=["da-z"])
            r = agreement_elsewhere(base, recipe, learnt, other, given.vectors)
            by_seed.setdefault(seed, []).append(r)
            print(f"seed {seed}, {left} left out: {r:.3f}", flush=True)
    means = [float(np.mean(one)) for one in by_seed.values()]
    print(f"mean {np.mean(means):.4f}, of seeds {min(means):.3f} to {max(means):.3f}")


if __name__ == "__main__":
    main()
