"""How often answers at random on blind sheets are called a finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.noise import is_mostly_undecided
from tests.truth.worlds import planted
from tests.truth.worlds_human_sheet import answered

import gnomon as gn
from gnomon.human.sheets import KeyRow, read_key

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("draws", [20, pytest.param(1000, marks=pytest.mark.verify)])
@pytest.mark.parametrize("annotators", [1, 3])
def test_answers_at_random_prefer_nothing(annotators: int, draws: int) -> None:
    """60 items of three features, a third of the answers ties."""
    rows = [KeyRow(f"i{n}", f"pos:{'ABC'[n % 3]}", n + 1, "x", "y", "x") for n in range(180)]
    undecided = 0
    for seed in range(draws):
        draw = np.random.default_rng(seed)
        found = answered(rows, *draw.choice(["A", "B", "tie"], size=(annotators, 180)).tolist())
        undecided += not any(one.level == "finding" for one in found.verdict)
    assert is_mostly_undecided(undecided, draws)


def test_sheets_of_scores_and_of_pairs_have_signatures_of_their_own(tmp_path: Path) -> None:
    """Whoever makes a sheet again by its signature makes the same kind."""
    outputs = {"a": [f"{n} cats" for n in range(40)], "b": [f"{n} dogs" for n in range(40)]}
    signatures = {}
    for scalar in (False, True):
        key = tmp_path / f"key-{scalar}.tsv"
        save = tmp_path / f"{scalar}.tsv"
        gn.human.sheet(planted(outputs, segments=40), scalar=scalar, save=save, key=key)
        signatures[scalar] = read_key(key).signature
    assert "scalar:no" in signatures[False]
    assert "scalar:yes" in signatures[True]


@pytest.mark.parametrize("draws", [20, pytest.param(1000, marks=pytest.mark.verify)])
def test_scores_at_random_of_five_systems_have_no_highest(draws: int) -> None:
    """Of 40 segments, each in five systems; the highest was chosen by its scores."""
    rows = [KeyRow(f"i{n}", "", n // 5 + 1, "abcde"[n % 5], "", "") for n in range(200)]
    undecided = 0
    for seed in range(draws):
        draw = np.random.default_rng(seed)
        found = answered(rows, draw.integers(0, 101, 200).astype(str).tolist())
        undecided += not any(one.level == "finding" for one in found.verdict)
    assert is_mostly_undecided(undecided, draws)
