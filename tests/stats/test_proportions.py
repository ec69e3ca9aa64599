from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from gnomon.stats.binomial import binomial_interval, binomial_p, wilson_interval

_counts = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(_counts)
def test_the_exact_test_equals_scipys(counts: tuple[int, int]) -> None:
    assert binomial_p(*counts) == pytest.approx(binomtest(*counts).pvalue, rel=1e-9)


@given(_counts, st.sampled_from([0.8, 0.95, 0.99]))
def test_wilsons_interval_equals_scipys(counts: tuple[int, int], level: float) -> None:
    theirs = binomtest(*counts).proportion_ci(level, method="wilson")
    ours = wilson_interval(*counts, level=level)
    assert tuple(ours) == pytest.approx((counts[0] / counts[1], *theirs), abs=1e-12)


def test_the_published_agreement_is_far_from_chance() -> None:
    # Karidi et al., table 10: 94 of 103
    assert wilson_interval(94, 103).estimate == pytest.approx(0.913, abs=5e-4)
    assert binomial_p(94, 103) < 1e-17


def test_without_trials_nothing_is_known() -> None:
    assert math.isnan(binomial_p(0, 0))
    assert all(map(math.isnan, wilson_interval(0, 0)))


def test_thousands_of_trials_neither_overflow_nor_vanish() -> None:
    assert binomial_p(5000, 10_000) == 1.0
    assert 0 < binomial_p(4700, 10_000) < 1e-8


@pytest.mark.parametrize("level", [0.8, 0.95, 0.9999])
@pytest.mark.parametrize(("seen", "of"), [(0, 1), (3, 3), (0, 40), (60, 100), (21, 30), (500, 900)])
def test_the_exact_interval_is_that_of_scipy_and_agrees_with_the_test(
    seen: int, of: int, level: float
) -> None:
    found = binomial_interval(seen, of, level=level)
    known = binomtest(seen, of).proportion_ci(level, method="exact")
    assert (found.low, found.high) == pytest.approx((known.low, known.high), abs=1e-12)
    assert (found.low > 0.5 or found.high < 0.5) == (binomial_p(seen, of) < 1 - level)
