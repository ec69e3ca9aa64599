"""Seeded resampling."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gnomon.errors import UsageError
from gnomon.stats import bootstrap_interval, resamples


def test_equal_seeds_give_equal_draws_and_others_do_not() -> None:
    assert (resamples(50, seed=3) == resamples(50, seed=3)).all()
    assert (resamples(50, seed=3) != resamples(50, seed=4)).any()


def test_draws_are_uniform_over_the_items() -> None:
    counts = np.bincount(resamples(20, count=5000, seed=1).ravel(), minlength=20)
    assert counts.min() > 4700
    assert counts.max() < 5300


def test_the_interval_of_a_mean_covers_the_truth_about_as_often_as_it_says() -> None:
    generator = np.random.default_rng(5)
    hits = 0
    for trial in range(200):
        interval = bootstrap_interval(generator.normal(size=60), np.mean, count=300, seed=trial)
        hits += interval.low <= 0 <= interval.high
    assert 180 <= hits <= 199


def test_rows_are_resampled_together() -> None:
    pairs = np.array([[1.0, 1.0], [2.0, 2.0], [5.0, 5.0]])
    interval = bootstrap_interval(pairs, lambda rows: rows[:, 0].sum() - rows[:, 1].sum())
    assert interval == (0, 0, 0)


def test_an_undefined_statistic_gives_an_undefined_interval() -> None:
    interval = bootstrap_interval([1.0, 2.0], lambda _: np.float64("nan"))
    assert all(math.isnan(value) for value in interval)


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0])
def test_a_level_outside_the_unit_interval_is_refused(level: float) -> None:
    with pytest.raises(UsageError, match="strictly between 0 and 1"):
        bootstrap_interval([1.0], np.mean, level=level)


def test_no_items_are_refused() -> None:
    with pytest.raises(UsageError, match="at least one item"):
        resamples(0)
