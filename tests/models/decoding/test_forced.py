"""Probabilities of given targets and of codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from gnomon.core.errors import DataError, LengthMismatchError, UsageError
from gnomon.models.decoding import code_probabilities, log_probabilities

if TYPE_CHECKING:
    from gnomon.models import Seq2Seq

TEXTS = ["the cat sat on the mat .", "a dog", "the rug lay on a dog . the cat", "a dog"]


def test_log_probabilities_are_sums_over_pieces(any_seq2seq: Seq2Seq) -> None:
    import torch

    model, targets = any_seq2seq, ["a cat", "the", "", "dog dog dog ."]
    expected = []
    for text, target in zip(TEXTS, targets, strict=True):
        pieces = [*model.target_pieces(target), model.end]
        logits = model.model(
            input_ids=torch.tensor(model.pieces([text])),
            decoder_input_ids=torch.tensor([[*model.start, *pieces[:-1]]]),
        ).logits
        expected.append(float(logits.log_softmax(-1)[0, range(len(pieces)), pieces].sum()))
    found = log_probabilities(model, TEXTS, targets)
    assert found == pytest.approx(expected, abs=1e-4)
    as_pieces = [model.target_pieces(target) for target in targets]
    assert log_probabilities(model, TEXTS, as_pieces) == pytest.approx(found)


def test_probabilities_of_all_short_targets_sum_to_at_most_one(seq2seq: Seq2Seq) -> None:
    from tests.models.decoding.enumeration import every_target

    total = sum(np.exp(list(every_target(seq2seq, "a dog", 3).values())))
    assert 0 < total <= 1 + 1e-6


def test_code_probabilities_are_those_of_the_first_piece(coded: Seq2Seq) -> None:
    found = code_probabilities(coded, TEXTS)
    assert found.shape == (4, 3)
    assert found.sum(axis=1) == pytest.approx(1)
    by_piece = [
        [
            np.exp(log_probabilities(coded, [text], [[code]])[0] - _ended_after(coded, text, code))
            for code in coded.codes.values()
        ]
        for text in TEXTS
    ]
    expected = np.array(by_piece) / np.sum(by_piece, axis=1, keepdims=True)
    assert found == pytest.approx(expected, abs=1e-5)


def _ended_after(model: Seq2Seq, text: str, code: int) -> float:
    import torch

    logits = model.model(
        input_ids=torch.tensor(model.pieces([text])),
        decoder_input_ids=torch.tensor([[*model.start, code]]),
    ).logits
    return float(logits.log_softmax(-1)[0, -1, model.end])


def test_no_texts_give_no_probabilities(coded: Seq2Seq) -> None:
    assert code_probabilities(coded, []).shape == (0, 3)
    assert log_probabilities(coded, [], []).shape == (0,)


def test_what_cannot_be_scored_is_refused(seq2seq: Seq2Seq) -> None:
    with pytest.raises(DataError, match="no sentence codes"):
        code_probabilities(seq2seq, ["a dog"])
    with pytest.raises(LengthMismatchError):
        log_probabilities(seq2seq, ["a dog"], [])
    with pytest.raises(UsageError, match="at most 63"):
        log_probabilities(seq2seq, ["a dog"], [[3] * 64])
    with pytest.raises(UsageError, match="does not have"):
        log_probabilities(seq2seq, ["a dog"], [[99]])
