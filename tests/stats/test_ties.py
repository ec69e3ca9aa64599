"""Tie calibration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gnomon.core.errors import UsageError
from gnomon.stats import acc_eq, acc_eq_held_out, calibrate_ties

NAN = float("nan")
human_cell = st.one_of(st.integers(0, 2).map(float), st.just(NAN))
metric_cell = st.one_of(st.integers(0, 40).map(lambda k: k / 8), st.just(NAN))
shapes = st.tuples(st.integers(1, 5), st.integers(1, 5))
tables = shapes.flatmap(
    lambda shape: st.tuples(
        arrays(np.float64, shape, elements=human_cell),
        arrays(np.float64, shape, elements=metric_cell),
    )
)


def best_of_all(human: np.ndarray, metric: np.ndarray, grouping: str) -> tuple[float, float]:
    """Every difference of metric scores tried; the smallest of the best."""
    known = metric[~np.isnan(human + metric)]
    tried = sorted({0.0, *np.abs(known[:, None] - known).ravel().tolist()})
    reached = [acc_eq(human, metric, epsilon=epsilon, grouping=grouping) for epsilon in tried]
    if math.isnan(reached[0]):
        return NAN, NAN
    best = max(reached)
    return next(e for e, a in zip(tried, reached, strict=True) if a > best - 1e-12), best


@pytest.mark.parametrize("grouping", ["none", "item", "system"])
@given(scores=tables)
def test_the_threshold_is_the_best_of_all(scores: tuple, grouping: str) -> None:
    found = calibrate_ties(*scores, grouping=grouping)
    assert found == pytest.approx(best_of_all(*scores, grouping), nan_ok=True)


@pytest.mark.parametrize("grouping", ["none", "item", "system"])
def test_many_pairs_in_few_and_in_many_bins(grouping: str) -> None:
    generator = np.random.default_rng(1)
    human = generator.integers(0, 4, (8, 12)).astype(float)
    metric = human + generator.standard_cauchy(size=(8, 12))  # most differences fall into one bin
    metric[2, 3] = NAN
    found = calibrate_ties(human, metric, grouping=grouping)
    assert found == pytest.approx(best_of_all(human, metric, grouping))


def test_scaling_the_metric_scales_the_threshold() -> None:
    generator = np.random.default_rng(2)
    human = generator.integers(0, 3, (6, 50)).astype(float)
    metric = human + generator.normal(size=(6, 50))
    epsilon, accuracy = calibrate_ties(human, metric)
    assert epsilon > 0
    assert calibrate_ties(human, 1000 * metric) == pytest.approx((1000 * epsilon, accuracy))


def test_a_constant_metric_is_right_about_ties_alone() -> None:
    human = np.array([[1.0, 1], [1, 2], [2, 2]])
    assert calibrate_ties(human, np.ones((3, 2))) == pytest.approx((0, 1 / 3))


def test_an_infinite_score_is_no_obstacle() -> None:
    assert calibrate_ties([[1], [1], [2]], [[0.0], [0.5], [math.inf]]) == (0.5, 1.0)


def test_without_pairs_there_is_no_threshold() -> None:
    assert all(math.isnan(value) for value in calibrate_ties([[1, 2]], [[1, 2]]))


def test_held_out_thresholds_are_applied_to_other_items() -> None:
    generator = np.random.default_rng(5)
    human = generator.integers(0, 3, (6, 40)).astype(float)
    metric = human + generator.normal(size=(6, 40))
    fold = np.random.default_rng(7).permutation(np.arange(40) % 2)
    parts = []
    for k in range(2):
        epsilon, _ = calibrate_ties(human[:, fold != k], metric[:, fold != k])
        parts.append(acc_eq(human[:, fold == k], metric[:, fold == k], epsilon=epsilon))
    found = acc_eq_held_out(human, metric, seed=7)
    assert found == pytest.approx(np.mean(parts))
    assert found <= calibrate_ties(human, metric).accuracy + 1e-12


def test_held_out_accuracy_of_a_metric_without_information_gains_nothing_from_calibration() -> None:
    generator = np.random.default_rng(9)
    own, held_out = [], []
    for _ in range(30):
        human = generator.integers(0, 2, (2, 12)).astype(float)
        metric = generator.normal(size=(2, 12))
        own.append(calibrate_ties(human, metric).accuracy)
        held_out.append(acc_eq_held_out(human, metric))
    assert np.mean(own) > np.mean(held_out) + 0.05


def test_folds_need_items() -> None:
    with pytest.raises(UsageError, match="2 up to the number of items"):
        acc_eq_held_out(np.ones((2, 3)), np.ones((2, 3)), folds=4)
