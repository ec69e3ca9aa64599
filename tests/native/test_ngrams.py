"""Matches of n-grams, plain and masked, are those that counters of tuples find."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.native.ngrams import (
    KEPT,
    LEFT_OUT,
    PRIVATE,
    SHARED,
    MaskedRows,
    Rows,
    covered_tokens,
    spelled,
)

#: references of more than 64 ids are matched otherwise
ids = st.builds(
    lambda row, times: row * times,
    st.lists(st.integers(0, 5), max_size=9),
    st.sampled_from([1, 1, 7, 8]),
)
groups = st.lists(
    st.tuples(st.lists(ids, max_size=3), st.lists(ids, min_size=1, max_size=3)), max_size=4
)


def grams(row: list[Any], n: int) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row[i : i + n]) for i in range(len(row) - n + 1))


def slow_matches(
    candidate: list[Any], references: list[list[Any]], n: int, *, without: object = None
) -> int:
    best: Counter[tuple[Any, ...]] = Counter()
    for reference in references:
        best |= grams(reference, n)
    found = grams(candidate, n) & best
    return sum(count for gram, count in found.items() if without not in gram)


class Packed(NamedTuple):
    """Rows of ids, and which of them are compared."""

    offsets: np.ndarray
    ids: np.ndarray
    pairing: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def packed(some: list[tuple[list[list[int]], list[list[int]]]]) -> Packed:
    sides = [[row for group in some for row in group[side]] for side in (0, 1)]
    owners = [np.repeat(np.arange(len(some)), [len(g[side]) for g in some]) for side in (0, 1)]
    rows = sides[0] + sides[1]
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    numbers = np.arange(len(rows))
    flat = np.array([i for row in rows for i in row], dtype=np.int32)
    n = len(sides[0])
    return Packed(offsets, flat, (numbers[:n], owners[0], numbers[n:], owners[1]))


@given(some=groups, orders=st.integers(1, 9))
def test_matches_are_those_of_counters(
    some: list[tuple[list[list[int]], list[list[int]]]], orders: int
) -> None:
    rows = packed(some)
    found = Rows(rows.offsets, rows.ids, 6).matches(*rows.pairing, orders)
    assert found.dtype == np.int32
    assert found.tolist() == [
        [slow_matches(candidate, references, n) for n in range(1, orders + 1)]
        for candidates, references in some
        for candidate in candidates
    ]


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 66, 129])
@pytest.mark.parametrize("orders", [1, 2, 4, 5, 8, 12])
@pytest.mark.parametrize("kinds", [1, 2, 70])
def test_references_of_any_length_are_matched(size: int, orders: int, kinds: int) -> None:
    draw = np.random.default_rng(size)
    lengths = (0, 1, size, 200)
    some = [
        ([draw.integers(0, kinds, n).tolist() for n in lengths], [row])
        for row in draw.integers(0, kinds, (3, size)).tolist()
    ]
    rows = packed(some)
    found = Rows(rows.offsets, rows.ids, kinds).matches(*rows.pairing, orders)
    assert found.tolist() == [
        [slow_matches(candidate, references, n) for n in range(1, orders + 1)]
        for candidates, references in some
        for candidate in candidates
    ]


@pytest.mark.verify
def test_long_texts_are_matched() -> None:
    draw = np.random.default_rng(1)
    rows = [draw.integers(0, 900, 100_000).tolist() for _ in range(4)]
    some = [([rows[0]], [rows[1], rows[2]]), ([rows[3], rows[0][:64]], [rows[0]])]
    put = packed(some)
    found = Rows(put.offsets, put.ids, 900).matches(*put.pairing, 4)
    assert found.tolist() == [
        [slow_matches(candidate, references, n) for n in range(1, 5)]
        for candidates, references in some
        for candidate in candidates
    ]


def test_a_reference_may_be_of_groups_without_candidates() -> None:
    rows = packed([([], [[1, 2]]), ([[1, 2]], [[2, 1]]), ([], [[1, 2]])])
    candidates, _, references, owners = rows.pairing
    made = Rows(rows.offsets, rows.ids, 3)
    assert made.matches(candidates, [1], references, owners, 2).tolist() == [[2, 0]]
    assert made.matches(candidates, [5], references, owners, 2).tolist() == [[0, 0]]
    assert made.matches([], [], references, owners, 2).tolist() == []


# Masks.


class Masked(NamedTuple):
    """Rows of tokens of some ids each, with ids between, and what becomes of each token."""

    rows: list[list[tuple[list[int], list[int], int, int]]]  # before it, its ids, fate, run
    tails: list[list[int]]


@st.composite
def masked_rows(draw: st.DrawFn, *, words: bool) -> Masked:
    one = st.integers(0, 3)
    few = st.lists(one, max_size=2)
    fates = st.sampled_from([KEPT, KEPT, SHARED, PRIVATE, LEFT_OUT])
    token = (
        st.tuples(st.just([]), st.lists(one, min_size=1, max_size=1), fates, st.just(1))
        if words
        else st.tuples(few, few, fates, st.integers(0, 3))
    )
    count = draw(st.integers(2, 4))
    many = st.builds(lambda row, times: row * times, st.lists(token, max_size=9), _times)
    rows = draw(st.lists(many, min_size=count, max_size=count))
    return Masked(rows, [[] if words else draw(few) for _ in rows])


_times = st.sampled_from([1, 1, 8])


def edited(masked: Masked, row: int, side: str) -> list[Any]:
    made: list[Any] = []
    for place, (before, own, fate, run) in enumerate(masked.rows[row]):
        if fate != LEFT_OUT:
            made += before
        if fate == KEPT:
            made += own
        elif fate == SHARED:
            made += ["shared"] * run
        elif fate != LEFT_OUT:
            made += [(side, row, place, i) for i in range(run)]
    return made + masked.tails[row]


@pytest.mark.parametrize("words", [True, False])
@given(data=st.data(), orders=st.integers(1, 6), several=st.booleans())
def test_masked_matches_are_those_of_counters_over_the_edited_rows(
    words: bool, data: st.DataObject, orders: int, several: bool
) -> None:
    masked = data.draw(masked_rows(words=words))
    ids, starts, ends, fates, runs, offsets, bounds = [], [], [], [], [], [0], [0]
    for row, tail in zip(*masked, strict=True):
        for before, own, fate, run in row:
            ids += before
            starts.append(len(ids))
            ids += own
            ends.append(len(ids))
            fates.append(fate)
            runs.append(run)
        ids += tail
        offsets.append(len(starts))
        bounds.append(len(ids))
    rows = Rows(bounds, np.array(ids, dtype=np.int32), 4)
    made = MaskedRows(rows, offsets) if words else MaskedRows(rows, offsets, starts, ends)
    acted = np.flatnonzero(fates)
    n = len(masked.rows)
    references = [*range(1, n)] if several else [1]
    pairing = [0, *range(2, n)], [0] * (n - 1), references, [0] * len(references)
    for _ in range(2):  # what a call masks is not masked in the next
        total, plain, lengths, of_references = made.matches(
            acted,
            np.array(fates, dtype=np.int8)[acted],
            None if words else np.array(runs, dtype=np.int32)[acted],
            *pairing,
            orders,
        )
        ours = [edited(masked, row, "candidate") for row in pairing[0]]
        theirs = [edited(masked, row, "reference") for row in references]
        assert lengths.tolist() == list(map(len, ours))
        assert of_references.tolist() == list(map(len, theirs))
        everything = range(1, orders + 1)
        assert total.tolist() == [
            [slow_matches(row, theirs, k) for k in everything] for row in ours
        ]
        assert plain.tolist() == [
            [slow_matches(row, theirs, k, without="shared") for k in everything] for row in ours
        ]
        none: list[int] = []
        unmasked = made.matches(none, none, None, *pairing, orders)
        assert unmasked[0].tolist() == rows.matches(*pairing, orders).tolist()


# Words to characters, and tokens under spans.


def test_words_are_spelled() -> None:
    found, bounds = spelled([2, 0, 1, 2], [0, 1, 1, 3], [7, 8, 9])
    assert (found.tolist(), bounds.tolist()) == ([8, 9, 7, 8, 9], [0, 2, 3, 3, 5])
    found, bounds = spelled([], [0], [])
    assert (found.tolist(), bounds.tolist()) == ([], [0])


@st.composite
def spanned(draw: st.DrawFn) -> tuple[list[list[tuple[int, int]]], list[tuple[int, int, int, int]]]:
    texts, spans = [], []
    for text in range(draw(st.integers(1, 3))):
        cuts = sorted(draw(st.lists(st.integers(0, 20), max_size=12)))
        texts.append(list(zip(cuts[::2], cuts[1::2], strict=False)))
        for group in range(draw(st.integers(0, 2))):
            cuts = sorted(draw(st.lists(st.integers(0, 20), max_size=8, unique=True)))
            spans += [
                (text, group, low, high) for low, high in zip(cuts[::2], cuts[1::2], strict=False)
            ]
    return texts, spans


@given(data=spanned())
def test_covered_tokens_are_those_that_share_a_character_with_a_group(
    data: tuple[list[list[tuple[int, int]]], list[tuple[int, int, int, int]]],
) -> None:
    texts, spans = data
    offsets = np.cumsum([0, *map(len, texts)])
    places = np.array([place for text in texts for place in text]).reshape(-1, 2)
    columns = np.array(spans).reshape(-1, 4).T
    found = covered_tokens(offsets, *places.T, *columns)  # neither contiguous nor of 32 bits
    expected = []
    for text, group in dict.fromkeys(span[:2] for span in spans):
        own = [(row, *span[2:]) for row, span in enumerate(spans) if span[:2] == (text, group)]
        for token, (start, end) in enumerate(texts[text], offsets[text]):
            shared = [(row, min(end, high) - max(start, low)) for row, low, high in own]
            shared = [one for one in shared if one[1] > 0]
            if shared:
                expected.append((token, shared[0][0], sum(count for _, count in shared)))
    assert list(zip(*(side.tolist() for side in found), strict=True)) == expected


# What is refused: an index that leads out of an array would end the process.


def test_ids_and_bounds_that_lead_out_of_their_rows_are_refused() -> None:
    for ids_, width in (([0, 4], 4), ([-1, 0], 4), ([0, 1], 1)):
        with pytest.raises(ValueError, match="ids: not all from 0 to"):
            Rows([0, 2], ids_, width)
    for offsets in ([0, 1], [0, 3], [1, 2], [0, 2, 1, 2], [-1, 2], [], [2]):
        with pytest.raises(ValueError, match="offsets"):
            Rows(offsets, [0, 1], 4)
    with pytest.raises(ValueError, match="width"):
        Rows([0], [], -1)


def test_what_is_no_array_of_whole_numbers_is_refused() -> None:
    with pytest.raises(TypeError, match="ids: float64 given, whole numbers wanted"):
        Rows([0, 1], [0.0], 1)
    with pytest.raises(TypeError, match="offsets"):
        Rows(["0", "1"], [0], 1)
    with pytest.raises(ValueError, match="2 dimensions"):
        Rows([0, 1], [[0]], 1)
    with pytest.raises(ValueError, match="do not fit into int32"):
        Rows([0, 1], [1 << 32], 1)


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.uint8])
@pytest.mark.parametrize("step", [1, 2, -1])
def test_numbers_of_other_kinds_and_spread_ones_are_taken(kind: Any, step: int) -> None:
    values = np.array([0, 1, 0, 0, 2, 0], dtype=kind)[::step]
    wanted = values.tolist()
    found = Rows([0, len(values), len(values)], values, 3).matches([0], [0], [0, 1], [0, 0], 2)
    assert found.tolist() == [[len(wanted), len(wanted) - 1]]


ROWS = Rows([0, 2, 4], [0, 1, 1, 2], 3)
FINE: dict[str, Any] = {
    "candidates": [0, 1],
    "groups": [0, 1],
    "references": [0, 1],
    "reference_groups": [0, 1],
    "orders": 4,
}


@pytest.mark.parametrize(
    "wrong",
    [
        {"candidates": [0, 2]},
        {"candidates": [-1, 0]},
        {"candidates": [0]},
        {"groups": [1, 0]},
        {"groups": [0]},
        {"references": [0, 2]},
        {"references": [-1, 0]},
        {"references": [0]},
        {"reference_groups": [1, 0]},
        {"reference_groups": [0, 1, 2]},
        {"orders": 0},
        {"orders": -1},
    ],
)
def test_pairings_of_rows_that_are_not_there_are_refused(wrong: dict[str, Any]) -> None:
    assert ROWS.matches(**FINE).tolist() == [[2, 1, 0, 0]] * 2
    said = r"^(candidates|groups|references|reference_groups|orders): "
    with pytest.raises(ValueError, match=said):
        ROWS.matches(**FINE | wrong)
    with pytest.raises(ValueError, match=said):
        MaskedRows(ROWS, [0, 2, 4]).matches([], [], None, **FINE | wrong)


def test_tokens_that_do_not_stand_in_their_rows_are_refused() -> None:
    for offsets, starts, ends in (
        ([0, 1, 3], None, None),
        ([0, 1], [0], [2]),
        ([0, 1, 2], [0, 2], [2, 5]),
        ([0, 1, 2], [-1, 2], [1, 3]),
        ([0, 1, 2], [0, 1], [1, 3]),
        ([0, 2, 2], [0, 0], [1, 2]),
        ([0, 1, 2], [1, 2], [0, 3]),
        ([0, 1, 2], [0, 2], [1]),
    ):
        with pytest.raises(ValueError, match=r"token|ends"):
            MaskedRows(ROWS, offsets, starts, ends)


@pytest.mark.parametrize(
    ("tokens", "fates", "runs"),
    [
        ([4], [1], None),
        ([-1], [1], None),
        ([0], [4], None),
        ([0], [-1], None),
        ([0, 1], [1], None),
        ([0], [1], [-1]),
        ([0], [1], [1, 1]),
    ],
)
def test_masks_of_tokens_that_are_not_there_are_refused(tokens: Any, fates: Any, runs: Any) -> None:
    made = MaskedRows(ROWS, [0, 2, 4], [0, 1, 2, 3], [1, 2, 3, 4])
    with pytest.raises(ValueError, match=r"tokens|fates|runs"):
        made.matches(tokens, fates, runs, **FINE)
    with pytest.raises(ValueError, match=r"tokens|fates|runs"):
        MaskedRows(ROWS, [0, 2, 4]).matches([0], [1], [1], **FINE)


def test_spans_of_texts_that_are_not_there_are_refused() -> None:
    fine: list[Any] = [[0, 1, 2], [0, 0], [3, 3], [1], [0], [0], [2]]
    assert [side.tolist() for side in covered_tokens(*fine)] == [[1], [0], [2]]
    for place, wrong in ((0, [0, 1, 3]), (0, [0, 2, 1]), (1, [0]), (3, [2]), (3, [-1]), (4, [])):
        with pytest.raises(ValueError, match=r"offsets|ends|starts|span"):
            covered_tokens(*(wrong if i == place else one for i, one in enumerate(fine)))
    for words, bounds in (([1], [0, 1]), ([-1], [0, 1]), ([0], [0, 2]), ([0], [])):
        with pytest.raises(ValueError, match=r"words|bounds"):
            spelled(words, bounds, [5])


@pytest.mark.verify
def test_an_interruption_is_answered_within_a_long_call() -> None:
    program = (
        "import signal, numpy as np\n"
        "from gnomon.native.ngrams import MaskedRows, Rows\n"
        "def stop(*_): raise KeyboardInterrupt\n"
        "signal.signal(signal.SIGVTALRM, stop)\n"
        "n = 2_000_000\n"
        "ids = np.random.default_rng(1).integers(0, 50, n)\n"
        "one = np.zeros(1, dtype=int)\n"
        "rows = Rows([0, n], ids, 50)\n"
        "for call in (lambda: rows.matches([0] * 99, [0] * 99, one, one, 6),\n"
        "             lambda: MaskedRows(rows, [0, n]).matches([], [], None, [0] * 99, [0] * 99,\n"
        "                                                      one, one, 6)):\n"
        "    signal.setitimer(signal.ITIMER_VIRTUAL, .2)\n"
        "    try: call()\n"
        "    except KeyboardInterrupt: print('stopped')\n"
        "print(rows.matches(one, one, one, one, 2).tolist())\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert answer.stdout == "stopped\nstopped\n[[2000000, 1999999]]\n"


def test_rows_of_masks_need_rows_and_are_made_once() -> None:
    with pytest.raises(TypeError, match="rows"):
        MaskedRows(None, [0])  # type: ignore[arg-type]
    rows = Rows([0, 2], [0, 1], 2)
    rows.matches([0], [0], [0], [0], 1)  # memory for two ids, kept for the next call
    with suppress(TypeError):
        rows.__init__([0, 2], [0, 99_999_999], 100_000_000)  # type: ignore[misc]
    assert rows.matches([0], [0], [0], [0], 2).tolist() == [[2, 1]]


def test_a_token_as_wide_as_numbers_go_is_covered() -> None:
    low, high = -(1 << 31), (1 << 31) - 1
    found = covered_tokens([0, 1], [low], [high], [0], [0], [low], [high])
    assert [side.tolist() for side in found] == [[0], [0], [(1 << 32) - 1]]
