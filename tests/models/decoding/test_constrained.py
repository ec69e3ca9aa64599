"""Constrained decoding beside enumeration, and every reachable constraint met."""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.decoding.enumeration import every_target, holds
from tests.models.tiny_seq2seq import WORDS

from gnomon.core.errors import LengthMismatchError
from gnomon.models.decoding import beam, constrained
from gnomon.models.decoding.constrained_search import Machine, PhraseStates, phrases_met

if TYPE_CHECKING:
    from gnomon.models import Seq2Seq

TEXTS = ["the cat sat on the mat .", "a dog", "the rug lay on a dog . the cat"]

CASES = [
    ["cat"],
    ["the cat", "the dog"],
    ["cat sat", "sat on"],
    ["mat mat"],
    ["mat", "mat"],
    ["a", "a dog", "dog"],
    ["a a", "a a"],
    ["the", "rug", "."],
    ["the cat the", "cat"],
]


@pytest.mark.parametrize("phrases", CASES, ids=str)
@pytest.mark.parametrize("length_penalty", [0.0, 1.0])
@pytest.mark.verify
def test_a_wide_beam_finds_what_enumeration_finds(
    seq2seq: Seq2Seq, phrases: list[str], length_penalty: float
) -> None:
    asked = [seq2seq.target_pieces(phrase) for phrase in phrases]
    for text in TEXTS:
        ranked = sorted(
            (
                (value / (len(target) + 1) ** length_penalty, target)
                for target, value in every_target(seq2seq, text, 4).items()
                if holds(target, asked)
            ),
            reverse=True,
        )
        (found,) = constrained(
            seq2seq, [text], [phrases], beam=1500, n=10, limit=4, length_penalty=length_penalty
        )
        assert [one.pieces for one in found] == [target for _, target in ranked[:10]]
        assert [one.score for one in found] == pytest.approx([s for s, _ in ranked[:10]], abs=1e-4)
        assert all(all(one.met) for one in found)


_PHRASE = st.lists(st.sampled_from(WORDS[:5]), min_size=1, max_size=4).map(" ".join)


@settings(max_examples=8)
@given(
    sets=st.lists(st.lists(_PHRASE, max_size=6), min_size=12, max_size=12),
    width=st.integers(1, 8),
    limit=st.integers(1, 14),
)
def test_every_reachable_constraint_is_met(
    seq2seq: Seq2Seq, sets: list[list[str]], width: int, limit: int
) -> None:
    texts = [TEXTS[number % 3] for number in range(len(sets))]
    for row, asked in zip(
        constrained(seq2seq, texts, sets, beam=width, limit=limit), sets, strict=True
    ):
        kept: list[tuple[int, ...]] = []
        for pieces in (tuple(seq2seq.target_pieces(phrase)) for phrase in asked):
            machine = Machine([*kept, pieces], seq2seq.continuing)
            kept += [pieces] if machine.needed(machine.first()) <= limit else []
        assert row
        for one in row:
            assert holds(one.pieces, kept)
            assert len(one.met) == len(asked)
            assert len(one.pieces) <= limit
            if len(kept) == len(asked):
                assert all(one.met)


def test_without_constraints_it_is_beam_search(any_seq2seq: Seq2Seq) -> None:
    plain = beam(any_seq2seq, TEXTS, beam=4, limit=9)
    same = constrained(any_seq2seq, TEXTS, [[], [], []], beam=4, limit=9)
    assert [[one.pieces for one in row] for row in same] == [
        [one.pieces for one in row] for row in plain
    ]


@pytest.mark.parametrize("phrases", [["cat"], ["cat sat", "sat on"], ["a", "a dog"]], ids=str)
def test_codes_stand_before_what_is_asked_for(coded: Seq2Seq, phrases: list[str]) -> None:
    asked = [coded.target_pieces(phrase) for phrase in phrases]
    every = every_target(coded, TEXTS[0], 4)
    ranked = sorted((value, target) for target, value in every.items() if holds(target, asked))
    (found,) = constrained(coded, TEXTS[:1], [phrases], beam=3000, n=10, limit=4, length_penalty=0)
    assert [one.pieces for one in found] == [target for _, target in ranked[:-11:-1]]


def test_codes_are_no_words_that_can_be_asked_for(coded: Seq2Seq) -> None:
    (found,) = constrained(coded, TEXTS[:1], [["<code:1>", "cat <code:0>", "cat"]], beam=4)
    assert all(one.met == (False, False, True) for one in found)


def test_all_architectures_meet_their_constraints(any_seq2seq: Seq2Seq) -> None:
    asked = [["the dog", "rug"], ["sat", "sat"], ["."]]
    for row in constrained(any_seq2seq, TEXTS, asked, beam=5):
        assert row
        assert all(all(one.met) for one in row)


def test_what_cannot_be_met_is_left_out_and_said(coded: Seq2Seq) -> None:
    coded.notices.clear()
    asked = ["giraffe", "", "the cat", "dog dog dog dog", "mat"]
    (found,) = constrained(coded, ["a dog"], [asked], beam=3, limit=4)
    assert all(one.met == (False, False, True, False, True) for one in found)
    (notice,) = coded.notices
    assert str(notice) == (
        "3 of 5 constraints cannot be met, for want of pieces or of room ('giraffe', '' and 'dog"
        " dog dog dog')."
    )


def test_constraints_of_some_texts_alone_are_refused(seq2seq: Seq2Seq) -> None:
    with pytest.raises(LengthMismatchError, match="one list of phrases per text"):
        constrained(seq2seq, TEXTS, [["cat"]])


@given(phrases=st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=3).map(tuple), max_size=3))
def test_what_phrases_need_is_the_shortest_sequence_that_holds_them(
    phrases: list[tuple[int, ...]],
) -> None:
    machine = Machine(phrases, np.zeros(4, dtype=bool))
    shortest = next(
        length
        for length in itertools.count()
        if any(holds(one, phrases) for one in itertools.product(range(3), repeat=length))
    )
    assert machine.needed(machine.first()) == shortest


_SHORT = st.lists(st.integers(0, 2), min_size=1, max_size=3).map(tuple)


@given(
    phrases=st.lists(_SHORT, min_size=1, max_size=3).filter(lambda some: sum(map(len, some)) < 7),
    begun=st.lists(st.integers(0, 3), max_size=4).map(tuple),
    inner=st.sets(st.integers(0, 3)),
)
def test_what_phrases_need_after_some_pieces_is_the_shortest_end_that_completes_them(
    phrases: list[tuple[int, ...]], begun: tuple[int, ...], inner: set[int]
) -> None:
    continuing = np.isin(np.arange(4), list(inner))
    machine = Machine(phrases, continuing)
    state: Any = machine.first()
    for piece in begun:
        known = piece if piece in machine.alphabet else None
        goes_on = bool(continuing[piece]) if known is None else machine.is_inner(piece)
        state = machine.after(state, known, inner=goes_on)
    shortest = next(
        length
        for length in itertools.count()
        if any(
            all(phrases_met(phrases, begun + end, continuing))
            for end in itertools.product(range(4), repeat=length)
        )
    )
    assert machine.needed(state) == shortest


def _chain(size: int) -> tuple[tuple[int, ...], ...]:
    """Phrases of two or three pieces, each beginning within the one before."""
    return tuple(tuple(range(at, at + 2 + at % 2)) for at in range(size))


@pytest.mark.parametrize("size", [5, 7, 10, 30])
def test_phrases_that_overlap_take_little_work(size: int) -> None:
    """A machine takes 155 to 583 calls of functions; walking from state to state took 100,000s."""
    calls: Counter[str] = Counter()
    sys.setprofile(lambda _, event, __: calls.update([event]))
    try:
        machine = Machine(_chain(size), np.zeros(40, dtype=bool))
    finally:
        sys.setprofile(None)
    assert calls["call"] + calls["c_call"] < 3000
    found = machine.needed(machine.first())
    assert found == (size + 1 if size < 8 else sum(map(len, _chain(size))))


def test_texts_with_the_same_phrases_share_their_machine(
    seq2seq: Seq2Seq, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, build = [], Machine.__init__

    def counted(self: Machine, phrases: Any, continuing: Any) -> None:
        made.append(phrases)
        build(self, phrases, continuing)

    monkeypatch.setattr(Machine, "__init__", counted)
    constrained(seq2seq, TEXTS, [["cat sat", "sat on"], ["dog"], ["cat sat", "sat on"]], beam=2)
    assert len(made) == 2


_PIECES = st.lists(st.integers(0, 5), min_size=1, max_size=3).map(tuple)


@given(
    phrases=st.lists(_PIECES, min_size=1, max_size=5),
    target=st.lists(st.integers(0, 7), max_size=14).map(tuple),
    inner=st.sets(st.integers(0, 7)),
)
def test_the_machine_knows_what_a_target_holds(
    phrases: list[tuple[int, ...]], target: tuple[int, ...], inner: set[int]
) -> None:
    continuing = np.isin(np.arange(8), list(inner))
    firsts = {phrase[0] for phrase in phrases}
    ends = [at + 1 for at in range(len(target))]
    ends = [
        at for at in ends if at == len(target) or target[at] in firsts or not continuing[target[at]]
    ]
    asked = dict.fromkeys(phrases)
    expected = all(
        sum(target[end - len(phrase) : end] == phrase for end in ends if end >= len(phrase))
        >= phrases.count(phrase)
        for phrase in asked
    )
    states = PhraseStates(continuing, [Machine(phrases, continuing)])
    state, zero = states.first, np.zeros(1, dtype=np.int64)
    for piece in target:
        state = states.after(zero, state, np.array([piece]))
    assert (states.needed[state[0]] == 0) == expected
    assert all(phrases_met(phrases, target, continuing)) == expected


@given(
    phrases=st.lists(_PIECES, min_size=1, max_size=5),
    target=st.lists(st.integers(0, 7), max_size=14).map(tuple),
    inner=st.sets(st.integers(0, 7)),
)
def test_some_wanted_piece_always_leaves_less_to_do(
    phrases: list[tuple[int, ...]], target: tuple[int, ...], inner: set[int]
) -> None:
    machine = Machine(phrases, np.isin(np.arange(8), list(inner)))
    state: Any = machine.first()
    assert machine.needed(state) <= sum(map(len, phrases))
    for piece in target:
        known = piece if piece in machine.alphabet else None
        state = machine.after(state, known, inner=machine.is_inner(piece))
        after = [
            machine.after(state, wanted, inner=machine.is_inner(wanted))
            for wanted in machine.wanted(state)
        ]
        if machine.needed(state):
            assert min(map(machine.needed, after)) <= machine.needed(state) - 1
