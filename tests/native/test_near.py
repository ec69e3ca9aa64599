"""Texts that are nearly the same, beside the whole table of edits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.native.near import near_edits

_TEXTS = st.text(alphabet="abÄ乙😀", max_size=12)


def _edits(text: str, other: str) -> int:
    row = list(range(len(other) + 1))
    for i, letter in enumerate(text, 1):
        across, row[0] = row[0], i
        for j, sign in enumerate(other, 1):
            across, row[j] = row[j], min(across + (letter != sign), row[j] + 1, row[j - 1] + 1)
    return row[-1]


@given(st.lists(st.tuples(_TEXTS, _TEXTS), max_size=4), st.floats(0, 1))
def test_edits_are_those_of_the_whole_table_up_to_a_share(
    pairs: list[tuple[str, str]], share: float
) -> None:
    texts, others = [text for text, _ in pairs], [other for _, other in pairs]
    expected = [_edits(text, other) for text, other in pairs]
    expected = [
        e if e <= int(share * len(o)) else -1 for e, o in zip(expected, others, strict=True)
    ]
    assert near_edits(texts, others, share).tolist() == expected


def test_a_missing_text_is_near_to_none() -> None:
    assert near_edits([None, "a", ""], ["a", None, ""], 1.0).tolist() == [-1, -1, 0]


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="1 texts beside 0"):
        near_edits(["a"], [], 0.1)
    with pytest.raises(ValueError, match="no share"):
        near_edits([], [], float("nan"))
    with pytest.raises(TypeError, match="int given"):
        near_edits([1], ["a"], 0.1)  # type: ignore[list-item]
