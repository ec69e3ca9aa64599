"""Inclusion probabilities of draws: by hand, by enumeration of orders and starts, as properties."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.stats import inclusion_probabilities, proportional_allocation, systematic_draw


def test_probabilities_are_in_proportion_to_size_and_certain_ones_leave_the_rest_to_others() -> (
    None
):
    np.testing.assert_allclose(inclusion_probabilities([1, 2, 3, 4], 1), [0.1, 0.2, 0.3, 0.4])
    # 10 of 16 would be 1.25 of 2: it is certain, and 1, 2, 3 share the other unit
    np.testing.assert_allclose(inclusion_probabilities([1, 2, 3, 10], 2), [1 / 6, 1 / 3, 1 / 2, 1])
    # of 3, the size 3 is certain, too: 2 x 3/6
    np.testing.assert_allclose(inclusion_probabilities([1, 2, 3, 10], 3), [1 / 3, 2 / 3, 1, 1])


sizes = st.lists(st.floats(0.01, 100), min_size=1, max_size=12)


@given(sizes, st.data())
def test_probabilities_add_up_to_the_count_and_keep_the_order_of_sizes(
    given_sizes: list[float], data: st.DataObject
) -> None:
    count = data.draw(st.integers(1, len(given_sizes)))
    shares = inclusion_probabilities(given_sizes, count)
    assert shares.sum() == pytest.approx(count)
    assert ((shares > 0) & (shares <= 1)).all()
    assert (np.diff(shares[np.argsort(given_sizes)]) >= -1e-12).all()


def test_over_all_orders_and_starts_each_unit_is_drawn_with_exactly_its_probability() -> None:
    """Probabilities in tenths, so that ten starts within tenths stand for all starts."""
    probabilities = [Fraction(k, 10) for k in (2, 4, 9, 5, 10)]
    counts = [0] * 5
    orders = list(permutations(range(5)))
    for order in orders:
        for tenth in range(10):
            start = (tenth + 0.5) / 10
            drawn = systematic_draw([float(p) for p in probabilities], order, start).tolist()
            assert len(set(drawn)) == len(drawn) == 3
            for unit in drawn:
                counts[unit] += 1
    assert [Fraction(count, 10 * len(orders)) for count in counts] == probabilities


@given(sizes, st.data())
def test_a_systematic_draw_has_as_many_units_as_the_probabilities_add_up_to(
    given_sizes: list[float], data: st.DataObject
) -> None:
    count = data.draw(st.integers(1, len(given_sizes)))
    shares = inclusion_probabilities(given_sizes, count)
    order = data.draw(st.permutations(range(len(given_sizes))))
    drawn = systematic_draw(shares, order, data.draw(st.floats(0, 0.999)))
    assert len(np.unique(drawn)) == len(drawn) == count
    assert set(np.flatnonzero(shares >= 1)) <= set(drawn.tolist())


def test_strata_get_their_share_by_largest_remainders_and_at_least_one() -> None:
    assert proportional_allocation([50, 30, 20], 10).tolist() == [5, 3, 2]
    # quotas 3.33, 3.33, 3.33: the first of equal remainders
    assert proportional_allocation([5, 5, 5], 10).tolist() == [4, 3, 3]
    # quotas 9.8, .2: one from the small stratum all the same
    assert proportional_allocation([98, 2], 10).tolist() == [9, 1]


@given(st.lists(st.integers(1, 30), min_size=1, max_size=8), st.data())
def test_an_allocation_adds_up_and_asks_no_stratum_for_more_than_it_has(
    strata: list[int], data: st.DataObject
) -> None:
    count = data.draw(st.integers(len(strata), sum(strata)))
    drawn = proportional_allocation(strata, count)
    assert drawn.sum() == count
    assert ((drawn >= 1) & (drawn <= strata)).all()
