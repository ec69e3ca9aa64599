"""p-values from null draws, and the rules of shared tasks."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gnomon.core.errors import UnknownNameError
from gnomon.stats import EarlyStopping, p_value, rules

NULL = [-0.3, -0.2, 0.0, 0.1, 0.2]


@pytest.mark.parametrize(
    ("alternative", "extreme"), [("greater", 1), ("less", 5), ("two-sided", 3 - 1)]
)
def test_extreme_draws_are_counted(alternative: str, extreme: int) -> None:
    plain = p_value(NULL, 0.2, alternative=alternative, plus_one=False)
    if alternative == "two-sided":
        extreme = 3  # -.3, -.2, .2
    assert plain == (pytest.approx(extreme / 5), 5)
    assert p_value(NULL, 0.2, alternative=alternative).p == pytest.approx((extreme + 1) / 6)


def test_draws_equal_but_for_rounding_reach_the_observation() -> None:
    assert p_value([0.1 + 0.2], 0.3, alternative="less", plus_one=False).p == 1
    assert p_value([0.3], 0.1 + 0.2, alternative="greater", plus_one=False).p == 1


def test_undefined_draws_do_not_count() -> None:
    assert p_value([0.1, math.nan], 0.2, alternative="greater") == (0.5, 1)
    assert math.isnan(p_value([math.nan], 0.2).p)
    assert math.isnan(p_value([0.1], math.nan).p)
    assert math.isnan(p_value([], 0.0).p)


def test_early_stopping_ends_after_the_first_decided_block() -> None:
    rule = EarlyStopping(block=10, low=0.02, high=0.5)
    null = np.zeros(40)
    null[[3, 15]] = 1.0  # 1/10, 2/20, 2/30, 2/40: never decided
    assert (
        p_value(null, 1.0, alternative="greater", plus_one=False, early_stopping=rule).draws == 40
    )
    assert p_value(null[4:], 2.0, plus_one=False, early_stopping=rule) == (0, 10)
    assert p_value(np.ones(40), 1.0, early_stopping=rule).draws == 10
    null[:8] = 1.0
    assert p_value(null[:9], 1.0, plus_one=False, early_stopping=rule).draws == 9  # no whole block


def test_p_values_of_a_true_null_hypothesis_are_uniform() -> None:
    generator = np.random.default_rng(0)
    found = [p_value(generator.normal(size=99), generator.normal()).p for _ in range(1000)]
    assert np.mean(np.array(found) <= 0.05) == pytest.approx(0.05, abs=0.02)
    assert np.mean(found) == pytest.approx(0.5, abs=0.03)


def test_unknown_alternatives_and_presets_are_named() -> None:
    with pytest.raises(UnknownNameError, match="two-sided"):
        p_value([0.0], 0.0, alternative="bigger")
    with pytest.raises(UnknownNameError, match="wmt22"):
        rules("wmt99")


def test_presets_use_the_formulas_of_their_tasks() -> None:
    assert rules(None).plus_one
    assert not rules("wmt19").plus_one
    assert rules("wmt22").early_stopping == (100, 0.02, 0.5)
    assert rules("wmt24").spa_seed == 4
