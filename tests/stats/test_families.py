"""One decision: simultaneous intervals, adjusted p-values and words that agree."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import t as student

from gnomon.stats.families import Comparisons, draw_blocks, exchange_test, family_draws, family_test
from gnomon.stats.resampling import resample_counts, resampled_sums
from gnomon.stats.studentised import resampled_errors, standard_error, studentised


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
    observed = Comparisons.from_arrays(
        np.nanmean(gains, axis=1), standard_error(influences), units, differ
    )

    def resampled(rows):
        return [
            (replicates[rows, some], spreads[rows, some]) for some in draw_blocks(len(rows), draws)
        ]

    return observed, resampled


@pytest.mark.parametrize("shift", [0.0, 0.3, 2.0])
def test_one_comparison_has_the_studentised_test(shift) -> None:
    gains = np.random.default_rng(1).exponential(size=(1, 60)) - 1 + shift
    observed, resampled = means(gains, draws=999)
    alone = family_test(observed, resampled)
    [((replicates,), (spreads,))] = resampled(np.array([0]))
    estimate, error = observed.estimates[0], observed.errors[0]
    test = studentised(estimate, error, 60, replicates, spreads, 0.95)
    assert (alone.low[0], alone.high[0], alone.p[0]) == (test.low, test.high, test.p)


def test_two_comparisons_go_by_the_larger_distance_and_the_second_by_its_own() -> None:
    gains = np.random.default_rng(3).normal(size=(2, 80))
    gains -= gains.mean(axis=1, keepdims=True)
    gains = gains / gains.std(axis=1, keepdims=True, ddof=1) + np.array([[5], [2.2]]) / 80**0.5
    observed, resampled = means(gains)
    found = family_test(observed, resampled)
    [(replicates, spreads)] = resampled(np.arange(2))
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


@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_interval_p_and_decision_agree(confidence) -> None:
    decided = later = 0
    for seed in range(40):
        draw = np.random.default_rng(seed)
        comparisons, n = int(draw.integers(1, 9)), int(draw.integers(20, 90))
        shared = draw.exponential(size=n) - 1
        gains = draw.normal(draw.normal(0, 0.6, (comparisons, 1)), 1, (comparisons, n)) + shared
        gains[draw.random(gains.shape) < 0.2 * draw.random()] = np.nan
        gains[draw.random(gains.shape) < 0.5 * draw.random()] = 0.0
        observed, resampled = means(gains, draws=199)
        found = family_test(observed, resampled, confidence=confidence)
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
    assert decided > later > 0


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


def test_the_first_place_is_left_by_whoever_one_that_is_still_in_beats() -> None:
    """Steps by hand: of the systems still in, the largest of all distances of two."""
    draw = np.random.default_rng(0)
    scores = draw.normal(size=(4, 100)) + np.array([[1.0], [0.85], [0.5], [0.0]])
    pairs = [(i, j) for i in range(4) for j in range(i)]
    observed, resampled = means(np.array([scores[i] - scores[j] for i, j in pairs]))
    found = family_test(observed, resampled, pairs=pairs)
    [(replicates, spreads)] = resampled(np.arange(6))
    drawn = np.abs(replicates - observed.estimates[:, None]) / spreads
    seen = np.abs(observed.estimates / observed.errors)
    by_t = 2 * student.sf(seen, 99)  # never surer than Student's t
    still, least, out = {0, 1, 2, 3}, 0.0, {}
    while len(still) > 1:
        within = [k for k, pair in enumerate(pairs) if set(pair) <= still]
        largest = drawn[within].max(axis=0)
        farthest = max(within, key=lambda k: seen[k])
        worse, better = sorted(pairs[farthest], key=lambda one: scores[one].mean())
        for k in within:
            if worse in pairs[k]:
                p = max(least, (1 + (largest >= seen[k]).sum()) / 401, by_t[k])
                assert found.p[k] == pytest.approx(p)
        least = found.p[farthest]
        if least <= 0.05:
            out[worse] = better
        still -= {worse}
    assert found.out == out
    assert set(out) >= {2, 3}


def test_exchanges_are_adjusted_by_the_largest_in_steps() -> None:
    draw = np.random.default_rng(1)
    null = draw.normal(size=(2, 99)) * np.array([[1.0], [5.0]])
    estimates = np.array([3.0, 6.0])
    found = exchange_test(estimates, null)
    scale = np.sqrt((null**2).mean(axis=1))
    t, seen = np.abs(null) / scale[:, None], estimates / scale
    first = (1 + (t.max(axis=0) >= seen[0]).sum()) / 100
    assert found.p.tolist() == [first, max(first, (1 + (t[1] >= seen[1]).sum()) / 100)]
    assert np.isnan(found.low).all()
    alone = exchange_test(estimates[:1], null[:1])
    assert alone.p[0] == (1 + (np.abs(null[0]) >= 3).sum()) / 100
