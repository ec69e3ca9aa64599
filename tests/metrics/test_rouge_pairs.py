"""The compiled counts of ROUGE equal the plain ones, which define them."""

from __future__ import annotations

import random
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.metrics import MaskPlan, Rouge, rouge
from gnomon.metrics.rouge import _compiled_overlaps, _loops, plain_overlaps
from gnomon.metrics.sequences import Sequences
from gnomon.spans import SpanTable
from gnomon.testset import TestSet

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TYPES = ("rouge1", "rouge2", "rougeL", "rougeLsum")
_BREAK = 0
# negative ids are masks
_row = st.lists(st.integers(-3, 4), max_size=12) | st.lists(st.integers(-3, 60), max_size=150)


def _sequences(rows: list[list[int]]) -> Sequences:
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return Sequences(offsets, np.array([i for row in rows for i in row], dtype=np.int32))


def _all_pairs(rows: int) -> NDArray[np.int64]:
    return np.array([(i, j) for i in range(rows) for j in range(rows)], dtype=np.int64)


@given(st.lists(st.tuples(_row, _row), min_size=1, max_size=4))
def test_compiled_counts_equal_plain_ones(rows: list[tuple[list[int], list[int]]]) -> None:
    own, other = (_sequences([row[side] for row in rows]) for side in (0, 1))
    pairs = _all_pairs(len(rows))
    for kind in _TYPES:
        line_break = _BREAK if kind == "rougeLsum" else None
        sides = (kind, own, other, pairs, line_break)
        found = _compiled_overlaps(_loops(sys.maxsize), *sides)
        assert found.tolist() == plain_overlaps(*sides).tolist()


@pytest.mark.slow
def test_sides_of_thousands_of_tokens_are_counted_alike() -> None:
    rng = random.Random(7)
    rows = [[rng.randrange(900) for _ in range(size)] for size in (1, 64, 128, 2500)]
    sides = (_sequences(rows), _sequences(rows[::-1]), _all_pairs(len(rows)))
    for kind in _TYPES:
        line_break = _BREAK if kind == "rougeLsum" else None
        found = _compiled_overlaps(_loops(sys.maxsize), kind, *sides, line_break)
        assert found.tolist() == plain_overlaps(kind, *sides, line_break).tolist()


@pytest.mark.slow
def test_masked_scores_are_the_same_with_and_without_compiled_loops(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = random.Random(3)
    words = [f"w{i}" for i in range(30)]
    texts = [["\n".join(" ".join(rng.choices(words, k=20)) for _ in range(3)) for _ in range(40)]
             for _ in range(3)]  # fmt: skip
    testset = TestSet.from_lists({"a": texts[0], "b": texts[1]}, texts[2])
    batch = testset.batch()
    spans = [{"F": [(0, 2)], "G": [(3, 5), (len(text) - 2, len(text))]} for text in batch.texts]
    plan = MaskPlan.oracles(SpanTable.build(spans, ["F", "G"]))
    for kind in _TYPES:
        scores = []
        for much in (0, sys.maxsize):
            monkeypatch.setattr(rouge, "_MUCH", much)
            monkeypatch.delitem(sys.modules, rouge._COMPILED, raising=False)
            metric = Rouge(type=kind)  # type: ignore[arg-type]  # one of the four
            scores.append(metric.bind(testset).masked(batch, plan))
        np.testing.assert_array_equal(*scores)


def test_a_small_input_loads_no_compiler() -> None:
    assert _loops(10) is sys.modules.get(rouge._COMPILED)


def test_unmasked_pairs_are_compared_once_however_often_they_are_asked_for() -> None:
    testset = TestSet.from_lists({"a": ["x y", "x y", "z"]}, ["x", "x", "x"])
    batch = testset.batch()
    bound = Rouge(type="rouge1").bind(testset)
    spans = SpanTable.build([{"F": [(0, 1)]} if text == "z" else {} for text in batch.texts], ["F"])
    bound.segments(batch)
    bound.masked(batch, MaskPlan.oracles(spans))
    assert bound._pairs.counted == 2 + 2  # the pair of "z" again, under oracle and anti-oracle
