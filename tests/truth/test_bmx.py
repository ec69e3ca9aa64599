"""How often explanations that add nothing are said to help, and what the published grids say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.noise import is_mostly_undecided
from tests.truth.worlds_bmx import PAIRS, P, W, grids, joined, tuned

from gnomon import bmx
from gnomon.methods.bmx import Grids

DRAWS = [60, pytest.param(1000, marks=pytest.mark.verify)]


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
        claims = {one.claim for one in tuned(scattered(seed, names)).verdict}
        found += claims == {"bmx.tune.undecided"}
    assert is_mostly_undecided(found, draws)


def test_appendix_e_of_the_published_grids_says_nothing_of_faulty_and_random_rows(
    shared: Path,
) -> None:
    options: dict[str, Any] = {
        "only": {
            "dataset": "eval4_nlp_21_test",
            "sides": "both",
            "explainer": "erasure",
        },
        "second_iteration": True,
        "resamples": 0,
    }
    made = bmx.tune(grids=shared / "oracles/bmx/corr_grid.npz", **options)
    (said,) = made.verdict
    assert said.claim == "bmx.tune.undecided"
    assert ".001 [-.012, .013] more in r than with no explanations (12 experiments" in said.text
    names = {row["metric"] for row in made.table("experiments").rows}
    assert names == {"BERTSCORE_REF_FREE_XNLI", "XLMRSBERT", "XMoverScore_No_Mapping"}
    assert any("RandomScore" in one and one.startswith("Left out: 4") for one in made.notices)
    assert any("faulty run" in one and "Second_Iteration" in one for one in made.notices)


def test_controls_and_faulty_rows_change_no_figure() -> None:
    plain = grids(0.05, seed=3)
    more = joined(plain, grids(0.5, metrics=("RandomScore", "Second_Iteration")))
    assert tuned(more).table("settings").rows == tuned(plain).table("settings").rows
    assert len(tuned(more).table("experiments").rows) == len(tuned(plain).table("experiments").rows)


def test_densities_over_the_grid_leave_the_metric_alone_out() -> None:
    made = tuned(joined(grids(0.1, control=0.0, scatter=0.02)))
    rows = [r for r in made.table("grid_density").rows if r["level"] == "erasure"]
    best = max(rows, key=lambda row: float(row["density"] or 0.0))
    assert float(best["gain"] or 0.0) > 0.05  # none at 0, where w = 1 is
    assert len(PAIRS) == 5
