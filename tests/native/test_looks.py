"""What is read of lines, beside regular expressions."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.scripts import unspaced_letters
from gnomon.data.formats.damage import KINDS
from gnomon.native.looks import look

_SIGNS = "aBÄß2½_ .;&#9Ãé\u0308\u2028乙あด😀"
_LINES = st.lists(st.one_of(st.none(), st.text(_SIGNS, max_size=12)), max_size=5)
_WORD = re.compile(r"[^\W_]+")


def _small(word: str) -> str:
    return "".join(letter.lower()[0] for letter in word)


def _letters(word: str) -> int:
    return sum(not letter.isdecimal() for letter in word)


@given(_LINES, _LINES)
def test_words_and_letters_are_those_of_regular_expressions(
    references: list[str | None], outputs: list[str | None]
) -> None:
    lines = [text or "" for text in (*references, *outputs)]
    known: list[str] = []
    expected, terms = [], []
    for number, text in enumerate(lines):
        words = [_small(word) for word in _WORD.findall(text)]
        if number < len(references):
            known += [word for word in dict.fromkeys(words) if word not in known]
        shared = sum(_letters(word) for word in words if word in known)
        counts = [sum(map(bool, map(_letters, words))), sum(map(_letters, words)), shared]
        expected.append([*counts, unspaced_letters(text)])
        terms.append([known.index(word) + 1 if word in known else 0 for word in words])
    offsets, ids, most, counts = look([*references, *outputs], len(references), pairs=False)
    assert counts[:, :4].tolist() == expected
    assert [ids[low:high].tolist() for low, high in pairwise(offsets)] == terms
    assert most == len(known) + 1


@given(_LINES)
def test_no_sign_of_damage_is_missed(texts: list[str | None]) -> None:
    *_, counts = look(texts, 0, pairs=False)
    for text, signs in zip(texts, counts[:, 4].tolist(), strict=True):
        there = [kind.is_there(text or "") for kind in KINDS]
        assert not any(is_there and not signs >> n & 1 for n, is_there in enumerate(there))


def test_pairs_of_letters_are_terms_across_signs() -> None:
    offsets, ids, most, _ = look(["你好，世界", "世界 你好"], 1, pairs=True)
    assert (offsets.tolist(), most) == ([0, 3, 6], 4)
    assert ids.tolist() == [1, 2, 3, 3, 0, 1]


def test_a_text_twice_has_a_sign() -> None:
    *_, counts = look(["a b c", "a b a b", "b c c"], 1, pairs=False)
    assert (counts[:, 4] >> 5 & 1).tolist() == [0, 1, 0]


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="2 references of 1 texts"):
        look([None], 2, pairs=False)
    with pytest.raises(TypeError, match="int given"):
        look([1], 0, pairs=False)  # type: ignore[list-item]
