"""Phrases of answers in place of translations, and numbers in words."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import gnomon as gn
from gnomon.linguistics import faults
from gnomon.linguistics.faults import Texts, find_faults
from gnomon.linguistics.faults.phrases import find_phrase, phrase_languages, phrase_pattern

LISTS = tomllib.loads((Path(faults.__file__).parent / "phrases.toml").read_text("utf-8"))


def test_english_and_twenty_languages_have_phrases() -> None:
    known = set(phrase_languages())
    asked = "en de fr es it pt nl pl cs ru uk tr ar he hi bn zh ja ko vi th id sv da fi is el hu ro"
    assert set(asked.split()) <= known


@pytest.mark.parametrize("language", phrase_languages())
def test_each_phrase_is_found_where_it_stands(language: str) -> None:
    lists = LISTS[language]
    pattern = phrase_pattern(language)
    assert not set(lists) - {"phrases", "foreign", "spaced"}
    assert len(set(lists["phrases"])) == len(lists["phrases"]) >= 10
    for phrase in lists["phrases"]:
        assert phrase == phrase.lower()
        at_beginning = phrase.startswith("^")
        text = phrase.removeprefix("^").capitalize()
        assert find_phrase(pattern, f"**{text}") is not None
        assert (find_phrase(pattern, f"0 1 {phrase[1:]}") is None) or not at_beginning


@pytest.mark.parametrize(
    ("language", "text", "found"),
    [
        ("de", "Note: the hashtag is kept.", True),
        ("en", "Note: the hashtag is kept.", False),
        ("de", "I can’t translate\nthat.", True),
        ("de", "Der Übersetzer übersetzt die Übersetzung: fertig.", False),
        ("cs", "Omlouvám se, ale zachytil jsem stopu.", False),
        ("ja", "これは翻訳する必要はありません。", True),
        ("fr", "Guten Tag. <|im_end|>", True),
        ("tr", "İşte çeviri: Günaydın", True),
    ],
)
def test_what_counts_as_an_answer(language: str, text: str, found: bool) -> None:
    assert (find_phrase(phrase_pattern(language, "en"), text) is not None) == found


@pytest.mark.parametrize(
    ("language", "source", "output"),
    [
        ("de", "It has 1,234.5 km.", "Es hat 1.234,5 km."),
        ("ja", "About 1.5 million on May 12.", "5月12日に約150万人。"),
        ("zh", "In 2015, 320 of them.", "二〇一五年有三百二十个。"),
        ("hi", "It cost 250,000.", "इसकी कीमत 2.5 लाख थी।"),
        ("de", "He is 12. On 5/3 at 4 pm.", "Er ist zwölf. Am 3. Mai um 16 Uhr."),
        ("cs", "He had 3 dogs.", "Měl tři psy."),
        ("ar", "In 1990.", "في ١٩٩٠."),
        ("fr", "It is 20 years.", "Cela fait vingt ans."),
    ],
)
def test_a_number_may_be_written_otherwise(language: str, source: str, output: str) -> None:
    texts = Texts(
        gn.TestSet.from_lists(
            {"a": [output], "b": ["—"]}, [output], sources=[source], language_pair=f"en-{language}"
        )
    )
    (number,) = find_faults(["number"])
    assert [hit.column for hit in number.rule(texts)] == ["b"]


@pytest.mark.parametrize("standard", ["nb", "nn"])
def test_written_standards_have_the_phrases_of_their_language(standard: str) -> None:
    assert phrase_pattern(standard, "en") == phrase_pattern("no", "en")
