from __future__ import annotations

import pytest

from gnomon.core.errors import UsageError
from gnomon.linguistics import annotate
from gnomon.linguistics.word_lists import Pattern


def test_matches_become_spans_and_empty_ones_are_left_out() -> None:
    year = Pattern.read("year", r"\b\d{4}\b")
    assert [mark[:2] for mark in year.marks("in 1999, 2001 and 12345")] == [(3, 7), (9, 13)]
    assert list(Pattern.read("x", "b*").marks("abba")) == [(1, 3, "re:x")]


def test_a_bad_expression_is_refused_with_its_place() -> None:
    with pytest.raises(UsageError, match=r"pattern 'x' is not a regular expression: .*position 3"):
        Pattern.read("x", "a(b")


def test_endless_backtracking_ends_in_an_error_that_names_pattern_and_text() -> None:
    slow = Pattern.read("slow", r"(?:(?:a|b|ab)+)+c")
    text = "ab" * 40 + "!c"
    with pytest.raises(UsageError, match=r"pattern 'slow'.*more than 0.05 s.*'abab"):
        list(slow.marks(text, seconds=0.05))


def test_patterns_need_no_tagger() -> None:
    found = annotate(["in 1999", "never"], ["re:*"], pattern={"year": r"\d{4}"})
    assert found.spans.spans(0, "re:year") == ((3, 7),)
    assert found.taggers == (Pattern.read("year", r"\d{4}").signature,)
    assert (found.tagged, found.cached) == (0, 0)
