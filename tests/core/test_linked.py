"""Keys of one group, compared with walking from key to key."""

from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.linked_groups import linked


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=12))
def test_keys_are_of_one_group_if_a_chain_of_pairs_leads_from_one_to_the_other(
    pairs: list[tuple[int, int]],
) -> None:
    group = linked(pairs)
    for start in range(10):
        reached, size = {start}, 0
        while len(reached) > size:
            size = len(reached)
            reached |= {b for pair in pairs for b in pair if reached & set(pair)}
        assert {key for key in range(10) if group(key) == group(start)} == reached
