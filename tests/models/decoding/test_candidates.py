"""The best entries of long rows."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.models.decoding.search import best_entries

torch: Any = pytest.importorskip("torch", reason="needs torch: pip install 'gnomon[models]'")


@given(
    size=st.integers(1, 3000),
    count=st.integers(1, 12),
    barred=st.floats(0, 1),
    seed=st.integers(0, 1000),
)
def test_the_best_entries_are_those_of_topk(
    size: int, count: int, barred: float, seed: int
) -> None:
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn((3, size), generator=generator)
    scores[torch.rand((3, size), generator=generator) < barred] = -torch.inf
    values, places = best_entries(scores, count)
    assert torch.equal(values, torch.topk(scores, min(count, size)).values)
    assert torch.equal(scores.gather(1, places), values)
    assert all(len(set(row)) == len(row) for row in places.tolist())
