"""Words and edits of texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.bmx.pairs import TextWords

TEXTS = st.text(alphabet=st.sampled_from("ab \t\xa0\u2003\u2028\x1c.é😀"), max_size=30)


@given(TEXTS | st.text(max_size=20))
def test_words_are_those_of_split_at_their_places(text: str) -> None:
    words = TextWords(text)
    assert list(words.words) == text.split()
    assert [text[start:end] for start, end in words.spans] == text.split()


@given(TEXTS)
def test_a_text_with_everything_kept_is_the_text_itself(text: str) -> None:
    words = TextWords(text)
    everything = [True] * len(words)
    assert words.masked(everything) == text
    assert words.replaced([None] * len(words)) == text
    assert words.keeping(everything) == text


@given(TEXTS, st.data())
def test_edits_change_the_chosen_words_alone(text: str, data: st.DataObject) -> None:
    words = TextWords(text)
    kept = data.draw(st.lists(st.booleans(), min_size=len(words), max_size=len(words)))
    masked = TextWords(words.masked(kept))
    left = TextWords(words.keeping(kept))
    expected = [word if keep else "UNKWORDZ" for word, keep in zip(words.words, kept, strict=True)]
    assert list(masked.words) == expected
    assert list(left.words) == [word for word, keep in zip(words.words, kept, strict=True) if keep]


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [
        ("the old cat", 1, "the cat"),
        ("the  old\xa0cat", 0, "old\xa0cat"),
        ("the  old\xa0cat", 1, "the  cat"),
        ("the  old\xa0cat", 2, "the  old"),
        (" cat ", 0, "  "),
        ("cat", 0, ""),
        ("the the", 0, "the"),
    ],
)
def test_a_word_goes_with_the_white_space_after_it(text: str, word: int, expected: str) -> None:
    assert TextWords(text).drop_word(word) == expected


@given(st.lists(st.sampled_from(["a", "b", "cat"]), min_size=1, max_size=6))
def test_without_a_word_single_spaces_stay_single(words: list[str]) -> None:
    for word in range(len(words)):
        left = words[:word] + words[word + 1 :]
        assert TextWords(" ".join(words)).drop_word(word) == " ".join(left)
