"""Pearson's correlation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from gnomon.errors import LengthMismatchError
from gnomon.stats import pearson

numbers = st.floats(-1e6, 1e6, allow_nan=False)


@given(st.lists(st.tuples(numbers, numbers), min_size=3, max_size=40))
def test_pearson_equals_scipy(pairs: list[tuple[float, float]]) -> None:
    x, y = np.array(pairs).T
    if np.ptp(x) < 1e-3 or np.ptp(y) < 1e-3:
        return
    assert pearson(x, y) == pytest.approx(scipy_stats.pearsonr(x, y).statistic, abs=1e-9)


def test_missing_pairs_are_left_out() -> None:
    nan = float("nan")
    assert pearson([1, 2, nan, 3, 5], [2, 1, 9, nan, 7]) == pearson([1, 2, 5], [2, 1, 7])


@pytest.mark.parametrize(
    ("x", "y"), [([], []), ([1.0], [2.0]), ([3, 3, 3], [1, 2, 3]), ([0.1] * 9, range(9))]
)
def test_pearson_is_undefined_for_too_few_points_and_constant_sides(x: list, y: list) -> None:
    assert math.isnan(pearson(x, y))


def test_huge_and_tiny_values_do_not_overflow() -> None:
    assert pearson([1e300, 2e300, 3e300], [1e-300, 2e-300, 3e-300]) == pytest.approx(1.0)


def test_unequal_lengths_are_refused_with_both_shapes() -> None:
    with pytest.raises(LengthMismatchError, match=r"\(2,\) and \(3,\)"):
        pearson([1, 2], [1, 2, 3])
