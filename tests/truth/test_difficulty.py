"""How often difficulty calls noise a finding: people drawn at random, weights that are chance."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.agreement.pairs import gained, means, scores_of
from tests.methods.metaeval.test_gain_verdict import over_baseline
from tests.noise import is_mostly_undecided
from tests.truth.worlds_difficulty import hard_words_that_people_hear

from gnomon.difficulty.metric import Difficulty
from gnomon.difficulty.sides import base_metric
from gnomon.metrics import parse

if TYPE_CHECKING:
    from gnomon.core.scores import Scores

DRAWS = [20, pytest.param(1000, marks=pytest.mark.verify)]


def levels(sides: list[Scores], human: np.ndarray, seed: int) -> set[str]:
    """What is said of one draw."""
    row = gained(human, sides, seed)
    assert row.intervals is not None
    ends = row.intervals["gain"]
    told = over_baseline(row.gain, *ends, p=row.p_segments, williams_p=row.p, systems=len(human))
    return {one.level for one in told}


@cache
def sides() -> list[Scores]:
    """ROUGE-1 with and without weights, of systems that differ in hard and in easy words."""
    testset = hard_words_that_people_hear()
    bound = Difficulty(parse("rouge1")).weigh(testset)
    batch = testset.batch()
    return [scores_of(base_metric(bound), batch), scores_of(bound, batch)]  # type: ignore[arg-type]  # it is a metric


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
        both = [means(own, name) for own, name in zip(scores, ("base", "weighted"), strict=True)]
        human = worth + 0.3 * draw.normal(size=12)
        undecided += levels(both, human, seed) == {"undecided"}
    assert is_mostly_undecided(undecided, draws)
