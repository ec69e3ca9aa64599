from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.metrics import ngrams
from gnomon.metrics.ngrams import Sides, clipped_matches
from gnomon.metrics.sequences import Sequences

ids = st.lists(st.one_of(st.integers(-3, 3), st.integers(0, 2**31 - 1)), max_size=9)


def packed(rows: list[list[int]]) -> Sequences:
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return Sequences(offsets, np.array([i for row in rows for i in row], dtype=np.int32))


def grams(row: list[int], n: int) -> Counter[tuple[int, ...]]:
    return Counter(tuple(row[i : i + n]) for i in range(len(row) - n + 1))


def slow_matches(candidate: list[int], references: list[list[int]], n: int) -> int:
    best: Counter[tuple[int, ...]] = Counter()
    for reference in references:
        best |= grams(reference, n)
    return sum((grams(candidate, n) & best).values())


@pytest.mark.parametrize("sparsest", [0, 32])
@pytest.mark.parametrize("chunk", [1, 12, 1 << 17])
@given(
    groups=st.lists(
        st.tuples(st.lists(ids, max_size=3), st.lists(ids, min_size=1, max_size=3)), max_size=4
    ),
    orders=st.integers(1, 6),
)
def test_matches_are_those_of_counters(
    groups: list[tuple[list[list[int]], list[list[int]]]], orders: int, chunk: int, sparsest: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ngrams, "_CHUNK", chunk)
        patch.setattr(ngrams, "_SPARSEST", sparsest)
        found = clipped_matches(
            Sides(
                packed([c for candidates, _ in groups for c in candidates]),
                np.repeat(np.arange(len(groups)), [len(c) for c, _ in groups]),
                packed([r for _, references in groups for r in references]),
                np.repeat(np.arange(len(groups)), [len(r) for _, r in groups]),
            ),
            orders,
        )
    expected = [
        [slow_matches(candidate, references, n) for n in range(1, orders + 1)]
        for candidates, references in groups
        for candidate in candidates
    ]
    assert found.tolist() == expected
