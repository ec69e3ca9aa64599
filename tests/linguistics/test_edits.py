"""Edits by offset; what is expected was worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.linguistics import (
    Edit,
    FeatureWords,
    apply_edits,
    begins_sentence,
    deletion,
    exchange,
    joint_edits,
    replacement,
)


def _span(text: str, words: str) -> tuple[int, int]:
    start = text.index(words)
    return start, start + len(words)


def _without(text: str, words: str) -> str:
    return apply_edits(text, [deletion(text, *_span(text, words))])


def test_edits_in_any_order_change_nothing_else() -> None:
    text = "the  old\u00a0cat "
    edits = [Edit(9, 12, "dog"), Edit(0, 0, "see "), Edit(5, 8, "young")]
    assert apply_edits(text, edits) == "see the  young\u00a0dog "
    assert apply_edits(text, edits[::-1]) == "see the  young\u00a0dog "
    assert apply_edits(text, []) == text


def test_an_insertion_stands_before_what_replaces_the_characters_there() -> None:
    assert apply_edits("ab", [Edit(1, 2, "B"), Edit(1, 1, "-"), Edit(1, 1, "+")]) == "a-+B"


@pytest.mark.parametrize(
    "edits",
    [
        [Edit(0, 3, ""), Edit(2, 4, "")],
        [Edit(0, 3, ""), Edit(1, 1, "x")],
        [Edit(2, 1, "x")],
        [Edit(-1, 1, "x")],
        [Edit(2, 9, "x")],
    ],
)
def test_edits_that_overlap_or_lie_outside_are_refused(edits: list[Edit]) -> None:
    with pytest.raises(ValueError, match="overlaps another, or lies outside"):
        apply_edits("text", edits)


@given(st.text(max_size=30), st.data())
def test_edits_put_each_new_text_between_what_was_there(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    spans = list(zip(cuts[::2], cuts[1::2], strict=False))
    edits = [Edit(start, end, data.draw(st.text(max_size=4))) for start, end in spans]
    expected = text
    for start, end, new in reversed(edits):
        expected = expected[:start] + new + expected[end:]
    assert apply_edits(text, edits) == expected


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("the old  cat", "old", "the cat"),
        ("the cat .", "cat", "the ."),
        ("the cat.", "cat", "the."),
        ("a red cat, too", "cat", "a red, too"),
        ("the old cat", "cat", "the old"),
        ("the old cat \n", "cat", "the old \n"),
        ("cat", "cat", ""),
        ("  a cat", "a", "  cat"),
        # what touches a word on its left keeps it apart from the next
        ("They don't know", "n't", "They do know"),
        ("the cat, too", ",", "the cat too"),
        ("the cat sat.", ".", "the cat sat"),
        ("the (red) cat", "red", "the () cat"),
        ("the (old red) cat", "old", "the (red) cat"),
        ("the (old red) cat", "red", "the (old) cat"),
        # no spaces between words; full-width ones
        ("我喜欢猫。", "猫", "我喜欢。"),
        ("猫が好きです", "好き", "猫がです"),
        ("東京\u3000大阪", "東京", "大阪"),
        # right to left
        ("قال الرجل، نعم", "الرجل", "قال، نعم"),
        ("הילד הקטן הלך", "הקטן", "הילד הלך"),
    ],
)
def test_a_deletion_leaves_white_space_and_punctuation_in_order(
    text: str, words: str, expected: str
) -> None:
    assert _without(text, words) == expected


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("The cat sat.", "The", "Cat sat."),
        ("Why? The cat sat.", "The", "Why? Cat sat."),
        ("He left. 'The cat sat.'", "The", "He left. 'Cat sat.'"),
        ("The 'old' cat", "The", "'Old' cat"),
        ("— Yes he did", "Yes", "— He did"),
        ("Élan vital", "Élan", "Vital"),
        ("Den ældste", "Den", "Ældste"),
        ("The ﬁrst", "The", "First"),
        # a capital there is, or none there can be
        ("The Cat sat.", "The", "Cat sat."),
        ("the cat sat.", "the", "cat sat."),
        ("The 3 cats sat.", "The", "3 cats sat."),
        ("The 猫 sat.", "The", "猫 sat."),
        ("Yes", "Yes", ""),
        # the word does not begin a sentence
        ("see The cat", "The", "see cat"),
        ("with Mr. Ito there", "Ito", "with Mr. there"),
        ("am 3. Mai war", "Mai", "am 3. war"),
        ("the U.S. Army left", "Army", "the U.S. left"),
        ("ქართული ენა კარგია", "ქართული", "ენა კარგია"),
    ],
)
def test_a_deletion_at_the_beginning_of_a_sentence_leaves_its_capital(
    text: str, words: str, expected: str
) -> None:
    assert _without(text, words) == expected


def test_the_edit_covers_the_letter_that_takes_the_capital() -> None:
    assert deletion("The cat", 0, 3) == Edit(0, 5, "C")
    assert deletion("The Cat", 0, 3) == Edit(0, 4, "")


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        # neighbours are deleted as one
        ("the old cat", ["old", "cat"], "the"),
        ("the old, red cat.", ["red", "cat"], "the old,."),
        ("The old cat sat.", ["old", "The"], "Cat sat."),
        ("a cat, too", [",", "cat"], "a too"),
        ("The old cat and the dog", ["cat", "the", "The"], "Old and dog"),
        # the next word goes, too, so that there is none to take the capital
        ("The (old) cat", ["The", "old"], "() cat"),
        ("the cat", [], "the cat"),
    ],
)
def test_deletions_together_leave_white_space_in_order(
    text: str, words: list[str], expected: str
) -> None:
    edits = joint_edits(text, [Edit(*_span(text, word), "") for word in words])
    assert apply_edits(text, edits) == expected


@pytest.mark.parametrize(
    ("text", "changes", "expected"),
    [
        ("The cat sat", {"The": "", "cat": "dog"}, "Dog sat"),
        ("The cat sat", {"The": "", "sat": "ran"}, "Cat ran"),
        ("The 'cat' sat", {"The": "", "cat": "dog"}, "'Dog' sat"),
        ("the cat sat", {"the": "", "cat": "dog"}, "dog sat"),
        ("The cat sat", {"The": "a", "sat": ""}, "A cat"),
        ("Don't go", {"Do": "", "n't": ""}, "Go"),
        ("Did he go?", {"Did": "", "he": "he", "go": "went"}, "He went?"),
        ("SEE THE CAT", {"SEE": "", "CAT": "dog"}, "THE DOG"),
    ],
)
def test_words_are_deleted_and_replaced_together(
    text: str, changes: dict[str, str], expected: str
) -> None:
    edits = [Edit(*_span(text, word), new) for word, new in changes.items()]
    assert apply_edits(text, joint_edits(text, edits)) == expected


def test_an_empty_deletion_changes_nothing() -> None:
    assert joint_edits("a cat", [Edit(1, 1, "")]) == ()
    assert deletion("a cat", 1, 1) == Edit(1, 1, "")


def test_deletions_may_leave_capitals_as_they_are() -> None:
    edits = [Edit(0, 3, ""), Edit(4, 7, "dog")]
    assert apply_edits("The CAT", joint_edits("The CAT", edits, capitals=False)) == "dog"


@given(st.lists(st.sampled_from(["The", "cat", "(", "old", ")", ".", "«", "，", "猫"])), st.data())
def test_what_is_not_deleted_stays_but_for_a_capital(words: list[str], data: st.DataObject) -> None:
    spaces = data.draw(st.lists(st.sampled_from(["", " ", "\u3000 "]), min_size=len(words)))
    text, spans = "", []
    for word, space in zip(words, spaces, strict=False):
        spans.append((len(text), len(text) + len(word)))
        text += word + space
    chosen = data.draw(st.lists(st.sampled_from(spans), unique=True)) if spans else []
    kept = [text[slice(*span)] for span in spans if span not in chosen]
    edits = joint_edits(text, [Edit(*span, "") for span in chosen])
    left = "".join(apply_edits(text, edits).split())
    assert left.casefold() == "".join(kept).casefold()


@pytest.mark.parametrize(
    ("text", "start", "begins"),
    [
        ("The cat", 0, True),
        ("  The cat", 2, True),
        ("No. The cat", 4, True),
        ("He said: 'No.' The cat", 15, True),
        ("No. (The cat)", 5, True),
        ("No! - The cat", 6, True),
        ("はい。猫", 3, True),
        ("हाँ। बिल्ली", 5, True),
        ("نعم؟ القط", 5, True),
        ("see, The cat", 5, False),
        ("well-Known", 5, False),
        ("see - The cat", 6, False),
        ("e.g.The cat", 4, False),
        ("Dr. Ito", 4, False),
        ("J. Ito", 3, False),
        ("in 1990. The cat", 9, True),
        ("der 21. Tag", 8, False),
    ],
)
def test_sentences_begin_behind_final_punctuation(text: str, start: int, *, begins: bool) -> None:
    assert begins_sentence(text, start) is begins


@pytest.mark.parametrize(
    ("text", "words", "new", "expected"),
    [
        ("The cat sat.", "The", "a", "A cat sat."),
        ("The cat sat.", "cat", "Paris", "The Paris sat."),
        ("the cat sat.", "the", "a", "a cat sat."),
        ("See Rome.", "Rome", "paris", "See paris."),
        ("SEE THE CAT", "CAT", "dog", "SEE THE DOG"),
        ("A cat", "A", "the", "The cat"),
        ("here I am", "I", "we", "here we am"),
        ("猫が好き", "猫", "犬", "犬が好き"),
        ("قال الرجل", "الرجل", "القط", "قال القط"),
    ],
)
def test_a_replacement_takes_over_capitals(text: str, words: str, new: str, expected: str) -> None:
    assert apply_edits(text, [replacement(text, *_span(text, words), new)]) == expected


@pytest.mark.parametrize(
    ("text", "first", "second", "expected"),
    [
        ("Red cats sat", "Red", "cats", "Cats red sat"),
        ("Red cats sat", "cats", "Red", "Cats red sat"),
        ("see red  cats", "red", "cats", "see cats  red"),
        ("NATO met", "NATO", "met", "Met NATO"),
        ("Yes. No.", "Yes", "No", "No. Yes."),
        ("犬と猫", "犬", "猫", "猫と犬"),
    ],
)
def test_exchanged_spans_leave_the_capital_of_the_sentence(
    text: str, first: str, second: str, expected: str
) -> None:
    assert apply_edits(text, exchange(text, _span(text, first), _span(text, second))) == expected


def test_a_name_keeps_its_capital_where_it_goes() -> None:
    edits = exchange("Ann saw him", (0, 3), (8, 11), keep_capital=True)
    assert apply_edits("Ann saw him", edits) == "Him saw Ann"


def test_spans_that_overlap_cannot_change_places() -> None:
    with pytest.raises(ValueError, match="0:3 and 2:4 overlap"):
        exchange("text", (2, 4), (0, 3))


def test_words_of_a_feature_are_drawn_from_a_place_on() -> None:
    words = FeatureWords(("Cat", "dog", "cow", "cat"))
    assert words.elsewhere(0.0, set()) == "Cat"
    assert words.elsewhere(0.0, {"cat"}) == "dog"
    assert words.elsewhere(0.99, {"cat", "dog"}) == "cow"
    assert words.elsewhere(0.5, {"cat", "dog", "cow"}) is None
    assert FeatureWords(()).elsewhere(0.5, set()) is None
