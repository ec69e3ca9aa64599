"""Correlations: pooled, averaged over groups, and undefined."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from gnomon.core.errors import LengthMismatchError, UnknownNameError
from gnomon.stats import (
    correlation_p,
    correlation_tests,
    kendall_b,
    kendall_c,
    pairwise_difference_pearson,
    pearson,
    spearman,
)

numbers = st.floats(-1e6, 1e6, allow_nan=False)
few_values = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=30)
NAN = float("nan")
EVERY = [pearson, spearman, kendall_b, kendall_c, pairwise_difference_pearson]
every = pytest.mark.parametrize("correlation", EVERY, ids=lambda function: function.__name__)
averaged = pytest.mark.parametrize(
    "correlation", EVERY[:-1], ids=lambda function: function.__name__
)


def of_scipy(name: str, x: np.ndarray, y: np.ndarray) -> float:
    """NaN where scipy warns of a constant side."""
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return NAN
    function = {
        "spearman": scipy_stats.spearmanr,
        "kendall_b": scipy_stats.kendalltau,
        "kendall_c": lambda a, b: scipy_stats.kendalltau(a, b, variant="c"),
    }[name]
    return float(function(x, y).statistic)


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


@pytest.mark.parametrize("correlation", [spearman, kendall_b, kendall_c])
@given(pairs=few_values)
def test_rank_correlations_equal_scipy_with_ties(correlation, pairs: list) -> None:
    x, y = np.array(pairs, dtype=float).T
    expected = of_scipy(correlation.__name__, x, y)
    assert correlation(x, y) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("correlation", [spearman, kendall_b, kendall_c])
@pytest.mark.parametrize("values", [3, 50, 10**6])
def test_long_vectors_equal_scipy(correlation, values: int) -> None:
    generator = np.random.default_rng(values)
    x = generator.integers(0, values, 1500)
    y = x // 2 + generator.integers(0, values, 1500)
    expected = of_scipy(correlation.__name__, x, y)
    assert correlation(x, y) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n", [255, 256, 257])
def test_sorting_and_looking_at_every_pair_agree(n: int) -> None:
    generator = np.random.default_rng(n)
    x, y = generator.integers(0, 9, (2, n)).astype(float)
    y[7] = NAN
    padded = np.full((2, 2, 300), NAN)
    padded[0, 0, :n], padded[1, 0, :n] = x, y
    assert kendall_b(x, y) == kendall_b(*padded, grouping="system")


@averaged
def test_groups_are_averaged_and_undefined_ones_left_out(correlation) -> None:
    generator = np.random.default_rng(3)
    x, y = generator.normal(size=(2, 5, 7)).round(1)
    x[:, 2] = 1.0  # constant: undefined
    y[2:, 4] = NAN
    each = [correlation(x[:, i], y[:, i]) for i in range(7)]
    assert np.isnan(each[2])
    assert correlation(x, y, grouping="item") == pytest.approx(np.nanmean(each))
    assert correlation(x, y, grouping="item", undefined="zero") == pytest.approx(
        np.nansum(each) / 7
    )
    assert correlation(x, y, grouping="system") == pytest.approx(
        np.mean([correlation(x[k], y[k]) for k in range(5)])
    )
    assert correlation(x, y) == pytest.approx(correlation(x.ravel(), y.ravel()))


@given(
    st.lists(
        st.tuples(*[st.one_of(st.integers(0, 3).map(float), st.just(NAN))] * 6),
        min_size=1,
        max_size=5,
    )
)
def test_no_correlation_ever_crashes_or_leaves_its_range(table: list) -> None:
    x, y = np.array(table)[:, :3], np.array(table)[:, 3:]
    for correlation in EVERY:
        for grouping in ("none", "item", "system"):
            value = correlation(x, y, grouping=grouping)
            assert math.isnan(value) or abs(value) <= 1


@every
@pytest.mark.parametrize("shape", [(0, 0), (3, 0), (1, 1)], ids=["nothing", "no items", "one cell"])
@pytest.mark.parametrize("grouping", ["none", "item", "system"])
def test_too_little_is_undefined(correlation, shape: tuple, grouping: str) -> None:
    assert math.isnan(correlation(np.ones(shape), np.ones(shape), grouping=grouping))


@every
def test_constant_and_missing_scores_are_undefined(correlation) -> None:
    x = np.arange(12.0).reshape(3, 4)
    for other in (np.full((3, 4), 0.1), np.full((3, 4), NAN)):
        for grouping in ("none", "item", "system"):
            assert math.isnan(correlation(x, other, grouping=grouping))


@every
def test_an_infinite_score_does_not_crash(correlation) -> None:
    x, y = [[1.0, math.inf], [2.0, 3.0]], [[2.0, 1.0], [3.0, 3.0]]
    for grouping in ("none", "item", "system"):
        correlation(x, y, grouping=grouping)


@averaged
def test_two_systems_correlate_perfectly_or_not_at_all(correlation) -> None:
    assert correlation([1, 2], [1, 3]) == pytest.approx(1)
    assert correlation([1, 2], [3, 1]) == pytest.approx(-1)


def test_permuting_systems_and_items_changes_nothing() -> None:
    generator = np.random.default_rng(8)
    x, y = generator.normal(size=(2, 6, 9)).round(1)
    rows, columns = generator.permutation(6), generator.permutation(9)
    for correlation in EVERY:
        for grouping in ("none", "item", "system"):
            moved = correlation(x[rows][:, columns], y[rows][:, columns], grouping=grouping)
            assert moved == pytest.approx(correlation(x, y, grouping=grouping), abs=1e-12)


def test_pairwise_differences_are_those_of_all_ordered_pairs_within_groups() -> None:
    generator = np.random.default_rng(2)
    x, y = generator.normal(size=(2, 4, 6))
    y[1, 3] = NAN
    points = [
        (x[i, n] - x[j, n], y[i, n] - y[j, n])
        for n in range(6)
        for i in range(4)
        for j in range(4)
        if i != j and not np.isnan(y[i, n] + y[j, n])
    ]
    assert pairwise_difference_pearson(x, y) == pytest.approx(pearson(*zip(*points, strict=True)))


@every
def test_unknown_groupings_are_named(correlation) -> None:
    with pytest.raises(UnknownNameError, match="item"):
        correlation([[1, 2]], [[1, 2]], grouping="items")


def test_vectors_have_no_groups() -> None:
    with pytest.raises(LengthMismatchError, match=r"\[systems, items\]"):
        pearson([1, 2], [1, 2], grouping="item")


def test_an_unknown_treatment_of_undefined_groups_is_named() -> None:
    with pytest.raises(UnknownNameError, match="drop"):
        pearson([1, 2], [1, 2], undefined="ignore")


# p of one correlation


@pytest.mark.parametrize("n", [3, 5, 12, 40])
@pytest.mark.parametrize("seed", range(4))
def test_p_of_a_correlation_is_that_of_scipy(n: int, seed: int) -> None:
    x, y = np.random.default_rng([seed, n]).normal(size=(2, n))
    y += 0.5 * x
    by_t, exact = scipy_stats.pearsonr(x, y), scipy_stats.kendalltau(x, y, method="exact")
    assert correlation_p(pearson(x, y), n) == pytest.approx(by_t.pvalue)
    assert correlation_p(kendall_b(x, y), n, "kendall_b") == pytest.approx(exact.pvalue)
    if n >= 8:
        expected = scipy_stats.spearmanr(x, y).pvalue
        assert correlation_p(spearman(x, y), n, "spearman") == pytest.approx(expected)


@pytest.mark.parametrize("n", [3, 4, 6])
def test_p_of_ranks_of_few_is_over_all_orders(n: int) -> None:
    order = np.arange(n)
    every = [(spearman(order, one), kendall_b(order, one)) for one in permutations(range(n))]
    for name, values in zip(("spearman", "kendall_b"), np.abs(every).T, strict=True):
        for value in np.unique(values):
            expected = np.mean(values >= value - 1e-9)
            assert correlation_p(-value, n, name) == pytest.approx(expected)


def test_two_pairs_say_nothing_and_undefined_correlations_have_no_p() -> None:
    assert [correlation_p(1.0, 2, name) for name in ("pearson", "spearman", "kendall_b")] == [1] * 3
    assert correlation_p(-1.0, 5) == 0
    assert math.isnan(correlation_p(NAN, 5))


def test_intervals_of_correlations_are_fishers_at_the_level_of_their_step() -> None:
    draw, sizes = np.random.default_rng(1), np.array([40, 20, 9])
    sides = [draw.normal(size=(2, n)) + draw.normal(size=n) * n / 40 for n in sizes]
    r = np.array([pearson(*both) for both in sides])
    found = correlation_tests(r, sizes, 0.05)
    raw = 2 * scipy_stats.norm.sf(np.abs(np.arctanh(r)) * np.sqrt(sizes - 3))
    assert found.p == pytest.approx(np.minimum(np.maximum.accumulate(raw * [3, 2, 1]), 1))
    levels = [0.05 / 3, 0.025, 0.025]
    for both, *ends, level in zip(sides, found.low, found.high, levels, strict=True):
        interval = scipy_stats.pearsonr(*both).confidence_interval(1 - level)
        assert ends == pytest.approx([interval.low, interval.high])
    assert (found.p <= 0.05).tolist() == [not a <= 0 <= b for a, b in zip(*found[1:], strict=True)]
    assert correlation_tests([1.0], [9]).p == pytest.approx([0], abs=1e-12)
