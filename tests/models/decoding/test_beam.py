"""Beam search, beside transformers' own and beside enumeration."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.models.decoding.enumeration import every_target

from gnomon.core.errors import LengthMismatchError, UsageError
from gnomon.models.decoding import beam, log_probabilities

if TYPE_CHECKING:
    from gnomon.models import Seq2Seq

TEXTS = ["the cat sat on the mat .", "a dog", "the rug lay on a dog . the cat", "mat", "a cat ."]


def theirs(model: Seq2Seq, text: str, limit: int, **options: Any) -> list[tuple[list[int], float]]:
    """What ``generate`` finds where hypotheses must end at the limit."""
    import torch
    from transformers import LogitsProcessor

    class EndsAtLimit(LogitsProcessor):
        def __call__(self, input_ids: Any, scores: Any) -> Any:
            scores[:, model.silent] = -torch.inf
            if input_ids.shape[1] > 1:
                scores[:, list(model.codes.values())] = -torch.inf
            if input_ids.shape[1] - 1 >= limit:
                end = scores[:, model.end].clone()
                scores[:] = -torch.inf
                scores[:, model.end] = end
            return scores

    ids = torch.tensor(model.pieces([text]))
    found = model.model.generate(
        ids,
        attention_mask=torch.ones_like(ids),
        max_new_tokens=limit + 1,
        do_sample=False,
        return_dict_in_generate=True,
        output_scores=True,
        logits_processor=[EndsAtLimit()],
        **options,
    )
    rows = [row[1 : row.index(1) if 1 in row else None] for row in found.sequences.tolist()]
    return list(zip(rows, found.sequences_scores.tolist(), strict=True))


WAYS = pytest.mark.parametrize("length_penalty", [0.0, 1.0, 2.0])


@WAYS
def test_beam_search_finds_what_transformers_finds(
    any_seq2seq: Seq2Seq, length_penalty: float
) -> None:
    _compare(any_seq2seq, length_penalty)


@WAYS
def test_beam_search_with_sentence_codes_finds_what_transformers_finds(
    mostly_coded: Seq2Seq, length_penalty: float
) -> None:
    _compare(mostly_coded, length_penalty)


def _compare(model: Seq2Seq, length_penalty: float) -> None:
    options = {"limit": 8, "length_penalty": length_penalty}
    ours = beam(model, TEXTS, beam=4, **options)
    for text, found in zip(TEXTS, ours, strict=True):
        expected = theirs(
            model,
            text,
            8,
            num_beams=4,
            num_return_sequences=4,
            early_stopping="never",
            length_penalty=length_penalty,
        )
        assert [list(one.pieces) for one in found] == [row for row, _ in expected]
        scores = [score for _, score in expected]
        assert [one.score for one in found] == pytest.approx(scores, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("length_penalty", [0.0, 1.0, -1.0])
def test_a_beam_as_wide_as_the_space_finds_what_enumeration_finds(
    seq2seq: Seq2Seq, coded: Seq2Seq, length_penalty: float
) -> None:
    for model, text in itertools.product((seq2seq, coded), TEXTS[:3]):
        every = every_target(model, text, 3)
        ranked = sorted(
            (
                (value / (len(target) + 1) ** length_penalty, target)
                for target, value in every.items()
            ),
            reverse=True,
        )
        (found,) = beam(
            model, [text], beam=len(every), n=20, limit=3, length_penalty=length_penalty
        )
        assert [one.pieces for one in found] == [target for _, target in ranked[:20]]
        assert [one.score for one in found] == pytest.approx([s for s, _ in ranked[:20]], abs=1e-4)


def test_exact_stopping_finds_what_the_whole_search_finds(seq2seq: Seq2Seq) -> None:
    whole = beam(seq2seq, TEXTS, beam=6, limit=12)
    some = beam(seq2seq, TEXTS, beam=6, n=2, limit=12)
    assert some == [found[:2] for found in whole]


def test_a_beam_of_one_is_the_greedy_choice(any_seq2seq: Seq2Seq) -> None:
    import torch

    model = any_seq2seq
    for text in TEXTS:
        source, target = torch.tensor(model.pieces([text])), list(model.start)
        for _ in range(6):
            logits = model.model(input_ids=source, decoder_input_ids=torch.tensor([target])).logits
            logits[..., model.silent] = -torch.inf
            target.append(int(logits[0, -1].argmax()))
            if target[-1] == model.end:
                break
        ((found,),) = beam(model, [text], beam=1, limit=6, length_penalty=0)
        greedy = [piece for piece in target[1:] if piece != model.end]
        assert list(found.pieces) == greedy


def test_log_probabilities_are_those_of_forced_decoding(any_seq2seq: Seq2Seq) -> None:
    found = [
        (text, one)
        for text, row in zip(TEXTS, beam(any_seq2seq, TEXTS, beam=5), strict=True)
        for one in row
    ]
    forced = log_probabilities(
        any_seq2seq, [text for text, _ in found], [one.pieces for _, one in found]
    )
    assert [one.log_probability for _, one in found] == pytest.approx(forced.tolist(), abs=2e-4)
    lengths = [len(one.pieces) + 1 for _, one in found]
    assert [one.score for _, one in found] == pytest.approx((forced / lengths).tolist(), abs=1e-4)


def test_targets_begin_with_their_prefixes(coded: Seq2Seq) -> None:
    prefixes = [[coded.codes[2]], [], [coded.codes[0], 4], [4], [coded.codes[1]]]
    found = beam(coded, TEXTS, beam=4, prefixes=prefixes, limit=7)
    for prefix, row in zip(prefixes, found, strict=True):
        assert row
        assert all(list(one.pieces[: len(prefix)]) == prefix for one in row)
        assert all(len(one.pieces) <= 7 for one in row)
        assert all("code" not in one.text for one in row)
    alone = [
        beam(coded, [text], beam=4, prefixes=[prefix], limit=7)[0]
        for text, prefix in zip(TEXTS, prefixes, strict=True)
    ]
    assert [[one.pieces for one in row] for row in found] == [
        [one.pieces for one in row] for row in alone
    ]
    forced = log_probabilities(coded, TEXTS, [row[0].pieces for row in found])
    assert [row[0].log_probability for row in found] == pytest.approx(forced.tolist(), abs=1e-4)


def test_a_target_may_be_a_prefix_that_fills_the_limit(coded: Seq2Seq) -> None:
    ((found,),) = beam(coded, ["the cat"], prefixes=[[3, 4]], limit=2)
    assert found.pieces == (3, 4)


def test_equal_texts_are_decoded_once(seq2seq: Seq2Seq) -> None:
    before = seq2seq.encoded
    found = beam(seq2seq, ["a dog", "mat", "a dog"], beam=2, limit=4)
    assert seq2seq.encoded - before == 2
    assert found[0] == found[2]


def test_results_do_not_depend_on_what_else_is_decoded(seq2seq: Seq2Seq) -> None:
    together = beam(seq2seq, TEXTS, beam=3, limit=8)
    for text, found in zip(TEXTS, together, strict=True):
        (alone,) = beam(seq2seq, [text], beam=3, limit=8)
        assert [one.pieces for one in alone] == [one.pieces for one in found]
        assert np.allclose([a.score for a in alone], [b.score for b in found], atol=1e-4)


def test_options_out_of_range_are_refused(seq2seq: Seq2Seq) -> None:
    refused: list[dict[str, Any]] = [
        {"beam": 0},
        {"beam": 3, "n": 4},
        {"limit": 0},
        {"prefixes": [[1]]},
        {"prefixes": [[99]]},
        {"prefixes": [[3, 3, 3]], "limit": 2},
    ]
    for options in refused:
        with pytest.raises(UsageError):
            beam(seq2seq, ["a dog"], **options)
    with pytest.raises(LengthMismatchError):
        beam(seq2seq, ["a dog"], prefixes=[])
