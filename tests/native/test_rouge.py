"""Shared n-grams and subsequences beside rouge-score's own functions."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
import rouge_score.rouge_scorer as peer
from hypothesis import example, given
from hypothesis import strategies as st

from gnomon.core.spans import SpanTable
from gnomon.core.testset import TestSet
from gnomon.metrics import MaskPlan, Rouge
from gnomon.native import rouge as loops

_TYPES = ("rouge1", "rouge2", "rougeL", "rougeLsum")
_BREAK = 0
# negative ids are masks
_row = st.lists(st.integers(-3, 4), max_size=12) | st.lists(st.integers(-3, 60), max_size=150)
_Side = tuple[np.ndarray, np.ndarray]


def _side(rows: list[list[int]]) -> _Side:
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return offsets, np.array([i for row in rows for i in row], dtype=np.int32)


def _all_pairs(rows: int, others: int) -> np.ndarray:
    return np.array([(i, j) for j in range(others) for i in range(rows)], dtype=np.int64)


def _sentences(ids: list[int]) -> list[list[int]]:
    found: list[list[int]] = [[]]
    for token in ids:
        if token == _BREAK:
            found.append([])
        else:
            found[-1].append(token)
    return found


def _expected(kind: str, own: list[int], other: list[int]) -> int:
    """How much a candidate and a reference share, as rouge-score counts it."""
    if kind[-1] in "12":
        ngrams = [Counter(peer._create_ngrams(side, int(kind[-1]))) for side in (own, other)]
        return (ngrams[0] & ngrams[1]).total()
    if kind == "rougeL":
        return peer._lcs_table(other, own)[-1][-1]
    recall = peer._summary_level_lcs(_sentences(other), _sentences(own)).recall
    return round(recall * (len(other) - other.count(_BREAK)))


def _found(kind: str, own: _Side, other: _Side, pairs: np.ndarray) -> list[int]:
    if kind[-1] in "12":
        return loops.shared_ngrams(int(kind[-1]), own, other, pairs).tolist()
    if kind == "rougeL":
        return loops.common_subsequences(own, other, pairs).tolist()
    return loops.union_subsequences(_BREAK, own, other, pairs).tolist()


def _check(own: list[list[int]], other: list[list[int]]) -> None:
    pairs = _all_pairs(len(own), len(other))
    for order in (pairs, pairs[::-1], pairs[np.argsort(pairs[:, 0], kind="stable")]):
        for kind in _TYPES:
            expected = [_expected(kind, own[i], other[j]) for i, j in order.tolist()]
            assert _found(kind, _side(own), _side(other), order) == expected


@given(st.lists(_row, min_size=1, max_size=3), st.lists(_row, min_size=1, max_size=2))
@example([[]], [[], [1]])
@example([[1], []], [[1], [2], [_BREAK], [1, _BREAK, 1]])
def test_counts_are_rouge_scores(own: list[list[int]], other: list[list[int]]) -> None:
    _check(own, other)


@pytest.mark.parametrize("sizes", [(63, 64), (64, 64), (65, 64), (64, 65), (128, 1), (1, 129)])
def test_whole_and_broken_words_of_64_bits(sizes: tuple[int, int]) -> None:
    chance = random.Random(sum(sizes))
    own, other = ([[chance.randrange(n) for _ in range(size)] for n in (2, 40)] for size in sizes)
    _check(own, other)


@pytest.mark.slow
def test_sides_of_thousands_of_tokens() -> None:
    chance = random.Random(7)
    rows = [[chance.randrange(900) for _ in range(size)] for size in (1, 1500)]
    own, other = _side(rows), _side(rows[::-1])
    pairs = _all_pairs(2, 2)
    for kind in _TYPES:
        expected = [_expected(kind, rows[i], rows[1 - j]) for i, j in pairs.tolist()]
        assert _found(kind, own, other, pairs) == expected


def test_a_hundred_thousand_tokens_are_no_trouble() -> None:
    row = [i % 97 for i in range(100_000)]
    own, other = _side([row]), _side([row[:20_000:2]])
    pairs = np.array([[0, 0]])
    assert loops.shared_ngrams(1, own, other, pairs).tolist() == [10_000]
    assert loops.common_subsequences(own, other, pairs).tolist() == [10_000]
    assert loops.common_subsequences(other, own, pairs).tolist() == [10_000]


@given(st.lists(st.tuples(_row, _row), min_size=1, max_size=4))
@example([([], []), ([1], []), ([], [1])])
def test_aligned_tokens_are_those_of_rouge_scores_backtracking(
    rows: list[tuple[list[int], list[int]]],
) -> None:
    own, other = (_side([row[side] for row in rows]) for side in (0, 1))
    pairs = np.stack([np.arange(len(rows))] * 2, axis=-1)
    found = loops.aligned_subsequences(own, other, pairs)
    places = np.split(found, other[0][1:])[:-1]
    for (candidate, reference), at in zip(rows, places, strict=True):
        taken = np.flatnonzero(at >= 0).tolist()
        assert taken == peer.lcs_ind(reference, candidate)
        assert at[taken].tolist() == sorted(set(at[taken].tolist()))
        assert [candidate[place] for place in at[taken]] == [reference[place] for place in taken]


@pytest.mark.parametrize("kind", _TYPES)
def test_masked_scores_are_those_of_texts_with_masks_in_them(kind: str) -> None:
    chance = random.Random(3)
    words = [f"w{i}" for i in range(30)]
    columns = [
        ["\n".join(" ".join(chance.choices(words, k=20)) for _ in range(3)) for _ in range(9)]
        for _ in range(3)
    ]
    testset = TestSet.from_lists({"a": columns[0], "b": columns[1]}, columns[2])
    batch = testset.batch()
    spans = SpanTable.build([{"F": [(0, 2)]} for _ in batch.texts], ["F"])
    metric = Rouge(type=kind)  # type: ignore[arg-type]  # one of the four
    found = metric.bind(testset).masked(batch, MaskPlan.oracles(spans))
    for variant, (own, other) in enumerate([("same", "same"), ("mine", "theirs")]):
        # the first word of every text is its first token
        masked = [
            [f"{word} {text.split(' ', 1)[1]}" for text in column]
            for word, column in zip((own, own, other), columns, strict=True)
        ]
        plain = TestSet.from_lists({"a": masked[0], "b": masked[1]}, masked[2])
        np.testing.assert_array_equal(found[variant], metric.bind(plain).segments(plain.batch()))


def test_unmasked_pairs_are_compared_once_however_often_they_are_asked_for() -> None:
    testset = TestSet.from_lists({"a": ["x y", "x y", "z"]}, ["x", "x", "x"])
    batch = testset.batch()
    bound = Rouge(type="rouge1").bind(testset)
    spans = SpanTable.build([{"F": [(0, 1)]} if text == "z" else {} for text in batch.texts], ["F"])
    bound.segments(batch)
    bound.masked(batch, MaskPlan.oracles(spans))
    assert bound.texts.compared == 2
    assert bound.texts.rescored == 2  # the pair of "z" again, under oracle and anti-oracle


_SIDE = np.array([0, 1, 3]), np.array([1, 2, 3])


@pytest.mark.parametrize(
    "call",
    [
        lambda *sides: loops.shared_ngrams(2, *sides),
        loops.common_subsequences,
        lambda *sides: loops.union_subsequences(_BREAK, *sides),
        loops.aligned_subsequences,
    ],
    ids=["n-grams", "common", "union", "aligned"],
)
@pytest.mark.parametrize(
    ("references", "pairs", "words"),
    [
        ((np.array([0, 1, 4]), _SIDE[1]), [[0, 0]], "offsets of references"),
        ((np.array([0, 2, 1]), _SIDE[1]), [[0, 0]], "offsets of"),
        ((np.array([-1, 2, 3]), _SIDE[1]), [[0, 0]], "offsets of"),
        (_SIDE, [[0, 2]], "none of"),
        (_SIDE, [[-1, 0]], "none of"),
        (_SIDE, [0, 0], r"not \[pairs, 2\]"),
        ((_SIDE[0], _SIDE[1].astype(float)), [[0, 0]], r"whole numbers|one wanted"),
        ((_SIDE[0], np.array([1, 2, 1 << 31])), [[0, 0]], "int32"),
    ],
)
def test_what_does_not_fit_is_refused(
    call, references: _Side, pairs: list[list[int]], words: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        call(_SIDE, references, np.array(pairs))


def test_longer_ngrams_are_refused() -> None:
    with pytest.raises(ValueError, match="one or two tokens"):
        loops.shared_ngrams(3, _SIDE, _SIDE, [[0, 0]])
