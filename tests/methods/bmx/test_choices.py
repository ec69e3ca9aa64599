import numpy as np
import pytest

from gnomon.bmx import (
    Experiment,
    Grids,
    best_settings,
    choose,
    count_gains,
    gains_at,
    grid_setting,
    improving,
)
from gnomon.core.errors import DataError, UnknownNameError, UsageError

P3, W3 = np.array([-1.0, 0.0, 1.0]), np.array([0.0, 0.5, 1.0])


def grids(*tables: list[list[float]]) -> Grids:
    """Grids of three exponents (rows) and three weights, the last column the metric alone."""
    names = tuple(Experiment("d", "lime", f"m{i}", "de-en") for i in range(len(tables)))
    return Grids(names, P3, W3, np.array(tables, dtype=float).reshape(len(tables), 3, 3))


RISING = [[0.1, 0.2, 0.5], [0.1, 0.6, 0.5], [0.1, 0.7, 0.5]]
FALLING = [[0.1, 0.55, 0.4], [0.1, 0.3, 0.4], [0.1, 0.2, 0.4]]
HOPELESS = [[0.1, 0.2, 0.5], [0.1, 0.2, 0.5], [0.1, 0.2, 0.5]]
NAN = [[np.nan] * 3] * 3


def test_the_best_is_the_first_largest_in_order_of_p_then_w():
    tied = [[0.1, 0.6, 0.5], [0.6, 0.6, 0.5], [0.1, 0.6, 0.5]]
    found = best_settings(grids(RISING, HOPELESS, tied, NAN))
    assert found.tolist() == [[2, 1], [0, 2], [0, 1], [-1, -1]]


def test_experiments_that_nothing_improves_pull_the_medians_and_may_be_left_out():
    some = grids(RISING, RISING, HOPELESS, HOPELESS, HOPELESS)
    assert improving(some).tolist() == [True, True, False, False, False]
    plain, only = choose(some, "median"), choose(some.take(np.flatnonzero(improving(some))))
    assert (plain.p, plain.w) == (-1.0, 1.0)
    assert (only.p, only.w) == (1.0, 0.5)


def test_a_median_between_two_points_takes_the_lower():
    setting = choose(grids(RISING, FALLING))
    assert (setting.median_p, setting.median_w, setting.p, setting.w) == (0.0, 0.5, 0.0, 0.5)
    half = choose(grids([[0.1, 0.2, 0.5], [0.1, 0.9, 0.5], [0.1, 0.2, 0.5]], RISING))
    assert (half.median_p, half.p) == (0.5, 0.0)


def test_the_most_improving_setting_counts_and_the_largest_mean_weighs():
    much = [[0.1, 0.2, 0.5], [0.1, 0.52, 0.5], [0.1, 0.9, 0.5]]
    little = [[0.1, 0.2, 0.5], [0.1, 0.51, 0.5], [0.1, 0.45, 0.5]]
    assert choose(grids(much, little), "most-improving").p == 0.0
    assert choose(grids(much, little), "largest-mean").p == 1.0


@pytest.mark.parametrize("rule", ["most-improving", "largest-mean"])
def test_a_point_that_is_undefined_everywhere_is_not_chosen(rule):
    holes = [[np.nan, 0.4, 0.5]] * 3  # equal importances alone have no correlation
    assert choose(grids(holes, holes), rule).w == 0.5


def test_gains_of_a_hundred_thousandth_or_less_are_neither_better_nor_worse():
    found = count_gains(np.array([2e-5, 1e-5, 1e-9, 0.0, -0.1, np.nan]))
    assert (found.better, found.between, found.worse, found.undefined) == (1, 2, 2, 1)
    assert found.defined == 5


@pytest.mark.parametrize("rule", ["median", "most-improving", "largest-mean"])
def test_undefined_experiments_do_not_count(rule):
    with_nan, without = choose(grids(RISING, NAN), rule), choose(grids(RISING), rule)
    assert with_nan == without
    assert np.isnan(gains_at(grids(RISING, NAN), with_nan)).tolist() == [False, True]


def test_nothing_to_choose_from_is_said():
    with pytest.raises(DataError, match="none has a defined correlation"):
        choose(grids(NAN))
    with pytest.raises(UnknownNameError, match="most-improving"):
        choose(grids(RISING), "best")


def test_a_setting_is_a_point_of_the_grid():
    setting = grid_setting(grids(RISING), 1.0, 0.5)
    assert (setting.row, setting.column) == (2, 1)
    with pytest.raises(UsageError, match=r"the grid has no point p = 0\.5, w = 0\.5"):
        grid_setting(grids(RISING), 0.5, 0.5)
