"""Draws follow the truncated distribution, and nothing but their own text and number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats

from gnomon.core.errors import UsageError
from gnomon.models.decoding import log_probabilities, sampled
from gnomon.models.decoding import requests as _requests

if TYPE_CHECKING:
    from gnomon.models import Seq2Seq

TEXTS = ["the cat sat on the mat .", "a dog", "the rug lay on a dog . the cat", "mat", "a cat ."]


def first_piece(model: Seq2Seq, text: str, temperature: float) -> dict[int, float]:
    """Probabilities of the first piece among those that may be produced."""
    import torch

    logits = model.model(
        input_ids=torch.tensor(model.pieces([text])),
        decoder_input_ids=torch.tensor([model.start]),
    ).logits[0, -1]
    logits[model.silent] = -torch.inf
    found = (logits / temperature).double().softmax(-1)
    return {piece: float(found[piece]) for piece in np.flatnonzero(~model.silent).tolist()}


@pytest.mark.parametrize(("top_p", "temperature"), [(0.8, 1.0), (0.5, 2.0), (1.0, 1.0), (0.9, 0.6)])
def test_draws_have_the_frequencies_of_the_nucleus(
    seq2seq: Seq2Seq, top_p: float, temperature: float
) -> None:
    text, n = "the cat sat on the mat .", 2000
    ranked = sorted(first_piece(seq2seq, text, temperature).items(), key=lambda one: -one[1])
    nucleus: dict[int, float] = {}
    for piece, probability in ranked:
        if sum(nucleus.values()) < top_p:
            nucleus[piece] = probability
    (found,) = sampled(seq2seq, [text], n=n, top_p=top_p, temperature=temperature, seed=11, limit=1)
    drawn = [one.pieces[0] if one.pieces else seq2seq.end for one in found]
    assert set(drawn) <= set(nucleus)
    # pieces too rare for the approximation share a cell
    share = np.array(list(nucleus.values())) / sum(nucleus.values())
    seen = np.array([drawn.count(piece) for piece in nucleus])
    rare = share * n < 5
    cells = [np.append(cell[~rare], cell[rare].sum()) for cell in (seen, share * n)]
    kept = cells[1] > 0
    assert kept.sum() == 1 or stats.chisquare(cells[0][kept], cells[1][kept]).pvalue > 0.01


def test_draws_do_not_depend_on_batches(
    any_seq2seq: Seq2Seq, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = sampled(any_seq2seq, TEXTS, n=4, seed=5, top_p=0.9)
    alone = [sampled(any_seq2seq, [text], n=4, seed=5, top_p=0.9)[0] for text in TEXTS]
    monkeypatch.setitem(_requests._ROWS, "cpu", 8)
    pairs = sampled(any_seq2seq, TEXTS[::-1], n=4, seed=5, top_p=0.9)[::-1]
    pieces = [[one.pieces for one in row] for row in together]
    assert pieces == [[one.pieces for one in row] for row in alone]
    assert pieces == [[one.pieces for one in row] for row in pairs]


def test_fewer_draws_are_the_first_ones_of_more(seq2seq: Seq2Seq) -> None:
    more, less = (sampled(seq2seq, TEXTS[:2], n=n, seed=1) for n in (5, 2))
    assert [[one.pieces for one in row[:2]] for row in more] == [
        [one.pieces for one in row] for row in less
    ]


def test_other_seeds_and_numbers_give_other_draws(seq2seq: Seq2Seq) -> None:
    (one,), (other,) = (sampled(seq2seq, TEXTS[:1], n=20, seed=s, top_p=1.0) for s in (0, 1))
    assert [o.pieces for o in one] != [o.pieces for o in other]
    assert len({o.pieces for o in one}) > 1


def test_log_probabilities_of_draws_are_those_of_forced_decoding(any_seq2seq: Seq2Seq) -> None:
    found = sampled(any_seq2seq, TEXTS, n=3, top_p=0.7, temperature=1.5)
    flat = [(text, one) for text, row in zip(TEXTS, found, strict=True) for one in row]
    forced = log_probabilities(any_seq2seq, [t for t, _ in flat], [o.pieces for _, o in flat])
    assert [o.log_probability for _, o in flat] == pytest.approx(forced.tolist(), abs=2e-4)


def test_a_nucleus_of_one_piece_is_the_greedy_choice(seq2seq: Seq2Seq) -> None:
    (row,) = sampled(seq2seq, TEXTS[:1], n=5, top_p=1e-9, limit=6)
    assert len({one.pieces for one in row}) == 1


def test_options_out_of_range_are_refused(seq2seq: Seq2Seq) -> None:
    refused: list[dict[str, Any]] = [
        {"n": 0},
        {"top_p": 0.0},
        {"top_p": 1.1},
        {"temperature": 0.0},
        {"seed": -1},
    ]
    for options in refused:
        with pytest.raises(UsageError):
            sampled(seq2seq, ["a dog"], **options)
