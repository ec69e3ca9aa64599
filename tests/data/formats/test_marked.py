from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.spans import Span
from gnomon.data.formats.error_marks import (
    decode_browser_span,
    realign,
    remove_whitespace,
    strip_quotes,
    unmark,
)

plain = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="<>"))


@given(plain, st.data())
def test_a_marked_text_gives_text_and_span_back(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    span = Span(start, data.draw(st.integers(start, len(text))))
    marked = f"{text[: span.start]}<v>{text[span.start : span.end]}</v>{text[span.end :]}"
    found = unmark(marked if span.start < span.end else text)
    assert found == (text, span if span.start < span.end else None)


@pytest.mark.parametrize("text", ["a <v>b", "a b</v>", "<v>a <v>b</v>", "</v>a<v>"])
def test_marks_that_do_not_pair_up_are_no_marks(text: str) -> None:
    assert unmark(text) is None


def test_several_marks_span_from_the_first_to_the_last() -> None:
    assert unmark("<v>a</v> b <v>c</v> d") == ("a b c d", Span(0, 5))


def to_browser(span: Span, text: str) -> tuple[int, int]:
    """First and last unit of UTF-16, both included; line ends do not count."""
    sizes = [0 if c == "\n" else 1 + (ord(c) > 0xFFFF) for c in text]
    return sum(sizes[: span.start]), sum(sizes[: span.end]) - 1


@given(plain.map(lambda text: text.replace("\n", " ")), st.data())
def test_units_of_a_browser_are_turned_into_characters_and_back(
    text: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(text)))
    span = Span(start, data.draw(st.integers(start, len(text))))
    found = decode_browser_span(*to_browser(span, text), text)
    assert found == (span if span.start < span.end else None)


def test_units_outside_the_basic_plane_count_twice_and_line_ends_not_at_all() -> None:
    text = "a\n🐕b"
    assert decode_browser_span(0, 0, text) == Span(0, 1)
    assert decode_browser_span(1, 2, text) == Span(2, 3)
    assert decode_browser_span(3, 3, text) == Span(3, 4)
    assert (
        decode_browser_span(4, 4, text) is None
    )  # behind the text: the mark for something missing


@given(plain, st.data())
def test_a_span_moves_with_the_letters_that_it_covers(text: str, data: st.DataObject) -> None:
    spaced = "".join(c + data.draw(st.sampled_from(["", " ", "  "])) for c in text)
    start = data.draw(st.integers(0, len(spaced)))
    span = Span(start, data.draw(st.integers(start, len(spaced))))
    found = realign(span, spaced, text)
    assert found is not None
    assert remove_whitespace(text[found.start : found.end]) == remove_whitespace(
        spaced[span.start : span.end]
    )


def test_a_span_does_not_move_to_another_text() -> None:
    assert realign(Span(0, 1), "abc", "abd") is None


@pytest.mark.parametrize(
    ("field", "meant"),
    [
        ('"a ""b"" c"', 'a "b" c'),
        ('"a"', "a"),
        ('"a" b "c"', '"a" b "c"'),
        ('"', '"'),
        ("a", "a"),
    ],
)
def test_quotation_marks_of_a_spreadsheet_are_taken_off(field: str, meant: str) -> None:
    assert strip_quotes(field) == meant
