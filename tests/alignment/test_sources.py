"""Outputs aligned with sources: by lengths and what both write alike, and by vectors."""

from __future__ import annotations

import numpy as np
import pytest
from tests.truth.worlds import outputs, references

import gnomon as gn

_WORDS = {
    "hi": "बिल्ली घर में सो रही कुत्ता बाहर बैठा शांत नदी पहाड़ लड़का पढ़ता किताब पुरानी शहर",
    "ru": "кошка спит дома собака сидит снаружи тихо река гора мальчик читает старую книгу город",
    "th": "แมว นอน บ้าน สุนัข นั่ง ข้างนอก เงียบ แม่น้ำ ภูเขา เด็ก อ่าน หนังสือ เก่า เมือง",
}


def _translated(text: str, script: str) -> str:
    """As many words of another language, and the numbers, with the sign that ends a sentence."""
    words, between = _WORDS[script].split(), "" if script == "th" else " "
    made = [
        word if any(map(str.isdigit, word)) else words[sum(map(ord, word)) % len(words)]
        for word in text.split()
    ]
    return between.join(made) + {"hi": "।", "ru": ".", "th": " "}[script]


@pytest.mark.parametrize("script", _WORDS)
def test_lines_are_aligned_by_lengths(script: str) -> None:
    own, sources = [_translated(text, script) for text in outputs()[:80]], references()[:80]
    lines = [*own[:20], _join(own[20:22], script), *own[22:50], *own[51:]]
    ts = gn.TestSet.from_lists({}, [[]] * 80, sources=sources).align({"whole": lines})
    found = ts.alignments["whole"]
    wanted = [*own[:50], "", *own[51:]]
    assert found.by == "lengths"
    assert sum(a == b.strip() for a, b in zip(found.texts, wanted, strict=True)) > 65
    (said,) = (str(one) for one in ts.anomalies if one.code == "data.aligned")
    assert "aligned with the source" in said
    assert "a rough help" in said


class _Encoder:
    """An encoder that knows the words of both languages: a dimension for each number of letters."""

    def pieces(self, texts: list[str]) -> list[str]:
        return texts

    def pooled(self, pieces: list[str], numbers: np.ndarray) -> np.ndarray:
        counts = np.zeros((len(numbers), 97), dtype=np.float32)
        for row, number in enumerate(numbers):
            for word in pieces[number].lower().split():
                counts[row, sum(map(ord, word)) % 97] += 1
        return counts


def test_vectors_align_a_text_without_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gnomon.models.load_encoder", lambda _: _Encoder())
    own = outputs()[:40]
    ts = gn.TestSet.from_lists({}, [[]] * 40, sources=references()[:40])
    found = ts.align({"whole": [" ".join(own)]}, model="both").alignments["whole"]
    assert found.by == "vectors"
    assert sum(a == b.strip() for a, b in zip(found.texts, own, strict=True)) > 36
    assert not found.has_lines


def _join(texts: list[str], script: str) -> str:
    return ("" if script == "th" else " ").join(texts)
