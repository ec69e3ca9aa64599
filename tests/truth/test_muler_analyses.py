"""How often the analyses around MuLER, and explanations of segments, call noise a finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.noise import is_mostly_undecided
from tests.truth.worlds_bmx import marked
from tests.truth.worlds_muler_analyses import MOOD

import gnomon as gn

if TYPE_CHECKING:
    from gnomon.core.findings import Finding

DRAWS = [20, pytest.param(1000, marks=pytest.mark.verify)]


def found_nothing(finding: Finding) -> bool:
    return not any(one.level == "finding" for one in finding.verdict)


@pytest.mark.parametrize("draws", DRAWS)
@pytest.mark.parametrize("share", [0.02, 0.05, 0.3])
def test_words_that_outputs_have_as_often_by_chance_are_not_too_few(
    share: float, draws: int
) -> None:
    """Rare and frequent words stand in outputs and references at random."""
    undecided = 0
    for seed in range(draws):
        draw = np.random.default_rng(seed)

        def texts(draw: np.random.Generator = draw) -> list[str]:
            return [("a dog ran" if one else "it ran") for one in draw.random(100) < share]

        testset = gn.TestSet.from_lists({"a": texts()}, texts())
        pattern = {"dog": "dog"}
        finding = gn.muler.score(testset, "none", ["re:dog"], pattern=pattern, resamples=0)
        undecided += found_nothing(finding)
    assert is_mostly_undecided(undecided, draws)


@pytest.mark.parametrize("draws", DRAWS)
@pytest.mark.parametrize(("segments", "share"), [(30, 0.5), (60, 0.05), (100, 0.5)])
def test_moods_that_differ_by_chance_are_not_changed(
    segments: int, share: float, draws: int
) -> None:
    """Days of outputs and references are good, bad or fine at random."""
    undecided = 0
    for seed in range(draws):
        draw = np.random.default_rng(seed)
        days = np.array(["a good day", "a bad day", "a fine day"])
        first, other = (days[draw.integers(3, size=segments)] for _ in range(2))
        output = np.where(draw.random(segments) < share, other, first)
        testset = gn.TestSet.from_lists({"s": output.tolist()}, first.tolist())
        finding = gn.muler.score(testset, "none", scorers=[MOOD], examples=0)
        undecided += found_nothing(finding)
    assert is_mostly_undecided(undecided, draws)


@pytest.mark.parametrize("draws", [10, pytest.param(200, marks=pytest.mark.verify)])
def test_marks_at_random_are_not_what_lowers_the_score(draws: int) -> None:
    undecided = sum(found_nothing(marked(40, errors="random", seed=n)) for n in range(draws))
    assert is_mostly_undecided(undecided, draws)
