"""Attention as an explainer: against transformers itself, and where it reaches."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gnomon as gn
from gnomon import bmx
from gnomon.core.errors import UsageError
from gnomon.models import attention_received, load_encoder

torch = pytest.importorskip("torch", reason="pip install 'gnomon[models]'")
transformers = pytest.importorskip("transformers", reason="pip install 'gnomon[models]'")

SYSTEMS = {
    "a": ["the unbelievable cat sat .", "a dog", "", "dog on the mat"],
    "b": ["a cat on mat", "house !", "the cat", ""],
}
REFERENCES = ["the cat sat on the mat .", "a dog , a house", "un able", "..."]


@pytest.fixture
def ts() -> gn.TestSet:
    return gn.TestSet.from_lists(SYSTEMS, REFERENCES, language_pair="es-en")


def received(folder: Path, text: str, layer: int, head: int | None) -> dict[str, float]:
    """Attention per word, straight from transformers, by the offsets of its tokeniser."""
    model = transformers.BertModel.from_pretrained(folder, attn_implementation="eager").eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    read = tokenizer(text, return_tensors="pt", return_offsets_mapping=True)
    offsets = read.pop("offset_mapping")[0].tolist()
    with torch.no_grad():
        found = model(**read, output_attentions=True).attentions[layer - 1][0]
    table = found.mean(dim=0) if head is None else found[head - 1]
    shares = table.mean(dim=0)  # over the pieces that attend
    words: dict[str, float] = {}
    place = 0
    for number, word in enumerate(text.split()):
        start = text.index(word, place)
        place = start + len(word)
        words[f"{number} {word}"] = sum(
            float(share)
            for share, (low, high) in zip(shares, offsets, strict=True)
            if low < high and low >= start and high <= place
        )
    return words


@pytest.mark.parametrize(("layer", "head"), [(1, None), (2, 1), (2, 2), (None, None)])
def test_importances_are_the_models_attention(
    ts: gn.TestSet, tiny_model: Path, layer: int | None, head: int | None
) -> None:
    metric = f"bertscore(model={str(tiny_model)!r}, layer=2, device='cpu')"
    given = ", ".join(f"{k}={v}" for k, v in (("layer", layer), ("head", head)) if v)
    found = bmx.explanations(ts, metric, f"attention({given})" if given else "attention")
    for side, texts in zip(
        found.sides, ([t for each in SYSTEMS.values() for t in each], REFERENCES * 2), strict=True
    ):
        for cell, text in enumerate(texts):
            expected = list(received(tiny_model, text, layer or 2, head).values()) if text else []
            np.testing.assert_allclose(side.importance[side.rows(cell)], expected, atol=1e-6)
    assert "attention_layer:" in str(found.signature)
    assert found.calls == 8  # the scores alone


def test_another_encoder_may_be_named_for_any_metric(ts: gn.TestSet, tiny_model: Path) -> None:
    spec = f"attention(model={str(tiny_model)!r}, layer=1, device='cpu')"
    found = bmx.explanations(ts, "chrf", spec)
    expected = list(received(tiny_model, SYSTEMS["a"][0], 1, None).values())
    np.testing.assert_allclose(found.sides[0].importance[:5], expected, atol=1e-6)
    boosted = bmx.Bmx(gn.metrics.parse("chrf"), explainer=spec, p=(1, 1), w=(0.5, 0.5))
    assert np.isfinite(gn.score(ts, boosted).segments).all()  # it looks at nothing of the metric


def test_shares_of_a_text_add_up_to_one_in_windows_too(tiny_model: Path) -> None:
    encoder = load_encoder(str(tiny_model), layer=2, device="cpu", long="window")
    pieces = encoder.pieces(["the cat sat on the mat " * 12, "a dog", ""])
    for one in attention_received(encoder, pieces, 2):
        assert one.sum() == pytest.approx(1)
        assert (one > 0).all()


def test_scores_are_the_same_after_attention_was_shown(ts: gn.TestSet, tiny_model: Path) -> None:
    metric = f"bertscore(model={str(tiny_model)!r}, layer=2, device='cpu')"
    before = gn.score(ts, metric).segments
    bmx.explanations(ts, metric, "attention")
    np.testing.assert_array_equal(gn.score(ts, metric).segments, before)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("attention(layer=3)", "attention in layers 1 to 2; layer 3 is asked"),
        ("attention(head=3)", "has heads 1 to 2; head 3 is asked"),
        ("attention(layer=0)", "layer is 0; it must be from 1"),
    ],
)
def test_layers_and_heads_that_are_not_there_are_refused(
    ts: gn.TestSet, tiny_model: Path, spec: str, said: str
) -> None:
    metric = f"sbert(model={str(tiny_model)!r}, layer=2, device='cpu')"
    with pytest.raises(UsageError, match=said):
        bmx.explanations(ts, metric, spec)


def test_metrics_without_an_encoder_are_refused_before_anything_is_done(ts: gn.TestSet) -> None:
    with pytest.raises(UsageError, match="'chrf' has none; name one, as in"):
        bmx.explain(ts, "chrf", "attention")
    with pytest.raises(UsageError, match="'chrf' has none"):
        bmx.explanations(ts, "chrf", "attention")


def test_attention_of_the_metric_itself_explains_no_second_iteration(
    ts: gn.TestSet, tiny_model: Path
) -> None:
    metric = gn.metrics.parse(f"sbert(model={str(tiny_model)!r}, layer=2, device='cpu')")
    boosted = bmx.Bmx(metric, explainer="attention", p=(1, 1), w=(0.5, 0.5))
    with pytest.raises(UsageError, match="looks into the metric itself"):
        gn.score(ts, boosted)
