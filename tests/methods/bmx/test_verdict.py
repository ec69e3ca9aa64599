"""What BMX says, on experiments whose truth is known: gains, collapses, noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.methods.bmx.invented import control_of, invented
from tests.truth.worlds_bmx import P, grids, joined, tuned

from gnomon import TestSet, bmx
from gnomon.bmx import Experiment
from gnomon.core.findings import Bars

PAIRS = ("cs-en", "de-en", "fi-en", "tr-en", "ru-en", "zh-en")


def test_explanations_that_help_are_said_to_with_the_size_the_interval_and_the_pairs() -> None:
    made = tuned(grids(0.1, control=0.02))
    (found,) = made.verdict
    assert "than with random ones (10 experiments of 5 language pairs, p < .001)" in str(found)
    assert "above the metric alone" in str(found)
    assert found.rows == {"gains": tuple(range(11))}
    total = made.rows[0]
    told = ("over_control", "over_low", "over_high", "p_value", "decided", "units")
    said = ("value", "low", "high", "p")
    assert [total[name] for name in told] == [*(found.params[name] for name in said), True, 5]


@pytest.mark.parametrize("gain", [0.0, 0.006, 0.02])
def test_the_interval_of_an_explainer_decides_as_its_p_does(gain: float) -> None:
    told = tuned(joined(grids(gain), grids(0.03, sides="candidate", seed=2)), confidence=0.9)
    totals = [row for row in told.rows if row["dataset"] == "all test sets"]
    for row in totals:
        out = not row["low"] <= 0 <= row["high"]
        assert row["decided"] == out == (row["p_value"] <= 0.1)
    assert len(totals) == 2


def test_settings_that_collapse_are_a_caution_and_no_finding() -> None:
    made = grids(0.1, control=0.0)
    collapsed = np.full((len(made.experiments), len(P)), 0.5)
    (found,) = tuned(replace(made, collapsed=collapsed)).verdict
    assert found.level == "caution"
    assert "on up to 50 % of the segments" in str(found)
    assert "more in r than with random ones (10 experiments" in str(found)


def test_a_search_over_invented_experiments_begins_with_what_was_held_out() -> None:
    made = []
    for seed, pair in enumerate(PAIRS):
        made.append(invented(40, seed, Experiment("made up", "erasure", "bleu", pair)))
        made.append(control_of(made[-1]))
    grids = bmx.search(made, p=np.array([1.0, 2.0, 3.0]), w=np.array([0.5, 1.0]))
    found = bmx.tune(grids, resamples=50)
    assert 1 <= len(found.verdict) <= 6
    assert "6 experiments of 6 language pairs" in str(found.verdict[0])
    assert set(found.verdict[0].rows) == {"gains"}


def test_one_test_set_is_judged_on_halves_and_stays_undecided() -> None:
    one = invented(60, 1)
    found = bmx.tune([one, control_of(one)], resamples=50)
    assert all(said.level in ("undecided", "caution") for said in found.verdict)
    assert any("halves overlap" in str(said) for said in found.verdict)


def test_boosted_scores_are_a_picture_of_all_systems_best_first_which_says_who_is_first() -> None:
    testset = TestSet(
        name="cats",
        references={"ref": ["the cat sat on the mat .", "dogs bark at night ."]},
        systems={
            "far": ["a cat .", "cats bark ."],
            "near": ["the cat sat on the mat .", "dogs bark by night ."],
        },
    )
    found = bmx.score(testset, "chrf")
    assert [row["system"] for row in found.rows] == ["near", "far"]
    (picture,) = (view for view in found.views if isinstance(view, Bars))
    assert picture.values == ("score", "base_score")
    assert picture.title == "BMX of chrF: scores beside base scores"
    level = bmx.score(replace(testset, systems=dict.fromkeys("ab", testset.systems["near"])), "ter")
    assert "a and b are first under BMX of TER, boosted or not" in str(level.verdict[0])
    alone = bmx.score(testset.select(systems=["near"]), "chrf")
    assert not any(isinstance(view, Bars) for view in alone.views)
