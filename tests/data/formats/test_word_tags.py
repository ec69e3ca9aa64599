from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.errors import FormatError
from gnomon.data.formats.error_marks import TaggedText, tagged_errors
from gnomon.data.formats.rows import FileRecord


def errors(tags: str, tokenised: str, text: str | None = None, *, gaps: bool = False) -> list[str]:
    row = TaggedText(tags, tokenised, tokenised if text is None else text, FileRecord("f", 1, {}))
    found = tagged_errors([row], "mt", "candidate", gaps=gaps)
    return [f"{e.category}:{row.text[e.start : e.end]}@{e.start}" for e in found]


def test_each_tagged_token_is_a_span_of_its_own() -> None:
    assert errors("OK BAD BAD", "a big dog") == ["word:big@2", "word:dog@6"]
    assert errors("0 0 1", "a big dog") == ["word:dog@6"]


def test_tokens_are_found_in_the_text_that_was_tokenised() -> None:
    assert errors("OK OK BAD BAD", "It 's wet .", "It's  wet.") == ["word:wet@6", "word:.@9"]
    assert errors("OK BAD OK", "a 🐕 b", "a🐕b") == ["word:🐕@1"]


def test_a_gap_is_an_empty_span_where_something_is_missing() -> None:
    tags = "BAD OK OK BAD OK OK BAD"
    assert errors(tags, "a big dog", gaps=True) == ["gap:@0", "word:big@2", "gap:@9"]
    assert errors("OK OK BAD OK OK", "a dog", gaps=True) == ["gap:@2"]


def test_one_tag_more_than_tokens_speaks_of_the_end() -> None:
    assert errors("OK BAD BAD", "a dog", gaps=True) == ["word:dog@2", "gap:@5"]
    assert errors("OK BAD BAD", "a dog <EOS>", "a dog", gaps=True) == ["word:dog@2", "gap:@5"]
    assert errors("OK BAD", "a <EOS>", gaps=True) == ["word:<EOS>@2"]


def test_a_line_that_counts_unlike_the_others_is_named() -> None:
    rows = [
        TaggedText("OK OK OK OK OK", "a dog", "a dog", FileRecord("dev.tags", 1, {})),
        TaggedText("OK OK OK", "a dog", "a dog", FileRecord("dev.tags", 2, {})),
        TaggedText("OK OK OK", "dog", "dog", FileRecord("dev.tags", 3, {})),
    ]
    with pytest.raises(FormatError, match=r"dev\.tags:2: .*3 tags for 2 tokens.*2n \+ 1"):
        tagged_errors(rows, "mt", "candidate", gaps=True)


def test_gaps_are_tagged_only_where_the_format_has_them() -> None:
    with pytest.raises(FormatError, match="5 tags for 2 tokens; expected are one for each token"):
        errors("OK OK OK OK OK", "a dog")


def test_an_unknown_tag_and_another_text_are_refused() -> None:
    with pytest.raises(FormatError, match="'GOOD' is unknown; OK and BAD"):
        errors("OK GOOD", "a dog")
    with pytest.raises(FormatError, match="only white space may differ"):
        errors("OK OK", "a dog", "a cat")


def test_a_non_breaking_space_ends_a_token_only_if_the_tags_say_so() -> None:
    assert errors("OK BAD", "a\u00a0b c") == ["word:c@4"]
    assert errors("OK BAD OK", "a\u00a0b c") == ["word:b@2"]


def test_an_empty_text_has_no_tokens() -> None:
    assert errors("", "") == []
    assert errors("BAD", "", gaps=True) == ["gap:@0"]


@given(
    st.lists(st.tuples(st.text("ab🐕é", min_size=1), st.booleans()), min_size=1),
    st.lists(st.sampled_from(["", " ", "  ", "\u2003"]), min_size=30, max_size=30),
)
def test_the_spans_of_any_tags_are_the_tagged_tokens(
    tagged: list[tuple[str, bool]], between: list[str]
) -> None:
    tokens = [token for token, _ in tagged]
    text = "".join(t + s for t, s in zip(tokens, (between * len(tokens)), strict=False))
    tags = " ".join("BAD" if wrong else "OK" for _, wrong in tagged)
    found = tagged_errors(
        [TaggedText(tags, " ".join(tokens), text, FileRecord("f", 1, {}))], "mt", "source"
    )
    assert [text[e.start : e.end] for e in found] == [token for token, wrong in tagged if wrong]
