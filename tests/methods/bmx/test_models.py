"""Explanations of metrics on encoders, on a tiny model: what is encoded, and matches."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gnomon as gn
from gnomon.bmx import Bmx, explanations, faithfulness
from gnomon.core.errors import UsageError
from gnomon.metrics import BertScore, parse

if TYPE_CHECKING:
    from gnomon.metrics.bertscore import BoundBertScore

pytest.importorskip("torch", reason="pip install 'gnomon[models]'")

SYSTEMS = {
    "a": ["the cat sat on the mat", "a dog", "unbelievable house", "the dog sat"],
    "b": ["the dog sat on a mat", "dog", "house", ""],
    "c": ["a cat on the house", "a dog", "a house", "the dog"],
}
REFERENCES = ["the cat sat on a mat", "the dog", "an unbelievable house", "a dog sat"]


@pytest.fixture
def testset() -> gn.TestSet:
    return gn.TestSet.from_lists(SYSTEMS, REFERENCES, sources=REFERENCES, language_pair="en")


@pytest.fixture
def options(tiny_model: Path) -> dict[str, Any]:
    return {"model": str(tiny_model), "layer": 2, "device": "cpu"}


def _bound(testset: gn.TestSet, **options: Any) -> BoundBertScore:
    return BertScore(**options).bind(testset)


@pytest.mark.parametrize("explainer", ["erasure", "lime(samples=15)", "shap"])
def test_every_distinct_text_is_encoded_once(
    testset: gn.TestSet, options: dict[str, Any], explainer: str
) -> None:
    bound = _bound(testset, **options)
    seen: set[str] = set()
    segments = bound.segments

    def remember(batch: Any) -> Any:
        seen.update(batch.texts)
        return segments(batch)

    object.__setattr__(bound, "segments", remember)
    bound.encoder.memory.clear()
    before = bound.encoder.encoded
    found = explanations(testset, bound, explainer)
    assert bound.encoder.encoded - before == len(seen)
    assert found.calls > len(seen)  # systems share the references and what was made of them


def test_two_iterations_of_erasure_encode_every_distinct_text_once(
    testset: gn.TestSet, options: dict[str, Any]
) -> None:
    metric = Bmx(BertScore(**options), explainer="erasure", w=(0.6, 0.6))
    made = metric.bind(testset)
    encoder = made.bound.encoder  # type: ignore[attr-defined]  # a metric on an encoder
    encoder.memory.clear()
    before = encoder.encoded
    made.segments(testset.batch())

    def less(texts: set[str]) -> set[str]:
        found = set()
        for text in texts:
            words = text.split()
            found |= {" ".join(words[:i] + words[i + 1 :]) for i in range(len(words))}
        return found

    every = {text for texts in SYSTEMS.values() for text in texts} | set(REFERENCES)
    once = less(every)
    assert encoder.encoded - before == len(every | once | less(once))


def test_matches_are_those_of_the_metric(testset: gn.TestSet, options: dict[str, Any]) -> None:
    bound = _bound(testset, **options)
    found = explanations(testset, bound, "match")
    assert found.calls == 11  # of 12 cells: "a dog" stands twice beside the same reference
    (matches,) = bound.matches(testset.batch())
    side = matches.candidate
    for cell, pair in zip(matches.cell.tolist(), matches.pair.tolist(), strict=True):
        slots = slice(side.offsets[pair], side.offsets[pair + 1])
        plain = ~matches.tokens.special[side.token[slots]]
        own = found.sides[0].importance[found.sides[0].rows(cell)]
        words = SYSTEMS["abc"[cell // 4]][cell % 4].split()
        if all(word != "unbelievable" for word in words):  # one piece per word
            np.testing.assert_allclose(own, side.best[slots][plain], rtol=1e-6)


def test_a_word_of_several_pieces_has_their_mean(
    testset: gn.TestSet, options: dict[str, Any]
) -> None:
    bound = _bound(testset, **options)
    found = explanations(testset, bound, "match", systems=["a"], segments=[3])
    (matches,) = bound.matches(testset.batch().select(systems=[0], segments=[2]))
    best = matches.candidate.best[1:-1]  # [CLS] un ##believ ##able house [SEP]
    assert len(best) == 4
    np.testing.assert_allclose(found.sides[0].importance, [best[:3].mean(), best[3]], rtol=1e-6)


def test_matches_encode_every_text_once(testset: gn.TestSet, options: dict[str, Any]) -> None:
    bound = _bound(testset, **options)
    bound.encoder.memory.clear()
    before = bound.encoder.encoded
    explanations(testset, bound, "match")
    distinct = {text for texts in SYSTEMS.values() for text in texts} | set(REFERENCES)
    assert bound.encoder.encoded - before == len(distinct)


def test_matches_explain_no_second_iteration(testset: gn.TestSet, options: dict[str, Any]) -> None:
    metric = Bmx(BertScore(**options), explainer="match", p=(1.0, 1.0), w=0.5)
    with pytest.raises(UsageError, match="no second iteration"):
        metric.bind(testset)


def test_against_the_source_the_other_side_is_the_source(
    testset: gn.TestSet, options: dict[str, Any]
) -> None:
    spec = f"xbertscore(model='{options['model']}', layer=2)"
    found = explanations(testset, spec, "match")
    assert [side.side for side in found.sides] == ["candidate", "source"]
    boosted = gn.score(testset, f"bmx({spec}, explainer='match', p=1, w=0.5)")
    assert np.isfinite(boosted.segments).all()


def test_idf_weights_are_those_of_the_test_set(
    testset: gn.TestSet, options: dict[str, Any]
) -> None:
    bound = _bound(testset, **options, idf=True)
    found = explanations(testset, bound, "erasure")
    assert found.signature.fields[: len(bound.signature.fields)] == bound.signature.fields
    np.testing.assert_allclose(found.scores, bound.segments(testset.batch()), rtol=1e-6)


def test_curves_can_be_drawn_of_all_explainers(
    testset: gn.TestSet, options: dict[str, Any]
) -> None:
    bound = _bound(testset, **options)
    for explainer in ("erasure", "match", "random"):
        found = faithfulness(testset, bound, explanations(testset, bound, explainer))
        assert np.isfinite(found.deletion).sum() == 12


def test_a_boosted_metric_on_an_encoder_can_be_written_as_a_spec(
    testset: gn.TestSet, options: dict[str, Any]
) -> None:
    spec = f"bmx(bertscore(model='{options['model']}', layer=2), explainer='erasure')"
    made = parse(spec)
    assert made.spec == spec
    assert "model" in dict(made.bind(testset).signature.fields)
