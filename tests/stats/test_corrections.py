"""Holm's correction."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student
from scipy.stats import ttest_1samp

from gnomon.core.errors import DataError
from gnomon.stats import holm, holm_levels
from gnomon.stats.holm import step_down
from gnomon.stats.student import mean_test

probabilities = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def rejected_by_holm(p: list[float], alpha: float) -> set[int]:
    """Step by step, as Holm describes it."""
    rejected: set[int] = set()
    for step, index in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        if p[index] > alpha / (len(p) - step):
            break
        rejected.add(index)
    return rejected


def test_holm_by_hand() -> None:
    # 4 x .01, 3 x .02 -> .06, 2 x .03 -> .06, 1 x .5
    assert holm([0.5, 0.01, 0.03, 0.02]) == pytest.approx([0.5, 0.04, 0.06, 0.06])


@given(st.lists(st.integers(0, 1000).map(lambda k: k / 1000), min_size=1, max_size=30))
def test_holm_rejects_what_the_step_down_procedure_rejects(p: list[float]) -> None:
    alpha = 0.05005  # no multiple of it meets a product of p by accident of rounding
    found = set(np.flatnonzero(holm(p) <= alpha).tolist())
    assert found == rejected_by_holm(p, alpha)


@given(p=probabilities)
def test_corrections_keep_the_order_and_never_lower_a_p(p: list) -> None:
    adjusted = holm(p)
    assert (adjusted >= np.array(p) - 1e-15).all()
    assert (adjusted <= 1).all()
    assert (np.diff(adjusted[np.argsort(p)]) >= 0).all()


def test_tests_that_were_not_made_stay_missing_and_count_for_nothing() -> None:
    nan = float("nan")
    adjusted = holm([[nan, 0.01], [0.04, nan]])
    assert adjusted.shape == (2, 2)
    assert np.isnan(adjusted[[0, 1], [0, 1]]).all()
    assert adjusted[[0, 1], [1, 0]] == pytest.approx(holm([0.01, 0.04]))


def test_one_test_and_none_are_left_alone() -> None:
    assert holm(0.03) == pytest.approx(0.03)
    assert holm([]).shape == (0,)
    assert np.isnan(holm([float("nan")])).all()


def test_the_argument_is_not_changed() -> None:
    p = np.array([0.02, 0.01])
    holm(p)
    assert p.tolist() == [0.02, 0.01]


@pytest.mark.parametrize("value", [-0.1, 1.1])
def test_values_that_are_no_probabilities_are_refused(value: float) -> None:
    with pytest.raises(DataError, match=r"\[0, 1\]"):
        holm([0.5, value])


def test_levels_of_holm_by_hand() -> None:
    p = [0.5, 0.01, 0.03, 0.02, math.nan]
    assert holm_levels(p, 0.05) == pytest.approx(
        [0.05 / 3, 0.0125, 0.05 / 3, 0.05 / 3, math.nan], nan_ok=True
    )
    assert holm_levels([0.01, 0.04], 0.05) == pytest.approx([0.025, 0.05])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9), st.sampled_from([0.01, 0.05, 0.2]))
def test_a_p_is_at_most_its_own_level_where_holm_rejects(p: list[float], alpha: float) -> None:
    adjusted, levels = holm(p), holm_levels(p, alpha)
    sure = np.abs(adjusted - alpha) > 1e-12
    assert ((np.array(p) <= levels) == (adjusted <= alpha))[sure].all()


def test_intervals_of_steps_are_those_of_scipy_at_alpha_over_what_is_left() -> None:
    draw = np.random.default_rng(3)
    samples = [draw.normal(mean, 1, 12) for mean in (3, 0.9, 0.0)]
    found = step_down([lambda alpha, x=x: mean_test(x.tolist(), alpha) for x in samples], 0.05)
    for x, one, left in zip(samples, found, (3, 2, 1), strict=True):
        known = ttest_1samp(x, 0).confidence_interval(1 - 0.05 / left)
        assert (one.low, one.high) == pytest.approx((known.low, known.high), rel=1e-9)
        assert one.decided == (not one.low <= 0 <= one.high) == (one.p <= 0.05)
    assert [one.decided for one in found] == [True, True, False]


def test_the_mean_of_what_was_chosen_on_the_others_has_the_variance_of_nadeau_and_bengio() -> None:
    x = np.random.default_rng(4).normal(0.5, 1, 9)
    low, high, p = mean_test(x.tolist(), 0.1, chosen_on_others=True)
    scale = float(np.std(x, ddof=1)) * math.sqrt(1 / 9 + 1 / 8)
    assert (low, high) == pytest.approx(student.interval(0.9, 8, x.mean(), scale), rel=1e-9)
    assert p == pytest.approx(2 * student.sf(x.mean() / scale, 8), rel=1e-9)
