"""What a meta-evaluation says, on sets whose truth is known: agreement, artefacts, noise."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.methods.metaeval.contests import contest, drawn, noisy, scores
from tests.noise import is_mostly_undecided

import gnomon

if TYPE_CHECKING:
    from gnomon.messages import Message

SYSTEMS = tuple(f"s{k}" for k in range(12))
BARE = {"statistics": ("pearson",), "levels": ("system",)}


def judged(human: np.ndarray, **metrics: np.ndarray) -> tuple[Message, ...]:
    """What is said of metrics of system scores [K], beside people's [K]."""
    names = SYSTEMS[: len(human)]
    testset = contest(np.repeat(human[:, None], 20, axis=1), names)
    made = [
        scores(np.repeat(one[:, None], 20, axis=1), names, name, system=one)
        for name, one in metrics.items()
    ]
    return gnomon.metaeval(testset, made, resamples=100, **BARE).verdict


def people(seed: int, systems: int = 12) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=systems)


def unlike(seed: int, of: np.ndarray, noise: float) -> np.ndarray:
    return of + noise * np.random.default_rng([seed, 7]).normal(size=of.shape)


def test_a_metric_that_agrees_better_is_said_to_with_both_figures_and_intervals() -> None:
    human = people(1)
    (found,) = judged(human, near=unlike(1, human, 0.1), far=people(2))
    assert found.level == "finding"
    assert str(found).startswith("near agrees better with people (da) than far (")
    assert "corrected p" in str(found)
    assert "Pearson, system level: .99" in str(found)
    assert "12 systems" in str(found)
    assert set(found.rows) == {"metaeval", "wins"}


@pytest.mark.parametrize("draws", [20, pytest.param(1000, marks=pytest.mark.verify)])
def test_one_metric_that_knows_nothing_is_undecided_as_often_as_alpha_says(draws: int) -> None:
    found = [judged(people(seed), m=people(seed + 5000)) for seed in range(draws)]
    assert is_mostly_undecided(sum(one[0].level == "undecided" for one in found), draws)


def test_one_metric_that_agrees_is_said_to_agree() -> None:
    human = people(1)
    (found,) = judged(human, m=unlike(1, human, 0.2))
    assert found.level == "finding"
    assert str(found).startswith("m agrees with people (da) (Pearson, system level: .9")


def test_few_systems_are_a_caution_and_no_finding() -> None:
    human = people(1, 4)
    found = judged(human, near=unlike(1, human, 0.1), far=people(2, 4))
    assert {one.level for one in found} == {"caution"}
    few = "at system level, 4 systems are too few for a finding; it takes 5 or more"
    assert str(found[0]) == f"Caution: de-en: {few}."


def test_a_metric_that_points_the_wrong_way_is_a_caution() -> None:
    human = people(1)
    found = judged(human, near=unlike(1, human, 0.1), rate=-unlike(2, human, 0.1))
    (caution,) = (one for one in found if one.level == "caution")
    assert str(caution).startswith(
        "Caution: rate goes against people: what it calls better people call worse"
    )


def test_of_metrics_that_all_go_against_people_none_is_called_the_best() -> None:
    human = people(1)
    found = judged(human, near=-unlike(1, human, 0.1), rate=-unlike(2, human, 0.2))
    assert [one.level for one in found] == ["finding"]
    assert str(found[0]).startswith("rate and near go against people (da): what they call better")
    assert "system level: -.9" in str(found[0])
    assert found[0].rows == {"metaeval": (0, 1)}


def test_a_metric_that_scored_few_systems_silences_no_other() -> None:
    human = people(1)
    partly = np.where(np.arange(12) < 3, unlike(3, human, 0.1), np.nan)
    found = judged(human, near=unlike(1, human, 0.1), far=people(2), partly=partly)
    assert [one.level for one in found] == ["finding", "caution"]
    assert str(found[0]).startswith("near agrees better with people (da) than far (")
    assert str(found[1]).startswith("Caution: partly lacks 75 % of the scores that people gave")


def test_a_single_segment_has_no_interval_and_so_no_certain_agreement() -> None:
    human = drawn(1, (6, 1))
    made = gnomon.metaeval(
        contest(human),
        scores(noisy(human, 2, 2.0)),
        statistics=["pearson"],
        groupings=["item"],
        levels=["segment"],
        resamples=50,
    )
    assert (made.rows[0]["low"], made.rows[0]["high"], made.rows[0]["drawn"]) == (None, None, 1)
    (found,) = made.verdict
    assert str(found).startswith("Caution: de-en: 1 segment is too few for a finding")


def test_a_circular_metric_is_a_caution_and_takes_no_part() -> None:
    human = drawn(1, (6, 20))
    testset = contest(human)
    seen = replace(scores(human, name="seen"), informed_by=("da",))
    plain = [scores(noisy(human, k, 0.5), name=f"m{k}") for k in (1, 2)]
    found = gnomon.metaeval(
        testset, [seen, *plain], resamples=50, allow_circular=True, **BARE
    ).verdict
    assert all("seen" not in str(one) for one in found if one.level != "caution")
    (caution,) = (one for one in found if one.level == "caution")
    assert str(caution) == ("Caution: seen cannot be judged by these human scores: made with them.")


def test_many_kinds_of_human_scores_share_a_sentence_and_none_is_left_out() -> None:
    systems, draw = tuple("abcdefghijkl"), np.random.default_rng(1)
    human = draw.normal(size=(12, 1)) + draw.normal(size=(12, 40))
    told = contest(human, systems)
    kinds = [replace(told.human[0], kind=f"kind{n}", values=noisy(human, n, 0.1)) for n in range(4)]
    metrics = [
        scores(human, systems, name="good"),
        scores(draw.normal(size=(12, 40)), systems, name="noise"),
    ]
    found = gnomon.metaeval(replace(told, human=tuple(kinds)), metrics, resamples=200).verdict
    first = str(found[0])
    assert first.startswith("good has the highest agreement with people (Pearson, system level: .9")
    assert all(f"] on kind{n}" in first for n in range(4))
    assert "it is clearly better on kind0" in first
    # of systems, of segments
    assert len([one for one in found if one.level != "caution"]) == 2


def test_a_control_is_set_beside_no_metric_that_goes_against_people() -> None:
    human = drawn(1, (6, 20))
    found = gnomon.metaeval(
        contest(human), scores(-human, name="m"), statistics=("pairwise_accuracy",), resamples=0
    ).verdict
    assert not any("random score" in str(one) for one in found)


def test_over_test_sets_the_average_is_said_and_on_how_many_tests_decide() -> None:
    sets, near, far = [], [], []
    for seed in range(3):
        human = np.repeat(people(seed)[:, None], 20, axis=1)
        sets.append(contest(human, SYSTEMS, name=f"set{seed}", pair=f"{'cdf'[seed]}e-en"))
        near.append(scores(human + 0.1 * people(seed + 50)[:, None], SYSTEMS, "near"))
        far.append(scores(np.repeat(people(seed + 90)[:, None], 20, axis=1), SYSTEMS, "far"))
    (found,) = gnomon.metaeval(sets, {"near": near, "far": far}, resamples=100, **BARE).verdict
    assert found.level == "finding"
    assert "on average over 3 test sets" in str(found)
    assert "tests say so on 3 of 3" in str(found)
