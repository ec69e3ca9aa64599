"""Inclusion probabilities of draws: by hand, by enumeration of orders and starts, as properties."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gnomon.stats import proportional_allocation


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
