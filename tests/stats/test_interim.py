"""Planned looks: the published boundaries, and how often they are crossed."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.core.errors import UsageError
from gnomon.stats.interim import look_levels, obrien_fleming, stopping


def test_boundaries_are_the_published_ones() -> None:
    # Jennison and Turnbull (2000), table 2.3: constants of O'Brien and Fleming's test
    known = {1: 1.960, 2: 1.977, 3: 2.004, 4: 2.024, 5: 2.040, 6: 2.053, 10: 2.087}
    for looks, constant in known.items():
        assert obrien_fleming(looks)[-1] == pytest.approx(constant, abs=5e-4)
    assert [round(z, 3) for z in obrien_fleming(5)] == [4.562, 3.226, 2.634, 2.281, 2.04]
    assert obrien_fleming(5, 0.01)[-1] == pytest.approx(2.621, abs=5e-4)


def test_equal_systems_cross_them_as_often_as_alpha_says() -> None:
    draws = np.random.default_rng(1).normal(size=(200_000, 4)).cumsum(axis=1)
    z = np.abs(draws) / np.sqrt(np.arange(1, 5))
    crossed = (z >= obrien_fleming(4, 0.1)).any(axis=1).mean()
    assert crossed == pytest.approx(0.1, abs=0.003)


def test_chances_to_stop_are_those_of_draws() -> None:
    shift = 2.5 / np.sqrt(3) * np.arange(1, 4)
    draws = np.random.default_rng(2).normal(size=(200_000, 3)).cumsum(axis=1) + shift
    beyond = np.abs(draws) / np.sqrt(np.arange(1, 4)) >= obrien_fleming(3)
    first = [(beyond[:, k] & ~beyond[:, :k].any(axis=1)).mean() for k in range(3)]
    assert stopping(3, 2.5) == pytest.approx(first, abs=0.004)


def test_one_look_is_the_test_itself() -> None:
    assert look_levels(1, 0.05) == (0.05,)
    assert stopping(1, 0.0).sum() == pytest.approx(0.05, abs=1e-9)


def test_no_look_is_refused() -> None:
    with pytest.raises(UsageError, match="looks are 1 or more"):
        obrien_fleming(0)
