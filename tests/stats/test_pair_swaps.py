"""Permutation test of acc_eq that exchanges decisions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats as scipy_stats

from gnomon.core.errors import LengthMismatchError, UsageError
from gnomon.stats import EarlyStopping, acc_eq, calibrate_ties, pair_swap_test

NAN = float("nan")


def scores(seed: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    human = generator.integers(0, 3, (5, 20)).astype(float)
    return human, human + generator.normal(size=(3, 5, 20)) * [[[0.5]], [[1]], [[3]]]


def right(human: np.ndarray, metric: np.ndarray, epsilon: float) -> np.ndarray:
    """Decisions on all pairs of an item."""
    pairs = list(itertools.combinations(range(len(human)), 2))
    dh = np.array([human[i] - human[j] for i, j in pairs])
    dm = np.array([metric[i] - metric[j] for i, j in pairs])
    return np.sign(dh) == np.where(np.abs(dm) <= epsilon, 0, np.sign(dm))


def test_differences_are_those_of_acc_eq() -> None:
    human, metrics = scores(0)
    epsilons = [calibrate_ties(human, metric).epsilon for metric in metrics]
    found = pair_swap_test(human, metrics, epsilons=epsilons, count=50)
    each = [acc_eq(human, m, epsilon=e) for m, e in zip(metrics, epsilons, strict=True)]
    assert found.statistics == pytest.approx(each)
    assert found.differences == pytest.approx(np.subtract.outer(each, each))


def test_with_groups_of_one_size_it_is_a_sign_test() -> None:
    human, metrics = scores(1)
    epsilons = [0.3, 0.5, 0.0]
    found = pair_swap_test(human, metrics, epsilons=epsilons, count=40000, plus_one=False)
    decisions = [right(human, m, e) for m, e in zip(metrics, epsilons, strict=True)]
    for i, j in itertools.permutations(range(3), 2):
        wins = int((decisions[i] & ~decisions[j]).sum())
        losses = int((decisions[j] & ~decisions[i]).sum())
        exact = scipy_stats.binomtest(wins, wins + losses, alternative="greater").pvalue
        assert found.p[i, j] == pytest.approx(exact, abs=0.01)


def test_holes_make_groups_of_several_sizes() -> None:
    human, metrics = scores(2)
    metrics[0, :2, :7] = NAN
    human[4, 11:] = NAN
    found = pair_swap_test(human, metrics, epsilons=[0.2, 0.2, 0.2], count=20000, plus_one=False)
    common = np.where(np.isnan(metrics[0]), NAN, human)
    each = [acc_eq(common, metric, epsilon=0.2) for metric in metrics[:2]]
    assert found.differences[0, 1] == pytest.approx(each[0] - each[1])
    # plain exchanges of decisions, item by item
    generator = np.random.default_rng(0)
    null = np.zeros(4000)
    for item in range(20):
        known = ~np.isnan(common[:, item])
        a, b = (
            right(common[known][:, [item]], m[known][:, [item]], 0.2)[:, 0].astype(int)
            for m in metrics[:2]
        )
        signs = generator.choice([-1, 1], (4000, len(a)))
        null += signs @ (a - b) / len(a) / 20
    assert found.p[0, 1] == pytest.approx(
        np.mean(null >= found.differences[0, 1] - 1e-12), abs=0.035
    )


@pytest.mark.parametrize("grouping", ["none", "item", "system"])
def test_groupings_and_alternatives(grouping: str) -> None:
    human, metrics = scores(3)
    options = {"epsilons": [0.1, 0.2, 0.3], "grouping": grouping, "count": 300}
    greater = pair_swap_test(human, metrics, **options)
    less = pair_swap_test(human, metrics, alternative="less", **options)
    assert np.array_equal(greater.p, less.p.T, equal_nan=True)
    assert greater.p[0, 2] < 0.05


def test_early_stopping_uses_fewer_draws() -> None:
    human, metrics = scores(4)
    found = pair_swap_test(
        human, metrics, epsilons=[0, 0, 0], plus_one=False, early_stopping=EarlyStopping()
    )
    assert found.draws[0, 2] == 100
    assert found.p[0, 2] == 0


def test_undefined_where_no_pair_of_outputs_is_left() -> None:
    human, metrics = scores(5)
    metrics[1] = NAN
    found = pair_swap_test(human, metrics, epsilons=[0, 0, 0], count=10)
    assert np.isnan(found.p[1]).all()
    assert np.isfinite(found.p[0, 2])
    assert np.isnan(pair_swap_test([[1.0, 2.0]], [[[1.0, 2.0]]] * 2, epsilons=[0, 0]).p).all()


def test_a_metric_does_not_beat_itself() -> None:
    human, metrics = scores(6)
    found = pair_swap_test(human, metrics[[0, 0]], epsilons=[0.1, 0.1], count=10)
    assert found.p[0, 1] == found.p[1, 0] == 1


def test_unfit_thresholds_are_refused() -> None:
    human, metrics = scores(7)
    with pytest.raises(LengthMismatchError, match="3 metrics"):
        pair_swap_test(human, metrics, epsilons=[0.1])
    with pytest.raises(UsageError, match="at least 0"):
        pair_swap_test(human, metrics, epsilons=[0.1, NAN, 0])
