"""Power of Student's t: scipy's noncentral t, and the shared number of segments."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from gnomon.stats.power import detectable, needed_units, power_of_t


@pytest.mark.parametrize("df", [1, 2.5, 14, 39.2, 500, 1e5])
@pytest.mark.parametrize("noncentrality", [0.0, 0.4, 2.0, 5.0, 30.0])
def test_power_is_that_of_the_noncentral_t(df: float, noncentrality: float) -> None:
    t = scipy_stats.t.ppf(0.975, df)
    law = scipy_stats.nct(df, noncentrality)
    wanted = float(law.sf(t) + law.cdf(-t))
    found = power_of_t(noncentrality, df)
    assert 0 < found <= 1
    if math.isfinite(wanted) and df > 1:  # its series fails for some
        assert found == pytest.approx(wanted, abs=1e-7)


def test_power_is_always_a_number() -> None:
    grid = [power_of_t(x, df) for x in np.linspace(0, 60, 40) for df in (1, 3, 20, 400, 1e6)]
    assert np.isfinite(grid).all()


def test_segments_for_four_of_five_are_the_known_ones() -> None:
    assert [needed_units(d, 22.632550) for d in (2, 3, 5)] == [1008, 449, 163]


def test_fewer_units_are_not_enough() -> None:
    n = needed_units(3, 10) or 0
    assert power_of_t(0.3 * math.sqrt(n), n - 1) >= 0.8
    assert power_of_t(0.3 * math.sqrt(n - 1), n - 2) < 0.8


def test_no_number_finds_no_difference() -> None:
    assert needed_units(0, 10) is None
    assert needed_units(1e-9, 10) is None


def test_what_can_be_detected_has_the_power_that_was_asked_for() -> None:
    found = detectable(1.3, 39.2, power=0.9)
    assert power_of_t(found / 1.3, 39.2) == pytest.approx(0.9, abs=1e-9)


def test_power_and_units_are_those_of_statsmodels() -> None:
    power = pytest.importorskip("statsmodels.stats.power", reason="the independent computation")
    tested = power.TTestPower()
    for effect, units, alpha in ((0.1, 20, 0.05), (0.4, 8, 0.01), (0.13, 449, 0.05), (0.9, 5, 0.1)):
        found = power_of_t(effect * math.sqrt(units), units - 1, alpha=alpha)
        assert found == pytest.approx(tested.power(effect, units, alpha), abs=1e-8)
    for difference, sd, wanted, alpha in (
        (2, 22.6, 0.8, 0.05),
        (3, 10, 0.9, 0.05),
        (1, 3, 0.5, 0.01),
    ):
        exact = tested.solve_power(difference / sd, alpha=alpha, power=wanted)
        found = needed_units(difference, sd, power=wanted, alpha=alpha)
        assert found == math.ceil(float(exact))
