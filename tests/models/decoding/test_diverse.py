"""Diverse beam search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gnomon.core.errors import UsageError
from gnomon.models.decoding import beam, diverse, log_probabilities

if TYPE_CHECKING:
    from gnomon.models import Seq2Seq

TEXTS = ["the cat sat on the mat .", "a dog", "the rug lay on a dog . the cat", "mat"]


def test_one_group_and_no_price_is_beam_search(any_seq2seq: Seq2Seq) -> None:
    plain = beam(any_seq2seq, TEXTS, beam=6, limit=8)
    assert diverse(any_seq2seq, TEXTS, beam=6, groups=1, strength=0, limit=8) == plain


def test_without_a_price_all_groups_find_the_same(seq2seq: Seq2Seq) -> None:
    plain = beam(seq2seq, TEXTS, beam=3, limit=8)
    found = diverse(seq2seq, TEXTS, beam=9, groups=3, strength=0, limit=8)
    assert [[one.pieces for one in row] for row in found] == [
        [one.pieces for one in row] for row in plain
    ]


def test_a_high_price_makes_the_best_of_all_groups_begin_differently(seq2seq: Seq2Seq) -> None:
    for row in diverse(seq2seq, TEXTS, beam=4, groups=4, strength=1000.0, limit=8):
        firsts = [one.pieces[0] for one in row if one.pieces]
        assert len(set(firsts)) == len(firsts)


def test_the_price_is_no_part_of_the_probability(any_seq2seq: Seq2Seq) -> None:
    found = diverse(any_seq2seq, TEXTS, beam=6, groups=3, strength=2.0, limit=8)
    flat = [(text, one) for text, row in zip(TEXTS, found, strict=True) for one in row]
    forced = log_probabilities(any_seq2seq, [t for t, _ in flat], [o.pieces for _, o in flat])
    assert [o.log_probability for _, o in flat] == pytest.approx(forced.tolist(), abs=2e-4)
    assert all(len({one.pieces for one in row}) == len(row) for row in found)


def test_groups_must_divide_the_beam(seq2seq: Seq2Seq) -> None:
    with pytest.raises(UsageError, match="cannot be divided into 3 equal groups"):
        diverse(seq2seq, TEXTS, beam=20, groups=3)
    with pytest.raises(UsageError, match="draw groups together"):
        diverse(seq2seq, TEXTS, strength=-1)
