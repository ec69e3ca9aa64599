import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

from gnomon import bmx
from gnomon.bmx.aggregation import SHIFTS, power_means
from gnomon.core.errors import LengthMismatchError, UnknownNameError, UsageError

GRID = np.arange(-300, 300) / 10
importances = st.lists(
    st.floats(-100, 100, allow_subnormal=False).map(lambda v: round(v, 6)), min_size=1, max_size=30
)
exponents = st.one_of(st.floats(allow_nan=False), st.integers(-300, 299).map(lambda k: k / 10))


def naive(values: list[float], p: float) -> float:
    """The definition, in exact arithmetic where that is possible: values already positive."""
    if p == 0:
        return math.exp(math.fsum(map(math.log, values)) / len(values))
    return math.fsum(v**p for v in values) ** (1 / p) / len(values) ** (1 / p)


def test_every_published_power_mean_comes_out(shared):
    rows = json.loads((shared / "oracles/bmx/power_mean.json").read_text())
    found = [bmx.power_mean(row["values"], row["p"]) for row in rows]
    np.testing.assert_allclose(found, [row["power_mean"] for row in rows], rtol=1e-8)


@pytest.mark.parametrize("p", [-13.1, -1.0, -0.3, 0.0, 0.5, 1.0, 2.0, 7.5])
def test_of_positive_values_it_is_the_definition_plus_a_billionth(p):
    values = [0.2, 0.5, 0.31, 1.7]
    shifted_by_hand = [v + 1e-9 for v in values]
    assert bmx.power_mean(values, p) == pytest.approx(naive(shifted_by_hand, p), rel=1e-13)


def test_infinities_are_the_smallest_and_the_largest_shifted_value():
    values = [-0.5, 0.25, 1.0]
    assert bmx.power_mean(values, -math.inf) == pytest.approx(1e-9, rel=1e-12)
    assert bmx.power_mean(values, math.inf) == pytest.approx(1.5 + 1e-9, rel=1e-12)


def test_large_exponents_do_not_overflow():
    assert bmx.power_mean([1e-9, 0.5], -1000) == pytest.approx(2e-9 * 2**0.001, rel=1e-9)
    assert bmx.power_mean([3.0, 500.0], 1e308) == pytest.approx(500.0)
    assert bmx.power_mean([3.0, 500.0], -1e308) == pytest.approx(3.0)


@pytest.mark.parametrize("p", [4.263256414560601e-13, -1e-9, 5e-324, -1e-17])
def test_next_to_zero_it_is_next_to_the_geometric_mean(p):
    values = [0.2, 0.5, 0.31, 1.7]
    assert bmx.power_mean(values, p) == pytest.approx(bmx.power_mean(values, 0), rel=1e-8)


@given(importances, exponents, st.sampled_from(SHIFTS))
def test_it_is_defined_and_within_its_shifted_values_for_every_p(values, p, shift):
    found = bmx.power_mean(values, p, shift=shift)
    low, high = (bmx.power_mean(values, end, shift=shift) for end in (-math.inf, math.inf))
    slack = 1e-12 * max(1e-9, abs(low), abs(high))
    assert low - slack <= found <= high + slack


@given(importances, st.lists(exponents, min_size=2, max_size=5), st.sampled_from(SHIFTS))
def test_it_rises_with_p(values, some, shift):
    found = bmx.power_mean(values, sorted(some), shift=shift)
    scale = max(1e-9, *map(abs, values))
    assert (np.diff(found) >= -1e-12 * scale).all()


@given(importances, exponents, st.floats(0.1, 10), st.floats(-50, 50))
def test_the_exponential_mean_moves_and_scales_with_the_importances(values, p, factor, by):
    moved = [factor * v + by for v in values]
    expected = factor * bmx.power_mean(values, p, shift="exponential") + by
    assert bmx.power_mean(moved, p, shift="exponential") == pytest.approx(
        expected, rel=1e-7, abs=1e-7
    )


@given(importances)
def test_the_exponential_mean_is_arithmetic_at_zero(values):
    found = bmx.power_mean(values, 0, shift="exponential")
    assert found == pytest.approx(np.mean(values), rel=1e-9, abs=1e-9)


@given(importances, st.sampled_from(["floor", "exponential"]))
def test_the_alternatives_never_collapse(values, shift):
    found = power_means(values, [0, len(values)], [-math.inf, *GRID[::37]], shift=shift)
    assert not found.collapsed.any()


def test_one_value_at_the_minimum_collapses_the_papers_shift_below_zero():
    values = [-0.2, 0.1, 0.3, 0.05]
    found = power_means(values, [0, 4], [-1, -0.3, 0, 1])
    assert found.collapsed[:, 0].tolist() == [True, True, False, False]
    for p in (-1, -2.5, -30):
        mean = bmx.power_mean(values, p)
        assert 1e-9 < mean <= 1e-9 * 4 ** (-1 / p) * (1 + 1e-6)


def test_the_share_of_collapsed_segments_counts_defined_ones_alone():
    values = [-0.2, 0.3, 0.1, 0.3, np.nan, 0.2]
    found = power_means(values, [0, 2, 4, 6, 6], [-1.0, 1.0])
    assert found.share_collapsed.tolist() == [0.5, 0.0]
    assert np.isnan(found.means).tolist() == [[False, False, True, True]] * 2


def test_segments_without_importances_are_undefined():
    assert math.isnan(bmx.power_mean([], 1))
    assert math.isnan(bmx.power_mean([0.1, math.inf], -1))
    nothing = power_means([], [0, 0, 0], [1.0])
    assert np.isnan(nothing.means).all()
    assert np.isnan(nothing.share_collapsed).all()


@pytest.mark.parametrize("shift", SHIFTS)
def test_constant_importances_have_one_mean(shift):
    found = bmx.power_mean([0.3, 0.3, 0.3], [*GRID[::50], math.inf, -math.inf], shift=shift)
    np.testing.assert_allclose(found, 0.3, rtol=1e-8)


@pytest.mark.parametrize("shift", SHIFTS)
def test_a_segment_has_the_same_mean_to_the_bit_alone_and_among_others(shift):
    generator = np.random.default_rng(3)
    sizes = generator.integers(1, 60, 400)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    values = generator.normal(0.02, 0.05, offsets[-1])
    values[::7] = 0
    together = power_means(values, offsets, [*GRID, 0.25, -math.inf], shift=shift).means
    for row, p in [(0, GRID[0]), (286, GRID[286]), (300, GRID[300]), (307, GRID[307]), (-2, 0.25)]:
        for segment in range(0, 400, 37):
            own = values[offsets[segment] : offsets[segment + 1]]
            assert bmx.power_mean(own, p, shift=shift) == together[row, segment]


def test_values_far_apart_have_the_mean_of_a_logarithm_of_sums():
    generator = np.random.default_rng(4)
    offsets = np.arange(0, 101 * 5, 5)
    logs = generator.uniform(-300, 300, offsets[-1])
    p = GRID[GRID != 0][::29]
    found = np.log(power_means(np.exp(logs), offsets, p, shift="paper").means)
    rows = np.log(np.exp(logs) + 1e-9).reshape(-1, 5)
    expected = [(logsumexp(one * rows, axis=1) - math.log(5)) / one for one in p]
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


@given(st.lists(importances, min_size=1, max_size=6), st.lists(exponents, min_size=1, max_size=4))
def test_many_segments_are_each_one_alone(segments, p):
    offsets = np.concatenate([[0], np.cumsum([len(s) for s in segments])])
    found = power_means(np.concatenate(segments), offsets, p)
    alone = np.array([[bmx.power_mean(s, one) for s in segments] for one in p])
    np.testing.assert_array_equal(found.means, alone)


def test_the_weight_of_one_is_the_metric_and_of_zero_the_explanation():
    s0, s_hat = np.array([0.1, 0.7]), np.array([np.nan, 0.2])
    assert bmx.combine(s0, s_hat, 1).tolist() == [0.1, 0.7]
    assert bmx.combine(s0, [0.3, 0.2], 0).tolist() == [0.3, 0.2]
    assert bmx.combine(0.5, [0.0, 1.0], 0.2) == pytest.approx([0.1, 0.9])
    assert math.isnan(bmx.combine(s0, s_hat, 0.6)[0])


def test_what_is_no_request_is_refused():
    with pytest.raises(UsageError, match="NaN"):
        bmx.power_mean([1.0], math.nan)
    with pytest.raises(UsageError, match=r"\[0, 1\]"):
        bmx.combine([1.0], [1.0], 1.5)
    with pytest.raises(UsageError, match="shape"):
        bmx.power_mean([[1.0]], 1)
    with pytest.raises(UnknownNameError, match="exponential"):
        bmx.power_mean([1.0], 1, shift="exponentail")
    with pytest.raises(LengthMismatchError, match="3"):
        power_means([1.0, 2.0, 3.0], [0, 2], [1.0])
