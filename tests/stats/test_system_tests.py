"""Systems beside one baseline alone, and sacreBLEU's null hypothesis."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.core.errors import UsageError
from gnomon.stats import (
    FamilyPair,
    SystemFamily,
    approximate_randomisation,
    exchange_test,
    system_bootstrap_test,
)
from gnomon.stats.system_tests import sacrebleu_p_value


@pytest.fixture
def scores() -> np.ndarray:
    return np.random.default_rng(2).normal(size=(4, 30))


@pytest.mark.parametrize("test", [system_bootstrap_test, approximate_randomisation])
def test_a_baseline_leaves_its_own_pairs_as_they_are_and_no_others(test, scores) -> None:
    every, few = test(scores, count=50), test(scores, baseline=2, count=50)
    others = [0, 1, 3]
    np.testing.assert_allclose(few.p[others, 2], every.p[others, 2])
    np.testing.assert_allclose(few.differences[2], every.differences[2])
    assert np.isnan(few.p[0, 1])
    np.testing.assert_allclose(few.statistics, every.statistics)


@pytest.mark.parametrize("test", [system_bootstrap_test, approximate_randomisation])
@pytest.mark.parametrize("baseline", [-1, 4])
def test_a_baseline_that_is_no_system_is_refused(test, baseline, scores) -> None:
    with pytest.raises(UsageError, match="one of 4 systems"):
        test(scores, baseline=baseline)


def test_sacrebleu_s_null_counts_sizes_above_the_observed_size() -> None:
    # sizes .4 .1 .3 .2 less their mean .25: .15 -.15 .05 -.05; two of four lie above .04
    assert sacrebleu_p_value([0.4, -0.1, 0.3, 0.2], 0.04) == 3 / 5
    assert sacrebleu_p_value([0.4, -0.1, 0.3, 0.2], -0.2) == 1 / 5
    assert sacrebleu_p_value([0.0, 0.0], 0.0) == 1


def test_resamples_of_equal_segments_give_no_interval_ends_made_of_rounding() -> None:
    """Two of twelve segments differ: resamples without them have no standard error but rounding."""
    rounding = np.random.default_rng(0).normal(0, 2e-8, 12)
    segments = np.array([16.2] * 10 + [17.8] * 2) + rounding
    low, high, *_ = SystemFamily.of(segments[None], [FamilyPair(0, 0)]).draws(50).alone(0, 0.95)
    assert 15.5 < low < segments.mean()
    assert np.isnan(high)


def test_exchanges_of_a_family_are_those_of_its_pairs(scores) -> None:
    scores[1, :4] = np.nan
    pairs = [FamilyPair(i, 2) for i in (0, 1, 3)]
    family = SystemFamily.of(scores[[0, 2, 3]], [FamilyPair(0, 1)])
    [p] = exchange_test(family.comparisons.estimates, family.exchanges(50)).p
    alone = approximate_randomisation(scores, baseline=2, count=50)
    assert p == alone.p[0, 2]
    estimates = SystemFamily.of(scores, pairs).comparisons.estimates
    np.testing.assert_allclose(estimates, alone.differences[[0, 1, 3], 2])


def test_documents_are_drawn_and_exchanged_whole(scores) -> None:
    documents = np.repeat(np.arange(15), 2)
    whole = scores.reshape(4, 15, 2).mean(axis=2)
    by_document = SystemFamily.of(scores, [FamilyPair(1, 0)], documents=documents)
    of_means = SystemFamily.of(whole, [FamilyPair(1, 0)])
    for one, other in zip(by_document.comparisons, of_means.comparisons, strict=True):
        np.testing.assert_allclose(one, other)
    np.testing.assert_allclose(
        by_document.draws(30).alone(0, 0.9), of_means.draws(30).alone(0, 0.9)
    )
    np.testing.assert_allclose(by_document.exchanges(30), of_means.exchanges(30))
