from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gnomon.linguistics.dependencies import crossing, reach

heads = st.lists(st.integers(0, 30), max_size=12).map(lambda h: [i % len(h) for i in h])


def _plain_crossing(heads: list[int]) -> list[bool]:
    arcs = [tuple(sorted((d, h))) for d, h in enumerate(heads) if d != h]
    found = [False] * len(heads)
    for a, b in arcs:
        for c, d in arcs:
            if a < c < b < d:
                for token in (a, b, c, d):
                    found[token] = True
    return found


@given(heads)
def test_crossing_arcs_are_those_of_the_definition(heads: list[int]) -> None:
    assert crossing(heads) == _plain_crossing(heads)


@given(heads)
def test_reach_is_the_longest_arc_at_a_token(heads: list[int]) -> None:
    arcs = [(d, h) for d, h in enumerate(heads)]
    expected = [
        max((abs(d - h) for d, h in arcs if token in (d, h)), default=0)
        for token in range(len(heads))
    ]
    assert reach(heads) == expected


def test_a_tree_of_one_word_or_none_has_no_arcs() -> None:
    assert (reach([]), crossing([]), reach([0]), crossing([0])) == ([], [], [0], [False])
