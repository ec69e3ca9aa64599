"""One decision: simultaneous intervals, adjusted p-values and words that agree."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gnomon.stats.families import Comparisons, family_draws, family_test
from gnomon.stats.resampling import resample_counts, resampled_sums
from gnomon.stats.studentised import resampled_errors, standard_error, studentised_test


def means(gains: np.ndarray, draws: int = 400, different=None):
    """The comparisons of means [comparisons, units], NaN missing, and their resamples."""
    there = ~np.isnan(gains)
    influences = gains - np.nanmean(gains, axis=1, keepdims=True)
    counts = resample_counts(gains.shape[1], count=draws)
    sums = resampled_sums(np.where(there, gains, 0.0), counts)
    replicates = sums / resampled_sums(there.astype(float), counts)
    spreads = resampled_errors(influences, counts)
    units = there.sum(axis=1)
    differ = (np.abs(np.nan_to_num(gains)) > 0).sum(axis=1) if different is None else different
    observed = Comparisons.of(np.nanmean(gains, axis=1), standard_error(influences), units, differ)
    return observed, lambda rows: (replicates[rows], spreads[rows])


@pytest.mark.parametrize("shift", [0.0, 0.3, 2.0])
def test_one_comparison_has_the_studentised_test(shift) -> None:
    gains = np.random.default_rng(1).exponential(size=(1, 60)) - 1 + shift
    alone = family_test(*means(gains, draws=999))
    test = studentised_test(np.stack([np.zeros(60), gains[0]]), count=999)
    assert alone.low[0] == pytest.approx(test.difference_intervals[0, 1, 0], abs=1e-12)
    assert alone.high[0] == pytest.approx(test.difference_intervals[1, 1, 0], abs=1e-12)
    assert alone.p[0] == test.p[1, 0]


def test_two_comparisons_go_by_the_larger_distance_and_the_second_by_its_own() -> None:
    gains = np.random.default_rng(3).normal(size=(2, 80))
    gains -= gains.mean(axis=1, keepdims=True)
    gains = gains / gains.std(axis=1, keepdims=True, ddof=1) + np.array([[5], [2.2]]) / 80**0.5
    observed, resampled = means(gains)
    found = family_test(observed, resampled)
    replicates, spreads = resampled(np.arange(2))
    t = np.abs(replicates - observed.estimates[:, None]) / spreads
    seen = observed.estimates / observed.errors
    larger = np.maximum(t[0], t[1])
    first = (1 + (larger >= seen[0]).sum()) / 401
    second = (1 + (t[1] >= seen[1]).sum()) / 401
    assert found.p.tolist() == [first, max(first, second)]
    reach = np.sort(larger)[-20]  # of 401 x .05, rounded down
    assert found.low[0] == observed.estimates[0] - reach * observed.errors[0]
    assert found.high == pytest.approx(observed.estimates + reach * observed.errors, abs=1e-12)
    # the second is decided by its own distance alone: its interval of the family would hold 0
    assert seen[1] < reach
    assert (found.decided, found.low[1]) == ([True, True], 0.0)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_interval_p_and_decision_agree(alternative, confidence) -> None:
    decided = later = 0
    for seed in range(40):
        draw = np.random.default_rng(seed)
        comparisons, n = int(draw.integers(1, 9)), int(draw.integers(20, 90))
        shared = draw.exponential(size=n) - 1
        gains = draw.normal(draw.normal(0, 0.6, (comparisons, 1)), 1, (comparisons, n)) + shared
        gains[draw.random(gains.shape) < 0.2 * draw.random()] = np.nan
        gains[draw.random(gains.shape) < 0.5 * draw.random()] = 0.0
        observed, resampled = means(gains, draws=199)
        found = family_test(observed, resampled, confidence=confidence, alternative=alternative)
        for k, said in enumerate(found.decided):
            low, high, p = found.low[k], found.high[k], found.p[k]
            if said is None:
                assert np.isnan([low, high, p]).all()
                continue
            assert said == (p <= 1 - confidence + 1e-12)
            estimate = observed.estimates[k]
            outside = low >= 0 < estimate or high <= 0 > estimate
            assert said == outside or math.isnan(low) or math.isnan(high)
            assert not low > estimate
            assert not high < estimate
            decided += said
            later += said and 0.0 in (low, high)
    assert decided > later > 0 or alternative != "two-sided"


def test_few_units_that_differ_take_no_part_and_change_nothing() -> None:
    draw = np.random.default_rng(5)
    gains = np.zeros((3, 200))
    gains[:2] = draw.normal(0.2, 1, (2, 200))
    gains[2, :9] = 1.0
    observed, resampled = means(gains)
    found = family_test(observed, resampled)
    assert found.decided[2] is None
    assert math.isnan(found.p[2])
    two = family_test(*means(gains[:2]))
    np.testing.assert_array_equal(found.p[:2], two.p)
    np.testing.assert_array_equal(found.low[:2], two.low)
    alone = family_test(*means(gains[2:]))
    assert alone.decided == [True]  # of a comparison alone six are enough
    assert family_test(*means(gains[2:]), least=20).decided == [None]


def test_equal_sides_are_0_apart_and_equal_gains_are_certain() -> None:
    gains = np.random.default_rng(2).normal(0, 1, (3, 50))
    gains[0], gains[1] = 0.0, 0.25
    found = family_test(*means(gains))
    assert (found.low[0], found.high[0], found.p[0]) == (0, 0, 1)
    assert found.low[1] == found.high[1] == 0.25
    assert found.decided[:2] == [False, True]


def test_blocks_change_nothing(monkeypatch) -> None:
    observed, resampled = means(np.random.default_rng(4).normal(0.2, 1, (12, 40)))
    whole = family_test(observed, resampled)
    monkeypatch.setattr("gnomon.stats.families._BLOCK", 1000)
    for one, other in zip(whole, family_test(observed, resampled), strict=True):
        assert list(one) == list(other)


def test_errors_within_resamples_count_what_is_there() -> None:
    gains = np.array([[1.0, 4.0, np.nan, 3.0]])
    counts = np.array([[2], [1], [3], [0]], dtype=np.uint8)
    drawn = np.array([1.0, 1.0, 4.0])
    influences = gains - np.nanmean(gains)
    [[error]] = resampled_errors(influences, counts)
    assert error == pytest.approx(drawn.std(ddof=1) / math.sqrt(3))
    assert standard_error(influences)[0] == pytest.approx(np.std([1, 4, 3], ddof=1) / math.sqrt(3))


def test_large_families_take_more_draws() -> None:
    assert [family_draws(10, 1000), family_draws(11, 1000), family_draws(11, 9000)] == [
        1000,
        5000,
        9000,
    ]
    assert family_draws(11, 0) == 0
