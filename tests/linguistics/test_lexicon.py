from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.errors import MissingFileError, UsageError
from gnomon.linguistics.word_lists import Lexicon

if TYPE_CHECKING:
    from pathlib import Path


def _found(lexicon: Lexicon, text: str) -> list[str]:
    return [text[mark.start : mark.end] for mark in lexicon.marks(text)]


def test_whole_words_match_without_regard_to_case() -> None:
    food = Lexicon.read("food", ["Tea", "straße"])
    assert _found(food, "TEA, tea and teapot; STRASSE") == ["TEA", "tea", "STRASSE"]


def test_the_longest_entry_wins_and_matches_do_not_overlap() -> None:
    places = Lexicon.read("places", ["New York", "York City", "new york city", "city hall"])
    assert _found(places, "New  York City Hall, York City") == ["New  York City", "York City"]


@pytest.mark.parametrize(
    ("entry", "text", "found"),
    [
        ("C++", "C and C++.", ["C++"]),
        ("don't", "I don't", ["don't"]),
        ("北京", "我在北京工作", ["北京"]),
        ("हिन्दी", "मैं हिन्दी बोलता हूँ", ["हिन्दी"]),
        ("cafe\u0301", "caf\u00e9!", ["caf\u00e9"]),
        ("a", "\u2028a\u2028ab 😀", ["a"]),
    ],
)
def test_words_are_words_in_any_script(entry: str, text: str, found: list[str]) -> None:
    assert _found(Lexicon.read("x", [entry]), text) == found


def test_files_hold_one_entry_per_line_and_comments(tmp_path: Path) -> None:
    path = tmp_path / "food.txt"
    path.write_text("# food\n\n  green tea \n#no\nrice\n", encoding="utf-8")
    food = Lexicon.read("food", path)
    assert _found(food, "Green tea, rice, no") == ["Green tea", "rice"]
    assert food.signature == Lexicon.read("food", ["rice", "GREEN tea", "rice"]).signature
    assert food.signature != Lexicon.read("food", ["rice", "white tea"]).signature


def test_an_empty_list_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'food' has no name or no entry"):
        Lexicon.read("food", ["# only this"])
    with pytest.raises(MissingFileError):
        Lexicon.read("food", tmp_path / "none.txt")


@given(st.lists(st.text("ab ", max_size=4), min_size=1, max_size=6), st.text("ab .", max_size=30))
def test_matches_are_entries_at_word_bounds(entries: list[str], text: str) -> None:
    words = {" ".join(entry.split()) for entry in entries} - {""}
    if not words:
        return
    last = 0
    for mark in Lexicon.read("x", entries).marks(text):
        assert " ".join(text[mark.start : mark.end].split()) in words
        assert not text[: mark.start][-1:].isalpha()
        assert not text[mark.end :][:1].isalpha()
        assert mark.start >= last
        last = mark.end
