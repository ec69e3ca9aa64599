"""How often difficulty calls noise a finding: people drawn at random, weights that are chance."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from tests.difficulty.test_verdict import said_of, side
from tests.noise import is_mostly_undecided
from tests.truth.worlds_difficulty import hard_words_that_people_hear

from gnomon.difficulty.agreement import People, Subset, gain_rows
from gnomon.difficulty.metric import Difficulty
from gnomon.difficulty.sides import Side, base_side, weighted_side
from gnomon.metrics import parse

DRAWS = [100, pytest.param(1000, marks=pytest.mark.verify)]


def levels(sides: list[Side], human: np.ndarray, seed: int) -> set[str]:
    """What is said of one draw."""
    systems = len(human)
    people = People("da", human, np.argsort(-human))
    chosen = [Subset(f"all {systems} systems", np.arange(systems))]
    rows = gain_rows(sides, people, chosen, "difficulty(rouge1)", 199, 0.95, seed)
    row = next(one for one in rows if one.statistic == "Pearson's r")
    assert row.intervals is not None
    ends = row.intervals["difference"]
    told = said_of(row.difference, *ends, p=row.p, williams_p=row.williams_p, systems=systems)
    return {one.level for one in told}


@cache
def sides() -> list[Side]:
    """ROUGE-1 with and without weights, of systems that differ in hard and in easy words."""
    testset = hard_words_that_people_hear()
    bound = Difficulty(parse("rouge1")).bind(testset)
    batch = testset.batch()
    return [base_side(bound, batch), weighted_side(bound, batch)]


@pytest.mark.parametrize("draws", DRAWS)
def test_noise_of_people_is_no_finding(draws: int) -> None:
    # by segments alone, most of these draws would be findings: the texts do not change
    undecided = sum(
        levels(sides(), np.random.default_rng(seed).normal(size=12), seed) == {"undecided"}
        for seed in range(draws)
    )
    assert is_mostly_undecided(undecided, draws)


@pytest.mark.parametrize("draws", DRAWS)
def test_noise_of_systems_is_no_finding(draws: int) -> None:
    """Both scores are what systems are worth, and a preference for each system of their own."""
    undecided = 0
    for seed in range(draws):
        draw = np.random.default_rng(seed)
        worth = draw.normal(size=12)
        likes = worth + 0.5 * draw.normal(size=(2, 12))
        scores = likes[..., None] + draw.normal(0, 1, (2, 12, 60))
        both = [side(own, name) for own, name in zip(scores, ("base", "weighted"), strict=True)]
        human = worth + 0.3 * draw.normal(size=12)
        undecided += levels(both, human, seed) == {"undecided"}
    assert is_mostly_undecided(undecided, draws)
