"""What BMX says, on experiments whose truth is known: gains, collapses, noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.methods.bmx.invented import control_of, invented
from tests.noise import is_mostly_undecided

from gnomon import TestSet, bmx
from gnomon.bmx import Experiment
from gnomon.bmx.tuning_tables import TunedGain
from gnomon.bmx.verdict import tune_verdict
from gnomon.core.findings import Bars, Finding
from gnomon.core.records import table

PAIRS = ("cs-en", "de-en", "fi-en", "tr-en", "ru-en", "zh-en")


def rows_of(over: np.ndarray, gains: np.ndarray, *, collapsed: float = 0.0) -> Finding:
    """A finding of one explainer with these gains [language pairs, metrics]."""
    nothing = dict.fromkeys(("p", "w", "lowest", "highest"))
    names = {"explainer": "erasure", "sides": "both", "data": "in turn"}
    each = [
        TunedGain(
            **{**nothing, **names},
            dataset="made up",
            language_pair=PAIRS[pair],
            metric=f"m{metric}",
            base=0.5,
            gain=float(gains[pair, metric]),
            over_control=float(over[pair, metric]),
            n=1,
            collapsed=None,
        )
        for pair, metric in np.ndindex(*gains.shape)
    ]
    every = TunedGain(
        **{**nothing, **names},
        dataset="all test sets",
        language_pair=None,
        metric=None,
        base=None,
        gain=float(gains.mean()),
        over_control=float(over.mean()),
        n=gains.size,
        collapsed=collapsed,
    )
    return Finding("bmx tune", "BMX", (table("gains", "Gains", TunedGain, [every, *each]),), {})


def drawn(seed: int, effect: float = 0.0) -> np.ndarray:
    draw = np.random.default_rng(seed)
    return effect + draw.normal(0, 0.02, (6, 1)) + draw.normal(0, 0.01, (6, 2))


def test_explanations_that_help_are_said_to_with_the_size_the_interval_and_the_pairs() -> None:
    (found,) = tune_verdict(rows_of(drawn(1, 0.08), drawn(2, 0.1)))
    assert found.level == "finding"
    assert str(found).startswith("With explanations by erasure metrics agree with people by .0")
    assert "than with random ones (12 experiments of 6 language pairs, p" in str(found)
    assert "above the metric alone" in str(found)
    assert found.rows == {"gains": tuple(range(1, 13))}


def test_beating_random_ones_is_no_gain_where_the_metric_alone_is_as_good() -> None:
    (found,) = tune_verdict(rows_of(drawn(1, 0.08), drawn(2, -0.1)))
    assert found.level == "finding"
    assert "help no metric" in str(found)


@pytest.mark.parametrize("draws", [100, pytest.param(2000, marks=pytest.mark.verify)])
def test_noise_is_decided_no_more_often_than_alpha(draws: int) -> None:
    every = (tuple(tune_verdict(rows_of(drawn(seed), drawn(seed + 9000)))) for seed in range(draws))
    found = sum(all(one.level == "undecided" for one in some) for some in every)
    assert is_mostly_undecided(found, draws)


def test_settings_that_collapse_are_a_caution_and_no_finding() -> None:
    found = list(tune_verdict(rows_of(drawn(1, 0.08), drawn(2, 0.1), collapsed=0.5)))
    assert [one.level for one in found] == ["caution"]
    assert "no evidence: .0" in str(found[0])
    assert "more in r than with random ones (12 experiments" in str(found[0])


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


def test_boosted_scores_are_a_picture_of_all_systems_best_first_which_says_who_is_on_top() -> None:
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
    said = "BMX of chrF: near is on top, boosted or not; none of 2 systems changed place"
    assert picture.title == said
    level = bmx.score(replace(testset, systems=dict.fromkeys("ab", testset.systems["near"])), "ter")
    assert "a and b are on top under BMX of TER, boosted or not" in str(level.verdict[0])
    alone = bmx.score(testset.select(systems=["near"]), "chrf")
    assert not any(isinstance(view, Bars) for view in alone.views)
