"""Edits and shifts of TER beside sacreBLEU's own functions."""

from __future__ import annotations

import random
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import pytest
import sacrebleu.metrics.lib_ter as peers
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gnomon.metrics.comparisons import PairRows
from gnomon.metrics.sequences import Sequences, offsets_of
from gnomon.metrics.ter import count_edits, match_pairs, match_words, plain_edits
from gnomon.native import ter as loops

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

#: candidate and reference as numbers of words
_Pair = tuple[list[int], list[int]]


def _sides(pairs: Sequence[_Pair]) -> tuple[Sequences, Sequences, NDArray[np.int64]]:
    found = []
    for side in zip(*pairs, strict=True):
        lengths = np.array([len(ids) for ids in side])
        found.append(Sequences(offsets_of(lengths), np.array([*chain(*side)], dtype=np.int32)))
    return found[0], found[1], np.stack([np.arange(len(pairs))] * 2, axis=-1)


def _tried(candidate: list[int], reference: list[int]) -> int:
    """How many shifts sacreBLEU tries."""
    words, other = ([str(word) for word in side] for side in (candidate, reference))
    distance, tried = peers.BeamEditDistance(other), 0
    while True:
        gain, words, tried = peers._shift(words, other, distance, tried)
        if tried >= peers._MAX_SHIFT_CANDIDATES or gain <= 0:
            return tried


@st.composite
def _moved(draw: st.DrawFn, longest: int = 30) -> _Pair:
    """A reference of few words, and the same with blocks moved, words changed, lost and added."""
    chance = random.Random(draw(st.integers(0, 1 << 32)))
    words = draw(st.sampled_from((1, 2, 3, 6, 20, 100)))
    reference = [chance.randrange(words) for _ in range(draw(st.integers(0, longest)))]
    candidate = list(reference)
    for _ in range(draw(st.integers(0, 4))):
        first, last, to = (chance.randint(0, len(candidate)) for _ in range(3))
        block = candidate[first:last]
        del candidate[first:last]
        candidate[to:to] = block
    for _ in range(draw(st.integers(0, 6))):
        at = chance.randint(0, len(candidate))
        candidate[at : at + chance.randint(0, 2)] = [chance.randrange(words)] * chance.randint(0, 2)
    kind = draw(st.sampled_from(("as it is", "turned", "cut", "longer", "other words")))
    if kind == "cut":
        candidate = candidate[chance.randint(0, len(candidate)) :]
    elif kind == "longer":
        candidate += [chance.randrange(words) for _ in range(chance.randint(0, longest))]
    elif kind == "other words":
        candidate = [chance.randrange(words) for _ in range(chance.randint(0, longest))]
    return (reference, candidate) if kind == "turned" else (candidate, reference)


@given(st.lists(_moved(), min_size=1, max_size=5))
@example([([], []), ([], [1]), ([1], []), ([1, 2], [2, 1])])
@example([([0], [0] * 50), ([0], [0] * 51), ([1], [0] * 120), ([0, 1] * 2, [1, 0] * 101)])
def test_compiled_edits_and_kept_words_are_sacrebleus(pairs: list[_Pair]) -> None:
    sides = _sides(pairs)
    assert count_edits(*sides).tolist() == plain_edits(*sides).tolist()
    edits, listed, computed, kept = loops.edit_pairs(*sides, align=True)
    at = 0
    for row, (candidate, reference) in enumerate(pairs):
        places = kept[at : at + len(reference)].tolist()
        at += len(reference)
        assert computed[row] <= listed[row] <= _tried(candidate, reference) if reference else True
        if edits[row] < 0:
            assert len(reference) > 50 * len(candidate)
            continue
        own, other = ([str(word) for word in side] for side in (candidate, reference))
        found = sorted((place, j) for j, place in enumerate(places) if place >= 0)
        alone, count = match_words(own, other)
        assert (found, edits[row]) == (sorted(alone), count)


@given(st.lists(_moved(12), min_size=1, max_size=5))
@example([([0], [0] * 51), ([0, 1], [1, 0])])
def test_kept_words_of_many_pairs_are_those_of_each(pairs: list[_Pair]) -> None:
    candidates, references, _ = _sides(pairs)
    ids = np.concatenate([candidates.ids, references.ids])
    texts = Sequences(offsets_of(np.concatenate([candidates.lengths, references.lengths])), ids)
    n = len(pairs)
    rows = PairRows((1, n), np.arange(n), np.arange(n), np.arange(n, 2 * n))
    found = match_pairs(texts, rows)
    for row, sides in enumerate(pairs):
        alone, count = match_words(*([str(word) for word in side] for side in sides))
        assert (sorted(found[row, n + row][0]), found[row, n + row][1]) == (sorted(alone), count)


@pytest.mark.slow
@settings(max_examples=10)
@given(_moved(160))
def test_compiled_edits_of_texts_longer_than_the_beam_are_sacrebleus(pair: _Pair) -> None:
    sides = _sides([pair])
    assert count_edits(*sides).tolist() == plain_edits(*sides).tolist()


@pytest.mark.verify
@settings(max_examples=400)
@given(_moved(400))
def test_compiled_edits_of_long_texts_are_sacrebleus(pair: _Pair) -> None:
    sides = _sides([pair])
    assert count_edits(*sides).tolist() == plain_edits(*sides).tolist()


def test_a_long_reference_after_short_ones_is_its_own() -> None:
    chance = random.Random(4)
    pairs = []
    for size in (10, 250, 20, 240, 30, 260):
        reference = [chance.randrange(60) for _ in range(size)]
        pairs.append(([chance.randrange(60, 120) for _ in range(40)], reference))
    sides = _sides(pairs)
    assert count_edits(*sides).tolist() == plain_edits(*sides).tolist()


def test_few_of_the_shifts_that_are_tried_are_computed() -> None:
    reference = list(range(60))
    candidate = [*range(20, 30), *range(20), *range(50, 60), *range(30, 50)]
    edits, listed, computed, _ = loops.edit_pairs(*_sides([(candidate, reference)]))
    assert edits.tolist() == [2]
    assert listed.tolist() == [_tried(candidate, reference)]
    assert computed[0] < listed[0] / 2


def test_no_shift_is_computed_where_too_many_are_tried() -> None:
    pair = [0, 1] * 60, [1, 1, 0] * 40
    _, listed, computed, _ = loops.edit_pairs(*_sides([pair]))
    assert listed.tolist() == [_tried(*pair)]
    assert listed[0] >= 1000
    assert computed.tolist() == [0]


def test_texts_that_only_lack_words_try_no_shift() -> None:
    _, listed, _, _ = loops.edit_pairs(*_sides([([1, 2, 3, 1], [1, 2, 5, 3, 1])]))
    assert listed.tolist() == [0]


@pytest.mark.parametrize(("own", "other"), [(1, 1), (64, 64), (65, 64), (127, 129)])
@pytest.mark.parametrize(
    "words", [2, *(pytest.param(n, marks=pytest.mark.verify) for n in (1, 40))]
)
def test_texts_of_whole_and_of_broken_words_of_64_bits(own: int, other: int, words: int) -> None:
    chance = random.Random(own * other)
    sides = _sides(
        [
            ([chance.randrange(words) for _ in range(own)], [chance.randrange(words)] * other),
            (list(range(own)), [*range(other // 2, other), *range(other // 2)]),
        ]
    )
    assert count_edits(*sides).tolist() == plain_edits(*sides).tolist()


@pytest.mark.verify
def test_thousands_of_words_are_compared_as_sacrebleu_does() -> None:
    reference = list(range(2500))
    candidate = [-word if word % 97 == 5 else word for word in reference if word % 101]
    candidate[1000], candidate[1010] = candidate[1010], candidate[1000]
    sides = _sides([(candidate, reference)])
    assert count_edits(*sides).tolist() == plain_edits(*sides).tolist()


def test_one_candidate_is_compared_with_many_references() -> None:
    chance = random.Random(2)
    texts = [[chance.randrange(9) for _ in range(chance.randrange(80))] for _ in range(60)]
    references, _, _ = _sides([(text, text) for text in texts])
    candidates, _, _ = _sides([(texts[7][::-1], [])])
    pairs = np.stack([np.zeros(60, dtype=np.int64), np.arange(60)], axis=-1)
    expected = plain_edits(candidates, references, pairs).tolist()
    assert count_edits(candidates, references, pairs).tolist() == expected
    assert count_edits(candidates, references, pairs[::-1]).tolist() == expected[::-1]


@pytest.mark.verify
def test_references_may_come_again() -> None:
    chance = random.Random(6)
    texts = [[chance.randrange(12) for _ in range(chance.randrange(1, 40))] for _ in range(8)]
    sides = _sides([(text, text[::-1]) for text in texts])[:2]
    pairs = np.array([(i, j) for i in range(8) for j in range(8)])
    assert count_edits(*sides, pairs).tolist() == plain_edits(*sides, pairs).tolist()


def test_masks_and_any_layout_of_ids_are_read() -> None:
    offsets, ids = np.array([0, 3, 6]), np.array([-1, 5, -3, 5, -1, 7])
    pairs = np.array([[0, 1], [1, 0], [0, 0]])
    expected = loops.edit_pairs((offsets, ids), (offsets, ids), pairs)[0].tolist()
    assert expected == plain_edits(Sequences(offsets, ids), Sequences(offsets, ids), pairs).tolist()
    wide = np.zeros((6, 2), dtype=np.int32)
    wide[:, 0] = ids
    narrow = ids.astype(np.int8)
    narrow.flags.writeable = False
    assert loops.edit_pairs((offsets, wide[:, 0]), (offsets, narrow), pairs)[0].tolist() == expected
    assert loops.edit_pairs((offsets, ids), (offsets, ids), pairs[:0])[0].tolist() == []


_SIDE = np.array([0, 1, 3]), np.array([1, 2, 3])


@pytest.mark.parametrize(
    ("candidates", "pairs", "words"),
    [
        ((np.array([0, 1, 4]), _SIDE[1]), [[0, 0]], "offsets of candidates"),
        ((np.array([0, 2, 1]), _SIDE[1]), [[0, 0]], "offsets of"),
        ((np.array([-1, 2, 3]), _SIDE[1]), [[0, 0]], "offsets of"),
        ((np.array([], dtype=np.int64), _SIDE[1]), [[0, 0]], "offsets of"),
        (_SIDE, [[2, 0]], r"none of \(2, 2\)"),
        (_SIDE, [[0, -1]], "none of"),
        (_SIDE, [0, 0], r"not \[pairs, 2\]"),
        (_SIDE, [[0, 0, 0]], r"not \[pairs, 2\]"),
        ((_SIDE[0], _SIDE[1].astype(float)), [[0, 0]], r"whole numbers|one wanted"),
        ((_SIDE[0], _SIDE[1][None]), [[0, 0]], r"whole numbers|one wanted"),
        ((_SIDE[0], np.array([1, 2, 1 << 31])), [[0, 0]], "int32"),
    ],
)
def test_what_does_not_fit_is_refused(
    candidates: tuple[np.ndarray, np.ndarray], pairs: list[list[int]], words: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        loops.edit_pairs(candidates, _SIDE, np.array(pairs))
