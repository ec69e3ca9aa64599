"""Permutation tests: exact against plain recomputation, close to peers, sane on bad input."""

from __future__ import annotations

import itertools
import math
from functools import partial

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.thinning import thinned

from gnomon.core.errors import LengthMismatchError, UnknownNameError, UsageError
from gnomon.stats import (
    EarlyStopping,
    PairTest,
    RandomDraws,
    SoftPairwiseAccuracy,
    acc_eq,
    kendall_b,
    pairwise_accuracy,
    pearson,
    permutation_test,
    spa,
    spearman,
)
from gnomon.stats.pair_tests import BLOCK, exchanged

NAN = float("nan")
STATISTICS = {"pearson": pearson, "spearman": spearman, "kendall_b": kendall_b}
SWAPS = ["cells", "rows+cols", "inputs", "systems"]
Array = NDArray[np.float64]


def outcome(
    human: Array,
    metrics: Array,
    *,
    statistic: object = "pearson",
    grouping: str = "none",
    swap: str = "cells",
    **draws: object,
) -> PairTest:
    how = {"statistic": statistic, "grouping": grouping, "swap": swap}
    return permutation_test(human, metrics, draws=RandomDraws(**draws), **how)


def scores(seed: int, shape: tuple[int, int] = (5, 12), metrics: int = 3) -> tuple[Array, Array]:
    """People and metrics, some better than others."""
    generator = np.random.default_rng(seed)
    human = generator.normal(size=shape).round(1)
    noise = generator.normal(size=(metrics, *shape)) * np.linspace(0.5, 2, metrics)[:, None, None]
    return human, (human + noise).round(1)


def with_holes(seed: int) -> tuple[Array, Array]:
    human, metrics = scores(seed)
    human[1, 2] = NAN
    metrics[0, 3, :5] = NAN
    metrics[1, :, 7] = NAN
    return human, metrics


def plain(
    human: Array, a: Array, b: Array, *, statistic: partial, swap: str, count: int
) -> tuple[float, Array]:
    """Observed and null differences, one draw after the other."""
    shape = human.shape
    known = ~np.isnan(human + a + b)
    a, b = (np.where(known, x, NAN) for x in (a, b))
    a, b = ((x - np.nanmean(x)) / np.nanstd(x) for x in (a, b))

    def difference(first: Array, second: Array) -> float:
        return statistic(human, first) - statistic(human, second)

    null = []
    for draw in range(count):
        coins = exchanged(swap, shape, (0,), draw // BLOCK)[draw % BLOCK].astype(bool)
        null.append(difference(np.where(coins, b, a), np.where(coins, a, b)))
    return difference(a, b), np.array(null)


@pytest.mark.parametrize(
    ("swap", "name", "grouping"), thinned(SWAPS, STATISTICS, ["none", "item", "system"])
)
def test_every_way_equals_plain_recomputation(swap: str, name: str, grouping: str) -> None:
    human, metrics = with_holes(0)
    count = 70  # more than a block of draws
    found = outcome(
        human,
        metrics,
        count=count,
        plus_one=False,
        statistic=name,
        grouping=grouping,
        swap=swap,
    )
    statistic = partial(STATISTICS[name], grouping=grouping)
    for i, j in itertools.combinations(range(3), 2):
        observed, null = plain(
            human, metrics[i], metrics[j], statistic=statistic, swap=swap, count=count
        )
        assert found.differences[i, j] == pytest.approx(observed, abs=1e-12)
        assert found.p[i, j] == pytest.approx(np.mean(null >= observed - 1e-10))
        assert found.p[j, i] == pytest.approx(np.mean(null <= observed + 1e-10))


def test_a_function_equals_the_name_of_its_statistic() -> None:
    human, metrics = with_holes(1)
    named = outcome(human, metrics, statistic="kendall_b", count=30)
    called = outcome(human, metrics, statistic=kendall_b, count=30)
    assert np.array_equal(named.p, called.p, equal_nan=True)
    assert named.differences == pytest.approx(called.differences)


@pytest.mark.parametrize("holes", ["none", "items", "cells"])
def test_soft_accuracy_shares_work_between_draws(holes: str) -> None:
    human, metrics = scores(16)
    if holes == "items":
        metrics[:, :, 4] = NAN
    if holes == "cells":
        human, metrics = with_holes(16)
    options = {"count": 20, "swap": "cells", "plus_one": False}
    fast = outcome(human, metrics, statistic=SoftPairwiseAccuracy(count=50, seed=4), **options)
    plainly = outcome(human, metrics, statistic=partial(spa, count=50, seed=4), **options)
    assert np.array_equal(fast.p, plainly.p, equal_nan=True)
    assert fast.statistics == pytest.approx([spa(human, m, count=50, seed=4) for m in metrics])


@pytest.mark.parametrize("swap", SWAPS)
@pytest.mark.parametrize(
    ("digits", "holes"), [(0, True), pytest.param(9, False, marks=pytest.mark.verify)]
)
@pytest.mark.parametrize(
    ("name", "plainly"),
    [
        ("kendall_b", partial(kendall_b, grouping="item")),
        ("pairwise_accuracy", partial(acc_eq, epsilon=0, grouping="item")),
        (SoftPairwiseAccuracy(count=40), partial(spa, count=40)),
        (SoftPairwiseAccuracy(count=40, ties="half"), partial(spa, count=40, ties="half")),
    ],
)
def test_draws_that_share_work_are_those_of_one_after_the_other(
    name: object, plainly: partial, swap: str, digits: int, holes: bool
) -> None:
    human, metrics = with_holes(5) if holes else scores(5)
    human, metrics = human.round(digits), (metrics * 1.37).round(digits)
    if holes and not isinstance(name, str):
        metrics[0, 3, :5] = metrics[2, 3, :5]  # which leaves items that all systems lack
        human[1, 2] = 0.5
    grouping = "item" if isinstance(name, str) else "none"
    found = outcome(human, metrics, statistic=name, grouping=grouping, swap=swap, count=BLOCK + 9)
    expected = outcome(human, metrics, statistic=plainly, swap=swap, count=BLOCK + 9)
    np.testing.assert_array_equal(found.p, expected.p)
    np.testing.assert_array_equal(found.draws, expected.draws)
    np.testing.assert_allclose(found.differences, expected.differences, rtol=0, atol=1e-12)


@pytest.mark.parametrize("swap", SWAPS)
def test_items_that_an_exchange_leaves_without_an_order_count_for_one_metric_alone(
    swap: str,
) -> None:
    human, metrics = scores(19, (3, 20))
    metrics[0, :, :8] = 1.0
    metrics[1, 1, 4:12] = metrics[1, 0, 4:12]
    options = {"swap": swap, "count": BLOCK + 9, "plus_one": False}
    found = outcome(human, metrics, statistic="kendall_b", grouping="item", **options)
    plainly = partial(kendall_b, grouping="item")
    expected = outcome(human, metrics, statistic=plainly, **options)
    np.testing.assert_array_equal(found.p, expected.p)


def test_accuracy_pooled_over_language_pairs() -> None:
    generator = np.random.default_rng(2)
    human = generator.normal(size=14)
    metrics = human + np.array([0.3, 3])[:, None] * generator.normal(size=(2, 14))
    labels = ["de"] * 8 + ["cs"] * 6
    found = outcome(human, metrics, statistic=partial(pairwise_accuracy, groups=labels))
    assert found.statistics == pytest.approx(
        [pairwise_accuracy(human, m, groups=labels) for m in metrics]
    )
    assert found.p[0, 1] < 0.05


def exact(human: Array, a: Array, b: Array) -> float:
    """All exchanges of system scores instead of random ones."""
    a, b = ((x - x.mean()) / x.std() for x in (a, b))
    observed = pearson(human, a) - pearson(human, b)
    null = [
        pearson(human, np.where(coins, b, a)) - pearson(human, np.where(coins, a, b))
        for coins in itertools.product([False, True], repeat=len(human))
    ]
    return float(np.mean(np.array(null) >= observed - 1e-10))


def test_p_values_approach_those_of_all_exchanges() -> None:
    human, metrics = scores(3, (9, 1))
    found = outcome(human, metrics, count=20000, plus_one=False)
    for i, j in itertools.permutations(range(3), 2):
        expected = exact(human[:, 0], metrics[i, :, 0], metrics[j, :, 0])
        assert found.p[i, j] == pytest.approx(expected, abs=0.015)


@pytest.mark.parametrize(
    ("levels", "swaps"),
    thinned(
        [("none", "global"), ("item", "input")],
        [("inputs", "inputs"), ("systems", "systems"), ("rows+cols", "both")],
        keep=3,
    ),
)
def test_p_values_are_near_those_of_nlpstats(
    levels: tuple[str, str], swaps: tuple[str, str]
) -> None:
    (grouping, theirs), (swap, method) = levels, swaps
    peer = pytest.importorskip("nlpstats.correlations.permutation")
    human, metrics = scores(4, (6, 8), 2)
    metrics[0] = metrics[1] + np.random.default_rng(1).normal(size=(6, 8)) / 2
    # it draws from numpy's global generator, which is given back its state
    state = np.random.get_state()  # noqa: NPY002 - the peer knows no other
    np.random.seed(1)  # noqa: NPY002 - likewise
    expected = peer.permutation_test(
        metrics[0],
        metrics[1],
        human,
        theirs,
        "pearson",
        method,
        alternative="greater",
        n_resamples=300,
    ).pvalue
    np.random.set_state(state)  # noqa: NPY002 - likewise
    found = outcome(human, metrics, swap=swap, grouping=grouping, count=4000, plus_one=False)
    assert found.p[0, 1] == pytest.approx(expected, abs=0.1)  # of 300 draws: 3.5 deviations


def test_swapping_metrics_or_systems_swaps_results() -> None:
    human, metrics = with_holes(5)
    whole = outcome(human, metrics, count=200)
    moved = outcome(human, metrics[::-1], count=200)
    assert np.array_equal(moved.p, whole.p[::-1, ::-1], equal_nan=True)
    flipped = outcome(human[::-1], metrics[:, ::-1], count=3000)
    assert flipped.differences == pytest.approx(whole.differences)
    again = outcome(human, metrics, count=3000)
    assert np.allclose(flipped.p, again.p, atol=0.05, equal_nan=True)


def test_a_seed_means_the_same_for_any_number_of_draws() -> None:
    human, metrics = with_holes(7)
    run = outcome(human, metrics, count=200, seed=5)
    other = outcome(human, metrics, count=200, seed=6)
    assert not np.array_equal(run.p, other.p, equal_nan=True)
    rule = EarlyStopping(block=100, low=1.1, high=1.1)  # stops after the first block
    stopped = outcome(human, metrics, count=200, seed=5, early_stopping=rule)
    assert np.array_equal(stopped.p, outcome(human, metrics, count=100, seed=5).p, equal_nan=True)
    assert set(stopped.draws[~np.eye(3, dtype=bool)].tolist()) == {100}


def test_drawing_ends_at_the_verdict_with_the_same_p_values() -> None:
    human, metrics = scores(17, (5, 30))
    options = {"count": 600, "plus_one": False}
    rule, calls = EarlyStopping(), []

    def counted(people: Array, metric: Array) -> float:
        calls.append(1)
        return pearson(people, metric)

    sums = outcome(human, metrics, early_stopping=rule, **options)
    function = outcome(human, metrics, statistic=counted, early_stopping=rule, **options)
    assert np.array_equal(function.p, sums.p, equal_nan=True)
    assert np.array_equal(function.draws, sums.draws)
    assert len(calls) < 2 * 3 * 600


def test_a_function_sees_all_systems_and_items() -> None:
    human, metrics = scores(18, (4, 6))
    human[2], metrics[:, :, 1] = NAN, NAN
    shapes = set()

    def noted(people: Array, metric: Array) -> float:
        shapes.add((people.shape, metric.shape))
        return pearson(people, metric)

    outcome(human, metrics, statistic=noted, count=5)
    assert shapes == {((4, 6), (4, 6))}


def test_metrics_are_exchangeable_on_any_scale() -> None:
    human, metrics = with_holes(8)
    rescaled = metrics * np.array([1, 1000, 0.01])[:, None, None] + 5
    before, after = (outcome(human, m, count=300) for m in (metrics, rescaled))
    assert np.array_equal(before.p, after.p, equal_nan=True)


def test_the_test_keeps_its_level_when_metrics_are_equally_good() -> None:
    generator = np.random.default_rng(10)
    rejected = 0
    for trial in range(300):
        human = generator.normal(size=(4, 15))
        metrics = human + generator.normal(size=(2, 4, 15))
        rejected += outcome(human, metrics, count=99, seed=trial).p[0, 1] <= 0.05
    assert 4 <= rejected <= 26  # 15 expected; mean plus or minus three deviations


def test_a_better_metric_is_recognised() -> None:
    human, metrics = scores(11, (6, 100))
    found = outcome(human, metrics, count=199)
    assert found.p[0, 2] == pytest.approx(1 / 200)
    assert found.p[2, 0] == 1
    assert np.isnan(np.diag(found.p)).all()


@pytest.mark.parametrize("statistic", [*STATISTICS, "pairwise_accuracy", "kendall_c"])
def test_the_same_metric_twice_is_never_better_than_itself(statistic: str) -> None:
    human, metrics = scores(12, (4, 6), 1)
    found = outcome(human, np.concatenate([metrics, metrics]), statistic=statistic, count=20)
    assert found.differences[0, 1] == 0
    assert found.p[0, 1] == found.p[1, 0] == 1


@pytest.mark.parametrize("grouping", ["none", "item", "system"])
@pytest.mark.parametrize("statistic", ["pearson", "kendall_b"])
def test_undefined_statistics_have_undefined_tests(grouping: str, statistic: str) -> None:
    human, metrics = scores(13, (3, 4))
    metrics[1] = 2.5
    options = {"statistic": statistic, "grouping": grouping, "count": 20}
    found = outcome(human, metrics, **options)
    assert np.isnan(found.statistics).tolist() == [False, True, False]
    assert np.isnan(found.p).tolist() == [
        [True, True, False],
        [True, True, True],
        [False, True, True],
    ]
    assert np.isnan(outcome(np.ones((3, 4)), metrics, **options).p).all()


@pytest.mark.parametrize("shape", [(2, 0), (0, 3), (1, 1), (2, 1), (1, 2)])
@pytest.mark.parametrize("statistic", ["pearson", "spearman"])
def test_small_arrays_do_not_crash(shape: tuple[int, int], statistic: str) -> None:
    generator = np.random.default_rng(0)
    metrics = generator.normal(size=(2, *shape))
    for swap in SWAPS:
        found = outcome(
            generator.normal(size=shape),
            metrics,
            statistic=statistic,
            swap=swap,
            count=5,
        )
        assert found.p.shape == (2, 2)


def test_metrics_without_common_cells_are_not_compared() -> None:
    human, metrics = scores(14, (4, 6), 2)
    metrics[0, :, :3] = NAN
    metrics[1, :, 3:] = NAN
    found = outcome(human, metrics, count=10)
    assert np.isfinite(found.statistics).all()
    assert np.isnan(found.p).all()
    assert math.isnan(found.differences[0, 1])
    assert (found.draws == 0).all()
    assert np.isnan(outcome(np.full((4, 6), NAN), metrics, count=10).statistics).all()


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"statistic": "tau"}, UnknownNameError, "kendall_b"),
        ({"swap": "both"}, UnknownNameError, "inputs"),
        ({"grouping": "seg"}, UnknownNameError, "item"),
        ({"count": 0}, UsageError, "at least one draw"),
        ({"statistic": acc_eq, "grouping": "item"}, UsageError, "its own grouping"),
    ],
)
def test_unfit_options_are_refused(options: dict, error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        outcome(*scores(0), **options)


def test_unfit_shapes_are_refused() -> None:
    with pytest.raises(LengthMismatchError, match="one row per metric"):
        outcome([1, 2, 3], [1, 2, 3])
