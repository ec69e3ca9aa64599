"""Agreement on pairs."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gnomon.core.errors import LengthMismatchError, UsageError
from gnomon.stats import (
    Decisions,
    acc_eq,
    darr,
    darr_pairs,
    pairwise_accuracy,
    pairwise_decisions,
)

NAN = float("nan")
cell = st.one_of(st.integers(0, 4).map(float), st.just(NAN))
tables = st.tuples(st.integers(1, 5), st.integers(1, 4)).flatmap(
    lambda shape: st.tuples(*[arrays(np.float64, shape, elements=cell)] * 2)
)


def pairs(human: np.ndarray, metric: np.ndarray) -> list[tuple[float, float]]:
    """Differences of all pairs of complete members of one group."""
    members = [(h, m) for h, m in zip(human, metric, strict=True) if not math.isnan(h + m)]
    return [(a[0] - b[0], a[1] - b[1]) for a, b in itertools.combinations(members, 2)]


def right(dh: float, dm: float, epsilon: float) -> bool:
    return np.sign(dh) == (0 if abs(dm) <= epsilon else np.sign(dm))


@given(tables, st.sampled_from([0.0, 0.5, 1.0, 2.5]))
def test_acc_eq_counts_pairs_ordered_or_tied_alike(scores: tuple, epsilon: float) -> None:
    human, metric = scores
    groups = [pairs(h, m) for h, m in zip(human.T, metric.T, strict=True)]
    each = [np.mean([right(*pair, epsilon) for pair in group]) for group in groups if group]
    expected = np.mean(each) if each else NAN
    found = acc_eq(human, metric, epsilon=epsilon)
    assert found == pytest.approx(expected, nan_ok=True)


@given(tables, st.sampled_from([0.0, 1.0, 2.0]))
def test_darr_pools_clear_judgements_and_counts_metric_ties_against(
    scores: tuple, threshold: float
) -> None:
    human, metric = scores
    clear = [
        pair
        for h, m in zip(human.T, metric.T, strict=True)
        for pair in pairs(h, m)
        if abs(pair[0]) >= threshold
    ]
    signs = [1 if dh * dm > 0 else -1 for dh, dm in clear]
    expected = np.mean(signs) if signs else NAN
    assert darr(human, metric, threshold=threshold) == pytest.approx(expected, nan_ok=True)


def test_darr_judges_from_twenty_five_points_on() -> None:
    assert darr([[75], [50]], [[2.0], [1.0]]) == 1
    assert math.isnan(darr([[74.9], [50]], [[2.0], [1.0]]))


def test_darr_of_pairs_leaves_out_what_is_missing() -> None:
    assert darr_pairs([3, 1, 2, NAN, 4], [1, 2, 2, 0, NAN]) == pytest.approx(-1 / 3)
    assert math.isnan(darr_pairs([NAN], [1]))
    assert math.isnan(darr_pairs([], []))


def test_darr_of_pairs_and_of_scores_are_one_statistic() -> None:
    generator = np.random.default_rng(4)
    human = generator.integers(0, 101, (5, 20)).astype(float)
    metric = generator.integers(0, 6, (5, 20)).astype(float)
    better, worse = [], []
    for a, b in itertools.permutations(range(5), 2):
        clear = human[a] - human[b] >= 25
        better += metric[a, clear].tolist()
        worse += metric[b, clear].tolist()
    assert darr(human, metric) == pytest.approx(darr_pairs(better, worse))


@given(tables)
def test_pairwise_accuracy_compares_signs(scores: tuple) -> None:
    human, metric = (side.ravel() for side in scores)
    found = pairs(human, metric)
    expected = np.mean([right(*pair, 0.0) for pair in found]) if found else NAN
    assert pairwise_accuracy(human, metric) == pytest.approx(expected, nan_ok=True)


def test_pairwise_accuracy_pools_pairs_within_language_pairs() -> None:
    human, metric = [1, 2, 3, 5, 6, 4, NAN], [1, 3, 2, 5, 5, 9, 8]
    labels = ["de", "de", "de", "cs", "cs", "ja", "ja"]
    assert pairwise_decisions(human, metric, groups=labels) == Decisions(2, 4)
    assert pairwise_accuracy(human, metric, groups=labels) == 0.5


def test_decisions_of_test_sets_add_up_to_those_of_labels() -> None:
    generator = np.random.default_rng(0)
    human, metric = generator.integers(0, 5, (2, 12)).astype(float)
    labels = generator.integers(0, 3, 12)
    parts = [pairwise_decisions(human[labels == k], metric[labels == k]) for k in range(3)]
    whole = pairwise_decisions(human, metric, groups=labels)
    assert whole == tuple(np.sum(parts, axis=0))


@pytest.mark.parametrize("size", [0, 1])
def test_no_pairs_no_accuracy(size: int) -> None:
    assert math.isnan(pairwise_accuracy(np.ones(size), np.ones(size)))
    assert math.isnan(acc_eq(np.ones((size, 3)), np.ones((size, 3))))
    assert math.isnan(darr(np.ones((size, 3)), np.ones((size, 3)), threshold=0))


def test_all_ties_are_right_where_people_see_ties_only() -> None:
    constant = np.ones((3, 4))
    assert acc_eq(constant, constant) == 1
    assert acc_eq(np.arange(12).reshape(3, 4), constant) == 0


def test_negative_thresholds_are_refused() -> None:
    for call in (
        lambda: acc_eq([[1]], [[1]], epsilon=-1),
        lambda: darr([[1]], [[1]], threshold=NAN),
    ):
        with pytest.raises(UsageError, match="at least 0"):
            call()


def test_unequal_shapes_are_refused() -> None:
    with pytest.raises(LengthMismatchError, match="preferred"):
        darr_pairs([1, 2], [1])
    with pytest.raises(LengthMismatchError, match="2 labels for 3"):
        pairwise_accuracy([1, 2, 3], [1, 2, 3], groups=["a", "b"])
