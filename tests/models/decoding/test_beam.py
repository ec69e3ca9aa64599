"""Beam search, beside transformers' own and beside enumeration."""

from __future__ import annotations

from typing import Any

import pytest

from gnomon.models import Seq2Seq, load_seq2seq
from gnomon.models.decoding import beam

pytest.importorskip("torch", reason="needs torch: pip install 'gnomon[models]'")
pytest.importorskip("transformers", reason="needs transformers: pip install 'gnomon[models]'")

TEXTS = ["the cat sat on the mat .", "a dog", "the rug lay on a dog . the cat", "mat", "a cat ."]


@pytest.fixture(scope="module", params=["marian", "bart", "t5"])
def model(request: Any, tmp_path_factory: Any) -> Seq2Seq:
    from tests.models.tiny_seq2seq import build

    folder = tmp_path_factory.mktemp("models") / str(request.param)
    return load_seq2seq(str(build(folder, kind=request.param, seed=3)))


def theirs(model: Seq2Seq, text: str, limit: int, **options: Any) -> list[tuple[list[int], float]]:
    """What ``generate`` finds where hypotheses must end at the limit."""
    import torch
    from transformers import LogitsProcessor

    class EndsAtLimit(LogitsProcessor):
        def __call__(self, input_ids: Any, scores: Any) -> Any:
            scores[:, model.silent_pieces] = -torch.inf
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


@pytest.mark.parametrize("length_penalty", [1.0, 0.0, 2.0, -0.5])
def test_beam_search_finds_what_transformers_finds(model: Seq2Seq, length_penalty: float) -> None:
    for stopping, early in (("exact", "never"), ("usual", False)):
        ours = beam(model, TEXTS, beam=4, limit=9, length_penalty=length_penalty, stopping=stopping)
        for text, found in zip(TEXTS, ours, strict=True):
            options = {"early_stopping": early, "length_penalty": length_penalty}
            expected = theirs(model, text, 9, num_beams=4, num_return_sequences=4, **options)
            assert [list(one.pieces) for one in found] == [row for row, _ in expected]
            scores = [score for _, score in expected]
            assert [one.score for one in found] == pytest.approx(scores, rel=1e-4, abs=1e-5)
