"""Curves that never fall, beside SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import isotonic_regression as scipys

from gnomon.stats import isotonic_regression


@pytest.mark.parametrize("seed", range(5))
def test_levels_are_scipys_where_all_x_differ(seed: int) -> None:
    draw = np.random.default_rng(seed)
    x, y, weights = draw.normal(size=60), draw.normal(size=60), draw.integers(1, 4, size=60)
    knots, levels = isotonic_regression(x, y, weights)
    order = np.argsort(x)
    assert knots.tolist() == x[order].tolist()
    assert levels == pytest.approx(scipys(y[order], weights=weights[order]).x)


def test_values_at_one_x_are_averaged_and_what_weighs_nothing_is_left_out() -> None:
    knots, levels = isotonic_regression([2, 1, 2, 3], [4, 1, 2, 0], [1, 1, 3, 0])
    assert knots.tolist() == [1, 2]
    assert levels.tolist() == [1, 2.5]


def test_all_falls_become_the_mean() -> None:
    assert isotonic_regression([1, 2, 3], [3, 2, 1])[1].tolist() == [2, 2, 2]
