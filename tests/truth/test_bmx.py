"""How often explanations that add nothing are said to help, and what the published grids say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.noise import is_mostly_undecided
from tests.told import notes
from tests.truth.worlds_bmx import P, W, grids, joined, tuned

from gnomon import bmx
from gnomon.bmx import Grids

DRAWS = [20, pytest.param(1000, marks=pytest.mark.verify)]


def scattered(seed: int, pairs: tuple[str, ...]) -> Grids:
    """Grids in which every setting gains at random, on average nothing."""
    made = grids(0.0, pairs=pairs, seed=seed)
    draw = np.random.default_rng([seed, 3])
    noise = 0.02 * draw.normal(size=(len(made.experiments), len(P), len(W))) * (W < 1)
    return Grids(made.experiments, P, W, made.correlations + noise)


@pytest.mark.parametrize("draws", DRAWS)
@pytest.mark.parametrize("pairs", [4, pytest.param(8, marks=pytest.mark.verify)])
def test_explanations_that_add_nothing_are_seldom_said_to_help(pairs: int, draws: int) -> None:
    names = tuple(f"{chr(97 + k)}{chr(97 + k)}-en" for k in range(pairs))
    found = 0
    for seed in range(draws):
        claims = {one.code for one in tuned(scattered(seed, names)).verdict}
        found += claims == {"bmx.tune.undecided"}
    assert is_mostly_undecided(found, draws)


def test_the_first_iterations_of_appendix_e_are_no_evidence_for_erasure(shared: Path) -> None:
    made = bmx.tune(
        bmx.read_grids(shared / "oracles/bmx/corr_grid.npz").where(
            dataset="eval4_nlp_21_test",
            sides="both",
            explainer="erasure",
            metric=["BERTSCORE_REF_FREE_XNLI", "XLMRSBERT", "XMoverScore_No_Mapping"],
        ),
        resamples=0,
    )
    (said,) = made.verdict
    assert said.code == "bmx.tune.undecided"
    assert ".001 [-.018, .020] more in r than with no explanations (12 experiments" in str(said)


def test_random_metrics_change_no_figure() -> None:
    plain = grids(0.05, seed=3)
    more = joined(plain, grids(0.5, metrics=("random", "random(seed=2)")))
    assert tuned(more).rows == tuned(plain).rows
    assert any(one.startswith("Left out: 10 experiments") for one in notes(tuned(more).notices))


def test_several_test_sets_of_one_language_pair_are_judged_in_turn() -> None:
    made = grids(0.1, pairs=("de-en",), scatter=0.001)
    several = []
    for year in ("wmt17", "wmt18", "wmt19", "wmt20"):
        named = tuple(replace(one, dataset=year) for one in made.experiments)
        several.append(replace(made, experiments=named))
    (said,) = tuned(joined(*several)).verdict
    assert (said.code, said.level) == ("bmx.tune.differs", "finding")
    assert "8 experiments of 4 test sets" in str(said)


def test_experiments_without_a_correlation_are_not_counted() -> None:
    made = grids(0.1, scatter=0.001)
    correlations = made.correlations.copy()
    correlations[:2] = np.nan
    (said, *_) = tuned(replace(made, correlations=correlations)).verdict
    assert "8 experiments of 4 language pairs" in str(said)
