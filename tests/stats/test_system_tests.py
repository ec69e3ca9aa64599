"""Systems beside one baseline alone, and sacreBLEU's null hypothesis."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.core.errors import UsageError
from gnomon.stats import (
    FamilyPair,
    SystemFamily,
    exchange_test,
    system_bootstrap_test,
)
from gnomon.stats.pair_tests import exchanged
from gnomon.stats.system_tests import sacrebleu_p_value


@pytest.fixture
def scores() -> np.ndarray:
    return np.random.default_rng(2).normal(size=(4, 30))


def test_a_baseline_leaves_its_own_pairs_as_they_are_and_no_others(scores) -> None:
    every, few = (system_bootstrap_test(scores, baseline=k, count=50) for k in (None, 2))
    others = [0, 1, 3]
    np.testing.assert_allclose(few.p[others, 2], every.p[others, 2])
    np.testing.assert_allclose(few.differences[2], every.differences[2])
    assert np.isnan(few.p[0, 1])
    np.testing.assert_allclose(few.statistics, every.statistics)


@pytest.mark.parametrize("baseline", [-1, 4])
def test_a_baseline_that_is_no_system_is_refused(baseline, scores) -> None:
    with pytest.raises(UsageError, match="one of 4 systems"):
        system_bootstrap_test(scores, baseline=baseline)


def test_sacrebleu_s_null_counts_sizes_above_the_observed_size() -> None:
    # sizes .4 .1 .3 .2 less their mean .25: .15 -.15 .05 -.05; two of four lie above .04
    assert sacrebleu_p_value([0.4, -0.1, 0.3, 0.2], 0.04) == 3 / 5
    assert sacrebleu_p_value([0.4, -0.1, 0.3, 0.2], -0.2) == 1 / 5
    assert sacrebleu_p_value([0.0, 0.0], 0.0) == 1


def test_resamples_of_equal_segments_give_no_interval_ends_made_of_rounding() -> None:
    """Two of twelve segments differ: resamples without them have no standard error but rounding."""
    rounding = np.random.default_rng(0).normal(0, 2e-8, 12)
    segments = np.array([16.2] * 10 + [17.8] * 2) + rounding
    low, high, *_ = (
        SystemFamily.from_statistics(segments[None], [FamilyPair(0, 0)]).draws(50).alone(0, 0.95)
    )
    assert 15.5 < low < segments.mean()
    assert np.isnan(high)


def test_exchanges_of_a_family_are_those_of_swapped_segments(scores) -> None:
    family = SystemFamily.from_statistics(scores[[0, 2, 3]], [FamilyPair(0, 1)])
    [p] = exchange_test(family.comparisons.estimates, family.exchanges(50)).p
    coins = exchanged("inputs", (1, 30), (0,), 0)[:50, 0].astype(bool)
    null = [
        np.where(coin, scores[2], scores[0]).mean() - np.where(coin, scores[0], scores[2]).mean()
        for coin in coins
    ]
    observed = abs(scores[0].mean() - scores[2].mean())
    assert p == (1 + (np.abs(null) >= observed - 1e-9).sum()) / 51


def test_pairs_of_a_family_are_compared_on_the_segments_that_both_have(scores) -> None:
    scores[1, :4] = np.nan
    estimates = SystemFamily.from_statistics(
        scores, [FamilyPair(i, 2) for i in (0, 1, 3)]
    ).comparisons.estimates
    common = [(scores[i] - scores[2])[4 * (i == 1) :].mean() for i in (0, 1, 3)]
    np.testing.assert_allclose(estimates, common)


def test_documents_are_drawn_and_exchanged_whole(scores) -> None:
    documents = np.repeat(np.arange(15), 2)
    whole = scores.reshape(4, 15, 2).mean(axis=2)
    by_document = SystemFamily.from_statistics(scores, [FamilyPair(1, 0)], documents=documents)
    of_means = SystemFamily.from_statistics(whole, [FamilyPair(1, 0)])
    for one, other in zip(by_document.comparisons, of_means.comparisons, strict=True):
        np.testing.assert_allclose(one, other)
    np.testing.assert_allclose(
        by_document.draws(30).alone(0, 0.9), of_means.draws(30).alone(0, 0.9)
    )
    np.testing.assert_allclose(by_document.exchanges(30), of_means.exchanges(30))
