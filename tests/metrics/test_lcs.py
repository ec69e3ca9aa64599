from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gnomon.metrics.rouge import lcs_length, lcs_positions, places

_tokens = st.lists(st.integers(-3, 3), max_size=20)


def _table(a: list[int], b: list[int]) -> list[list[int]]:
    """The textbook table: lengths for every pair of prefixes."""
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a, 1):
        for j, y in enumerate(b, 1):
            same = table[i - 1][j - 1] + 1
            table[i][j] = same if x == y else max(table[i - 1][j], table[i][j - 1])
    return table


@given(_tokens, _tokens)
def test_length_equals_the_textbook_table(a: list[int], b: list[int]) -> None:
    assert lcs_length(a, places(b), len(b)) == _table(a, b)[-1][-1]


@given(_tokens, _tokens)
def test_positions_are_one_longest_common_subsequence(a: list[int], b: list[int]) -> None:
    found = lcs_positions(a, b)
    assert found == sorted(set(found), reverse=True)
    assert len(found) == _table(a, b)[-1][-1]
    rest = iter(b)
    assert all(a[i] in rest for i in reversed(found))


def test_ten_thousand_tokens_are_no_trouble() -> None:
    a = [i % 97 for i in range(10_000)]
    assert lcs_length(a, places(a[::2]), 5_000) == 5_000
