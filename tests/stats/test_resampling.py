"""Seeded resampling."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gnomon.core.errors import UsageError
from gnomon.stats import bootstrap_interval, resamples, resampling
from gnomon.stats.resampling import (
    percentile_interval,
    resample_counts,
    resampled_sums,
    shift_distance,
    shift_p,
)


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


def test_counts_are_those_of_the_same_resamples() -> None:
    drawn = [np.bincount(draw, minlength=30) for draw in resamples(30, count=40, seed=8)]
    assert (resample_counts(30, count=40, seed=8) == np.transpose(drawn)).all()


def test_sums_of_resamples_equal_a_loop_whatever_the_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    values = np.random.default_rng(1).normal(size=(3, 12))
    rows = np.array([0, 2, 3, 5, 7, 8, 9, 11, 12, 13, 17, 19])
    draws = resamples(20, count=50, seed=2)
    whole = np.zeros((3, 20))
    whole[:, rows] = values
    expected = np.transpose([whole[:, draw].sum(axis=1) for draw in draws])
    counts = resample_counts(20, count=50, seed=2)
    assert resampled_sums(values, counts, rows) == pytest.approx(expected, abs=1e-12)
    monkeypatch.setattr(resampling, "_BLOCK", 84)  # seven resamples at a time
    assert resampled_sums(values, counts, rows) == pytest.approx(expected, abs=1e-12)


def test_percentile_intervals_leave_undefined_resamples_out() -> None:
    samples = np.random.default_rng(3).normal(size=(4, 101))
    samples[1, ::3] = np.nan
    samples[3] = np.nan
    low, high = percentile_interval(samples, 0.9)
    for row in range(3):
        expected = np.nanquantile(samples[row], [0.05, 0.95])
        assert [low[row], high[row]] == pytest.approx(expected, abs=1e-12)
    assert math.isnan(low[3])


def test_zero_lies_outside_the_symmetric_interval_exactly_where_p_is_small() -> None:
    draw = np.random.default_rng(4)
    estimates = draw.normal(0.5, 1.0, 300)
    samples = estimates[:, None] + draw.normal(0.0, 0.35, (300, 199))
    wide, p = shift_distance(estimates, samples, 0.95), shift_p(estimates, samples)
    assert ((np.abs(estimates) > wide) == (p <= 0.05 + 1e-12)).all()
    assert p.min() == 1 / 200


def test_p_of_a_hand_computed_case() -> None:
    # the resamples lie 1, 3, 2 and 5 away from the estimate 2: three of four at least as far as 0
    assert shift_p(np.array(2.0), np.array([3.0, 5.0, 0.0, -3.0])) == 4 / 5
    assert math.isnan(shift_p(np.array(np.nan), np.array([1.0, 2.0])))


def test_too_few_resamples_give_no_symmetric_interval() -> None:
    assert math.isnan(shift_distance(np.array(0.0), np.arange(10.0), 0.95))
