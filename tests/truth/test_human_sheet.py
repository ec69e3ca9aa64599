"""How often answers at random on blind sheets are called a finding."""

from __future__ import annotations

import numpy as np
import pytest
from tests.noise import is_mostly_undecided
from tests.truth.worlds_human_sheet import answered

from gnomon.methods.human.sheets import KeyRow


@pytest.mark.parametrize("draws", [20, pytest.param(1000, marks=pytest.mark.verify)])
@pytest.mark.parametrize("annotators", [1, 3])
def test_answers_at_random_prefer_nothing(annotators: int, draws: int) -> None:
    """60 items of three features, a third of the answers ties."""
    rows = [KeyRow(f"i{n}", f"pos:{'ABC'[n % 3]}", n + 1, "x", "y", "x") for n in range(180)]
    undecided = 0
    for seed in range(draws):
        draw = np.random.default_rng(seed)
        found = answered(rows, *draw.choice(["A", "B", "tie"], size=(annotators, 180)).tolist())
        undecided += not any(one.level in ("better", "worse") for one in found.verdict)
    assert is_mostly_undecided(undecided, draws)
