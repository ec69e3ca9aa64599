"""Texts cut where their parts are like segments, beside the whole table of edits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.native.boundaries import cut_text

_EDIT, _ALIKE = 4, 2
_WORDS = st.lists(st.integers(0, 3), max_size=6)


def _cost(output: list[int], guide: list[int]) -> int:
    row = [_EDIT * j for j in range(len(output) + 1)]
    for word in guide:
        across, row[0] = row[0], row[0] + _EDIT
        for j, other in enumerate(output, 1):
            cost = 0 if word == other else _ALIKE if word // 2 == other // 2 else _EDIT
            across, row[j] = row[j], min(across + cost, row[j] + _EDIT, row[j - 1] + _EDIT)
    return row[-1]


def _cut(output: list[int], segments: list[list[int]], places: list[int], toll: list[int]):  # type: ignore[no-untyped-def]
    guide = [word for segment in segments for word in segment]
    ends = np.cumsum([len(segment) for segment in segments])[:-1]
    band = [[0] * (len(guide) + 1), [len(output)] * (len(guide) + 1)]
    sides = [
        (np.array(words, np.int32), np.array(words, np.int32) // 2) for words in (output, guide)
    ]
    kinds = np.zeros(len(ends), np.int32)
    return cut_text(*sides, ends, (_EDIT, _ALIKE), places, kinds, np.array([toll]), band)


@given(_WORDS, st.lists(_WORDS, min_size=3, max_size=3), st.data())
def test_cuts_are_the_cheapest_of_all_and_their_margins_say_by_how_much(
    output: list[int], segments: list[list[int]], data: st.DataObject
) -> None:
    kinds = st.lists(st.integers(0, 1), min_size=len(output) + 1, max_size=len(output) + 1)
    places, toll = data.draw(kinds), [0, 3]
    costs = {
        (a, b): _cost(output[:a], segments[0])
        + _cost(output[a:b], segments[1])
        + _cost(output[b:], segments[2])
        + toll[places[a]]
        + toll[places[b]]
        for b in range(len(output) + 1)
        for a in range(b + 1)
    }
    least, cuts, margins = _cut(output, segments, places, toll)
    best = min(costs.values())
    assert least == best == costs[tuple(cuts.tolist())]
    for k, cut in enumerate(cuts.tolist()):
        first = min(pair[k] for pair, cost in costs.items() if cost == best)
        others = [cost for pair, cost in costs.items() if pair[k] != cut]
        assert cut == first
        if others:
            assert margins[k] == min(others) - best


def test_a_band_around_the_path_changes_nothing() -> None:
    words = np.arange(40, dtype=np.int32)
    every = np.arange(41)
    band = np.maximum(every - 2, 0), np.minimum(every + 2, 40)
    least, cuts, _ = cut_text(
        (words, words), (words, words), [10, 30], (4, 2), [0] * 41, [0, 0], [[0]], band
    )
    assert (least, cuts.tolist()) == (0, [10, 30])


def test_what_does_not_fit_is_refused() -> None:
    word = np.zeros(1, np.int32), np.zeros(1, np.int32)
    fine = [[0, 0], [1, 1]]
    for ends, places, sorts, likeness, band, reason in (
        ([2], [0, 0], [0], [[0]], fine, "ends"),
        ([1], [0], [0], [[0]], fine, "places"),
        ([1], [0, 1], [0], [[0]], fine, "places"),
        ([1], [0, 0], [1], [[0]], fine, "ends_like"),
        ([1], [0, 0], [0], [[-1]], fine, "costs"),
        ([1], [0, 0], [0], [[1 << 29]], fine, "too large"),
        ([1], [0, 0], [0], [[0]], [[0, 0], [0, 0]], "band"),
    ):
        with pytest.raises(ValueError, match=reason):
            cut_text(word, word, ends, (4, 2), places, sorts, likeness, band)
    with pytest.raises(ValueError, match="no path"):
        cut_text(
            (np.zeros(3, np.int32),) * 2, word, [], (4, 2), [0] * 4, [], [[0]], [[0, 3], [0, 3]]
        )
