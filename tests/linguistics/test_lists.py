"""The word lists that come with gnomon."""

from __future__ import annotations

import pytest

from gnomon.core.errors import UnknownNameError, UsageError
from gnomon.linguistics import annotate, describe_features
from gnomon.linguistics.word_lists import add_built_in_lists, built_in_lists

TEXTS = ["He gave HER hers; they themselves saw it.", "The hero is there."]


def _words(texts: list[str], **more: object) -> list[list[str]]:
    spans = annotate(texts, ["lex:gender"], **more).spans  # type: ignore[arg-type]  # options vary
    return [[text[s:e] for s, e in spans.spans(i, "lex:gender")] for i, text in enumerate(texts)]


def test_gender_needs_no_file_and_marks_pronouns_of_people_only() -> None:
    assert _words(TEXTS) == [["He", "HER", "hers", "they", "themselves"], []]
    assert _words(["he's right, isn't she?"]) == [["he", "she"]]


def test_a_list_of_ones_own_goes_before_ours() -> None:
    assert _words(TEXTS, lexicon={"gender": ["hero"]}) == [[], ["hero"]]


def test_the_signature_tells_our_list_from_others() -> None:
    ours, theirs = (
        annotate(TEXTS, ["lex:gender"], lexicon=lists).taggers
        for lists in (None, {"gender": ["hero"]})
    )
    assert ours != theirs


def test_an_unknown_list_is_refused_and_those_there_are_are_named() -> None:
    with pytest.raises(UnknownNameError, match=r"did you mean 'lex:gender'.*lexicon="):
        annotate(TEXTS, ["lex:genders"])
    with pytest.raises(UnknownNameError, match=r"lex:food, lex:gender"):
        annotate(TEXTS, ["lex:x"], lexicon={"food": ["tea"]})


def test_an_english_list_is_refused_for_texts_known_to_be_in_another_language() -> None:
    assert annotate(TEXTS, ["lex:gender"], language="de-en").spans.features == ("lex:gender",)
    with pytest.raises(UsageError, match=r"there for en.*in 'de'.*lexicon=gender=FILE"):
        annotate(TEXTS, ["lex:gender"], language="de")


def test_a_wildcard_stands_for_the_lists_that_were_given() -> None:
    assert add_built_in_lists({"food": ["tea"]}, ["lex:*"], None) == {"food": ["tea"]}
    with pytest.raises(UsageError, match="none was given"):
        annotate(TEXTS, ["lex:*"])


def test_the_lists_are_shown_among_the_features() -> None:
    rows = {name: (what, by) for name, what, by in describe_features()}
    assert rows["lex:gender"][1] == "any"
    assert list(built_in_lists()["gender"]) == ["en"]
