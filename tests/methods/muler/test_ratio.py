"""The two definitions of MuLER, against hand-computed cases."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gnomon.muler import clipped_ratios, ratio

scores = st.floats(0, 100)


def test_the_ratio_of_a_hand_computed_case() -> None:
    # max 40, base 34, min 20: 6 of the 20 reachable points are not earned
    assert ratio(base=34.0, oracle=40.0, anti_oracle=20.0) == pytest.approx(0.3)


def test_values_outside_the_unit_interval_are_kept() -> None:
    assert ratio(base=45.0, oracle=40.0, anti_oracle=20.0) == pytest.approx(-0.25)
    assert ratio(base=15.0, oracle=40.0, anti_oracle=20.0) == pytest.approx(1.25)


@pytest.mark.parametrize("anti_oracle", [40.0, 40.0 * (1 - 1e-15), float("nan")])
def test_equal_or_missing_oracles_are_undefined_never_zero(anti_oracle: float) -> None:
    assert ratio(base=30.0, oracle=40.0, anti_oracle=anti_oracle) is None


@given(scores, scores, scores)
def test_a_metric_and_its_negative_have_the_same_ratio(a: float, b: float, c: float) -> None:
    assume(abs(b - c) > 1e-6)
    assert ratio(a, b, c) == pytest.approx(ratio(-a, -b, -c))


def test_clipped_ratios_count_zero_unless_the_gain_is_positive_and_within_reach() -> None:
    base = [30.0, 45.0, 10.0, 40.0, 20.0]
    found = clipped_ratios(base, [40.0] * 5, [20.0] * 5)
    # within reach; above the oracle; below the anti-oracle; nothing to gain; all to gain
    assert found.tolist() == [0.5, 0.0, 0.0, 0.0, 1.0]


@given(st.lists(st.tuples(scores, scores, scores), min_size=1))
def test_clipped_ratios_stay_in_the_unit_interval(rows: list[tuple[float, float, float]]) -> None:
    base, oracle, anti = np.array(rows).T
    found = clipped_ratios(base, oracle, anti)
    assert ((found >= 0) & (found <= 1)).all()


def test_rounding_is_no_gain() -> None:
    assert clipped_ratios([0.1 + 0.2], [0.3], [0.3]).tolist() == [0.0]
